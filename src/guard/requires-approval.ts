import type { RequiresApproval } from "../model/guardrail.js";
import type { Finding, Guarding, Look } from "./guardrail-check.js";
import { isAmong } from "./no-disabled-targets.js";

/** `requires_approval`: one finding for each target that the guardrail is about. */
export const lookForApproval: Look<RequiresApproval> = (guardrail, guarding) => {
  const { targets, approval_target: approval } = guardrail;
  const guarded = guarding.leadsTo.filter((target) => target !== approval && isMeant(target, targets));
  return guarded.map((target) => findingOn(target, guardrail, guarding));
};

function findingOn(
  target: string,
  { workflows, approval_target: approval }: RequiresApproval,
  { leadsTo, workflow }: Guarding,
): Finding {
  const about = `Target '${target}'`;
  if (workflows !== undefined && workflow === undefined) {
    return { passed: true, message: `${about} needs no approval, as no workflow was named` };
  }
  const where = workflow === undefined ? "" : ` in workflow '${workflow}'`;
  if (!isMeant(workflow ?? "", workflows)) {
    return { passed: true, message: `${about} needs no approval${where}` };
  }
  if (approval !== undefined && leadsTo.includes(approval)) {
    return { passed: true, message: `${about} is approved by way of '${approval}'` };
  }
  const way = approval === undefined ? "" : ` by way of '${approval}'`;
  return { passed: false, message: `${about} requires approval${way}${where}` };
}

const isMeant = (name: string, globs: readonly string[] | undefined): boolean =>
  globs === undefined || isAmong(name, globs);
