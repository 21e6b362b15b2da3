import type { RoutingDefinition, RuleTableDefinition, WeightedDefinition } from "../../model/definition.js";
import { casesOf, labelsOf } from "../branches.js";
import { isInputMasked } from "../definition-reads.js";
import type { Finding } from "../diagnostics.js";

/** Reviews the weights of a `weighted` decision. */
export function reviewWeights(definition: WeightedDefinition): readonly Finding[] {
  const { cases } = definition;
  const labels = labelsOf(cases);
  const findings: Finding[] = [];
  if (isInputMasked(definition, definition.logging?.mask ?? [])) {
    findings.push({
      path: ["logging", "mask"],
      severity: "note",
      message: "the input is masked, so the records cannot show whether the split matches the weights",
    });
  }
  for (const [index, { weight }] of cases.entries()) {
    if (weight !== undefined) continue;
    const message = `\`${labels[index] ?? ""}\` has no weight, so it is never chosen`;
    findings.push({ path: ["cases", index], severity: "warning", message });
  }
  const total = cases.reduce((sum, { weight = 0 }) => sum + weight, 0);
  if (total === 0) {
    const message = "all weights are 0, so everything goes to the default";
    findings.push({ path: ["cases"], severity: "warning", message });
  } else if (Math.abs(total - 100) > 1e-9) {
    const message = `the weights sum to ${total}, not to 100; shares are relative to the sum`;
    findings.push({ path: ["cases"], severity: "note", message });
  }
  return findings;
}

/** Reviews what is special about a `binary`, `switch` or `rule_table` decision, apart from its conditions. */
export function reviewCases(definition: Exclude<RoutingDefinition, WeightedDefinition>): readonly Finding[] {
  if (definition.type === "rule_table") return reviewPriorities(definition);
  const { length } = definition.cases;
  if (definition.type !== "binary" || length <= 2) return [];
  const message = `a \`binary\` decision has two cases, this one has ${length}; use \`switch\``;
  return [{ path: ["cases"], severity: "note", message }];
}

/** A rule without a priority has priority 0, which wins over every positive one. */
function reviewPriorities(definition: RuleTableDefinition): readonly Finding[] {
  if (definition.hit_policy !== "priority") return [];
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.flatMap(({ path, each }, index) => {
    if (each.priority !== undefined) return [];
    const message = `\`${labels[index] ?? ""}\` has no priority, so it has priority 0 and wins over all higher numbers`;
    return [{ path, severity: "warning", message }];
  });
}
