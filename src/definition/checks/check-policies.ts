import { parseInstant } from "../../expression/instant.js";
import type { Policy, PolicyDefinition } from "../../model/definition.js";
import { checkLimits } from "./check-limits.js";
import { checkUniqueNames } from "./check-names.js";
import { baseKeys, overrideKeys } from "../schema/policy.js";
import { toolsOf } from "../tool-match.js";
import type { Finding } from "../diagnostics.js";
import type { Path } from "../yaml-source.js";

/** Checks policies that fit the schema: names, effective periods and overrides. */
export function checkPolicies(definition: PolicyDefinition): readonly Finding[] {
  const { policies = [] } = definition;
  return [
    ...checkTools(definition),
    ...checkUniqueNames(policies, ["policies"], { key: "name", what: "the policy" }),
    ...policies.flatMap((policy, index) => {
      const path = ["policies", index];
      return [
        ...checkEffectivePeriod(policy, path),
        ...(policy.overrides === undefined ? checkLimits(policy, path) : []),
        ...(policy.overrides === undefined
          ? checkBasePolicy(policy, path)
          : checkOverride(policy, path, policies)),
      ];
    }),
  ];
}

/** Other pattern languages would match no tool without an error, and so allow every call. */
const foreignPattern = /[{}[\]|(),^$\\]|^\s|\s$/;

function checkTools(definition: PolicyDefinition): readonly Finding[] {
  const path = typeof definition.tool === "string" ? () => ["tool"] : (index: number) => ["tool", index];
  return toolsOf(definition).flatMap((tool, index) =>
    foreignPattern.test(tool)
      ? [
          {
            path: path(index),
            message: `\`${tool}\` is neither the name of a tool nor a glob`,
            hint: "`*` matches any characters and `?` one character; write several tools as a list: [Write, Edit]",
          },
        ]
      : [],
  );
}

function checkEffectivePeriod({ effective_from, expires_at }: Policy, path: Path): readonly Finding[] {
  const bad = Object.entries({ effective_from, expires_at }).filter(
    ([, text]) => text !== undefined && parseInstant(text) === undefined,
  );
  if (bad.length > 0) {
    return bad.map(([key, text]) => ({
      path: [...path, key],
      message: `\`${key}\` must be a date, or a time with a time zone (got ${JSON.stringify(text)})`,
      hint: "write 2026-01-31 or 2026-01-31T12:00:00Z",
    }));
  }
  if (effective_from === undefined || expires_at === undefined) return [];
  if ((parseInstant(effective_from) ?? 0) < (parseInstant(expires_at) ?? 0)) return [];
  return [{ path: [...path, "expires_at"], message: "`expires_at` must be after `effective_from`" }];
}

function checkBasePolicy(policy: Policy, path: Path): readonly Finding[] {
  return overrideKeys
    .filter((key) => Object.hasOwn(policy, key))
    .map((key) => ({
      path,
      key,
      message: `\`${key}\` is only allowed in an override`,
      hint: "add `overrides` with the policies that it overrides",
    }));
}

function checkOverride(policy: Policy, path: Path, all: readonly Policy[]): readonly Finding[] {
  const foreign = baseKeys
    .filter((key) => Object.hasOwn(policy, key))
    .map((key) => ({
      path,
      key,
      message: `\`${key}\` is not allowed in an override`,
      hint: "use `when` to limit an override",
    }));
  return [...foreign, ...checkOverrideAction(policy, path), ...checkOverriddenPolicies(policy, path, all)];
}

function checkOverrideAction(policy: Policy, path: Path): readonly Finding[] {
  if (policy.overrides === undefined) return [];
  const modifies = policy.action === "modify_params";
  if (modifies === (policy.params !== undefined)) return [];
  return modifies
    ? [{ path, message: "`params` is missing: `modify_params` sets them" }]
    : [{ path, key: "params", message: "`params` has no effect without `action: modify_params`" }];
}

function checkOverriddenPolicies(policy: Policy, path: Path, all: readonly Policy[]): readonly Finding[] {
  const bases = all.filter(({ overrides }) => overrides === undefined).map(({ name }) => name);
  return (policy.overrides ?? []).flatMap((name, index) => {
    // A name that is not in the decision may be a policy of another one, which `checkLibrary` checks.
    if (bases.includes(name) || !all.some((each) => each.name === name)) return [];
    const message = `\`${name}\` is an override, and overrides cannot be overridden`;
    return [{ path: [...path, "overrides", index], message }];
  });
}
