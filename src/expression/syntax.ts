/** An expression as a tree; what the parser makes and everything else reads. */
export type Node =
  | { readonly kind: "literal"; readonly value: Literal }
  | { readonly kind: "path"; readonly segments: readonly string[] }
  | { readonly kind: "list"; readonly items: readonly Node[] }
  | { readonly kind: "call"; readonly name: string; readonly args: readonly Node[] }
  | { readonly kind: "negative"; readonly operand: Node }
  | { readonly kind: "not"; readonly operand: Node }
  | { readonly kind: "arithmetic"; readonly operator: Arithmetic; readonly left: Node; readonly right: Node }
  | { readonly kind: "compare"; readonly first: Node; readonly rest: readonly Comparison[] }
  | { readonly kind: "membership"; readonly negated: boolean; readonly item: Node; readonly list: Node }
  | { readonly kind: "logic"; readonly operator: "and" | "or"; readonly operands: readonly Node[] }
  | { readonly kind: "choice"; readonly condition: Node; readonly then: Node; readonly otherwise: Node };

export type Literal = null | boolean | number | string;
export type Arithmetic = "+" | "-" | "*" | "/" | "mod" | "^";
export type Relation = "==" | "!=" | "<" | "<=" | ">" | ">=";

/** `a < b <= c` is one node: each comparison is with the operand before it. */
export interface Comparison {
  readonly operator: Relation;
  readonly operand: Node;
}

export function children(node: Node): readonly Node[] {
  switch (node.kind) {
    case "literal":
    case "path":
      return [];
    case "list":
      return node.items;
    case "call":
      return node.args;
    case "negative":
    case "not":
      return [node.operand];
    case "arithmetic":
      return [node.left, node.right];
    case "compare":
      return [node.first, ...node.rest.map((comparison) => comparison.operand)];
    case "membership":
      return [node.item, node.list];
    case "logic":
      return node.operands;
    case "choice":
      return [node.condition, node.then, node.otherwise];
  }
}
