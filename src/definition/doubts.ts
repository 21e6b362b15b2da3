import { functionTable } from "../expression/function-table.js";
import type { Node } from "../expression/syntax.js";
import { children } from "../expression/syntax.js";

/** Conditions that are written correctly and yet can hardly be meant. */
export function doubtsAbout(tree: Node): readonly string[] {
  const doubts = neverBoolean(tree) ? ["this is never true or false, so it never matches"] : [];
  return [...doubts, ...doubtsWithin(tree)];
}

function doubtsWithin(node: Node): readonly string[] {
  const inner = children(node).flatMap(doubtsWithin);
  const own = doubtAbout(node);
  return own === undefined ? inner : [own, ...inner];
}

function doubtAbout(node: Node): string | undefined {
  if (node.kind === "logic" && node.operands.some(neverBoolean)) {
    return `a part of this \`${node.operator}\` is never true or false; repeat what is compared, or use \`in\``;
  }
  if (node.kind !== "path" || node.segments.length !== 1) return undefined;
  const [word = ""] = node.segments;
  const constant = constants[word.toLowerCase()];
  return constant === undefined ? undefined : `\`${word}\` is read as a path; did you mean \`${constant}\`?`;
}

/** Spellings that other languages have; ours would have read them as constants already. */
const constants: Readonly<Record<string, string>> = {
  true: "true",
  false: "false",
  null: "null",
  none: "null",
  nil: "null",
};

function neverBoolean(node: Node): boolean {
  switch (node.kind) {
    case "literal":
      return typeof node.value !== "boolean";
    case "list":
    case "arithmetic":
    case "negative":
      return true;
    case "call": {
      const returns = functionTable.get(node.name)?.returns;
      return returns === "text" || returns === "number";
    }
    default:
      return false;
  }
}
