import { compileCondition, compileInput } from "../../expression/template.js";
import type {
  Definition,
  GateDefinition,
  Policy,
  PolicyDefinition,
  ScoredDefinition,
} from "../../model/definition.js";
import { conditionWarnings } from "./condition-analysis.js";
import { readsMasked } from "../definition-reads.js";
import type { ReviewFinding } from "./review-definition.js";
import { possibleDecisions } from "../checks/check-scored.js";
import { matchesGlob, toolsOf } from "../tool-match.js";
import type { Path } from "../yaml-source.js";

/** What a reviewer would ask about votes, policies and gates. */
export function reviewRules(definition: Definition): readonly ReviewFinding[] {
  switch (definition.type) {
    case "scored":
      return reviewScored(definition);
    case "policy":
      return reviewPolicies(definition);
    case "gate":
      return reviewGate(definition);
    default:
      return [];
  }
}

function warning(path: Path, message: string): ReviewFinding {
  return { path, severity: "warning", message };
}

/** Expressions that are written correctly and yet can hardly be meant. */
function reviewCondition(path: Path, label: string, condition: string | undefined): readonly ReviewFinding[] {
  if (condition === undefined) return [];
  return conditionWarnings(compileCondition(condition).tree).map((doubt) =>
    warning(path, `\`${label}\`: ${doubt}`),
  );
}

const isAlways = (condition: string | undefined): boolean => condition?.trim() === "true";

function reviewScored(definition: ScoredDefinition): readonly ReviewFinding[] {
  const { evaluators, targets } = definition;
  const remarks: ReviewFinding[] = [];
  for (const [at, evaluator] of evaluators.entries()) {
    if (!("rules" in evaluator)) continue;
    const always = evaluator.rules.findIndex(({ when }) => isAlways(when));
    for (const [index, { id, when, then }] of evaluator.rules.entries()) {
      const path = ["evaluators", at, "rules", index];
      if (/\{\{|\$\{/.test(then.reason ?? "")) {
        remarks.push(warning([...path, "then", "reason"], "the reason of a vote is not filled in"));
      }
      remarks.push(...reviewCondition([...path, "when"], id, when));
      if (always === -1 || index <= always) continue;
      const first = evaluator.rules[always]?.id ?? "";
      remarks.push(warning(path, `\`${id}\` is never reached: \`${first}\` always matches`));
    }
  }
  const isCertain = evaluators.some(
    (each) => "static" in each || each.rules.some(({ when }) => isAlways(when)),
  );
  if (!isCertain) {
    const message = "where no rule matches nobody votes, and the decision ends in an error";
    remarks.push({
      path: ["evaluators"],
      severity: "note",
      message,
      hint: "a static evaluator always votes",
    });
  }
  const without = possibleDecisions(definition).filter((decision) => !Object.hasOwn(targets ?? {}, decision));
  if (targets !== undefined && without.length > 0) {
    const named = without.map((decision) => `\`${decision}\``).join(", ");
    remarks.push({ path: ["targets"], severity: "note", message: `there is no target for ${named}` });
  }
  return remarks;
}

function reviewPolicies(definition: PolicyDefinition): readonly ReviewFinding[] {
  const { policies = [], logging } = definition;
  const remarks = policies.flatMap((policy, index) => [
    ...reviewPolicy(policy, ["policies", index]),
    ...reviewMaskedPath(policy, ["policies", index], logging?.mask ?? []),
    ...reviewWriteTools(policy, ["policies", index], toolsOf(definition)),
  ]);
  if (policies.every(({ overrides }) => overrides !== undefined)) {
    remarks.push(warning(["tool"], "it has no policy that could deny, so it allows every call"));
  }
  if (logging?.log_decision === false && policies.some(hasCallLimit)) {
    const message = "without records nothing is counted: limited overrides never apply, max_calls denies";
    remarks.push(warning(["logging", "log_decision"], message));
  }
  return remarks;
}

const hasCallLimit = (policy: Policy): boolean =>
  policy.overrides === undefined ? policy.max_calls !== undefined : policy.max_applications !== undefined;

function reviewPolicy(policy: Policy, path: Path): readonly ReviewFinding[] {
  const { name, version } = policy;
  const remarks: ReviewFinding[] = [];
  if (version === undefined) {
    remarks.push({ path, severity: "note", message: `\`${name}\` has no version, so records call it 0.0.0` });
  }
  if (policy.overrides !== undefined) {
    if (policy.when === undefined) {
      remarks.push({ path, severity: "note", message: `\`${name}\` has no \`when\`, so it always applies` });
    }
    return [...remarks, ...reviewCondition([...path, "when"], name, policy.when)];
  }
  const { conditions = [], requires, read_before_write, max_calls } = policy;
  const asks = [requires, read_before_write, max_calls].some((each) => each !== undefined);
  if (conditions.length === 0 && !asks)
    remarks.push(warning(path, `\`${name}\` asks for nothing, so it always allows`));
  const doubts = conditions.flatMap(({ name: condition, expression }, index) =>
    reviewCondition([...path, "conditions", index, "expression"], condition, expression),
  );
  return [...remarks, ...doubts];
}

function reviewMaskedPath(policy: Policy, path: Path, pointers: readonly string[]): readonly ReviewFinding[] {
  if (policy.overrides !== undefined || policy.read_before_write === undefined) return [];
  const { reads } = compileInput(policy.read_before_write.path);
  if (!reads.some((each) => readsMasked(each, pointers))) return [];
  return [
    warning([...path, "read_before_write"], "its path is masked, so what was read cannot be remembered"),
  ];
}

/** A policy about writing that is never asked about any of its writers. */
function reviewWriteTools(policy: Policy, path: Path, tools: readonly string[]): readonly ReviewFinding[] {
  if (policy.overrides !== undefined || policy.read_before_write === undefined) return [];
  const { write_tools } = policy.read_before_write;
  const isCovered = write_tools.some((writer) =>
    tools.some((tool) => matchesGlob(tool, writer) || matchesGlob(writer, tool)),
  );
  if (isCovered) return [];
  const at = [...path, "read_before_write", "write_tools"];
  return [warning(at, `none of these is among the tools that the decision is about: ${tools.join(", ")}`)];
}

function reviewGate({ rules }: GateDefinition): readonly ReviewFinding[] {
  const remarks = rules.flatMap(({ id, when, applies_when }, index) => [
    ...reviewCondition(["rules", index, "when"], id, when),
    ...reviewCondition(["rules", index, "applies_when"], id, applies_when),
  ]);
  const permits = rules.some(({ status }) => status === "GREEN" || status === "GREEN-SKIP");
  if (permits) return remarks;
  return [...remarks, warning(["rules"], "no rule is GREEN or GREEN-SKIP, so nothing is ever let through")];
}
