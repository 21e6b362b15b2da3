import { DecisionError } from "../errors.js";
import { caret, expressionPlace } from "../expression/expression-error.js";
import { compileCondition, compileInput, compileTemplate } from "../expression/template.js";
import type { Template } from "../expression/template.js";
import type { Case, Definition } from "../model/definition.js";
import type { Path } from "./yaml-source.js";

/** An expression of a definition that does not compile. */
export interface ExpressionFault {
  readonly path: Path;
  readonly offset: number;
  readonly message: string;
  readonly hint: string | undefined;
  readonly excerpt: string;
}

/** Compiles every expression that a `decision` holds, sound otherwise or not, and tells of those that cannot be. */
export function expressionFaults(decision: unknown): readonly ExpressionFault[] {
  const faults: ExpressionFault[] = [];
  for (const { path, text, compile } of expressionsIn(decision)) {
    try {
      compile(text);
    } catch (error) {
      faults.push(faultFrom(error, path));
    }
  }
  return faults;
}

interface Written {
  readonly path: Path;
  readonly text: string;
  readonly compile: (text: string) => Template;
}

/** As the schema has it. */
const longestTemplate = 8192;

function expressionsIn(decision: unknown): readonly Written[] {
  const { type, input, cases, rules, entities, artifacts } = asMap(decision);
  const conditions = [...within("cases", cases, "condition"), ...within("rules", rules, "condition")];
  const asked = conditions.map((each) => ({ ...each, compile: compileCondition }));
  const ids = within("entities", entities, "id");
  const templates = [...ids, ...within("artifacts", artifacts)].map((each) => ({
    ...each,
    compile: compileTemplate,
  }));
  const blankAllowed = type === "weighted";
  const all = [{ path: ["input"], text: input, compile: compileInput }, ...asked, ...templates];
  return all.flatMap(({ path, text, compile }) => {
    // An empty or a far too long text is the schema's to complain about; one of blanks gets through it.
    if (
      typeof text !== "string" ||
      text === "" ||
      text.length > longestTemplate ||
      (blankAllowed && text.trim() === "")
    )
      return [];
    return [{ path, text, compile }];
  });
}

function within(key: string, list: unknown, field?: string): readonly { path: Path; text: unknown }[] {
  if (!Array.isArray(list)) return [];
  return list.map((item: unknown, index) =>
    field === undefined
      ? { path: [key, index], text: item }
      : { path: [key, index, field], text: asMap(item)[field] },
  );
}

function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
}

/** The cases of a definition with where they stand in it. */
export function casesOf(definition: Definition): readonly { readonly path: Path; readonly each: Case }[] {
  const key = definition.type === "rule_table" && definition.rules !== undefined ? "rules" : "cases";
  const cases = definition.type === "rule_table" ? (definition.rules ?? definition.cases) : definition.cases;
  return (cases ?? []).map((each, index) => ({ path: [key, index], each }));
}

function faultFrom(error: unknown, path: Path): ExpressionFault {
  const place = error instanceof DecisionError ? expressionPlace(error) : undefined;
  if (!(error instanceof DecisionError) || place === undefined) throw error;
  return { path, offset: place.at, message: error.message, hint: error.hint, excerpt: caret(place) };
}
