import { matchesTool } from "../definition/tool-match.js";
import type { Environment } from "../model/definition.js";
import type { NoDisabledTargets } from "../model/guardrail.js";
import type { Guarding, Look } from "./guardrail-check.js";

/** `no_disabled_targets`: one finding for each target. */
export const lookAtTargets: Look<NoDisabledTargets> = (guardrail, guarding) =>
  guarding.leadsTo.map((target) => {
    const passed = !isDisabled(target, guardrail, guarding);
    return { passed, message: `Target '${target}' is ${passed ? "allowed" : "disabled"}` };
  });

export function isDisabled(
  target: string,
  { disabled_stages: stages = [] }: NoDisabledTargets,
  { loaded }: Pick<Guarding, "loaded">,
): boolean {
  if (stages.some((glob) => matchesTool(glob, target))) return true;
  const { targets = [] } = loaded.environment as Partial<Environment>;
  return targets.some(({ id, disabled = false }) => disabled && id === target);
}
