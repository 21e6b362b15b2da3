import type { Node } from "../../expression/syntax.js";
import { children, conjunctsOf } from "../../expression/syntax.js";
import { compileCondition, compileInput, compileTemplate, expressionsIn } from "../../expression/template.js";
import type {
  BasePolicy,
  GateDefinition,
  Limits,
  Policy,
  PolicyDefinition,
  ScoredDefinition,
} from "../../model/definition.js";
import { possibleDecisions } from "../branches.js";
import { mayReadAny, readsMasked } from "../definition-reads.js";
import type { Finding } from "../diagnostics.js";
import { matchesGlob, toolsOf } from "../tool-match.js";
import type { Path } from "../yaml-source.js";

const warning = (path: Path, message: string): Finding => ({ path, severity: "warning", message });
const note = (path: Path, message: string, hint?: string): Finding => ({
  path,
  severity: "note",
  message,
  hint,
});

const isAlwaysTrue = (condition: string | undefined): boolean => condition?.trim() === "true";

/** Reviews a `scored` decision. */
export function reviewScored(definition: ScoredDefinition): readonly Finding[] {
  const { evaluators, targets } = definition;
  const findings: Finding[] = [];
  for (const [at, evaluator] of evaluators.entries()) {
    if (!("rules" in evaluator)) continue;
    for (const [index, { then }] of evaluator.rules.entries()) {
      if (!/\{\{|\$\{/.test(then.reason ?? "")) continue;
      const path = ["evaluators", at, "rules", index, "then", "reason"];
      findings.push(warning(path, "the reason of a vote is not a template: it is used as written"));
    }
  }
  const hasVote = evaluators.some(
    (each) => !("rules" in each) || each.rules.some(({ when }) => isAlwaysTrue(when)),
  );
  if (!hasVote) {
    const message = "if no rule matches, there is no vote and the decision ends in an error";
    findings.push(note(["evaluators"], message, "a static evaluator always votes"));
  }
  const untargeted = possibleDecisions(definition).filter((each) => !Object.hasOwn(targets ?? {}, each));
  if (targets !== undefined && untargeted.length > 0) {
    const names = untargeted.map((decision) => `\`${decision}\``).join(", ");
    findings.push(note(["targets"], `there is no target for ${names}`));
  }
  return findings;
}

/** Reviews a `policy` decision. */
export function reviewPolicies(definition: PolicyDefinition): readonly Finding[] {
  const { policies = [], logging } = definition;
  const findings = policies.flatMap((policy, index) => [
    ...reviewPolicy(policy, ["policies", index]),
    ...reviewMaskedPath(policy, ["policies", index], logging?.mask ?? []),
    ...(policy.overrides === undefined
      ? reviewMaskedAmount(policy, ["policies", index], logging?.mask ?? [])
      : []),
    ...reviewWriteTools(policy, ["policies", index], toolsOf(definition)),
  ]);
  // A decision that has only overrides decides about no tool: they take part in other decisions.
  if (policies.length === 0) {
    findings.push(warning(["tool"], "no policy can deny, so every call is allowed"));
  }
  if (logging?.log_decision === false && policies.some(isLimited)) {
    const message =
      "without records nothing can be counted: overrides with `max_applications` never apply, and `max_calls` and `max_sum` deny";
    findings.push(warning(["logging", "log_decision"], message));
  }
  return findings;
}

const isLimited = (policy: Policy): boolean =>
  policy.overrides === undefined ? hasLimits(policy) : policy.max_applications !== undefined;

const hasLimits = ({ max_calls, max_sum }: Limits): boolean =>
  max_calls !== undefined || max_sum !== undefined;

function reviewMaskedAmount({ max_sum }: Limits, path: Path, masks: readonly string[]): readonly Finding[] {
  if (max_sum === undefined || !mayReadAny(compileInput(max_sum.of).reads, masks)) return [];
  return [
    warning([...path, "max_sum", "of"], "the amount is masked, so it cannot be counted and always denies"),
  ];
}

function reviewPolicy(policy: Policy, path: Path): readonly Finding[] {
  const { name, version } = policy;
  const findings: Finding[] = [];
  if (version === undefined)
    findings.push(note(path, `\`${name}\` has no version, so it is recorded as 0.0.0`));
  if (policy.overrides !== undefined) {
    if (policy.when === undefined)
      findings.push(note(path, `\`${name}\` has no \`when\`, so it always applies`));
    return findings;
  }
  const { conditions = [], requires, read_before_write, deny_reason, reason } = policy;
  const templates = [deny_reason, reason].flatMap((each) =>
    each === undefined ? [] : compileTemplate(each),
  );
  const compiled = [...templates, ...conditions.map(({ expression }) => compileCondition(expression))];
  if (compiled.some(({ reads }) => reads.some((each) => /^denial(?:\.|$)/.test(each))))
    findings.push(
      note(
        path,
        `\`${name}\` reads \`denial\` from the context; the denial itself is known in overrides only`,
      ),
    );
  const hasOther = requires !== undefined || read_before_write !== undefined || hasLimits(policy);
  if (conditions.length === 0 && !hasOther)
    findings.push(warning(path, `\`${name}\` has no conditions, so it always allows`));
  return [...findings, ...reviewDenyReason(policy, path)];
}

/** Finds a reason that cannot be filled in when the policy denies, because a condition tests that its value exists. */
function reviewDenyReason(
  { conditions = [], deny_reason: reason = "" }: BasePolicy,
  path: Path,
): readonly Finding[] {
  const needed = expressionsIn(reason).flatMap(neededPaths);
  return conditions.flatMap(({ name, expression }) => {
    const tested = conjunctsOf(compileCondition(expression).tree).flatMap(pathTestedToExist);
    const missing = needed.find((each) =>
      tested.some((test) => each === test || each.startsWith(`${test}.`)),
    );
    if (missing === undefined) return [];
    const steps = missing.split(".");
    const [parent, last] = [steps.slice(0, -1).join("."), steps.at(-1) ?? ""];
    return [
      {
        ...warning(
          [...path, "deny_reason"],
          `\`${missing}\` is missing when \`${name}\` denies, so the reason cannot show it`,
        ),
        hint: `leave it out, or write {{ get(${parent || "context"}, '${last}', 'none') }}`,
      },
    ];
  });
}

/** The path that `exists(path)` or `not empty(path)` tests. */
function pathTestedToExist(node: Node): readonly string[] {
  const [call, name] = node.kind === "not" ? [node.operand, "empty"] : [node, "exists"];
  const [path] = call.kind === "call" && call.name === name ? call.args : [];
  return path?.kind === "path" ? [path.segments.join(".")] : [];
}

const functionsForMissing = ["exists", "empty", "get"];

/** The paths without which an expression has no value, as far as that is certain. */
function neededPaths(node: Node): readonly string[] {
  if (node.kind === "path") return [node.segments.join(".")];
  if (node.kind === "choice") return neededPaths(node.condition);
  if (node.kind === "logic") return node.operands.slice(0, 1).flatMap(neededPaths);
  if (node.kind === "call" && functionsForMissing.includes(node.name)) return [];
  return children(node).flatMap(neededPaths);
}

function reviewMaskedPath(policy: Policy, path: Path, masks: readonly string[]): readonly Finding[] {
  if (policy.overrides !== undefined || policy.read_before_write === undefined) return [];
  const { reads } = compileInput(policy.read_before_write.path);
  if (!reads.some((each) => readsMasked(each, masks))) return [];
  return [warning([...path, "read_before_write"], "the path is masked, so earlier reads are not known")];
}

/** Finds a `read_before_write` policy whose decision covers none of its write tools. */
function reviewWriteTools(policy: Policy, path: Path, tools: readonly string[]): readonly Finding[] {
  if (policy.overrides !== undefined || policy.read_before_write === undefined) return [];
  const { write_tools } = policy.read_before_write;
  const isCovered = write_tools.some((writer) =>
    tools.some((tool) => matchesGlob(tool, writer) || matchesGlob(writer, tool)),
  );
  if (isCovered) return [];
  const at = [...path, "read_before_write", "write_tools"];
  return [warning(at, `none of these is a tool of this decision: ${tools.join(", ")}`)];
}

/** Reviews a `gate` decision. */
export function reviewGate(definition: GateDefinition): readonly Finding[] {
  const { rules, logging } = definition;
  const findings = [...reviewMaskedAmount(definition, [], logging?.mask ?? [])];
  if (logging?.log_decision === false && hasLimits(definition)) {
    const message = "without records nothing can be counted, so the limits make every GREEN answer RED";
    findings.push(warning(["logging", "log_decision"], message));
  }
  const permits = rules.some(({ status }) => status === "GREEN" || status === "GREEN-SKIP");
  if (permits) return findings;
  return [...findings, warning(["rules"], "no rule is GREEN or GREEN-SKIP, so nothing is ever allowed")];
}
