import type { Template } from "../expression/template.js";
import { foreignOverridesOf, masksOf } from "../definition/loaded-definition.js";
import type { Definition, ForeignOverride, LoadedDefinition } from "../model/definition.js";
import type { Prepared, PreparedType } from "./evaluate.js";
import { compileCommonTemplates } from "./evaluate.js";
import { prepareRouting } from "./routing.js";

/**
 * Like `prepare`, but loads the code for a type when it is first needed, which keeps start-up fast. `masks` and
 * `overrides` come from the environment of the definition too.
 */
export async function prepareLazily(
  definition: Definition,
  masks: readonly string[],
  overrides: readonly ForeignOverride[] = [],
): Promise<Prepared> {
  const templates = compileCommonTemplates(definition);
  const { input } = templates;
  return { definition, masks, ...templates, ...(await prepareType({ definition, input, masks, overrides })) };
}

/** Prepares a definition with its environment. */
export const prepareLoaded = (loaded: LoadedDefinition): Promise<Prepared> =>
  prepareLazily(loaded.definition, masksOf(loaded), foreignOverridesOf(loaded));

/** The parts that preparing a type needs. */
export interface TypeParts {
  readonly definition: Definition;
  readonly input: Template | undefined;
  readonly masks: readonly string[];
  readonly overrides: readonly ForeignOverride[];
}

async function prepareType({ definition, input, masks, overrides }: TypeParts): Promise<PreparedType> {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return prepareRouting(definition, input, masks);
    case "scored": {
      const { prepareScored } = await import("./scored/scored.js");
      return prepareScored(definition, input, masks);
    }
    case "policy": {
      const { preparePolicy } = await import("./policy/policy.js");
      return preparePolicy(definition, input, masks, overrides);
    }
    case "gate": {
      const { prepareGate } = await import("./gate/gate.js");
      return prepareGate(definition, input, masks);
    }
  }
}
