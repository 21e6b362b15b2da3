import type {
  Entity,
  InputSource,
  Lineage,
  OverrideApplication,
  PolicyEvaluation,
  Precedent,
  SourceType,
} from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import { provenanceFields } from "../record/record-json.js";
import { isWellFormedRecord } from "../record/well-formed.js";
import { isObject } from "../expression/equal.js";

/** The part of a record that a lineage shows. */
export type RecordSummary = DecisionSummary | ResultSummary;

/** A record that another one refers to. */
export type NamedRecord = RecordSummary | MissingRecord;

interface CommonSummary extends Partial<Readonly<Record<ProvenanceField, string>>> {
  readonly record_id: string;
  readonly seq: number;
  readonly timestamp: string;
}

export interface DecisionSummary extends CommonSummary {
  readonly kind: "decision";
  readonly decision_id: string;
  readonly type: string;
  /** The tool that a policy decided about. */
  readonly tool?: string;
  readonly selected_labels: readonly string[];
  readonly selected_targets: readonly string[];
  readonly blocked: boolean;
  readonly escalated: boolean;
  readonly cached: boolean;
  readonly cached_from?: string;
}

export interface ResultSummary extends CommonSummary {
  readonly kind: "tool_result";
  readonly tool: string;
  readonly ok: boolean;
  readonly decision_records: readonly string[];
  /** Whether it is the result of a call that a check allowed. */
  readonly linked: boolean;
}

/** A record that was pruned, is damaged, or never existed. */
interface MissingRecord {
  readonly kind: "missing";
  readonly record_id: string;
}

type ProvenanceField = (typeof provenanceFields)[number];

/** Returns undefined for a damaged record, an assessment or a note about the log. */
export function summarizeRecord(record: LogRecord): RecordSummary | undefined {
  if (!isWellFormedRecord(record) || record.kind === "note" || record.kind === "assessment") return undefined;
  const { record_id, seq, timestamp } = record;
  const common = { record_id, seq, timestamp, ...textsIn(record, provenanceFields) };
  if (record.kind === "tool_result") {
    const { tool, ok, decision_records } = record;
    const linked = decision_records.length > 0;
    return { kind: "tool_result", ...common, tool, ok, decision_records, linked };
  }
  const { decision_id, type, selected_labels, selected_targets } = record;
  return {
    kind: "decision",
    ...common,
    decision_id,
    type,
    ...textsIn(record, ["tool", "cached_from"]),
    selected_labels,
    selected_targets,
    ...summaryFlags(record),
  };
}

/** Returns the fields that are texts. */
function textsIn<T extends string>(
  record: object,
  names: readonly T[],
): Partial<Readonly<Record<T, string>>> {
  const fields = record as Readonly<Record<string, unknown>>;
  const texts: Partial<Record<T, string>> = {};
  for (const name of names) {
    const value = fields[name];
    if (typeof value === "string") texts[name] = value;
  }
  return texts;
}

type SummaryFlags = Pick<DecisionSummary, "blocked" | "escalated" | "cached">;

function summaryFlags({
  blocked,
  escalated,
  cached,
}: Readonly<Record<keyof SummaryFlags, unknown>>): SummaryFlags {
  return { blocked: blocked === true, escalated: escalated === true, cached: cached === true };
}

/** A selected branch; without a target, its label is the answer. */
export interface Branch {
  readonly label: string | null;
  readonly target: string | null;
}

/** The outcome that a guardrail blocked or escalated. */
export interface Proposal {
  readonly branches: readonly Branch[];
  readonly outcome: string | null;
  readonly status: string | null;
}

export const branchesOf = ({ selected_labels, selected_targets }: DecisionSummary): readonly Branch[] =>
  pairLabelsWithTargets(selected_labels, selected_targets);

/** Returns null where no guardrail changed the outcome. */
export function proposalOf(record: LogRecord): Proposal | null {
  const fields = record as unknown as Readonly<Record<string, unknown>>;
  if (fields["blocked"] !== true && fields["escalated"] !== true) return null;
  return {
    branches: pairLabelsWithTargets(textsOf(fields["proposed_labels"]), textsOf(fields["proposed_targets"])),
    outcome: textOrNull(fields["proposed_outcome"]),
    status: textOrNull(fields["proposed_status"]),
  };
}

