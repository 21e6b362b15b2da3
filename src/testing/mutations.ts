import { branchesOf } from "../definition/branches.js";
import { matchesGlob } from "../definition/tool-match.js";
import type { Path } from "../definition/yaml-source.js";
import { isObject } from "../expression/equal.js";
import { compileCondition } from "../expression/template.js";
import type { Token } from "../expression/tokens.js";
import { tokenize } from "../expression/tokens.js";
import type { Case, Definition, Environment, LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";

/** A definition with one change. */
export interface Mutation {
  /** What was changed, such as `input >= 0.8 → input > 0.8`. */
  readonly text: string;
  /** The path of the change. */
  readonly path: Path;
  readonly definition: Definition;
  /** Whether the change provably changes no answer. */
  readonly isEquivalent?: true;
}

/** A change of a part of the definition; undefined removes it. */
interface Change {
  readonly path: Path;
  readonly value: Json | undefined;
  readonly text: string;
  readonly isEquivalent?: true;
}

/** Returns every mutation of a definition once, in the order of the definition. */
export function mutationsOf({ definition, environment }: LoadedDefinition): readonly Mutation[] {
  const { targets = [] } = environment as Partial<Environment>;
  const disabled = targets.flatMap((target) => (target.disabled === true ? [target.id] : []));
  const document = definition as unknown as JsonObject;
  const found = new Map<string, Mutation>();
  for (const { path, value, text, isEquivalent = isUnusedGuardrail(definition, path, disabled) } of [
    ...changesIn(document, []),
    ...orderChanges(definition),
  ]) {
    const changed = changeAt(document, path, value) as unknown as Definition;
    const key = JSON.stringify(changed);
    if (key === JSON.stringify(document) || found.has(key)) continue;
    found.set(key, { text, path, definition: changed, ...(isEquivalent && { isEquivalent: true }) });
  }
  return [...found.values()];
}

/** Whether a guardrail blocks none of the targets of its decision, so that leaving it out changes no answer. */
function isUnusedGuardrail(definition: Definition, [key, index]: Path, disabled: readonly string[]): boolean {
  const guardrail = key === "guardrails" ? definition.guardrails?.[Number(index)] : undefined;
  if (guardrail?.type !== "no_disabled_targets") return false;
  const { disabled_stages: globs = [], on_fail: onFail = "block" } = guardrail;
  const targets = branchesOf(definition).map(({ target }) => target);
  const isRouted = definition.type !== "policy" && definition.type !== "gate";
  // A target that is declared as disabled is blocked without any guardrail.
  const names = onFail === "block" ? globs : [...globs, ...disabled];
  return isRouted && !targets.some((target) => names.some((name) => matchesGlob(name, target)));
}

function changeAt(part: Json, [step, ...rest]: Path, value: Json | undefined): Json {
  if (Array.isArray(part)) {
    const items = part as readonly Json[];
    if (rest.length === 0 && value === undefined) return items.filter((_, index) => index !== step);
    return items.map((item, index) =>
      index !== step ? item : rest.length === 0 ? (value ?? null) : changeAt(item, rest, value),
    );
  }
  if (!isObject(part) || step === undefined) return part;
  const { [step]: inner = null, ...others } = part;
  if (rest.length === 0 && value === undefined) return others;
  return { ...part, [step]: rest.length === 0 ? (value ?? null) : changeAt(inner, rest, value) };
}

/** The keys of expressions that are conditions or values of them. */
const expressionKeys: ReadonlySet<unknown> = new Set(["condition", "when", "applies_when", "expression"]);
/** The keys whose items can be left out one by one. */
const removableItems: ReadonlySet<unknown> = new Set([
  "cases",
  "rules",
  "evaluators",
  "policies",
  "conditions",
  "requires",
  "guardrails",
  "suppresses",
  "all",
  "any",
  "none",
]);
/** The keys that can be left out. */
const removableKeys: ReadonlySet<unknown> = new Set([
  "applies_when",
  "effective_from",
  "expires_at",
  "work_frame",
  "context_schema",
  "read_before_write",
  "aggregate",
]);
/** Numbers that decide. */
const numberKeys: ReadonlySet<unknown> = new Set([
  "count",
  "most",
  "max_applications",
  "threshold",
  "minimum_agreement",
]);
/** What changes no answer, or is no part of the decision. */
const ignoredKeys: ReadonlySet<unknown> = new Set([
  "id",
  "name",
  "version",
  "description",
  "entities",
  "artifacts",
  "logging",
  "cache",
  "enrich",
  "metadata",
]);

const replacements: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  op: { gte: "gt", gt: "gte", lte: "lt", lt: "lte", eq: "neq", neq: "eq" },
  status: { RED: "YELLOW", YELLOW: "RED", GREEN: "YELLOW", "GREEN-SKIP": "GREEN" },
  hit_policy: {
    first: "collect",
    collect: "first",
    priority: "collect",
    rule_order: "first",
    output_order: "rule_order",
  },
  aggregate: { sum: "max", max: "min", min: "max" },
  action: { allow_with_warning: "allow" },
};

