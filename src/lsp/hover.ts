import { describe } from "./complete.js";
import { aboutRuleOperator, expressionStart, languageWords } from "./expression-words.js";
import { isMeant, referenceAt } from "./names.js";
import type { LocatedName } from "./project-names.js";
import { knownKeys, schemasAt } from "./schema-position.js";
import type { TextPlace } from "./text-place.js";
import { placeAt, textOf } from "./text-place.js";

/** The documentation of a part of a file. */
export interface Documentation {
  readonly start: number;
  readonly end: number;
  /** In Markdown. */
  readonly about: string;
}

/** Returns the documentation of what is written at an offset. */
export function documentationAt(
  text: string,
  offset: number,
  names: readonly LocatedName[],
): Documentation | undefined {
  const place = placeAt(text, offset);
  if (place === undefined) return undefined;
  const { start, end } = place.node;
  if (place.role === "key") {
    const about = aboutKey(place);
    return about === undefined ? undefined : { start, end, about };
  }
  const ofWord = aboutWord(text, offset, place);
  if (ofWord !== undefined) return ofWord;
  const about = aboutValue(place, names);
  return about === undefined ? undefined : { start, end, about };
}

function aboutKey({ root, path, node }: TextPlace): string | undefined {
  const key = String(node.value);
  const known = knownKeys(root, path).find((each) => each.key === key);
  const schemas = known?.schemas ?? schemasAt(root, [...path, key]);
  const description = describe(schemas);
  if (description === undefined && known === undefined) return undefined;
  return [`\`${key}\`${known?.isRequired ? " (required)" : ""}`, description ?? ""].join("\n\n").trim();
}

function aboutWord(text: string, offset: number, { path, node }: TextPlace): Documentation | undefined {
  const end = offset + (/^[A-Za-z_]\w*|^\w*/.exec(text.slice(offset, node.end))?.[0].length ?? 0);
  const start = end - (/\w*$/.exec(text.slice(node.start, end))?.[0].length ?? 0);
  if (expressionStart(path, text.slice(node.start, start)) === undefined) return undefined;
  const word = text.slice(start, end);
  const isCalled = text.slice(end).startsWith("(");
  const found = languageWords().find((each) => each.word === word && (each.kind === "operator" || isCalled));
  return found && { start, end, about: found.about };
}

function aboutValue({ root, path, node }: TextPlace, names: readonly LocatedName[]): string | undefined {
  const value = textOf(node);
  if (value === undefined) return undefined;
  if (path.at(-1) === "op") return aboutRuleOperator(value);
  const found = meantNames(root, path, value, names);
  if (found.length > 0) {
    return found
      .map(({ kind, name, about, decision }) => {
        const owner = decision === undefined ? "" : ` of \`${decision}\``;
        return [`${kind} \`${name}\`${owner}`, about].join("\n\n").trim();
      })
      .join("\n\n---\n\n");
  }
  return describe(schemasAt(root, path));
}

/** Returns the declarations that the name at an offset leads to. */
export function declarationsAt(
  text: string,
  offset: number,
  names: readonly LocatedName[],
): readonly LocatedName[] {
  const place = placeAt(text, offset);
  const value = place && textOf(place.node);
  if (place === undefined || value === undefined || place.role !== "value") return [];
  return meantNames(place.root, place.path, value, names);
}

function meantNames(
  root: TextPlace["root"],
  path: TextPlace["path"],
  value: string,
  names: readonly LocatedName[],
): readonly LocatedName[] {
  const reference = referenceAt(root, path);
  if (reference === undefined) return [];
  return names.filter((each) => each.name === value && isMeant(reference, each));
}
