import type {
  Entity,
  InputSource,
  Lineage,
  OverrideApplication,
  PolicyEvaluation,
} from "../model/lineage.js";
import type { Precedent } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";

export type RecordedLineage = Pick<
  Lineage,
  "artifacts" | "entities" | "inputs" | "policies" | "override" | "precedents"
>;

/** What a record says that it rested on, as far as it makes sense: old ones say nothing, damaged ones anything. */
export function recordedLineage(record: LogRecord): RecordedLineage {
  const lineage = fieldsOf("lineage" in record ? record.lineage : undefined);
  return {
    artifacts: textsOf(lineage["artifacts"]),
    entities: itemsOf(lineage["entities"]).flatMap(entityOf),
    inputs: itemsOf(lineage["inputs"]).flatMap(inputOf),
    policies: itemsOf(lineage["policies"]).flatMap(policyOf),
    override: overrideOf(fieldsOf(lineage["override"])),
    precedents: itemsOf(lineage["precedents"]).flatMap(precedentOf),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function entityOf({ type, id }: Fields): readonly Entity[] {
  return isText(type) && isText(id) ? [{ type, id }] : [];
}

function inputOf({ source, keys, digest }: Fields): readonly InputSource[] {
  return isText(source) ? [{ source, keys: textsOf(keys), digest: textOr(digest, "") }] : [];
}

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
  const { overrides, condition, action, reason, expires_at } = more;
  return {
    name,
    version: textOr(version, ""),
    hash: textOr(hash, ""),
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

/** The texts of what should be a list of them. */
export const textsOf = (value: unknown): readonly string[] =>
  Array.isArray(value) ? (value as readonly unknown[]).filter(isText) : [];

const fieldsOf = (value: unknown): Fields =>
  typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};

const itemsOf = (value: unknown): readonly Fields[] =>
  Array.isArray(value) ? (value as readonly unknown[]).map(fieldsOf) : [];