/** Finds the changes in a part of a definition. */
function changesIn(part: Json, path: Path): readonly Change[] {
  const key = path.at(-1);
  const above = path.at(-2);
  if (Array.isArray(part)) {
    const items = part as readonly Json[];
    const isRemovable =
      removableItems.has(key) && (items.length > 1 || key === "guardrails" || key === "conditions");
    return items.flatMap((item, index) => [
      ...(isRemovable
        ? [{ path: [...path, index], value: undefined, text: `without ${shortText(item)}` }]
        : []),
      ...changesIn(item, [...path, index]),
    ]);
  }
  if (isObject(part)) {
    return Object.entries(part).flatMap(([name, value]) => {
      if (ignoredKeys.has(name)) return [];
      const at = [...path, name];
      if (name === "output") return outputChanges(value, at);
      const isRemovable = removableKeys.has(name) || (name === "suppresses" && path.length > 0);
      const removed = isRemovable ? [{ path: at, value: undefined, text: `without \`${name}\`` }] : [];
      return [...removed, ...changesIn(value, at)];
    });
  }
  const to = (value: Json): Change => ({
    path,
    value,
    text: `${String(key)}: ${shortText(part)} → ${shortText(value)}`,
  });
  if (typeof part === "number") return numberChanges(part, key, above).map(to);
  if (typeof part === "boolean") return key === "value" ? [to(!part)] : [];
  if (typeof part !== "string") return [];
  if (expressionKeys.has(key) || above === "computed") {
    return expressionChanges(part, above !== "computed").map((value) => ({
      path,
      value,
      text: `${part} → ${value}`,
    }));
  }
  const named = Object.hasOwn(replacements, String(key)) ? replacements[String(key)]?.[part] : undefined;
  if (named !== undefined) return [to(named)];
  if (key === "target" || (key === "decision" && path.includes("evaluators")) || above === "targets")
    return [to(`${part}-changed`)];
  return key === "value" ? [to(`${part}-changed`)] : [];
}

/** Changes each value of an output. */
function outputChanges(part: Json, path: Path): readonly Change[] {
  if (Array.isArray(part))
    return (part as readonly Json[]).flatMap((item, index) => outputChanges(item, [...path, index]));
  if (isObject(part))
    return Object.entries(part).flatMap(([name, value]) => outputChanges(value, [...path, name]));
  return changedValues(part).map((value) => ({
    path,
    value,
    text: `${path.slice(path.lastIndexOf("output")).join(".")}: ${shortText(part)} → ${shortText(value)}`,
  }));
}

function changedValues(value: Json): readonly Json[] {
  if (typeof value === "number") return [Number((value + stepOf(String(value))).toPrecision(12))];
  if (typeof value === "boolean") return [!value];
  if (typeof value !== "string") return ["changed"];
  const expression = /^\s*\{\{((?:(?!\}\}).)*)\}\}\s*$/s.exec(value)?.[1];
  if (expression === undefined) return [`${value}-changed`];
  return [...expressionChanges(expression, false), "null"].map((each) => `{{ ${each} }}`);
}

function numberChanges(number: number, key: unknown, above: unknown): readonly number[] {
  if (key === "weight")
    return above === "cases" || above === undefined ? [] : [Math.max(0, Number((number - 0.1).toFixed(6)))];
  if (!numberKeys.has(key) && key !== "value" && above !== "value") return [];
  const step = stepOf(String(number));
  return [number + step, number - step]
    .map((each) => Number(each.toPrecision(12)))
    .filter((each) => each >= 0 || number < 0);
}

/** One in the last decimal place. */
const stepOf = (text: string): number => 10 ** -(/\.(\d+)$/.exec(text)?.[1]?.length ?? 0);

