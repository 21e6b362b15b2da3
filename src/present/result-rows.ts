import { summariseErrored } from "../evaluate/gate/errored-texts.js";
import { nothingToOverride } from "../evaluate/policy/policy-outcome.js";
import { isObject } from "../expression/equal.js";
import type { Precedent } from "../model/lineage.js";
import type {
  Check,
  GateMetadata,
  GateResult,
  PolicyDetail,
  PolicyResult,
  Result,
  ScoredResult,
} from "../model/result.js";
import type { FetchSummary } from "../record/fetch-summary.js";
import { summarizeFetches } from "../record/fetch-summary.js";
import type { Colour } from "./format.js";
import { readableSeconds } from "./record-text.js";
import { oneLine } from "../text.js";

interface ResultRow {
  readonly name: string;
  readonly text: string;
}

/** Returns the text after the answer on the first line: its label if it has one, its confidence or its reason. */
export function answerDetail(result: Result): string {
  if (result.blocked || result.escalated) {
    const [first] = failedChecks(result);
    const prefix = result.blocked ? "" : "escalated: ";
    if (first !== undefined) return `${prefix}${oneLine(first.message)}`;
  }
  switch (result.type) {
    case "scored": {
      const { decision, confidence, selected_targets: targets } = result;
      return `${targets.length > 0 ? `${oneLine(decision)}, ` : ""}confidence ${confidence}`;
    }
    case "policy":
      return oneLine(result.reason);
    case "gate":
      return result.because.map(oneLine).join("; ");
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table": {
      const { selected_labels: labels, selected_targets: targets } = result;
      const isNamed = targets.length > 0 && labels.some((label, index) => label !== targets[index]);
      return isNamed ? oneLine(labels.join(", ")) : "";
    }
  }
}

export function answerColour(result: Result): Colour {
  if (result.blocked) return "red";
  if (result.escalated && result.type !== "policy") return "yellow";
  switch (result.type) {
    case "scored":
      return result.confidence === 0 ? "yellow" : "green";
    case "policy":
      return result.allowed ? (result.outcome === "allowed" ? "green" : "yellow") : "red";
    case "gate":
      return result.status === "RED" ? "red" : result.status === "YELLOW" ? "yellow" : "green";
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return result.selected_labels[0] === "default" ? "yellow" : "green";
  }
}

/** Returns the rows of the result's type and of its failed guardrails. */
export const resultRows = (result: Result): readonly ResultRow[] => [
  ...outputRows(result),
  ...typeRows(result),
  ...guardrailRows(result),
];

/** Returns a row for each output; of several, with their labels. */
function outputRows({ outputs = [], aggregate, selected_labels: labels }: Result): readonly ResultRow[] {
  if (aggregate !== undefined) {
    const { function: combine, value, of } = aggregate;
    const from =
      of.length === 0 ? "" : ` (${combine} of ${of.map((each) => JSON.stringify(each)).join(", ")})`;
    return [{ name: "output", text: `${JSON.stringify(value)}${from}` }];
  }
  const isNamed = outputs.length > 1;
  return outputs.map((output, index) => ({
    name: "output",
    text: `${isNamed ? `${labels[index] ?? ""}: ` : ""}${JSON.stringify(output)}`,
  }));
}

/** Returns failed guardrails: blocking ones first, then escalating ones. */
function failedChecks({ guardrails }: Result): readonly Check[] {
  const order = ["block", "escalate", "warn"];
  const failed = guardrails.filter(({ passed }) => !passed);
  return failed.toSorted((a, b) => order.indexOf(a.on_fail ?? "") - order.indexOf(b.on_fail ?? ""));
}

function guardrailRows(result: Result): readonly ResultRow[] {
  const consequences = { block: "blocks", escalate: "escalates", warn: "warns" };
  const rows = failedChecks(result).map(({ check_name, message, on_fail = "block" }) => ({
    name: "guardrail",
    text: `${check_name} ${consequences[on_fail]}: ${message}`,
  }));
  const proposal = proposalText(result);
  return proposal === undefined ? rows : [...rows, { name: "proposed", text: proposal }];
}

