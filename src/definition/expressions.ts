import { DecisionError } from "../errors.js";
import { caret, expressionPlace } from "../expression/expression-error.js";
import { compileBareOrWrapped, compileTemplate } from "../expression/template.js";
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

/** Compiles every expression that a definition holds and tells of those that cannot be. */
export function expressionFaults(definition: Definition): readonly ExpressionFault[] {
  const faults: ExpressionFault[] = [];
  for (const { path, text, compile } of expressionsOf(definition)) {
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

function expressionsOf(definition: Definition): readonly Written[] {
  const written: Written[] = [];
  if (definition.input !== undefined) {
    written.push({ path: ["input"], text: definition.input, compile: compileBareOrWrapped });
  }
  for (const { path, each } of casesOf(definition)) {
    const text = each.condition ?? "";
    const optional = definition.type === "weighted";
    if (optional && text.trim() === "") continue;
    written.push({ path: [...path, "condition"], text, compile: compileBareOrWrapped });
  }
  for (const [index, entity] of (definition.entities ?? []).entries()) {
    written.push({ path: ["entities", index, "id"], text: entity.id, compile: compileTemplate });
  }
  for (const [index, artifact] of (definition.artifacts ?? []).entries()) {
    written.push({ path: ["artifacts", index], text: artifact, compile: compileTemplate });
  }
  return written;
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
