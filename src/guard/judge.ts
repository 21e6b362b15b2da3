import type { Guardrail, OnFail } from "../model/guardrail.js";
import type { Check } from "../model/result.js";
import { lookAtSplit } from "./distribution-drift.js";
import type { Finding, Guarding } from "./guardrail-check.js";
import { lookAtTargets } from "./no-disabled-targets.js";
import { lookForApproval } from "./requires-approval.js";
import { lookAtWeights } from "./weight-bounds.js";

/** A check, and what it leads to where it failed. */
export interface Judged {
  readonly check: Check;
  readonly onFail: OnFail;
  readonly guardrail: Guardrail;
}

/** What a guardrail says of an answer: a check for each thing that it looked at. */
export function judge(guardrail: Guardrail, guarding: Guarding): readonly Judged[] {
  return findingsOf(guardrail, guarding).map(({ passed, message, isError = false }) => {
    const onFail = isError ? "block" : (guardrail.on_fail ?? "block");
    const check = { check_name: guardrail.type, passed, message };
    return { check: passed ? check : { ...check, on_fail: onFail }, onFail, guardrail };
  });
}

/** What cannot tell, blocks, whatever it was to do. */
function findingsOf(
  guardrail: Guardrail,
  guarding: Guarding,
): readonly (Finding & { readonly isError?: boolean })[] {
  try {
    return look(guardrail, guarding);
  } catch (error) {
    const message = `Guardrail could not be checked: ${(error as Error).message}`;
    return [{ passed: false, message, isError: true }];
  }
}

function look(guardrail: Guardrail, guarding: Guarding): readonly Finding[] {
  switch (guardrail.type) {
    case "no_disabled_targets":
      return lookAtTargets(guardrail, guarding);
    case "weight_bounds":
      return lookAtWeights(guardrail, guarding);
    case "requires_approval":
      return lookForApproval(guardrail, guarding);
    case "distribution_drift":
      return lookAtSplit(guardrail, guarding);
  }
}
