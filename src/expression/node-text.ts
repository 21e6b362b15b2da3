import type { Literal, Node } from "./syntax.js";

/** Writes a part of an expression, in the language itself. `writePath` writes its paths. */
export function nodeText(
  node: Node,
  writePath: (segments: readonly string[]) => string = (segments) => segments.join("."),
): string {
  const write = (child: Node, least = 0): string => {
    const text = nodeText(child, writePath);
    return bindingOf(child) < least ? `(${text})` : text;
  };
  const own = bindingOf(node);
  switch (node.kind) {
    case "literal":
      return literalText(node.value);
    case "path":
      return writePath(node.segments);
    case "list":
      return `[${node.items.map((item) => write(item)).join(", ")}]`;
    case "call":
      return `${node.name}(${node.args.map((arg) => write(arg)).join(", ")})`;
    case "negative":
      return `-${write(node.operand, own)}`;
    case "not":
      return `not ${write(node.operand, own)}`;
    case "arithmetic": {
      const symbol = node.operator === "mod" ? "%" : node.operator;
      return `${write(node.left, own + (symbol === "^" ? 1 : 0))} ${symbol} ${write(node.right, own + 1)}`;
    }
    case "compare":
      return [
        write(node.first, own + 1),
        ...node.rest.map(({ operator, operand }) => `${operator} ${write(operand, own + 1)}`),
      ].join(" ");
    case "membership":
      return `${write(node.item, own + 1)} ${node.negated ? "not in" : "in"} ${write(node.list, own + 1)}`;
    case "logic":
      return node.operands.map((operand) => write(operand, own + 1)).join(` ${node.operator} `);
    case "choice":
      return `if ${write(node.condition)} then ${write(node.then)} else ${write(node.otherwise)}`;
  }
}

/** How tightly the parts of a node are bound; an operand that binds less needs brackets. */
function bindingOf(node: Node): number {
  switch (node.kind) {
    case "choice":
      return 0;
    case "logic":
      return node.operator === "or" ? 1 : 2;
    case "not":
      return 3;
    case "compare":
    case "membership":
      return 4;
    case "arithmetic":
      return node.operator === "^" ? 8 : node.operator === "+" || node.operator === "-" ? 5 : 6;
    case "negative":
      return 7;
    case "literal":
      return typeof node.value === "number" && node.value < 0 ? 7 : 9;
    case "path":
    case "list":
    case "call":
      return 9;
  }
}

/** Writes a literal of the language. */
export const literalText = (value: Literal): string =>
  typeof value === "string" ? `'${value.replace(/['\\]/g, "\\$&")}'` : String(value);
