import type { PolicyRecord } from "../model/record.js";
import type { Check } from "../model/result.js";
import type {
  ExplainedCall,
  ExplainedInput,
  ExplainedOverride,
  ExplainedPolicy,
  SkippedPolicy,
} from "../record/explain-call.js";
import type { ExplainedCondition, Explanation } from "../record/explain.js";
import type { FetchSummary } from "../record/fetch-summary.js";
import { summarizeFetches } from "../record/fetch-summary.js";
import {
  assignmentText,
  definitionText,
  precedentText,
  provenanceRows,
  readableTime,
  readValueTexts,
  recordText,
} from "./record-text.js";
import { answerColour, fetchSentence } from "./result-rows.js";
import { formatCount } from "./text.js";
import type { Branch } from "./tree.js";

interface ExplainedPolicyCall {
  /** Sanitized. */
  readonly record: PolicyRecord;
  readonly call: ExplainedCall;
  readonly explanation: Explanation;
  readonly intact: boolean;
  /** Shows long lists in full. */
  readonly verbose: boolean;
}

/** Explains the decision on a tool call as a tree, from the verdict to the record. */
export function policyTree(explained: ExplainedPolicyCall): Branch {
  const { record, call, verbose } = explained;
  const { lineage } = record;
  const precedents = lineage.precedents.map((each): Branch => ({
    mark: each.outcome_matched ? "✓" : "✗",
    name: each.record_id,
    sentence: precedentText(each),
  }));
  const entities = lineage.entities.map(({ type, id }) => `${type}:${id}`);
  return {
    name: `${record.decision_id} on ${record.tool}`,
    colour: "bold",
    under: [
      verdictBranch(record),
      ...group("inputs", call.inputs.map(inputBranch), verbose),
      ...group("fetched", summarizeFetches(record.facts["fetched"]).map(fetchBranch), verbose),
      policiesBranch(record, call),
      ...group("skipped", call.left_out.map(skippedBranch), verbose),
      ...group("precedents", precedents, verbose),
      ...group("guardrails", record.guardrails.map(checkBranch), verbose),
      ...idGroup("entities", entities),
      ...idGroup("artifacts", lineage.artifacts),
      outcomeBranch(record),
      recordBranch(explained),
    ],
  };
}

/** Lists further reasons and warnings below the verdict. */
function verdictBranch(record: PolicyRecord): Branch {
  const { allowed, outcome, reason, because, warnings } = record;
  return {
    mark: allowed ? "✓" : "✗",
    name: outcome,
    colour: answerColour(record),
    sentence: reason,
    under: [
      ...because.filter((each) => each !== reason).map((sentence) => ({ name: "because", sentence })),
      ...warnings.map((sentence): Branch => ({ mark: "!", sentence })),
    ],
  };
}

/** The length of a list unless the tree is verbose. */
const maxEntries = 20;

function group(name: string, under: readonly Branch[], verbose: boolean): readonly Branch[] {
  return under.length === 0 ? [] : [{ name, colour: "dim", under: verbose ? under : firstOf(under) }];
}

function firstOf(branches: readonly Branch[]): readonly Branch[] {
  const left = branches.length - maxEntries;
  if (left <= 0) return branches;
  const rest = { sentence: `and ${formatCount(left)} more; --verbose shows them all` };
  return [...branches.slice(0, maxEntries), rest];
}

const idGroup = (name: string, texts: readonly string[]): readonly Branch[] =>
  texts.length === 0 ? [] : [{ name, colour: "dim", under: texts.map((id) => ({ id })) }];

function inputBranch({ source, values, missing = [], not_recorded = [] }: ExplainedInput): Branch {
  const within = (path: string): string =>
    path === source ? "the whole value" : path.slice(source.length + 1);
  return {
    name: source,
    under: [
      ...Object.entries(values).map(([path, value]) => ({ value: assignmentText(within(path), value) })),
      ...missing.map((path) => ({ name: within(path), sentence: "missing" })),
      ...not_recorded.map((path) => ({ name: within(path), sentence: "not recorded" })),
    ],
  };
}

const fetchBranch = (fetch: FetchSummary): Branch => ({
  mark: fetch.outcome.type === "came" ? "✓" : "✗",
  sentence: fetchSentence(fetch),
});