/** Describes the answer before guardrails changed it. */
function proposalText({
  proposed_targets: targets,
  proposed_labels: labels = [],
  proposed_outputs: outputs = [],
  proposed_outcome: outcome,
  proposed_status: status,
}: Result): string | undefined {
  if (targets === undefined) return undefined;
  const answered = outputs.every((output) => output === null)
    ? ""
    : `, output ${outputs.map((output) => JSON.stringify(output)).join(", ")}`;
  const proposal = [
    ...targets,
    ...(outcome === undefined ? [] : [outcome]),
    ...(status === undefined ? [] : [status]),
  ];
  if (proposal.length === 0) return labels.join(", ") + answered;
  return `${proposal.join(" ")}${labels.length === 0 ? "" : ` (${labels.join(", ")})`}${answered}`;
}

function typeRows(result: Result): readonly ResultRow[] {
  switch (result.type) {
    case "scored":
      return voteRows(result);
    case "policy":
      return policyRows(result);
    case "gate":
      return workFrameRows(result);
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return [];
  }
}

function voteRows({ evaluations, decision, scoring_strategy }: ScoredResult): readonly ResultRow[] {
  const votes = evaluations.map((each) => {
    const overruled = each.decision === decision ? "" : ", overruled";
    const reason = each.reason === "" ? "" : `: ${each.reason}`;
    return {
      name: "vote",
      text: `${each.evaluator_name} ${each.decision} ${each.weight}${overruled}${reason}`,
    };
  });
  return [...votes, { name: "strategy", text: scoring_strategy }];
}

/** Returns the matched, unsuppressed rules that did not decide. */
function outweighedRules({
  matched_rules,
  suppressed,
  aggregation,
  predicate_traces,
}: GateMetadata): readonly string[] {
  const others = new Set(matched_rules);
  for (const { rule } of suppressed) others.delete(rule);
  for (const rule of aggregation.deciding_rules) others.delete(rule);
  return predicate_traces
    .filter(({ rule }) => others.has(rule))
    .map(({ rule, status, severity }) => `${rule} (${status}, severity ${severity})`);
}

function policyRows(result: PolicyResult): readonly ResultRow[] {
  const { lineage, tool, params, outcome } = result;
  const policies = lineage.policies.map(({ name, version, base_decision, override, denial_reason }) => {
    const denial = denial_reason === null ? "" : `: ${denial_reason}`;
    const flipped = override === null ? "" : `, overridden by ${override}`;
    return { name: "policy", text: `${name} ${version} ${policyVerdict(base_decision)}${flipped}${denial}` };
  });
  const overrides = outcome === "allowed_by_exception" ? (lineage.overrides ?? []) : [];
  const applied = overrides.map(({ name, version, action, decision }) => {
    const where = decision === undefined ? "" : ` of ${decision}`;
    return { name: "override", text: `${name} ${version}${where} (${action})` };
  });
  const changed = isObject(params) && overrides.some(({ action }) => action === "modify_params");
  return [
    { name: "tool", text: tool },
    ...policies,
    ...applied,
    ...skippedPolicyRows(result),
    ...(changed ? [{ name: "params", text: JSON.stringify(params) }] : []),
  ];
}

/** Explains policies that were not in effect and, for a denied call, overrides that did not apply. */
function skippedPolicyRows({ evaluation_details, allowed, lineage }: PolicyResult): readonly ResultRow[] {
  const evaluated = new Set(lineage.policies.map(({ name }) => name));
  const details = Object.entries(evaluation_details as Readonly<Record<string, PolicyDetail>>);
  return details.flatMap(([name, { left_out: reason, result: isPolicy, conditions }]) => {
    const isExpected =
      reason === nothingToOverride || conditions.some(({ result, error }) => !result && error === undefined);
    const isShown = reason !== undefined && !isExpected && !evaluated.has(name) && (isPolicy || !allowed);
    return isShown ? [{ name: "skipped", text: `${name}: ${reason}` }] : [];
  });
}