const textOrNull = (value: unknown): string | null => (typeof value === "string" ? value : null);

/** One label may have several targets, and labels may have none: where only some have one, the record does not say which. */
function pairLabelsWithTargets(labels: readonly string[], targets: readonly string[]): readonly Branch[] {
  if (targets.length === 0) return labels.map((label) => ({ label, target: null }));
  const common = labels.length === 0 ? null : labels.join(", ");
  return targets.map((target, index) => ({
    label: labels.length === targets.length ? (labels[index] ?? null) : common,
    target,
  }));
}

export type RecordedLineage = Pick<
  Lineage,
  "artifacts" | "entities" | "inputs" | "policies" | "override" | "precedents"
> & {
  /** Of an older record, the one that decided. */
  readonly overrides: readonly OverrideApplication[];
};

/** Returns the well-formed parts of a record's lineage: old records have none, damaged ones may contain anything. */
export function recordedLineage(record: LogRecord): RecordedLineage {
  const lineage = fieldsOf("lineage" in record ? record.lineage : undefined);
  const override = overrideOf(fieldsOf(lineage["override"]));
  const overrides = itemsOf(lineage["overrides"]).flatMap((each) => overrideOf(each) ?? []);
  return {
    artifacts: textsOf(lineage["artifacts"]),
    entities: itemsOf(lineage["entities"]).flatMap(entityOf),
    inputs: itemsOf(lineage["inputs"]).flatMap(inputOf),
    policies: itemsOf(lineage["policies"]).flatMap(policyOf),
    override,
    overrides: overrides.length > 0 || override === null ? overrides : [override],
    precedents: itemsOf(lineage["precedents"]).flatMap(precedentOf),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function entityOf({ type, id }: Fields): readonly Entity[] {
  return isText(type) && isText(id) ? [{ type, id }] : [];
}

function inputOf({ source, source_type: type, keys, digest }: Fields): readonly InputSource[] {
  if (!isText(source)) return [];
  const typed = isSourceType(type) ? { source_type: type } : {};
  return [{ source, ...typed, keys: textsOf(keys), digest: textOr(digest, "") }];
}

const sourceTypes: readonly unknown[] = ["session_state", "params", "resource", "external", "context"];

const isSourceType = (value: unknown): value is SourceType => sourceTypes.includes(value);

function policyOf({ name, version, hash, ...more }: Fields): readonly PolicyEvaluation[] {
  if (!isText(name)) return [];
  const { base_decision, denial_reason, override } = more;
  return [
    {
      name,
      version: textOr(version, ""),
      hash: textOr(hash, ""),
      base_decision: base_decision === "deny" ? "deny" : "allow",
      denial_reason: textOr(denial_reason, null),
      override: textOr(override, null),
    },
  ];
}

function overrideOf({ name, version, hash, ...more }: Fields): OverrideApplication | null {
  if (!isText(name)) return null;
  const { description, decision, overrides, condition, action, reason, expires_at } = more;
  return {
    name,
    version: textOr(version, ""),
    hash: textOr(hash, ""),
    description: textOr(description, null),
    ...(isText(decision) && { decision }),
    overrides: textsOf(overrides),
    condition: textOr(condition, null),
    action: action === "allow_with_warning" || action === "modify_params" ? action : "allow",
    reason: textOr(reason, ""),
    expires_at: textOr(expires_at, null),
  };
}

function precedentOf({ record_id, similarity, match_reason, outcome_matched }: Fields): readonly Precedent[] {
  if (!isText(record_id) || typeof similarity !== "number") return [];
  const reason = textOr(match_reason, "");
  return [{ record_id, similarity, match_reason: reason, outcome_matched: outcome_matched === true }];
}

const isText = (value: unknown): value is string => typeof value === "string";

const textOr = <T>(value: unknown, other: T): string | T => (isText(value) ? value : other);

/** Returns the texts in a list. */
const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isText) : [];

const fieldsOf = (value: unknown): Fields => (isObject(value) ? value : {});

const itemsOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as readonly unknown[]).map(fieldsOf) : [];
