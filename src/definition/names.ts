import { defaultLabel } from "./labels.js";
import type { Definition } from "../model/definition.js";
import { casesOf } from "./expressions.js";
import type { SchemaFault } from "./schema-problems.js";

/** Labels that would mix two branches up in a distribution, and targets that would be printed as they are written. */
export function labelFaults(definition: Definition): readonly SchemaFault[] {
  const faults: SchemaFault[] = [];
  const seen = new Set<string>();
  for (const { path, each } of casesOf(definition)) {
    const { label } = each;
    if (/\{\{|\$\{/.test(each.target)) {
      faults.push({ path: [...path, "target"], message: "a target is a name and no template" });
    }
    if (label === undefined) continue;
    const at = [...path, "label"];
    if (label === defaultLabel) {
      faults.push({ path: at, message: `the label \`${defaultLabel}\` is kept for the default route` });
    } else if (label === "__proto__") {
      faults.push({ path: at, message: "`__proto__` cannot be a label" });
    } else if (seen.has(label)) {
      const hint = "a distribution would count both branches as one";
      faults.push({ path: at, message: `the label \`${label}\` is used twice`, hint });
    }
    seen.add(label);
  }
  return faults;
}