const policyVerdict = (decision: "allow" | "deny"): string => (decision === "allow" ? "allows" : "denies");

function workFrameRows(result: GateResult): readonly ResultRow[] {
  const { work_frame: frame, decision_metadata: metadata } = result;
  const { suppressed, aggregation, limits = [] } = metadata;
  const rows: readonly (readonly [string, string | null])[] = [
    ["mode", frame.mode],
    ["next", frame.next_action],
    ["owner", frame.next_human_owner],
    ["allowed", frame.allowed_actions.join(", ")],
    ["forbidden", frame.forbidden_actions.join(", ")],
    ["evidence", frame.missing_evidence.map((each) => `${each} is missing`).join(", ")],
    ["required", frame.required_output === null ? null : JSON.stringify(frame.required_output)],
    ["rule", aggregation.deciding_rules.join(", ")],
    ...limits.map(({ expression, result }) => ["limit", `${expression}: ${String(result)}`] as const),
    ...suppressed.map(({ rule, by }) => ["overruled", `${rule}, suppressed by ${by}`] as const),
    ...outweighedRules(metadata).map((text) => ["overruled", text] as const),
    ["raised", raisedText(aggregation)],
    ["errored", erroredText(result)],
  ];
  return rows.flatMap(([name, text]) => (text === null || text === "" ? [] : [{ name, text }]));
}

/** Sums up what could not be evaluated, unless a reason does. */
function erroredText({ because, decision_metadata: { errored_predicates } }: GateResult): string {
  const text = summariseErrored(errored_predicates);
  return because.some((reason) => reason.includes(text)) ? "" : text;
}

const raisedText = ({ raised }: GateMetadata["aggregation"]): string | null =>
  raised === undefined ? null : `${raised.from} to ${raised.to}`;

/** Returns one row per precedent. Only policy results have any. */
export function precedentRows(result: Result): readonly ResultRow[] {
  if (result.type !== "policy") return [];
  return result.lineage.precedents.map((each) => ({ name: "precedent", text: precedentSummary(each) }));
}

const precedentSummary = ({ record_id, similarity, outcome_matched }: Precedent): string =>
  `${record_id}  similarity ${similarity}, ${outcome_matched ? "matched" : "deviated"}`;

/** Returns one row per fetch, with its origin and time, or its failure. */
export const fetchRows = (fetched: unknown): readonly ResultRow[] =>
  summarizeFetches(fetched).map((each) => ({ name: "fetched", text: fetchSentence(each) }));

export function fetchSentence({ endpoint, into = "data", outcome }: FetchSummary): string {
  switch (outcome.type) {
    case "failed":
      return `no ${into} from ${endpoint}: ${outcome.why}`;
    case "left_out":
      return `no ${into} from ${endpoint}: skipped in a dry run`;
    case "came":
      return `${into} from ${endpoint}, ${originText(outcome.from, readableSeconds(outcome.at))}`;
  }
}

function originText(from: "endpoint" | "cache" | "stale_cache", time: string): string {
  switch (from) {
    case "endpoint":
      return `fetched ${time}`;
    case "cache":
      return `cached ${time}`;
    case "stale_cache":
      return `stale, cached ${time}, because its circuit is open`;
  }
}

/** Sums up the fetches for a column of the log. */
export const fetchCell = (fetched: unknown): string =>
  summarizeFetches(fetched)
    .map(({ endpoint, outcome }) => `${endpoint} ${fetchOutcomeWord(outcome)}`)
    .join(", ");

function fetchOutcomeWord(outcome: FetchSummary["outcome"]): string {
  switch (outcome.type) {
    case "failed":
      return "failed";
    case "left_out":
      return "skipped";
    case "came":
      return { endpoint: "fetched", cache: "cached", stale_cache: "stale" }[outcome.from];
  }
}