const shortText = (value: Json): string => {
  const text = typeof value === "string" ? value : JSON.stringify(value);
  return text.length > 80 ? `${text.slice(0, 79)}…` : text;
};

const operatorChanges: Readonly<Record<string, readonly string[]>> = {
  "<": ["<=", ">="],
  "<=": ["<", ">"],
  ">": [">=", "<="],
  ">=": [">", "<"],
  "==": ["!="],
  "!=": ["=="],
  and: ["or"],
  or: ["and"],
  not: [""],
  "+": ["-"],
  "-": ["+"],
  "*": ["/"],
  "/": ["*"],
  true: ["false"],
  false: ["true"],
};

/** Changes one operator or literal of an expression, leaves out an operand of `and` or `or`, or all of a condition. */
export function expressionChanges(text: string, isCondition: boolean): readonly string[] {
  if (/\{\{|\$\{/.test(text) || text.trim() === "") return [];
  const tokens = tokenize(text).filter(({ kind }) => kind !== "end");
  const changed = tokens.flatMap((token) =>
    changesOfToken(token).map(
      (replacement) => `${text.slice(0, token.at)}${replacement}${text.slice(token.at + token.length)}`,
    ),
  );
  const isConstant = compileCondition(text).reads.length === 0;
  return [...changed, ...withoutOperand(text, tokens), ...(isCondition && !isConstant ? ["true"] : [])].map(
    (each) => each.trim(),
  );
}

function changesOfToken({ kind, value }: Token): readonly string[] {
  switch (kind) {
    case "number": {
      const [number, step] = [Number(value), stepOf(value)];
      return [number + step, number - step].map((each) => String(Number(each.toPrecision(12))));
    }
    case "text":
      return [`'${value.replace(/['\\]/g, "\\$&")}-changed'`];
    case "word":
    case "symbol":
      return Object.hasOwn(operatorChanges, value) ? (operatorChanges[value] ?? []) : [];
    case "path":
    case "end":
      return [];
  }
}

function withoutOperand(text: string, tokens: readonly Token[]): readonly string[] {
  let depth = 0;
  const joints = tokens.filter(({ kind, value }) => {
    if (kind === "symbol" && (value === "(" || value === "[")) depth++;
    if (kind === "symbol" && (value === ")" || value === "]")) depth--;
    return depth === 0 && kind === "word" && (value === "and" || value === "or");
  });
  if (joints.length === 0) return [];
  const starts = [0, ...joints.map(({ at, length }) => at + length)];
  const ends = [...joints.map(({ at }) => at), text.length];
  return starts.map((start, index) => {
    const from = index === 0 ? 0 : (joints[index - 1]?.at ?? 0);
    const to = index === 0 ? (starts[1] ?? 0) : (ends[index] ?? start);
    return `${text.slice(0, from)}${text.slice(to)}`;
  });
}

/** Swaps neighbouring cases where the first match wins, and weights of neighbouring cases. */
function orderChanges(definition: Definition): readonly Change[] {
  const { type } = definition;
  if (type === "weighted") {
    return definition.cases
      .slice(1)
      .map((each, index) => {
        const before = definition.cases[index];
        const cases = swapped(
          definition.cases,
          index,
          { ...before, weight: each.weight ?? 0 },
          { ...each, weight: before?.weight ?? 0 },
        );
        return { path: ["cases", index], value: undefined, text: "swap two weights", cases };
      })
      .map(({ text, cases }) => ({ path: ["cases"], value: cases as unknown as Json, text }));
  }
  const isFirst =
    type === "binary" ||
    type === "switch" ||
    (type === "rule_table" && (definition.hit_policy ?? "first") === "first");
  if (!isFirst) return [];
  const key = type === "rule_table" && definition.rules !== undefined ? "rules" : "cases";
  const cases = (type === "rule_table" ? (definition.rules ?? definition.cases) : definition.cases) ?? [];
  return cases.slice(1).map((each, index) => {
    const before = cases[index] ?? each;
    const value = swapped(cases, index, each, before) as unknown as Json;
    return { path: [key], value, text: `swap ${nameOf(before)} and ${nameOf(each)}` };
  });
}

const nameOf = ({ label, target, condition = "" }: Case): string => label ?? target ?? condition;

const swapped = (cases: readonly Case[], at: number, first: object, second: object): readonly object[] =>
  cases.map((each, index) => (index === at ? first : index === at + 1 ? second : each));
