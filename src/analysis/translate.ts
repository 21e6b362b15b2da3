import type { Formula } from "./formula.js";
import { constant } from "./formula.js";
import type { SampledPath, Test, Truth } from "./dimension.js";
import { isIntervalPrefix } from "./dimension.js";
import type { SpaceBuilder } from "./space.js";
import { Failure } from "../expression/failure.js";
import { interpret } from "../expression/interpret.js";
import { nodeText } from "../expression/node-text.js";
import { parse } from "../expression/parse.js";
import { isForbiddenKey } from "../expression/path.js";
import type { CallNode, Literal, Node, Relation } from "../expression/syntax.js";
import { children } from "../expression/syntax.js";
import { expressionsIn } from "../expression/template.js";
import type { FieldCondition, RuleCondition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";

/** What the names in the conditions of a definition refer to. */
export interface Names {
  /** The expression of `input`: a path, or text that is not analysed. Absent: the input is the whole context. */
  readonly input?: { readonly segments: readonly string[] } | { readonly text: string };
  /** The expressions of computed values. */
  readonly computed: ReadonlyMap<string, Node | string>;
  /** Names that callers cannot set, such as `facts`. */
  readonly reserved: readonly string[];
  /** Whether the context has a key `context`, which shadows the whole context. */
  readonly hasContextKey: boolean;
}

/** The meaning of a path. */
type Reference =
  | { readonly type: "path"; readonly segments: readonly string[] }
  /** A computed value that is a condition itself. */
  | { readonly type: "computed"; readonly tree: Node }
  /** A value that does not depend on the context alone; equal keys refer to the same value. */
  | { readonly type: "unknown"; readonly key: string; readonly reason: string };

/** A value that a test is about. */
type Operand =
  | { readonly type: "constant"; readonly value: Json | Failure }
  | { readonly type: "path"; readonly segments: readonly string[]; readonly fallback?: Literal };

/** Translates conditions into formulas over the dimensions of a space. */
export class Translator {
  readonly #space: SpaceBuilder;
  readonly #names: Names;

  constructor(space: SpaceBuilder, names: Names) {
    this.#space = space;
    this.#names = names;
  }

  /** True where the path has a value, errored where it is missing. */
  present(segments: readonly string[]): Formula {
    return segments.length === 0 ? constant("true") : this.#test(segments, { kind: { type: "present" } });
  }

  /** Errored where an expression has no value. */
  defined(node: Node): Formula {
    const reference = node.kind === "path" ? this.#resolve(node.segments) : undefined;
    if (reference?.type === "path") return this.present(reference.segments);
    if (isConstant(node))
      return constant(interpret(node, emptyScope) instanceof Failure ? "errored" : "true");
    const isCondition = alwaysConditions.includes(node.kind === "call" ? node.name : node.kind);
    return isCondition ? this.condition(node) : this.#opaque(node, "value ");
  }

  /** Errored where a text with expressions in it cannot be filled in. */
  text(text: string): Formula {
    const nodes = expressionsIn(text);
    const key = `text ${text} ${nodes.map((node) => nodeText(node, (each) => this.#pathKey(each))).join(" ")}`;
    const variables = nodes.flatMap((node) => this.variablesIn(node));
    const reason = `\`${text}\` is text with expressions in it`;
    return { type: "opaque", dimension: this.#space.addOpaque(key, { text, variables }), reason };
  }

  /** Translates an expression whose value must be true or false. */
  condition(node: Node): Formula {
    if (node.kind !== "path" && isConstant(node)) return constantFormula(interpret(node, emptyScope));
    switch (node.kind) {
      case "path":
        return this.#booleanPath(node.segments, node);
      case "not":
        return { type: "not", part: this.condition(node.operand) };
      case "logic":
        return { type: node.operator, parts: node.operands.map((operand) => this.condition(operand)) };
      case "choice":
        return {
          type: "choice",
          condition: this.condition(node.condition),
          then: this.condition(node.then),
          otherwise: this.condition(node.otherwise),
        };
      case "compare": {
        let left = node.first;
        const parts = node.rest.map(({ operator, operand }) => {
          const part = this.#comparison(left, operator, operand);
          left = operand;
          return part;
        });
        return parts.length === 1 ? (parts[0] ?? this.#opaque(node)) : { type: "and", parts };
      }
      case "membership": {
        const member = this.#membership(node.item, node.list, node);
        return node.negated && member.type !== "opaque" ? { type: "not", part: member } : member;
      }
      case "call":
        return this.#call(node);
      case "literal":
      case "list":
      case "negative":
      case "arithmetic":
        return this.#opaque(node);
    }
  }

  /** Translates the `if` of a scored rule, which is never errored. */
  rule(condition: RuleCondition): Formula {
    const all = (conditions: readonly RuleCondition[]): readonly Formula[] =>
      conditions.map((each) => this.rule(each));
    if ("all" in condition) return { type: "and", parts: all(condition.all) };
    if ("any" in condition) return { type: "or", parts: all(condition.any) };
    if ("none" in condition) return { type: "not", part: { type: "or", parts: all(condition.none) } };
    return this.#field(condition);
  }

  #field(condition: FieldCondition): Formula {
    const { field, op } = condition;
    const reference = this.#resolve(field.split("."));
    const kind = ruleTest(condition);
    if (reference.type === "path" && kind !== undefined)
      return this.#negatable(reference.segments, { ...kind, lenient: true });
    const text = `${field} ${op}${condition.value === undefined ? "" : ` ${JSON.stringify(condition.value)}`}`;
    const reason =
      reference.type === "unknown"
        ? reference.reason
        : `the operator \`${op}\` of \`${field}\` is not analysed`;
    const key = `rule ${this.#pathKey(field.split("."))} ${op} ${JSON.stringify(condition.value ?? null)}`;
    const variables =
      reference.type === "path" ? [sampledPath(reference.segments, [condition.value ?? null])] : [];
    return { type: "opaque", dimension: this.#space.addOpaque(key, { text, variables }), reason };
  }

  #negatable(segments: readonly string[], { negated, ...test }: RuleTest & { lenient: true }): Formula {
    const formula = this.#test(segments, test);
    if (!negated) return formula;
    // A missing field fails the negated operators too.
    const present = this.#test(segments, { kind: { type: "present" }, lenient: true });
    return { type: "and", parts: [present, { type: "not", part: formula }] };
  }

  #test(segments: readonly string[], test: Test): Formula {
    return { type: "test", dimension: this.#space.addTest(segments, test), test };
  }

  #booleanPath(segments: readonly string[], node: Node): Formula {
    const reference = this.#resolve(segments);
    if (reference.type === "path") return this.#test(reference.segments, { kind: { type: "boolean" } });
    return reference.type === "computed" ? this.condition(reference.tree) : this.#opaque(node);
  }

  #comparison(left: Node, relation: Relation, right: Node): Formula {
    const node: Node = { kind: "compare", first: left, rest: [{ operator: relation, operand: right }] };
    if (isConstant(node)) return constantFormula(interpret(node, emptyScope));
    return (
      this.#pathComparison(left, relation, right) ??
      this.#pathComparison(right, mirrored[relation], left) ??
      this.#booleanComparison(left, relation, right) ??
      this.#booleanComparison(right, relation, left) ??
      this.#opaque(node)
    );
  }

  #pathComparison(left: Node, relation: Relation, right: Node): Formula | undefined {
    const operand = this.#operand(left);
    const other = isConstant(right) ? interpret(right, emptyScope) : undefined;
    if (operand?.type !== "path" || other === undefined) return undefined;
    if (other instanceof Failure) return constant("errored");
    if (!isLiteral(other)) return undefined;
    return this.#operandTest(operand, { type: "compare", relation, value: other });
  }

  /** A condition that is compared with true or false. */
  #booleanComparison(left: Node, relation: Relation, right: Node): Formula | undefined {
    const isCondition = alwaysConditions.includes(left.kind === "call" ? left.name : left.kind);
    if (!isCondition || (relation !== "==" && relation !== "!=") || right.kind !== "literal")
      return undefined;
    if (typeof right.value !== "boolean") return undefined;
    const formula = this.condition(left);
    return right.value === (relation === "==") ? formula : { type: "not", part: formula };
  }

  #operandTest(
    { segments, fallback }: Extract<Operand, { readonly type: "path" }>,
    kind: Test["kind"],
  ): Formula {
    return this.#test(segments, { kind, ...(fallback !== undefined && { fallback }) });
  }

  #membership(item: Node, list: Node, node: Node): Formula {
    const operand = this.#operand(item);
    const values = isConstant(list) ? interpret(list, emptyScope) : undefined;
    if (operand?.type !== "path" || values === undefined) return this.#opaque(node);
    if (values instanceof Failure || !Array.isArray(values)) return constant("errored");
    const literals = (values as readonly Json[]).filter(isLiteral);
    if (literals.length < values.length) return this.#opaque(node);
    return this.#operandTest(operand, { type: "in", values: literals });
  }

  #call(node: CallNode): Formula {
    const [first, second, third] = node.args;
    const operand = first && this.#operand(first);
    if (operand?.type !== "path") return this.#opaque(node);
    const constantOf = (arg: Node | undefined): Json | Failure | undefined =>
      arg && isConstant(arg) ? interpret(arg, emptyScope) : undefined;
    const kind = callTest(node.name, constantOf(second), constantOf(third));
    if (node.name === "get") {
      const whole = this.#operand(node);
      return whole?.type === "path" ? this.#operandTest(whole, { type: "boolean" }) : this.#opaque(node);
    }
    return kind === undefined ? this.#opaque(node) : this.#operandTest(operand, kind);
  }

  /** Returns the value that a node stands for, if it is a constant, a path, or `get` on a path. */
  #operand(node: Node): Operand | undefined {
    if (isConstant(node)) return { type: "constant", value: interpret(node, emptyScope) };
    if (node.kind === "path") {
      const reference = this.#resolve(node.segments);
      return reference.type === "path" ? reference : undefined;
    }
    if (node.kind !== "call" || node.name !== "get") return undefined;
    const [from, key, otherwise] = node.args;
    const segments = from && this.#operand(from);
    const step = key && keyOf(key);
    if (segments?.type !== "path" || step === undefined) return undefined;
    if (otherwise === undefined)
      return { ...segments, segments: [...segments.segments, step], fallback: null };
    const fallback = isConstant(otherwise) ? interpret(otherwise, emptyScope) : undefined;
    if (fallback === undefined || fallback instanceof Failure || !isLiteral(fallback)) return undefined;
    return { type: "path", segments: [...segments.segments, step], fallback };
  }

  #opaque(node: Node, prefix = ""): Formula {
    const key = prefix + nodeText(node, (segments) => this.#pathKey(segments));
    const text = nodeText(node);
    const truthOf = prefix === "" ? this.#truthOf(node) : undefined;
    const dimension = this.#space.addOpaque(key, { text, variables: this.variablesIn(node), truthOf });
    return { type: "opaque", dimension, reason: `\`${text}\` ${this.#why(node)}` };
  }

  /** Returns how a condition is evaluated for a context; undefined if it reads more than the context. */
  #truthOf(node: Node): ((context: JsonObject) => Truth) | undefined {
    const unknown: string[] = [];
    const write = (segments: readonly string[]): string => {
      const reference = this.#resolve(segments);
      if (reference.type === "computed") return `(${nodeText(reference.tree, write)})`;
      if (reference.type === "path" && reference.segments.length > 0) return reference.segments.join(".");
      unknown.push(segments.join("."));
      return "";
    };
    const text = nodeText(node, write);
    if (unknown.length > 0) return undefined;
    let tree: Node | undefined;
    return (context) => {
      tree ??= parse(text);
      const value = interpret(tree, { ...emptyScope, context });
      return typeof value === "boolean" ? `${value}` : "errored";
    };
  }

  /** Returns the paths of the context that an expression reads, with values that may matter to it. */
  variablesIn(node: Node): readonly SampledPath[] {
    const literals = literalsIn(node);
    const paths = new Map<string, readonly string[]>();
    const collect = (segments: readonly string[]): void => {
      const reference = this.#resolve(segments);
      if (reference.type === "path") paths.set(JSON.stringify(reference.segments), reference.segments);
      else if (reference.type === "computed") pathsIn(reference.tree).forEach(collect);
    };
    pathsIn(node).forEach(collect);
    return [...paths.values()].map((segments) => sampledPath(segments, literals));
  }

  #pathKey(segments: readonly string[]): string {
    const reference = this.#resolve(segments);
    switch (reference.type) {
      case "path":
        return JSON.stringify(reference.segments);
      case "computed":
        return `(${nodeText(reference.tree, (each) => this.#pathKey(each))})`;
      case "unknown":
        return reference.key;
    }
  }

  #why(node: Node): string {
    const unknown = pathsIn(node)
      .map((segments) => this.#resolve(segments))
      .find((reference) => reference.type === "unknown");
    if (unknown !== undefined) return unknown.reason;
    const called = calledIn(node);
    if (called !== undefined) return `calls \`${called}\``;
    if (hasArithmetic(node)) return "computes a value";
    return pathsIn(node).length > 1 ? "compares one path with another" : "is not a comparison with a literal";
  }

  /** Follows `input`, `context` and computed values to the paths of the context behind them. */
  #resolve(segments: readonly string[], depth = 0): Reference {
    const [root = "", ...rest] = segments;
    const { input, computed, reserved, hasContextKey } = this.#names;
    const written = segments.join(".");
    if (reserved.includes(root))
      return { type: "unknown", key: written, reason: `reads \`${root}\`, which is not part of the input` };
    if (root === "input") {
      if (input === undefined) return { type: "path", segments: rest };
      if ("segments" in input) return { type: "path", segments: [...input.segments, ...rest] };
      const reason = "reads `input`, which is computed by an expression";
      return { type: "unknown", key: `input(${input.text}).${rest.join(".")}`, reason };
    }
    if (root === "context") return { type: "path", segments: hasContextKey ? segments : rest };
    const tree = computed.get(root);
    if (tree === undefined) return { type: "path", segments };
    // Computed values refer only to those before them.
    if (typeof tree !== "string" && depth < computed.size) {
      if (tree.kind === "path") return this.#resolve([...tree.segments, ...rest], depth + 1);
      if (rest.length === 0) return { type: "computed", tree };
    }
    const text = typeof tree === "string" ? tree : nodeText(tree, (each) => this.#pathKey(each));
    return {
      type: "unknown",
      key: `computed(${text}).${rest.join(".")}`,
      reason: `reads the computed value \`${root}\``,
    };
  }
}

