import type { Branch } from "./tree.js";
import { leftOutBranch, policiesBranch, valueText } from "./policy-branches.js";
import { definitionText, precedentText, provenanceRows, recordText, readableTime } from "./record-text.js";
import { fetchSentence, answerColour } from "./result-rows.js";
import { formatCount } from "./text.js";
import type { Check } from "../model/result.js";
import type { PolicyRecord, ExplainedCall, ExplainedInput } from "../record/explain-call.js";
import type { Explanation } from "../record/explain.js";
import type { FetchSummary } from "../record/fetch-summary.js";
import { summarizeFetches } from "../record/fetch-summary.js";

interface ToldCall {
  /** A sound one. */
  readonly record: PolicyRecord;
  readonly call: ExplainedCall;
  readonly explanation: Explanation;
  readonly intact: boolean;
  /** With all of every list. */
  readonly verbose: boolean;
}

/** What was made of a call and why, from what was decided to where it is recorded. */
export function policyTree(told: ToldCall): Branch {
  const { record, call, verbose } = told;
  const { lineage } = record;
  return {
    name: `${record.decision_id} on ${record.tool}`,
    colour: "bold",
    under: [
      verdictBranch(record),
      ...group("inputs", call.inputs.map(inputBranch), verbose),
      ...group("fetched", summarizeFetches(record.facts["fetched"]).map(fetchBranch), verbose),
      policiesBranch(record, call),
      ...group("left out", call.left_out.map(leftOutBranch), verbose),
      ...group(
        "precedents",
        lineage.precedents.map((each) => ({
          mark: each.outcome_matched ? "✓" : "✗",
          name: each.record_id,
          sentence: precedentText(each),
        })),
        verbose,
      ),
      ...group("guardrails", record.guardrails.map(checkBranch), verbose),
      ...ids(
        "about",
        lineage.entities.map(({ type, id }) => `${type}:${id}`),
      ),
      ...ids("artifacts", lineage.artifacts),
      outcomeBranch(record),
      recordBranch(told),
    ],
  };
}

/** The reasons after the first, and what was warned of, stand under it. */
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

/** So many of a list are seen at one glance. */
const most = 20;

function group(name: string, under: readonly Branch[], verbose: boolean): readonly Branch[] {
  return under.length === 0 ? [] : [{ name, colour: "dim", under: verbose ? under : fewOf(under) }];
}

function fewOf(branches: readonly Branch[]): readonly Branch[] {
  const left = branches.length - most;
  if (left <= 0) return branches;
  return [
    ...branches.slice(0, most),
    { sentence: `and ${formatCount(left)} more; --verbose shows them all` },
  ];
}

const ids = (name: string, texts: readonly string[]): readonly Branch[] =>
  texts.length === 0 ? [] : [{ name, colour: "dim", under: texts.map((id) => ({ id })) }];

function inputBranch({ source, ...readings }: ExplainedInput): Branch {
  const { values, missing = [], not_recorded = [] } = readings;
  const within = (path: string): string => (path === source ? "all of it" : path.slice(source.length + 1));
  return {
    name: source,
    under: [
      ...Object.entries(values).map(([path, value]) => ({ value: valueText(within(path), value) })),
      ...missing.map((path) => ({ name: within(path), sentence: "missing" })),
      ...not_recorded.map((path) => ({ name: within(path), sentence: "not recorded" })),
    ],
  };
}

const fetchBranch = (fetch: FetchSummary): Branch => ({
  mark: fetch.outcome.type === "came" ? "✓" : "✗",
  sentence: fetchSentence(fetch),
});

const checkBranch = ({ check_name: name, passed, message, on_fail = "block" }: Check): Branch => ({
  mark: passed ? "✓" : on_fail === "warn" ? "!" : "✗",
  name: passed ? name : `${name} ${{ block: "blocks", escalate: "escalates", warn: "warns" }[on_fail]}`,
  sentence: message,
});

function outcomeBranch(record: PolicyRecord): Branch {
  const { tool, allowed, proposed_outcome: proposed } = record;
  // Params are inputs too, and those may not be recorded.
  const { params } = record as { readonly params?: PolicyRecord["params"] };
  return {
    name: "outcome",
    colour: "dim",
    id: `${tool} ${allowed ? "may be called" : "is not to be called"}`,
    under: [
      params === undefined
        ? { name: "params", sentence: "not recorded" }
        : { value: valueText("params", params) },
      ...(proposed === undefined ? [] : [{ name: "proposed", id: proposed }]),
    ],
  };
}

function recordBranch({ record, explanation, intact, verbose }: ToldCall): Branch {
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
