import { renderCaret } from "../../expression/failure.js";
import type { Node } from "../../expression/syntax.js";
import { children } from "../../expression/syntax.js";
import { parsedExpressionsIn } from "../../expression/template.js";
import type { Token } from "../../expression/tokens.js";
import { tokenize } from "../../expression/tokens.js";
import type { Definition } from "../../model/definition.js";
import type { Finding } from "../diagnostics.js";
import { expressionsIn } from "../expressions.js";

/**
 * Finds expressions that are valid, but probably mean something else: text and dates without quotes, constants of other
 * languages, dashes in names. `testedFields` are fields that the contexts of tests have.
 */
export function reviewSpelling(
  definition: Definition,
  testedFields: readonly string[] = [],
): readonly Finding[] {
  const expressions = expressionsIn(definition).map(({ path, text, compile }) => {
    const { tree } = compile(text);
    const isBare = tree !== undefined && !/^\s*(?:\{\{|\$\{)/.test(text);
    return {
      path,
      text,
      parts: isBare ? [{ tree, offset: 0, expression: text }] : parsedExpressionsIn(text),
    };
  });
  const trees = expressions.flatMap(({ parts }) => parts.map(({ tree }) => tree));
  const fields = new Set([...knownFields(definition, trees), ...testedFields]);
  return expressions.flatMap(({ path, text, parts }) =>
    parts.flatMap(({ expression, offset }) =>
      findMistakes(expression, fields).map(({ at, message, hint }) => ({
        path,
        offset: offset + at,
        severity: "warning" as const,
        message,
        hint,
        excerpt: renderCaret({ expression: text, at: offset + at }),
      })),
    ),
  );
}

interface Mistake {
  readonly at: number;
  readonly message: string;
  readonly hint: string;
}

function findMistakes(text: string, fields: ReadonlySet<string>): readonly Mistake[] {
  const tokens = tokenize(text);
  return tokens.flatMap((token, index) => {
    const around = { text, tokens, index };
    const mistake =
      foreignEquals(token, text) ??
      unquotedDate(around) ??
      foreignConstant(around) ??
      dashInName(around) ??
      unquotedText(around, fields);
    return mistake === undefined ? [] : [{ at: token.at, ...mistake }];
  });
}

interface TokenPlace {
  readonly text: string;
  readonly tokens: readonly Token[];
  readonly index: number;
}

type Described = Omit<Mistake, "at">;

function foreignEquals({ at, length, value }: Token, text: string): Described | undefined {
  const written = text.slice(at, at + length);
  if (written !== "===" && written !== "!==") return undefined;
  return { message: `\`${written}\` means the same as \`${value}\``, hint: `write \`${value}\`` };
}

/** `2024-01-01` is a subtraction. */
function unquotedDate({ text, tokens, index }: TokenPlace): Described | undefined {
  const { kind, at } = tokens[index] ?? end;
  if (kind !== "number" || tokens[index - 1]?.value === "-") return undefined;
  const [date] = /^\d{4}-\d{2}-\d{2}(?![\w.-])/.exec(text.slice(at)) ?? [];
  if (date === undefined) return undefined;
  return {
    message: `\`${date}\` without quotes is a subtraction, not a date`,
    hint: `write \`'${date}'\``,
  };
}

/** `True` and `None` are fields of the context. */
function foreignConstant({ tokens, index }: TokenPlace): Described | undefined {
  const { kind, value: name } = tokens[index] ?? end;
  const constant = constantSpellings[name.toLowerCase()];
  if (kind !== "path" || constant === undefined || isCall(tokens, index)) return undefined;
  return {
    message: `\`${name}\` is a field of the context, not the constant \`${constant}\``,
    hint: `write \`${constant}\``,
  };
}

/** Spellings of constants in other languages. */
const constantSpellings: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  none: "null",
  nil: "null",
};

/** `order.is-vip` subtracts; spaces around the minus show that subtraction is intended. */
function dashInName({ text, tokens, index }: TokenPlace): Described | undefined {
  const [left, minus, right] = [tokens[index] ?? end, tokens[index + 1] ?? end, tokens[index + 2] ?? end];
  const isName =
    left.kind === "path" && minus.value === "-" && minus.kind === "symbol" && right.kind === "path";
  const isJoined = left.at + left.length === minus.at && minus.at + 1 === right.at;
  if (!isName || !isJoined || isCall(tokens, index + 2)) return undefined;
  const segments = left.value.split(".");
  const [last = "", ...after] = right.value.split(".");
  const key = `${segments.at(-1) ?? ""}-${last}`;
  const owner = segments.length === 1 ? "context" : segments.slice(0, -1).join(".");
  const read = after.reduce((inner, segment) => `get(${inner}, '${segment}')`, `get(${owner}, '${key}')`);
  return {
    message: `\`${text.slice(left.at, right.at + right.length)}\` subtracts \`${right.value}\` from \`${left.value}\``,
    hint: `for a key with a dash, write \`${read}\`; for a subtraction, put spaces around \`-\``,
  };
}

/** Whether a name is that of a function. */
function isCall(tokens: readonly Token[], index: number): boolean {
  const { kind, value } = tokens[index + 1] ?? end;
  return kind === "symbol" && value === "(";
}

const end: Token = { kind: "end", value: "", at: 0, length: 0 };

/** `order.status == shipped` compares with a field of the context; text needs quotes. */
function unquotedText({ tokens, index }: TokenPlace, fields: ReadonlySet<string>): Described | undefined {
  const { kind, value: name } = tokens[index] ?? end;
  if (kind !== "path" || name.includes(".") || fields.has(name) || isCall(tokens, index)) return undefined;
  return {
    message: `\`${name}\` without quotes is a field of the context, not a text`,
    hint: `for the text, write \`'${name}'\`; for the field, write \`context.${name}\``,
  };
}

/** Names that are never a text. */
const reserved = ["input", "context", "facts", "system", "tool", "params", "session", "resources"];

/**
 * Returns the names that are fields, as far as the definition shows: those that are read in any place where a text
 * would make no sense, and declared ones. A name is not if it is only compared with a longer path, or to the right of
 * another name.
 */
function knownFields(definition: Definition, trees: readonly Node[]): ReadonlySet<string> {
  const fields = new Set([...reserved, ...declaredFields(definition)]);
  for (const tree of trees) collectFields(tree, fields);
  return fields;
}

/** Collects the first parts of all paths but those in `skipped`. */
function collectFields(node: Node, fields: Set<string>, skipped: readonly Node[] = []): void {
  if (skipped.includes(node)) return;
  if (node.kind === "path") fields.add(node.segments[0] ?? "");
  const names = node.kind === "list" ? skipped : comparedNames(node);
  for (const child of children(node)) collectFields(child, fields, names);
}

/** Returns the single names that a node compares with another path as if they were texts. */
function comparedNames(node: Node): readonly Node[] {
  if (node.kind === "membership")
    return node.list.kind === "list" ? node.list.items.filter((each) => isTextAfter(node.item, each)) : [];
  if (node.kind !== "compare" || node.rest.length !== 1) return [];
  const [comparison] = node.rest;
  if (comparison === undefined || !["==", "!="].includes(comparison.operator)) return [];
  const { operand } = comparison;
  return [
    ...(isTextAfter(node.first, operand) ? [operand] : []),
    ...(isTextBefore(operand, node.first) ? [node.first] : []),
  ];
}

/** `shipped == order.status` may have a text on its left, `currency == order.currency` compares two fields. */
function isTextBefore(path: Node, text: Node): boolean {
  const [first, ...rest] = fieldSegments(path);
  return isName(text) && (rest.length > 0 || first === "input") && (rest.at(-1) ?? first) !== nameOf(text);
}

/** `severity == critical` may have a text on its right, too, `old_status == new_status` compares two fields. */
function isTextAfter(path: Node, text: Node): boolean {
  const segments = fieldSegments(path);
  if (!isName(text) || segments.length !== 1) return isTextBefore(path, text);
  const words = wordsOf(segments[0] ?? "");
  return !wordsOf(nameOf(text)).some((word) => words.includes(word));
}

/** The steps of a path from the context; empty for anything else. */
function fieldSegments(node: Node): readonly string[] {
  if (node.kind !== "path") return [];
  return node.segments[0] === "context" ? node.segments.slice(1) : node.segments;
}

const isName = (node: Node): boolean => node.kind === "path" && node.segments.length === 1;
const nameOf = (node: Node): string => (node.kind === "path" ? (node.segments[0] ?? "") : "");

/** The words of a name in `snake_case` or `camelCase`. */
const wordsOf = (name: string): readonly string[] =>
  name.split(/_|(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());

/** The names that a definition declares: computed values, fetched data, and properties of the context. */
function declaredFields(definition: Definition): readonly string[] {
  const fetched = (definition.enrich ?? []).map(({ into }) => into.split(".")[0] ?? "");
  if (definition.type !== "gate") return fetched;
  const { properties = {} } = (definition.context_schema ?? {}) as { readonly properties?: object };
  return [...fetched, ...Object.keys(definition.computed ?? {}), ...Object.keys(properties)];
}
