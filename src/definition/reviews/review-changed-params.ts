import { compileCondition, compileInput } from "../../expression/template.js";
import type { BasePolicy, PolicyDefinition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { readsParam } from "../definition-reads.js";
import { locateFinding } from "../diagnostics.js";
import type { LocatedDefinition } from "../read-definitions.js";
import { globsOverlap, toolsOf } from "../tool-match.js";

interface LocatedPolicies extends LocatedDefinition {
  readonly definition: PolicyDefinition;
}

/** A base policy, and the paths that it tests. */
interface TestingPolicy {
  readonly definition: PolicyDefinition;
  readonly name: string;
  readonly reads: readonly string[];
}

/** Finds overrides that set a param which a policy tests that they do not override: it may deny the changed params. */
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
  return (definition.policies ?? []).flatMap((policy) =>
    policy.overrides === undefined
      ? [{ definition, name: policy.name, reads: testedPaths(policy, definition) }]
      : [],
  );
}

/** The paths of the context that the conditions of a policy read. */
function testedPaths(
  { conditions = [], read_before_write: rule }: BasePolicy,
  { input }: PolicyDefinition,
): readonly string[] {
  const reads = [
    ...conditions.flatMap(({ expression }) => compileCondition(expression).reads),
    ...(rule === undefined ? [] : compileInput(rule.path).reads),
  ];
  return reads.flatMap((path) => {
    if (path !== "input" && !path.startsWith("input.")) return [path];
    return input === undefined ? [path.replace("input", "context")] : compileInput(input).reads;
  });
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
          !(each.definition === definition && overrides.includes(each.name)) &&
          each.reads.some((path) => readsParam(path, param)) &&
          mayShareTool(each.definition, definition),
      );
      if (testers.length === 0) return [];
      const message = `\`${name}\` sets \`${param}\`, which ${testerNames(testers, definition)}`;
      const hint = "a call is denied if its changed params do not pass that policy";
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
