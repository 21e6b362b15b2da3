import { escalationTarget } from "../branches.js";
import type { Definition, WeightedDefinition, Guardrail } from "../../model/definition.js";
import { isRouting } from "../decision-types.js";
import { isInputMasked } from "../definition-reads.js";
import type { Finding } from "../diagnostics.js";
import { matchesGlob } from "../tool-match.js";
import type { Path } from "../yaml-source.js";

/** Checks the guardrails of a decision; paths are relative to the definition. */
export function checkOwnGuardrails(definition: Definition): readonly Finding[] {
  const leads = isRouting(definition) || definition.type === "scored";
  return (definition.guardrails ?? []).flatMap((guardrail, index) => [
    ...checkGuardrail(guardrail, ["guardrails", index], leads),
    ...checkDriftGuardrail(guardrail, index, definition),
  ]);
}

/** Checks a guardrail by itself. `leads` tells whether it belongs to a decision with targets. */
export function checkGuardrail(guardrail: Guardrail, path: Path, leads = true): readonly Finding[] {
  const findings: Finding[] = [];
  if (leads && guardrail.on_fail === "escalate" && escalationTarget(guardrail) === undefined) {
    findings.push({
      path: [...path, "on_fail"],
      message: "`escalate_to` is missing, which `on_fail: escalate` requires",
      hint: "add escalate_to: <target>",
    });
  }
  if (guardrail.type === "requires_approval") {
    const { targets = [], approval_target: approval, escalate_to: to } = guardrail;
    if (to !== undefined && to !== approval && targets.some((glob) => matchesGlob(glob, to))) {
      findings.push({
        path: [...path, "escalate_to"],
        message: `\`${to}\` requires an approval itself, so nothing can be escalated to it`,
        hint: "use the target where approvals are given",
      });
    }
  }
  if (guardrail.type === "weight_bounds") {
    const { min_weight: least, max_weight: most } = guardrail;
    if (least !== undefined && most !== undefined && least > most) {
      findings.push({
        path: [...path, "max_weight"],
        message: `\`max_weight\` must not be below \`min_weight\`, which is ${least} (got ${most})`,
      });
    }
  }
  return findings;
}

/** A drift that cannot be measured must not be checked. */
function checkDriftGuardrail({ type }: Guardrail, index: number, definition: Definition): readonly Finding[] {
  if (type !== "distribution_drift" || definition.type !== "weighted") return [];
  const why = untestableSplitReason(definition, definition.logging?.mask ?? []);
  if (why === undefined) return [];
  return [{ path: ["guardrails", index, "type"], message: `\`${type}\` cannot be checked: ${why}` }];
}

/** Returns why the split of a weighted decision cannot be tested. */
export function untestableSplitReason(
  definition: WeightedDefinition,
  masks: readonly string[],
): string | undefined {
  if (definition.logging?.log_decision === false) return "no decision is recorded";
  if (isInputMasked(definition, masks)) return "the input is masked, so inputs cannot be distinguished";
  if (definition.cases.some(({ condition = "" }) => condition.trim() !== "")) {
    return "cases have conditions, so the weights do not determine the split";
  }
  const isSplit = definition.cases.some(({ weight = 0 }) => weight > 0);
  return isSplit ? undefined : "no case has a weight, so there is no split";
}
