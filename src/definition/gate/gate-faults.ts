import type { GateDefinition, GateRule } from "../../model/definition.js";
import type { SchemaFault } from "../schema-problems.js";
import { computedFaults } from "./computed-faults.js";
import { contextSchemaFault } from "./context-schema.js";
import { modes } from "./modes.js";
import { suppressionFaults } from "./suppression-faults.js";

/** What is wrong with a gate that fits the schema of definitions; paths begin at its `decision`. */
export function gateFaults(definition: GateDefinition): readonly SchemaFault[] {
  return [
    ...schemaFaults(definition.context_schema),
    ...computedFaults(definition),
    ...idFaults(definition.rules),
    ...definition.rules.flatMap(ruleFaults),
    ...suppressionFaults(definition.rules),
  ];
}

function schemaFaults(schema: unknown): readonly SchemaFault[] {
  if (schema === undefined) return [];
  const path = ["context_schema"];
  const message = contextSchemaFault(schema);
  if (message !== undefined) return [{ path, message }];
  const { properties = {}, required = [] } = schema as { properties?: object; required?: readonly string[] };
  const fault = {
    message: "a supplied `system` is refused, so the schema cannot ask for it",
    hint: "read `system.request_time` and its kin without declaring them",
  };
  if (Object.hasOwn(properties, "system")) {
    return [{ path: [...path, "properties"], key: "system", ...fault }];
  }
  return required.includes("system") ? [{ path: [...path, "required"], ...fault }] : [];
}

function idFaults(rules: readonly GateRule[]): readonly SchemaFault[] {
  const seen = new Set<string>();
  return rules.flatMap(({ id }, index) => {
    const path = ["rules", index, "id"];
    if (id === "__proto__") return [{ path, message: "`__proto__` cannot be the id of a rule" }];
    if (seen.has(id)) return [{ path, message: `the id \`${id}\` is used twice` }];
    seen.add(id);
    return [];
  });
}

function ruleFaults({ tier, status, work_frame }: GateRule, index: number): readonly SchemaFault[] {
  const faults: SchemaFault[] = [];
  if (tier === "T1" && status !== "YELLOW" && status !== "RED") {
    const message = `the status of a T1 rule must be \`YELLOW\` or \`RED\` (got \`${status}\`)`;
    faults.push({ path: ["rules", index, "status"], message });
  }
  const mode = work_frame?.mode;
  if (mode !== undefined && mode !== modes[status]) {
    const message = `the mode of a \`${status}\` rule is \`${modes[status]}\` (got \`${mode}\`)`;
    faults.push({ path: ["rules", index, "work_frame", "mode"], message, hint: "leave it out" });
  }
  return faults;
}
