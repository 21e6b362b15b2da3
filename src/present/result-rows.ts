import { oneLine } from "./text.js";
import type { Colour } from "./format.js";
import { readableTime } from "./record-text.js";
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

interface ResultRow {
  readonly name: string;
  readonly text: string;
}

/** The target(s) alone, or the label where there is none: what a script substitutes. */
export function targetLine(
  result: Pick<Result, "selected_targets" | "selected_labels" | "final_targets">,
): string {
  const { selected_labels: labels, final_targets: targets = result.selected_targets } = result;
  return (targets.length > 0 ? targets : labels).join(" ");
}

/** The answer as people read it: what a guardrail held back leads nowhere. */
export const answerText = (result: Result): string =>
  result.blocked && result.selected_labels.length === 0 ? "blocked" : targetLine(result);

/** What stands behind the answer on the first line: its name, or the reason. */
export function answerDetail(result: Result): string {
  if (result.blocked || result.escalated) {
    const [first] = failedChecks(result);
    const how = result.blocked ? "" : "escalated: ";
    if (first !== undefined) return `${how}${oneLine(first.message)}`;
  }
  switch (result.type) {
    case "scored": {
      const { decision, confidence, selected_targets: targets } = result;
      return `${targets.length > 0 ? `${decision}, ` : ""}confidence ${confidence}`;
    }
    case "policy":
      return oneLine(result.reason);
    case "gate":
      return result.because.map(oneLine).join("; ");
    default:
      return result.selected_labels.join(", ");
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
    default:
      return result.selected_labels[0] === "default" ? "yellow" : "green";
  }
}

/** What only this type of decision has to say, and what guardrails had against it. */
export const resultRows = (result: Result): readonly ResultRow[] => [
  ...typeRows(result),
  ...guardrailRows(result),
];

/** Those that decided first: blocking ones, then escalating ones. */
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

/** What the answer would have been without them. */
function proposalText({
  proposed_targets: targets,
  proposed_labels: labels = [],
  proposed_outcome: outcome,
  proposed_status: status,
}: Result): string | undefined {
  if (targets === undefined) return undefined;
  const said = [
    ...targets,
    ...(outcome === undefined ? [] : [outcome]),
    ...(status === undefined ? [] : [status]),
  ];
  if (said.length === 0) return labels.join(", ");
  return `${said.join(" ")}${labels.length === 0 ? "" : ` (${labels.join(", ")})`}`;
}

function typeRows(result: Result): readonly ResultRow[] {
  switch (result.type) {
    case "scored":
      return voteRows(result);
    case "policy":
      return policyRows(result);
    case "gate":
      return workFrameRows(result);
    default:
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

/** Rules that matched, and stood, and yet did not decide. */
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
  const { override } = lineage;
  const applied =
    override === null
      ? []
      : [{ name: "override", text: `${override.name} ${override.version} (${override.action})` }];
  const changed =
    outcome === "allowed_by_exception" && isObject(params) && override?.action === "modify_params";
  return [
    { name: "tool", text: tool },
    ...policies,
    ...applied,
    ...skippedPolicyRows(result),
    ...(changed ? [{ name: "params", text: JSON.stringify(params) }] : []),
  ];
}

/** Where a call is denied, why what could have helped did not; and policies that were not in effect. */
function skippedPolicyRows({ evaluation_details, allowed, lineage }: PolicyResult): readonly ResultRow[] {
  const asked = new Set(lineage.policies.map(({ name }) => name));
  const details = Object.entries(evaluation_details as Readonly<Record<string, PolicyDetail>>);
  return details.flatMap(([name, { left_out: why, result: isPolicy, conditions }]) => {
    const isUsual =
      why === nothingToOverride || conditions.some(({ result, error }) => !result && error === undefined);
    const isTold = why !== undefined && !isUsual && !asked.has(name) && (isPolicy || !allowed);
    return isTold ? [{ name: "left out", text: `${name}: ${why}` }] : [];
  });
}

const policyVerdict = (decision: "allow" | "deny"): string => (decision === "allow" ? "allows" : "denies");

function workFrameRows({ work_frame: frame, decision_metadata: metadata }: GateResult): readonly ResultRow[] {
  const { suppressed, aggregation, errored_predicates } = metadata;
  const rows: readonly (readonly [string, string | null])[] = [
    ["mode", frame.mode],
    ["next", frame.next_action],
    ["owner", frame.next_human_owner],
    ["allowed", frame.allowed_actions.join(", ")],
    ["forbidden", frame.forbidden_actions.join(", ")],
    ["evidence", frame.missing_evidence.map((each) => `${each} is missing`).join(", ")],
    ["output", frame.required_output === null ? null : JSON.stringify(frame.required_output)],
    ["rule", aggregation.deciding_rules.join(", ")],
    ...suppressed.map(({ rule, by }) => ["overruled", `${rule}, suppressed by ${by}`] as const),
    ...outweighedRules(metadata).map((text) => ["overruled", text] as const),
    ["errored", errored_predicates.length === 0 ? null : String(errored_predicates.length)],
  ];
  return rows.flatMap(([name, text]) => (text === null || text === "" ? [] : [{ name, text }]));
}

/** One row for each precedent, where a result tells of any: only those of policies do. */
export function precedentRows(result: Result): readonly ResultRow[] {
  if (result.type !== "policy") return [];
  return result.lineage.precedents.map((each) => ({ name: "precedent", text: precedentSummary(each) }));
}

const precedentSummary = ({ record_id, similarity, outcome_matched }: Precedent): string =>
  `${record_id}  similarity ${similarity}, ${outcome_matched ? "matched" : "deviated"}`;

/** A line for each fetch: what came from where and when, or why it did not. */
export const fetchRows = (fetched: unknown): readonly ResultRow[] =>
  summarizeFetches(fetched).map((each) => ({ name: "fetched", text: fetchSentence(each) }));

export function fetchSentence({ endpoint, into = "data", outcome }: FetchSummary): string {
  switch (outcome.type) {
    case "failed":
      return `no ${into} from ${endpoint}: ${outcome.why}`;
    case "left_out":
      return `no ${into} from ${endpoint}: not asked, as a dry run only reads`;
    case "came":
      return `${into} from ${endpoint}, ${fetchOrigins[outcome.from]} ${secondsOf(outcome.at)}${outcome.from === "stale_cache" ? ", as its circuit is open" : ""}`;
  }
}

const fetchOrigins = { endpoint: "asked at", cache: "kept since", stale_cache: "stale, kept since" };

const secondsOf = (timestamp: string): string => `${readableTime(timestamp).slice(0, 19)} UTC`;

/** In a column of the log: from where, and how. */
export const fetchCell = (fetched: unknown): string =>
  summarizeFetches(fetched)
    .map(({ endpoint, outcome }) => `${endpoint} ${fetchOutcomeWord(outcome)}`)
    .join(", ");

function fetchOutcomeWord(outcome: FetchSummary["outcome"]): string {
  switch (outcome.type) {
    case "failed":
      return "failed";
    case "left_out":
      return "left out";
    case "came":
      return { endpoint: "asked", cache: "cached", stale_cache: "stale" }[outcome.from];
  }
}
