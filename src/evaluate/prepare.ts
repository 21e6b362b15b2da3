import type { Definition, ForeignOverride } from "../model/definition.js";
import type { Prepared, PreparedType } from "./evaluate.js";
import { compileCommonTemplates } from "./evaluate.js";
import type { TypeParts } from "./prepare-lazily.js";
import { prepareGate } from "./gate/gate.js";
import { preparePolicy } from "./policy/policy.js";
import { prepareRouting } from "./routing.js";
import { prepareScored } from "./scored/scored.js";

/** Compiles a definition of any type, so it can be evaluated many times. */
export function prepare(
  definition: Definition,
  masks = definition.logging?.mask ?? [],
  overrides: readonly ForeignOverride[] = [],
): Prepared {
  const templates = compileCommonTemplates(definition);
  const { input } = templates;
  return { definition, masks, ...templates, ...prepareType({ definition, input, masks, overrides }) };
}

function prepareType({ definition, input, masks, overrides }: TypeParts): PreparedType {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return prepareRouting(definition, input, masks);
    case "scored":
      return prepareScored(definition, input, masks);
    case "policy":
      return preparePolicy(definition, input, masks, overrides);
    case "gate":
      return prepareGate(definition, input, masks);
  }
}
