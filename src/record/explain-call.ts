import type { ExplainedCondition } from "./explain.js";
import type { RecordedValues } from "./recorded-values.js";
import { pathValueReader, conditionValueReader } from "./recorded-values.js";
import { sanitizeRecord } from "./sanitize-record.js";
import { equal, isObject } from "../expression/equal.js";
import type { Definition, OverridePolicy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord } from "../model/record.js";
import type { NamedCondition, PolicyDetail } from "../model/result.js";

/** The record of what policies made of a call. */
export type PolicyRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** What the policies made of a call, each with what it said and read. */
export interface ExplainedCall {
  readonly inputs: readonly ExplainedInput[];
  readonly policies: readonly ExplainedPolicy[];
  readonly left_out: readonly SkippedPolicy[];
}

/** A part of the context, and what was read of it. */
export interface ExplainedInput extends RecordedValues {
  readonly source: string;
}

export interface ExplainedPolicy {
  readonly name: string;
  readonly version: string;
  readonly allows: boolean;
  readonly reason?: string;
  readonly conditions: readonly ExplainedCondition[];
  /** What flipped its denial. */
  readonly override?: ExplainedOverride;
}

export interface ExplainedOverride extends AppliedOverride {
  readonly conditions: readonly ExplainedCondition[];
}

/** What had no say: a policy or an override that was not in effect, used up, or not needed. */
export interface SkippedPolicy {
  readonly name: string;
  readonly version: string;
  readonly why: string;
  readonly conditions: readonly ExplainedCondition[];
}

/** From the record alone, and a little more where the definition is kept; undefined where it is about no call. */
export function explainCall(
  kept: DecisionRecord,
  definition: Definition | undefined,
): ExplainedCall | undefined {
  const record = sanitizeRecord(kept);
  if (record.type !== "policy") return undefined;
  const details = policyDetails(record);
  const policies = consultedPolicies(record);
  const applied = new Set(policies.flatMap(({ override = [] }) => override));
  const read = conditionValueReader(record, definition);
  const conditionsOf = (name: string): readonly ExplainedCondition[] =>
    (details.get(name)?.conditions ?? []).map((each) => ({
      ...toLabelledCondition(each),
      ...read(each.expression),
    }));
  return {
    inputs: explainInputs(record),
    policies: policies.map(({ override: name, ...policy }) => ({
      ...policy,
      conditions: conditionsOf(policy.name),
      ...(name !== undefined && {
        override: {
          ...explainOverride(name, { record, definition, isOnlyOne: applied.size === 1 }),
          conditions: conditionsOf(name),
        },
      }),
    })),
    left_out: [...details].flatMap(([name, { version, left_out: why }]) =>
      why === undefined ? [] : [{ name, version, why, conditions: conditionsOf(name) }],
    ),
  };
}

const toLabelledCondition = ({
  name,
  expression,
  result,
  error,
}: NamedCondition): Pick<ExplainedCondition, "label" | "condition" | "result" | "error"> => ({
  label: name,
  condition: expression,
  result,
  ...(error !== undefined && { error }),
});

function explainInputs(record: PolicyRecord): readonly ExplainedInput[] {
  const read = pathValueReader(record);
  return record.lineage.inputs.map(({ source, keys }) => ({
    source,
    ...read(keys.length === 0 ? [source] : keys.map((key) => `${source}.${key}`)),
  }));
}

/** A policy that was in effect, and what it said. */
interface ConsultedPolicy extends Omit<ExplainedPolicy, "conditions" | "override"> {
  /** The name of what flipped its denial. */
  readonly override?: string;
}

type Details = ReadonlyMap<string, PolicyDetail>;

const policyDetails = ({ evaluation_details: details }: PolicyRecord): Details =>
  new Map(Object.entries(details as Readonly<Record<string, PolicyDetail>>));

