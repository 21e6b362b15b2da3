import type { Comparison, CompareOptions, NotCompared } from "./compare.js";
import { compareDefinitions, decidingFields } from "./compare.js";
import { partKey } from "./fields.js";
import { isLiteralOutput, outputsOf } from "../definition/outputs.js";
import type { Environment, LoadedDefinition } from "../model/definition.js";

/** Compares two definitions, and names what applies to them from outside and may make their answers differ. */
export function compareLoaded(
  before: LoadedDefinition,
  after: LoadedDefinition,
  options: CompareOptions = {},
): Comparison {
  const comparison = compareDefinitions(before.definition, after.definition, options);
  const skipped = [...environmentParts(before, after), ...foreignOverrides(before, after)];
  if (skipped.length === 0) return comparison;
  if (comparison.result === "equivalent") return { result: "unknown", not_compared: skipped };
  return { ...comparison, not_compared: [...comparison.not_compared, ...skipped] };
}

const environmentOf = ({ environment }: LoadedDefinition): Environment =>
  environment as unknown as Environment;

/** The declarations for all decisions that differ. Of targets and endpoints, those that both definitions use. */
function environmentParts(before: LoadedDefinition, after: LoadedDefinition): readonly NotCompared[] {
  const [a, b] = [environmentOf(before), environmentOf(after)];
  const areTargetsEqual = a.targets.every((target) => {
    const other = b.targets.find(({ id }) => id === target.id);
    return other === undefined || partKey(other) === partKey(target);
  });
  const areEndpointsEqual = Object.entries(a.endpoints ?? {}).every(([name, endpoint]) => {
    const other = b.endpoints?.[name];
    return other === undefined || partKey(other) === partKey(endpoint);
  });
  const areOutputsLiteral = [before, after].every(({ definition }) =>
    outputsOf(definition).every(({ output }) => isLiteralOutput(output)),
  );
  const areEqual = (key: "guardrails" | "masks"): boolean => partKey(a[key] ?? []) === partKey(b[key] ?? []);
  const parts: readonly (readonly [part: string, isEqual: boolean, reason: string])[] = [
    ["guardrails", areEqual("guardrails"), "guardrails check the answer after it was selected"],
    ["targets", areTargetsEqual, "guardrails check targets after they were selected"],
    ["endpoints", areEndpointsEqual, "the context is compared as it is after data was fetched into it"],
    ["masks", areOutputsLiteral || areEqual("masks"), "outputs that read masked values are not compared"],
  ];
  return parts.flatMap(([part, isEqual, reason]) =>
    isEqual ? [] : [{ part: `\`${part}\` for all decisions`, reason }],
  );
}

/** Overrides of other decisions may lift denials; which of them apply is not analysed. */
function foreignOverrides(before: LoadedDefinition, after: LoadedDefinition): readonly NotCompared[] {
  const [a = [], b = []] = [environmentOf(before).overrides, environmentOf(after).overrides];
  const isSame = decidingFields(before.definition) === decidingFields(after.definition);
  if ((a.length === 0 && b.length === 0) || (isSame && partKey(a) === partKey(b))) return [];
  return [{ part: "overrides of other decisions", reason: "they may lift denials" }];
}
