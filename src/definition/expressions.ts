import { DecisionError } from "../errors.js";
import { renderCaret, expressionLocation } from "../expression/failure.js";
import { compileCondition, compileInput, compileTemplate } from "../expression/template.js";
import type { Case, Definition } from "../model/definition.js";
import { isRouting } from "./decision-types.js";
import { findFetchConditions } from "./fetches.js";
import type { Path } from "./yaml-source.js";

/** An expression of a definition that does not compile. */
interface ExpressionFinding {
  readonly path: Path;
  readonly offset: number;
  readonly message: string;
  readonly hint: string | undefined;
  readonly excerpt: string;
}

/** Compiles every expression that a `decision` holds, sound otherwise or not, and tells of those that cannot be. */
export function checkExpressions(decision: unknown): readonly ExpressionFinding[] {
  const faults: ExpressionFinding[] = [];
  for (const { path, text, compile } of expressionsIn(decision)) {
    try {
      compile(text);
    } catch (error) {
      faults.push(toExpressionFinding(error, path));
    }
  }
  return faults;
}

type Compile = (text: string) => { readonly reads: readonly string[] };

/** Whichever type of decision it is: a place that a type does not have is simply not there. */
const expressionPlaces: readonly { readonly path: readonly string[]; readonly compile: Compile }[] = [
  { path: ["input"], compile: compileInput },
  { path: ["cases", "*", "condition"], compile: compileCondition },
  { path: ["rules", "*", "condition"], compile: compileCondition },
  { path: ["evaluators", "*", "rules", "*", "when"], compile: compileCondition },
  { path: ["policies", "*", "conditions", "*", "expression"], compile: compileCondition },
  { path: ["policies", "*", "when"], compile: compileCondition },
  { path: ["policies", "*", "read_before_write", "path"], compile: compileInput },
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

interface LocatedExpression {
  readonly path: Path;
  readonly text: string;
  readonly compile: Compile;
}

/** As the schema has it. */
export const maxTemplateLength = 8192;

/** An empty or a far too long text is the schema's to complain about; one of blanks gets through it. */
export function expressionsIn(decision: unknown): readonly LocatedExpression[] {
  const blankAllowed = asMap(decision)["type"] === "weighted";
  const isMeant = (text: string): boolean =>
    text !== "" && text.length <= maxTemplateLength && !(blankAllowed && text.trim() === "");
  const placed = expressionPlaces.flatMap(({ path, compile }) =>
    textsAt(decision, path).map((found) => ({ ...found, compile })),
  );
  return [...placed, ...fetchParamExpressions(decision)].filter(({ text }) => isMeant(text));
}

/** What the conditions of a scored decision fetch with. */
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

/** The texts that a pattern leads to: `*` is every item or value, `**` everything below. */
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

/** The cases of a routing definition with where they stand in it; others have none. */
export function casesOf(definition: Definition): readonly { readonly path: Path; readonly each: Case }[] {
  if (!isRouting(definition)) return [];
  const key = definition.type === "rule_table" && definition.rules !== undefined ? "rules" : "cases";
  const cases = definition.type === "rule_table" ? (definition.rules ?? definition.cases) : definition.cases;
  return (cases ?? []).map((each, index) => ({ path: [key, index], each }));
}

function toExpressionFinding(error: unknown, path: Path): ExpressionFinding {
  const place = error instanceof DecisionError ? expressionLocation(error) : undefined;
  if (!(error instanceof DecisionError) || place === undefined) throw error;
  return { path, offset: place.at, message: error.message, hint: error.hint, excerpt: renderCaret(place) };
}
