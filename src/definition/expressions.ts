import { inexactMessage } from "../digest/parse-json.js";
import { DecisionError } from "../errors.js";
import type { ExpressionLocation } from "../expression/failure.js";
import { renderCaret, expressionLocation } from "../expression/failure.js";
import type { Node } from "../expression/syntax.js";
import { children } from "../expression/syntax.js";
import type { Template } from "../expression/template.js";
import { compileCondition, compileInput, compileTemplate } from "../expression/template.js";
import type { Finding } from "./diagnostics.js";
import { findFetchConditions } from "./fetches.js";
import type { Path } from "./yaml-source.js";

/**
 * Compiles every expression of a `decision`, even of an invalid one, and reports those that do not compile.
 * `isBeforeComment` tells whether a comment follows the text at a path of the decision, which may have cut it.
 */
export function checkExpressions(
  decision: unknown,
  isBeforeComment: (path: Path) => boolean,
): readonly Finding[] {
  const findings: Finding[] = [];
  for (const { path, text, compile } of expressionsIn(decision)) {
    try {
      const { tree } = compile(text);
      if (tree !== undefined) findings.push(...inexactIntegers(tree, path));
    } catch (error) {
      findings.push(toFinding(error, path, isBeforeComment));
    }
  }
  return findings;
}

function inexactIntegers(node: Node, path: Path): readonly Finding[] {
  if (node.kind !== "literal") return children(node).flatMap((child) => inexactIntegers(child, path));
  if (node.inexact === undefined) return [];
  const { written } = node.inexact;
  return [{ path, message: inexactMessage(written), hint: `compare it as text: \`'${written}'\`` }];
}

function toFinding(error: unknown, path: Path, isBeforeComment: (path: Path) => boolean): Finding {
  const location = error instanceof DecisionError ? expressionLocation(error) : undefined;
  if (!(error instanceof DecisionError) || location === undefined) throw error;
  const { message, hint } = error;
  const key = path.findLast((step) => typeof step === "string");
  const isCut = hint === undefined && endsEarly(location) && isBeforeComment(path);
  return {
    path,
    offset: location.at,
    message,
    hint: isCut
      ? `\`#\` starts a comment: put all of \`${key}\` in quotes, and text in it too, as in \`"a == '#1'"\``
      : hint,
    excerpt: renderCaret(location),
  };
}

/** Whether more text could correct an expression: it ends too early, or within quotes. */
const endsEarly = ({ expression, at }: ExpressionLocation): boolean =>
  at === expression.length || /^(["'])(?!.*\1)/s.test(expression.slice(at));

type Compile = (text: string) => Template;

/** The expressions of all decision types; a type has only some of these places. */
const expressionPlaces: readonly { readonly path: readonly string[]; readonly compile: Compile }[] = [
  { path: ["input"], compile: compileInput },
  { path: ["cases", "*", "condition"], compile: compileCondition },
  { path: ["rules", "*", "condition"], compile: compileCondition },
  { path: ["evaluators", "*", "rules", "*", "when"], compile: compileCondition },
  { path: ["cases", "*", "output", "**"], compile: compileTemplate },
  { path: ["rules", "*", "output", "**"], compile: compileTemplate },
  { path: ["default", "output", "**"], compile: compileTemplate },
  { path: ["evaluators", "*", "rules", "*", "then", "output", "**"], compile: compileTemplate },
  { path: ["evaluators", "*", "static", "output", "**"], compile: compileTemplate },
  { path: ["policies", "*", "conditions", "*", "expression"], compile: compileCondition },
  { path: ["policies", "*", "when"], compile: compileCondition },
  { path: ["policies", "*", "read_before_write", "path"], compile: compileInput },
  { path: ["policies", "*", "max_sum", "of"], compile: compileInput },
  { path: ["max_sum", "of"], compile: compileInput },
  { path: ["policies", "*", "reason"], compile: compileTemplate },
  { path: ["policies", "*", "deny_reason"], compile: compileTemplate },
  { path: ["policies", "*", "params", "**"], compile: compileTemplate },
  { path: ["computed", "*"], compile: compileInput },
  { path: ["rules", "*", "applies_when"], compile: compileCondition },
  { path: ["rules", "*", "when"], compile: compileCondition },
  { path: ["rules", "*", "reason"], compile: compileTemplate },
  { path: ["enrich", "*", "params", "**"], compile: compileTemplate },
  { path: ["entities", "*", "id"], compile: compileTemplate },
  { path: ["artifacts", "*"], compile: compileTemplate },
];

/** Returns what the text at a path of a `decision` is; undefined: no expression. */
export function expressionKindAt(path: Path): "expression" | "template" | undefined {
  const place = expressionPlaces.find((each) => matchesPattern(each.path, path));
  if (place === undefined) return undefined;
  return place.compile === compileTemplate ? "template" : "expression";
}

function matchesPattern(pattern: readonly string[], path: Path): boolean {
  const isOpen = pattern.at(-1) === "**";
  const steps = isOpen ? pattern.slice(0, -1) : pattern;
  if (isOpen ? path.length < steps.length : path.length !== steps.length) return false;
  return steps.every((step, index) => step === "*" || step === path[index]);
}

interface LocatedExpression {
  readonly path: Path;
  readonly text: string;
  readonly compile: Compile;
}

/** The limit of the schema. */
export const maxTemplateLength = 8192;

/** Returns the expressions of a `decision`. Empty and too long texts are left out: the schema rejects them. */
export function expressionsIn(decision: unknown): readonly LocatedExpression[] {
  const mayBeBlank = asMap(decision)["type"] === "weighted";
  const isExpression = (text: string): boolean =>
    text !== "" && text.length <= maxTemplateLength && !(mayBeBlank && text.trim() === "");
  const placed = expressionPlaces.flatMap(({ path, compile }) =>
    textsAt(decision, path).map((found) => ({ ...found, compile })),
  );
  return [...placed, ...fetchParamExpressions(decision)].filter(({ text }) => isExpression(text));
}

/** The params of the conditions that fetch data, in a scored decision. */
function fetchParamExpressions(decision: unknown): readonly LocatedExpression[] {
  const found = findFetchConditions(asMap(decision)["evaluators"], ["evaluators"]);
  return found
    .flatMap(({ fetch, path }) => textsAt(fetch.params, ["**"], [...path, "params"]))
    .map((each) => ({ ...each, compile: compileTemplate }));
}

interface LocatedText {
  readonly path: Path;
  readonly text: string;
}

/** Returns the texts at a pattern of keys: `*` matches every key of one level, `**` every level below. */
export function textsAt(value: unknown, pattern: readonly string[], path: Path = []): readonly LocatedText[] {
  const [step, ...rest] = pattern;
  if (step === undefined) return typeof value === "string" ? [{ path, text: value }] : [];
  if (step === "**" && typeof value === "string") return [{ path, text: value }];
  const below = step === "**" ? pattern : rest;
  return childrenOf(value, step).flatMap(([key, child]) => textsAt(child, below, [...path, key]));
}

function childrenOf(value: unknown, step: string): readonly (readonly [string | number, unknown])[] {
  if (typeof value !== "object" || value === null) return [];
  if (Array.isArray(value)) return step.startsWith("*") ? [...(value as unknown[]).entries()] : [];
  if (step.startsWith("*")) return Object.entries(value);
  return Object.hasOwn(value, step) ? [[step, asMap(value)[step]]] : [];
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}
