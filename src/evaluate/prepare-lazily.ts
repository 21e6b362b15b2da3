import type { Prepared, PreparedType } from "./evaluate.js";
import { prepareRouting } from "./routing.js";
import type { Template } from "../expression/template.js";
import { compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";

/** The same as `prepare`, but what a type needs is loaded when one of that type is asked: a start is half of a decision. */
export async function prepareLazily(definition: Definition): Promise<Prepared> {
  const input = definition.input === undefined ? undefined : compileInput(definition.input);
  return { definition, input, ...(await judgeFor(definition, input)) };
}

async function judgeFor(definition: Definition, input: Template | undefined): Promise<PreparedType> {
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
      return preparePolicy(definition, input);
    }
    case "gate": {
      const { prepareGate } = await import("./gate/gate.js");
      return prepareGate(definition, input);
    }
  }
}
