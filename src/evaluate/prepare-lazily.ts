import type { Template } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Prepared, PreparedType } from "./evaluate.js";
import { compileCommonTemplates } from "./evaluate.js";
import { prepareRouting } from "./routing.js";

/** Like `prepare`, but loads the code for a type when it is first needed, which keeps start-up fast. */
export async function prepareLazily(definition: Definition, masks: readonly string[]): Promise<Prepared> {
  const templates = compileCommonTemplates(definition);
  return { definition, masks, ...templates, ...(await prepareType(definition, templates.input, masks)) };
}

async function prepareType(
  definition: Definition,
  input: Template | undefined,
  masks: readonly string[],
): Promise<PreparedType> {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return prepareRouting(definition, input);
    case "scored": {
      const { prepareScored } = await import("./scored/scored.js");
      return prepareScored(definition, input);
    }
    case "policy": {
      const { preparePolicy } = await import("./policy/policy.js");
      return preparePolicy(definition, input, masks);
    }
    case "gate": {
      const { prepareGate } = await import("./gate/gate.js");
      return prepareGate(definition, input, masks);
    }
  }
}