/** Shows the verdict of each policy in effect, and the override that reversed it. */
function policiesBranch({ lineage }: PolicyRecord, { policies }: ExplainedCall): Branch {
  if (policies.length === 0) {
    const sentence = lineage.policies.length === 0 ? "not recorded" : "none was in effect";
    return { name: "policies", colour: "dim", sentence };
  }
  const described = new Set<string>();
  const under = policies.map((policy) => {
    const { override } = policy;
    const isRepeated = override !== undefined && described.has(override.name);
    if (override !== undefined) described.add(override.name);
    return policyBranch(policy, isRepeated);
  });
  return { name: "policies", colour: "dim", under };
}

function policyBranch(policy: ExplainedPolicy, isOverrideRepeated: boolean): Branch {
  const { name, version, allows, reason, conditions, override } = policy;
  return {
    mark: allows ? "✓" : "✗",
    name: `${name} ${version} ${allows ? "allows" : "denies"}`,
    ...(reason !== undefined && { sentence: reason }),
    under: [
      ...conditions.map(conditionBranch),
      ...(override === undefined ? [] : [overrideBranch(override, isOverrideRepeated)]),
    ],
  };
}

function conditionBranch(condition: ExplainedCondition): Branch {
  const { label, condition: expression, result, error } = condition;
  return {
    mark: error !== undefined ? "!" : result ? "✓" : "✗",
    name: label,
    sentence: expression,
    under: readValueTexts(condition).map((value) => ({ value })),
  };
}

function overrideBranch(override: ExplainedOverride, isRepeated: boolean): Branch {
  const { name, version = "", description, decision, action, reason } = override;
  const { expires_at: expires, conditions, set } = override;
  const where = decision === undefined ? "" : ` of ${decision}`;
  const title = `overridden by ${[name, version].join(" ").trimEnd()}${where}${action === undefined ? "" : ` (${action})`}`;
  if (isRepeated) return { mark: "✓", name: title, colour: "yellow", sentence: "as above" };
  return {
    mark: "✓",
    name: title,
    colour: "yellow",
    ...(reason !== undefined && { sentence: reason }),
    under: [
      ...(description === undefined ? [] : [{ name: "description", sentence: description }]),
      ...conditions.map(conditionBranch),
      ...Object.entries(set).map(([param, value]) => ({ value: `sets ${assignmentText(param, value)}` })),
      ...(expires === undefined
        ? []
        : [{ sentence: expires === null ? "never expires" : `expires on ${expires}` }]),
    ],
  };
}

const skippedBranch = ({ name, version, why, conditions }: SkippedPolicy): Branch => ({
  mark: "–",
  name: `${name} ${version}`,
  sentence: why,
  under: conditions.map(conditionBranch),
});

const checkBranch = ({ check_name: name, passed, message, on_fail = "block" }: Check): Branch => ({
  mark: passed ? "✓" : on_fail === "warn" ? "!" : "✗",
  name: passed ? name : `${name} ${{ block: "blocks", escalate: "escalates", warn: "warns" }[on_fail]}`,
  sentence: message,
});

function outcomeBranch(record: PolicyRecord): Branch {
  const { tool, allowed, proposed_outcome: proposed } = record;
  // Params are missing where inputs are not recorded.
  const { params } = record as { readonly params?: PolicyRecord["params"] };
  return {
    name: "outcome",
    colour: "dim",
    id: `${tool} ${allowed ? "may be called" : "must not be called"}`,
    under: [
      params === undefined
        ? { name: "params", sentence: "not recorded" }
        : { value: assignmentText("params", params) },
      ...(proposed === undefined ? [] : [{ name: "proposed", id: proposed }]),
    ],
  };
}

function recordBranch({ record, explanation, intact, verbose }: ExplainedPolicyCall): Branch {
  const name = record.decision_name === undefined ? "" : `${record.decision_name} `;
  return {
    name: "record",
    colour: "dim",
    id: recordText(record, intact),
    under: [
      { name: "when", id: `${readableTime(record.timestamp)} UTC` },
      ...provenanceRows(record).map((each) => ({ name: each.name, id: each.text })),
      { name: "definition", sentence: `${name}${definitionText(explanation, !verbose)}` },
    ],
  };
}
