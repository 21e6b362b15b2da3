import { defaultLabel, casesOf } from "../branches.js";
import type { Finding } from "../diagnostics.js";
import type { Path } from "../yaml-source.js";
import type { Definition } from "../../model/definition.js";

/** Finds labels that are reserved or used twice, and targets that are templates. */
export function checkLabels(definition: Definition): readonly Finding[] {
  const findings: Finding[] = [];
  const seen = new Set<string>();
  for (const { path, each } of casesOf(definition)) {
    const { label } = each;
    if (/\{\{|\$\{/.test(each.target ?? "")) {
      findings.push({ path: [...path, "target"], message: "a target is a name, not a template" });
    }
    if (label === undefined) continue;
    const at = [...path, "label"];
    if (label === defaultLabel) {
      findings.push({ path: at, message: `the label \`${defaultLabel}\` is reserved for the default route` });
    } else if (label === "__proto__") {
      findings.push({ path: at, message: "`__proto__` cannot be a label" });
    } else if (seen.has(label)) {
      const hint = "a distribution would count both branches as one";
      findings.push({ path: at, message: `the label \`${label}\` is used twice`, hint });
    }
    seen.add(label);
  }
  return findings;
}

/** Finds names of a list that are used twice, or cannot be keys of the evaluation details. */
export function checkUniqueNames<Key extends string>(
  items: readonly Readonly<Record<Key, string>>[],
  path: Path,
  { key, what }: { readonly key: Key; readonly what: string },
): readonly Finding[] {
  const seen = new Set<string>();
  return items.flatMap((item, index) => {
    const name = item[key];
    const at = [...path, index, key];
    if (name === "__proto__") return [{ path: at, message: "`__proto__` cannot be a name" }];
    if (seen.has(name)) return [{ path: at, message: `${what} \`${name}\` is used twice` }];
    seen.add(name);
    return [];
  });
}