const emptyScope = { context: {}, input: undefined, facts: {}, system: {} };

const mirrored: Readonly<Record<Relation, Relation>> = {
  "<": ">",
  "<=": ">=",
  ">": "<",
  ">=": "<=",
  "==": "==",
  "!=": "!=",
};

/** Nodes and functions whose value, if they have one, is true or false. */
const alwaysConditions = [
  "compare",
  "not",
  "logic",
  "membership",
  "exists",
  "empty",
  "between",
  "starts_with",
];

const isConstant = (node: Node): boolean => node.kind !== "path" && children(node).every(isConstant);

const isLiteral = (value: Json | undefined): value is Literal =>
  value !== undefined && (value === null || typeof value !== "object");

function constantFormula(value: Json | Failure): Formula {
  return constant(typeof value === "boolean" ? (value ? "true" : "false") : "errored");
}

/** A list has items at whole numbers only, and an object may have any key. */
function keyOf(node: Node): string | undefined {
  if (node.kind !== "literal") return undefined;
  const { value } = node;
  if (typeof value === "number") return Number.isInteger(value) && value >= 0 ? String(value) : undefined;
  // A list has no item at the text '0', but the path `list.0` has.
  return typeof value === "string" && !/^\d+$/.test(value) && !isForbiddenKey(value) ? value : undefined;
}