/** Of a sound record: told by the lineage, and by the details where it has none. */
export function consultedPolicies(record: PolicyRecord): readonly ConsultedPolicy[] {
  const { policies } = record.lineage;
  const details = policyDetails(record);
  if (policies.length === 0) return policiesFromDetails(details);
  return policies
    .filter(({ name, version }) => name !== noPolicy.name || version !== noPolicy.version)
    .map(({ name, version, base_decision, denial_reason, override }) => {
      const reason = denial_reason ?? details.get(name)?.reason;
      return {
        name,
        version,
        allows: base_decision === "allow",
        ...(reason !== undefined && { reason }),
        ...(override !== null && { override }),
      };
    });
}

/** As the specification has it where no policy is in effect. */
const noPolicy = { name: "none", version: "0.0.0" };

function policiesFromDetails(details: Details): readonly ConsultedPolicy[] {
  return [...details].flatMap(([name, detail]) => {
    const { version, result: allows, reason, overridden_by: override, left_out, overrides } = detail;
    if (left_out !== undefined || overrides !== undefined) return [];
    const told = { ...(reason !== undefined && { reason }), ...(override !== undefined && { override }) };
    return [{ name, version, allows, ...told }];
  });
}

/** An override that was applied, as much as is known of it. */
interface AppliedOverride {
  readonly name: string;
  readonly version?: string;
  readonly action?: string;
  readonly reason?: string;
  /** Null: never; absent: nobody knows. */
  readonly expires_at?: string | null;
  /** What it set of the params: nothing where the call is denied, or where nobody knows. */
  readonly set: JsonObject;
}

interface OverrideContext {
  readonly record: PolicyRecord;
  readonly definition: Definition | undefined;
  /** No other override was applied to the call. */
  readonly isOnlyOne: boolean;
}

/** The lineage knows the override that decided; of the others the definition may know more. */
export function explainOverride(name: string, circumstances: OverrideContext): AppliedOverride {
  const { lineage, evaluation_details } = circumstances.record;
  const details = evaluation_details as Readonly<Record<string, PolicyDetail>>;
  const detail = Object.hasOwn(details, name) ? details[name] : undefined;
  const applied = lineage.override?.name === name ? lineage.override : undefined;
  const written = findOverrideDefinition(name, circumstances.definition);
  const version = applied?.version ?? detail?.version ?? written?.version;
  const action = applied?.action ?? (written && (written.action ?? "allow"));
  const reason = applied?.reason ?? detail?.reason;
  const expires = applied === undefined ? written && (written.expires_at ?? null) : applied.expires_at;
  return {
    name,
    ...(version !== undefined && { version }),
    ...(action !== undefined && { action }),
    ...(reason !== undefined && { reason }),
    ...(expires !== undefined && { expires_at: expires }),
    set: setParams(circumstances, written),
  };
}

function findOverrideDefinition(
  name: string,
  definition: Definition | undefined,
): OverridePolicy | undefined {
  if (definition?.type !== "policy") return undefined;
  const found = definition.policies?.find((each) => each.name === name);
  return found?.overrides === undefined ? undefined : found;
}

/** What the definition says it sets; where that is not kept and it was the only one, all that was changed. */
function setParams({ record, isOnlyOne }: OverrideContext, written: OverridePolicy | undefined): JsonObject {
  if (written === undefined) return isOnlyOne ? changedParams(record) : {};
  const own = Object.keys(written.params ?? {});
  return filterParams(record, (key) => own.includes(key));
}

/** The params of an allowed call that are not as they were asked about. */
export function changedParams(record: PolicyRecord): JsonObject {
  return filterParams(
    record,
    (key, value, asked) => !Object.hasOwn(asked, key) || !equal(asked[key] ?? null, value),
  );
}

function filterParams(
  { allowed, params, context }: PolicyRecord,
  isMeant: (key: string, value: JsonObject[string], asked: JsonObject) => boolean,
): JsonObject {
  const asked = context?.["params"];
  if (!allowed || !isObject(params) || !isObject(asked)) return {};
  return Object.fromEntries(Object.entries(params).filter(([key, value]) => isMeant(key, value, asked)));
}
