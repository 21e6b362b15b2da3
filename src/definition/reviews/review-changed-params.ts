import { compileCondition, compileInput } from "../../expression/template.js";
import type { Policy, PolicyDefinition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { readsParam } from "../definition-reads.js";
import { locateFinding } from "../diagnostics.js";
import type { LocatedDefinition } from "../read-definitions.js";
import { globsOverlap, toolsOf } from "../tool-match.js";

interface LocatedPolicies extends LocatedDefinition {
  readonly definition: PolicyDefinition;
}

/** A policy or an override, and the paths that it tests. */
interface TestingPolicy {
  readonly definition: PolicyDefinition;
  readonly name: string;
  readonly reads: readonly string[];
}

/**
 * Finds overrides that set a param which a policy tests that they do not override, or another override: the policy may
 * deny the changed params, and the other override may not apply to them.
 */
export function reviewChangedParams(definitions: readonly LocatedDefinition[]): readonly Diagnostic[] {
  const located = definitions.filter(isPolicy);
  const setting = located.filter(({ definition: { policies = [] } }) =>
    policies.some((each) => each.overrides !== undefined && each.params !== undefined),
  );
  if (setting.length === 0) return [];
  const testing = located.flatMap(({ definition }) => testingPolicies(definition));
  return setting.flatMap((each) => reviewOverrides(each, testing));
}

const isPolicy = (located: LocatedDefinition): located is LocatedPolicies =>
  located.definition.type === "policy";

function testingPolicies(definition: PolicyDefinition): readonly TestingPolicy[] {
  return (definition.policies ?? []).map((policy) => ({
    definition,
    name: policy.name,
    reads: testedPaths(policy, definition),
  }));
}

/** The paths of the context that the conditions of a policy or an override read. */
function testedPaths(policy: Policy, { input }: PolicyDefinition): readonly string[] {
  return conditionReads(policy).flatMap((path) => {
    if (path !== "input" && !path.startsWith("input.")) return [path];
    return input === undefined ? [path.replace("input", "context")] : compileInput(input).reads;
  });
}

function conditionReads(policy: Policy): readonly string[] {
  if (policy.overrides !== undefined)
    return policy.when === undefined ? [] : compileCondition(policy.when).reads;
  const { conditions = [], read_before_write: rule } = policy;
  return [
    ...conditions.flatMap(({ expression }) => compileCondition(expression).reads),
    ...(rule === undefined ? [] : compileInput(rule.path).reads),
  ];
}

function reviewOverrides(
  { file, definition, source }: LocatedPolicies,
  testing: readonly TestingPolicy[],
): readonly Diagnostic[] {
  const place = { file, within: ["decision"], decision_id: definition.id };
  return (definition.policies ?? []).flatMap((policy, index) => {
    if (policy.overrides === undefined) return [];
    const { name, overrides, params = {} } = policy;
    return Object.keys(params).flatMap((param) => {
      const testers = testing.filter(
        (each) =>
          !(each.definition === definition && [name, ...overrides].includes(each.name)) &&
          each.reads.some((path) => readsParam(path, param)) &&
          mayShareTool(each.definition, definition),
      );
      if (testers.length === 0) return [];
      const message = `\`${name}\` sets \`${param}\`, which ${testerNames(testers, definition)}`;
      const hint =
        "a call is denied if its changed params do not pass, or no longer meet the condition of an override";
      const path = ["policies", index, "params", param];
      return [locateFinding({ path, severity: "warning", message, hint }, source, place)];
    });
  });
}

const mayShareTool = (a: PolicyDefinition, b: PolicyDefinition): boolean =>
  toolsOf(a).some((one) => toolsOf(b).some((other) => globsOverlap(one, other)));

const maxNamed = 3;

function testerNames(testers: readonly TestingPolicy[], own: PolicyDefinition): string {
  const names = testers
    .slice(0, maxNamed)
    .map(({ definition, name }) =>
      definition === own ? `\`${name}\`` : `\`${name}\` of \`${definition.id}\``,
    );
  const more = testers.length - names.length;
  return `${names.join(", ")}${more > 0 ? ` and ${more} more` : ""} ${testers.length === 1 ? "tests" : "test"}`;
}