function callTest(
  name: string,
  second: Json | Failure | undefined,
  third: Json | Failure | undefined,
): Test["kind"] | undefined {
  switch (name) {
    case "exists":
      return { type: "exists" };
    case "empty":
      return { type: "empty" };
    case "between":
      return second instanceof Failure || third instanceof Failure || !isLiteral(second) || !isLiteral(third)
        ? undefined
        : { type: "between", low: second, high: third };
    case "starts_with":
      return typeof second === "string" && isIntervalPrefix(second)
        ? { type: "starts_with", text: second }
        : undefined;
    default:
      return undefined;
  }
}

type RuleTest = Omit<Test, "lenient"> & { readonly negated?: true };

const ruleRelations: Readonly<Record<string, Relation>> = {
  eq: "==",
  gt: ">",
  gte: ">=",
  lt: "<",
  lte: "<=",
};

/** Returns the test of an operator of scored rules that depends on cells only. */
function ruleTest({ op, value = null }: FieldCondition): RuleTest | undefined {
  const list = Array.isArray(value) ? (value as readonly Json[]) : undefined;
  const relation = Object.hasOwn(ruleRelations, op) ? ruleRelations[op] : undefined;
  if (relation !== undefined)
    return isLiteral(value) ? { kind: { type: "compare", relation, value } } : undefined;
  switch (op) {
    case "neq":
      return isLiteral(value) ? { kind: { type: "compare", relation: "!=", value } } : undefined;
    case "in":
    case "not_in": {
      if (list?.every(isLiteral) !== true) return undefined;
      const values = list.filter(isLiteral);
      return { kind: { type: "in", values }, ...(op === "not_in" && { negated: true }) };
    }
    case "between": {
      const [low, high] = list ?? minAndMax(value);
      return isLiteral(low) && isLiteral(high) ? { kind: { type: "between", low, high } } : undefined;
    }
    case "starts_with":
      return typeof value === "string" && isIntervalPrefix(value)
        ? { kind: { type: "starts_with", text: value } }
        : undefined;
    case "blank":
      return { kind: { type: "empty" } };
    case "present":
      return { kind: { type: "empty" }, negated: true };
    default:
      return undefined;
  }
}

