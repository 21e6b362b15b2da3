import { DecisionError } from "../errors.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import { casesOf } from "./branches.js";
import { isRouting } from "./decision-types.js";
import type { Path } from "./yaml-source.js";

/** An output of a definition, with its path in the definition. */
export interface DeclaredOutput {
  readonly output: Json;
  readonly path: Path;
}

/** Returns every output that a definition declares, in the order of the file; the default last. */
export function outputsOf(definition: Definition): readonly DeclaredOutput[] {
  if (isRouting(definition)) {
    const { output } = definition.default;
    return [
      ...casesOf(definition).flatMap(({ path, each }) => declared(each.output, path)),
      ...declared(output, ["default"]),
    ];
  }
  switch (definition.type) {
    case "scored":
      return definition.evaluators.flatMap((each, index) => {
        const path = ["evaluators", index];
        if ("static" in each) return declared(each.static.output, [...path, "static"]);
        if (!("rules" in each)) return [];
        return each.rules.flatMap(({ then }, at) => declared(then.output, [...path, "rules", at, "then"]));
      });
    case "gate":
      return definition.rules.flatMap(({ output }, index) => declared(output, ["rules", index]));
    case "policy":
      return [];
  }
}

const declared = (output: Json | undefined, path: Path): readonly DeclaredOutput[] =>
  output === undefined ? [] : [{ output, path: [...path, "output"] }];

/** Whether the results of a definition have `outputs`. */
export const declaresOutputs = (definition: Definition): boolean =>
  (definition.type === "rule_table" && definition.aggregate !== undefined) ||
  outputsOf(definition).length > 0;

/** Whether several rules of a definition can be selected at once. */
export function selectsSeveral(definition: Definition): boolean {
  if (definition.type !== "rule_table") return false;
  const { hit_policy: policy = "first" } = definition;
  return policy === "collect" || policy === "rule_order" || policy === "output_order";
}

/** Whether `--format output` prints a list, even of one output. */
export const answersWithList = (definition: Definition): boolean =>
  selectsSeveral(definition) && !(definition.type === "rule_table" && definition.aggregate !== undefined);

/** Throws if a definition declares no output. */
export function assertOutputs(definition: Definition): void {
  if (declaresOutputs(definition)) return;
  throw new DecisionError("usage", `\`${definition.id}\` declares no output`, {
    hint:
      definition.type === "policy"
        ? "`policy` decisions have no outputs; use --format target or json"
        : "add `output` to its branches, or use --format target",
  });
}

/** Whether an output is the same for every input: none of its texts contains an expression. */
export function isLiteralOutput(output: Json): boolean {
  if (typeof output === "string") return !/\{\{|\$\{/.test(output);
  if (typeof output !== "object" || output === null) return true;
  return Object.values(output).every(isLiteralOutput);
}
