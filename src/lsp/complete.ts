import type { CompletionItem } from "vscode-languageserver";
import {
  expressionStart,
  isInText,
  languageWords,
  aboutRuleOperator,
  readPaths,
} from "./expression-words.js";
import type { NameKind } from "./names.js";
import { isMeant, referenceAt } from "./names.js";
import { CompletionItemKind, MarkupKind } from "./protocol-library.js";
import type { LocatedName } from "./project-names.js";
import type { SchemaNode } from "./schema-position.js";
import { knownKeys, knownValues, schemasAt } from "./schema-position.js";
import type { WritingPlace } from "./text-place.js";
import { nodeAt, textOf, writingPlaceAt } from "./text-place.js";

/** A text that can be put at the cursor. */
type Suggestion = Omit<CompletionItem, "textEdit"> & { readonly insert?: string };

export interface Suggestions {
  /** The part of the text that a suggestion replaces. */
  readonly from: number;
  readonly to: number;
  readonly items: readonly Suggestion[];
}

/** Returns what can be written at an offset of a file. */
export function suggestionsAt(text: string, offset: number, names: readonly LocatedName[]): Suggestions {
  const place = writingPlaceAt(text, offset);
  if (place === undefined) return { from: offset, to: offset, items: [] };
  const { from, to } = place;
  if (place.role === "key") return { from, to, items: suggestKeys(place, names, /^\s*[{[]/.test(text)) };
  const start = expressionStart(place.path, place.written);
  if (start !== undefined) return suggestWords(place, place.written.slice(start), offset);
  const nameLength = /[^\s,[\]{}"']*$/.exec(place.written)?.[0].length ?? 0;
  return { from: Math.min(offset - nameLength, from), to, items: suggestValues(place, names) };
}

function suggestKeys(place: WritingPlace, names: readonly LocatedName[], isJson: boolean): Suggestion[] {
  const { root, path, isQuoted, hasColon, from, node } = place;
  const present = new Set(
    nodeAt(root, path)?.entries.flatMap(({ key }) => (key === node ? [] : [String(key.value)])),
  );
  const labels = path.join(" ") === "decision targets" ? namesFor(place, [...path, ""], names) : [];
  const keys = knownKeys(root, path)
    .filter(({ key }) => !present.has(key))
    .map(({ key, schemas, isRequired }, index) => ({
      label: key,
      kind: CompletionItemKind.Property,
      ...(isRequired && { detail: "required" }),
      ...documented(describe(schemas)),
      sortText: `${isRequired ? 0 : 1}${String(index).padStart(3, "0")}`,
      insert: isQuoted || hasColon ? key : isJson ? `"${key}": ` : `${key}:${isNested(schemas) ? "" : " "}`,
    }));
  // A list of texts has values where a map in it would have keys.
  const isItem = typeof path.at(-1) === "number" && nodeAt(root, path)?.start === from;
  return [...keys, ...labels, ...(isItem && keys.length === 0 ? suggestValues(place, names) : [])];
}

const isNested = (schemas: readonly SchemaNode[]): boolean =>
  schemas.every(({ type }) => type === "object" || type === "array");

function suggestValues(place: WritingPlace, names: readonly LocatedName[]): Suggestion[] {
  const values = knownValues(schemasAt(place.root, place.path)).map((value) => ({
    label: value,
    kind: CompletionItemKind.EnumMember,
    ...documented(place.path.at(-1) === "op" ? aboutRuleOperator(value) : undefined),
  }));
  const paths = place.path.at(-1) === "field" ? [...readPaths(place.root)] : [];
  const fields = paths.map((path) => ({ label: path, kind: CompletionItemKind.Field }));
  return [...values, ...fields, ...namesFor(place, place.path, names)];
}

function namesFor(
  { root }: WritingPlace,
  path: WritingPlace["path"],
  names: readonly LocatedName[],
): readonly Suggestion[] {
  const isLabelKey = path.join(" ") === "decision targets ";
  const reference = isLabelKey
    ? { kinds: ["label"] as const, decision: textOf(nodeAt(root, ["decision", "id"])) }
    : referenceAt(root, path);
  if (reference === undefined) return [];
  const meant = names.filter((each) => isMeant(reference, each) && !each.name.includes("zz9cursor9zz"));
  return [...new Map(meant.map((each) => [each.name, each])).values()].map((each) => ({
    label: each.name,
    kind: kindOfName[each.kind],
    detail: each.kind,
    ...documented(each.about),
    ...(isLabelKey && { insert: `${each.name}: ` }),
  }));
}

const kindOfName: Readonly<Record<NameKind, CompletionItemKind>> = {
  decision: CompletionItemKind.Class,
  target: CompletionItemKind.Reference,
  policy: CompletionItemKind.Interface,
  rule: CompletionItemKind.Event,
  endpoint: CompletionItemKind.Module,
  label: CompletionItemKind.EnumMember,
  tool: CompletionItemKind.Function,
};

function suggestWords({ root, to }: WritingPlace, before: string, offset: number): Suggestions {
  const word = /[\w.]*$/.exec(before)?.[0] ?? "";
  const from = offset - word.length;
  if (isInText(before)) return { from, to, items: [] };
  const words = languageWords().map(({ word: label, kind, about }) => ({
    label,
    kind: kind === "function" ? CompletionItemKind.Function : CompletionItemKind.Operator,
    ...documented(about),
    ...(kind === "function" && { insert: `${label}(` }),
  }));
  const paths = [...readPaths(root)].map((label) => ({ label, kind: CompletionItemKind.Variable }));
  return { from, to, items: word.includes(".") ? paths : [...paths, ...words] };
}

/** Returns the descriptions of schemas, each once. */
export const describe = (schemas: readonly SchemaNode[]): string | undefined =>
  [...new Set(schemas.flatMap(({ description }) => description ?? []))].join("\n\n") || undefined;

const documented = (about: string | undefined): Pick<Suggestion, "documentation"> =>
  about === undefined || about === "" ? {} : { documentation: { kind: MarkupKind.Markdown, value: about } };