function minAndMax(value: Json): readonly (Json | undefined)[] {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return [];
  const { min, max } = value as Readonly<Record<string, Json>>;
  return [min, max];
}

const literalsIn = (node: Node): readonly Json[] =>
  node.kind === "literal" ? [node.value] : children(node).flatMap(literalsIn);

/** Values that often change the result of an operator or a function with these literals. */
function sampledPath(segments: readonly string[], literals: readonly Json[]): SampledPath {
  const near = literals.flatMap((value): readonly Json[] => {
    if (typeof value === "number") {
      const length = Number.isInteger(value) && value >= 0 && value < 20 ? value : 0;
      const list = Array.from({ length: length + 1 }, (_, index) => index);
      return [value, value + 1, value - 1, list, list.slice(1), "a".repeat(length + 1)];
    }
    return typeof value === "string" ? [value, `${value}a`, `a${value}`, [value]] : [value, [value]];
  });
  return { segments, values: [...near, ...usualValues] };
}

const usualValues: readonly Json[] = [1, 0, -1, 2, "a", "", true, false, [], ["a"], [1], null];

function pathsIn(node: Node): readonly (readonly string[])[] {
  return node.kind === "path" ? [node.segments] : children(node).flatMap(pathsIn);
}

function calledIn(node: Node): string | undefined {
  if (node.kind === "call") return node.pattern === undefined ? node.name : "matches";
  for (const child of children(node)) {
    const found = calledIn(child);
    if (found !== undefined) return found;
  }
  return undefined;
}

const hasArithmetic = (node: Node): boolean =>
  node.kind === "arithmetic" || node.kind === "negative" || children(node).some(hasArithmetic);
