import { compileCondition, compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import { casesOf } from "./expressions.js";
import { readsMasked } from "./mask-pointers.js";

/** The paths that the input and the conditions of a definition read. */
export function definitionReads(definition: Definition): readonly string[] {
  const conditions = casesOf(definition).flatMap(({ each }) =>
    each.condition === undefined || each.condition === "" ? [] : compileCondition(each.condition).reads,
  );
  return [...inputReads(definition), ...conditions];
}

/** Whether the input is masked in the log, so that two of them cannot be told apart there. */
export function isInputMasked(definition: Definition): boolean {
  const pointers = definition.logging?.mask ?? [];
  return pointers.length > 0 && inputReads(definition).some((path) => readsMasked(path, pointers));
}

const inputReads = ({ input }: Definition): readonly string[] =>
  input === undefined ? ["context"] : compileInput(input).reads;
