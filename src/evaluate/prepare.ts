import type { Prepared, PreparedType } from "./evaluate.js";
import { prepareGate } from "./gate/gate.js";
import { preparePolicy } from "./policy/policy.js";
import { prepareRouting } from "./routing.js";
import { prepareScored } from "./scored/scored.js";
import type { Template } from "../expression/template.js";
import { compileInput } from "../expression/template.js";
import type { Definition } from "../model/definition.js";

/** Makes a definition of any type ready to be evaluated many times. */
export function prepare(definition: Definition): Prepared {
  const input = definition.input === undefined ? undefined : compileInput(definition.input);
  return { definition, input, ...judgeFor(definition, input) };
}

function judgeFor(definition: Definition, input: Template | undefined): PreparedType {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return prepareRouting(definition, input);
    case "scored":
      return prepareScored(definition, input);
    case "policy":
      return preparePolicy(definition, input);
    case "gate":
      return prepareGate(definition, input);
  }
}
