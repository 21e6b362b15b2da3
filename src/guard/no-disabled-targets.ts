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
  if (isAmong(target, stages)) return true;
  const { targets = [] } = loaded.environment as Partial<Environment>;
  return targets.some(({ id, disabled = false }) => disabled && id === target);
}

/** Whether one of the names, or globs, is meant. */
export const isAmong = (name: string, globs: readonly string[]): boolean =>
  globs.some((glob) => matchesTool(glob, name));
