import type { ExplainedCondition } from "./explain.js";
import type { RecordedValues } from "./recorded-values.js";
import { pathValueReader, conditionValueReader } from "./recorded-values.js";
import { sanitizeRecord } from "./sanitize-record.js";
import { hasShape, validItems } from "./well-formed.js";
import type { ParamsChange } from "../evaluate/policy/policy-facts.js";
import { paramsSetBy } from "../evaluate/policy/policy-facts.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { equal, isObject } from "../expression/equal.js";
import type { Definition, OverridePolicy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { DecisionRecord, PolicyRecord } from "../model/record.js";
import type { NamedCondition, PolicyDetail } from "../model/result.js";

/** The policies that decided a call, each with its verdict and the values that it read. */
export interface ExplainedCall {
  readonly inputs: readonly ExplainedInput[];
  readonly policies: readonly ExplainedPolicy[];
  readonly left_out: readonly SkippedPolicy[];
}

/** A top-level part of the context, with the values that were read from it. */
export interface ExplainedInput extends RecordedValues {
  readonly source: string;
}

export interface ExplainedPolicy {
  readonly name: string;
  readonly version: string;
  readonly allows: boolean;
  readonly reason?: string;
  readonly conditions: readonly ExplainedCondition[];
  /** The override that flipped its denial. */
  readonly override?: ExplainedOverride;
}

export interface ExplainedOverride extends AppliedOverride {
  readonly conditions: readonly ExplainedCondition[];
}

/** A policy or override that did not take part: not in effect, used up, or not needed. */
export interface SkippedPolicy {
  readonly name: string;
  readonly version: string;
  readonly why: string;
  readonly conditions: readonly ExplainedCondition[];
}

/** Explains the record of a call; with its definition in more detail. Undefined for other types of decisions. */
export function explainCall(
  untrusted: DecisionRecord,
  definition: Definition | undefined,
): ExplainedCall | undefined {
  const record = sanitizeRecord(untrusted);
  if (record.type !== "policy") return undefined;
  const details = policyDetails(record);
  const policies = consultedPolicies(record);
  const applied = new Set(policies.flatMap(({ override = [] }) => override));
  const read = conditionValueReader(record, definition);
  const readChanged = conditionValueReader(withChangedParams(record), definition);
  const conditionsOf = (name: string, denied?: ConsultedPolicy): readonly ExplainedCondition[] => {
    const { conditions = [], changed_by } = details.get(name) ?? {};
    const denial = denied && { denial: denialOf(denied, details) };
    const ofCall = denial === undefined ? read : conditionValueReader(record, definition, denial);
    const readValues = changed_by === undefined ? ofCall : readChanged;
    return conditions.map((each) => ({ ...toLabelledCondition(each), ...readValues(each.expression) }));
  };
  const firstDenied = policies.find(({ allows }) => !allows);
  return {
    inputs: explainInputs(record),
    policies: policies.map(({ override: name, ...policy }) => ({
      ...policy,
      conditions: conditionsOf(policy.name),
      ...(name !== undefined && {
        override: {
          ...explainOverride(name, { record, definition, isOnlyOne: applied.size === 1 }),
          conditions: conditionsOf(name, policy),
        },
      }),
    })),
    left_out: [...details].flatMap(([name, { version, left_out: why }]) =>
      why === undefined ? [] : [{ name, version, why, conditions: conditionsOf(name, firstDenied) }],
    ),
  };
}

/** Returns what an override reads as `denial`. */
export function denialOf(
  { name, version, reason = "" }: Pick<ConsultedPolicy, "name" | "version" | "reason">,
  details: Details,
): JsonObject {
  const { conditions = [] } = details.get(name) ?? {};
  const failed = conditions.filter(({ result }) => !result).map((each) => each.name);
  return { policy: name, version, reason, failed_conditions: failed };
}

/** Returns the record with the params that overrides changed, which were then denied. */
function withChangedParams(record: PolicyRecord): PolicyRecord {
  const { context, facts } = record;
  const { changes } = isObject(facts["recheck"]) ? facts["recheck"] : {};
  if (!isObject(context)) return record;
  const set = paramsSetBy(
    validItems(changes, hasShape<Pick<ParamsChange, "set_params">>({ set_params: isObject })),
  );
  return { ...record, context: { ...context, params: mergeParams(context["params"] ?? null, set) } };
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

/** A policy that was in effect, and its verdict. */
interface ConsultedPolicy extends Omit<ExplainedPolicy, "conditions" | "override"> {
  /** The name of the override that flipped its denial. */
  readonly override?: string;
}

type Details = ReadonlyMap<string, PolicyDetail>;

/** Returns the details of the policies by name; none where they were not recorded. */
export const policyDetails = ({ evaluation_details: details }: PolicyRecord): Details =>
  new Map(Object.entries(details as Readonly<Record<string, PolicyDetail>>));

/** Returns the policies of a sanitized record: from its lineage, or from its details where it has none. */
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

/** The policy that the specification names where none is in effect. */
const noPolicy = { name: "none", version: "0.0.0" };

function policiesFromDetails(details: Details): readonly ConsultedPolicy[] {
  return [...details].flatMap(([name, detail]) => {
    const { version, result: allows, reason, overridden_by: override, left_out, overrides } = detail;
    if (left_out !== undefined || overrides !== undefined) return [];
    const optional = { ...(reason !== undefined && { reason }), ...(override !== undefined && { override }) };
    return [{ name, version, allows, ...optional }];
  });
}

/** An override that was applied; fields that neither record nor definition has are absent. */
interface AppliedOverride {
  readonly name: string;
  readonly version?: string;
  readonly description?: string;
  /** The decision that declares it, if it is another one. */
  readonly decision?: string;
  readonly action?: string;
  readonly reason?: string;
  /** Null: never; absent: unknown. */
  readonly expires_at?: string | null;
  /** The params that it set; empty where the call was denied, or where they are unknown. */
  readonly set: JsonObject;
}

interface OverrideContext {
  readonly record: PolicyRecord;
  readonly definition: Definition | undefined;
  /** Whether no other override was applied to the call. */
  readonly isOnlyOne: boolean;
}

/** Describes an applied override, from the lineage; older records have only the deciding one there. */
export function explainOverride(name: string, context: OverrideContext): AppliedOverride {
  const { lineage, evaluation_details } = context.record;
  const details = evaluation_details as Readonly<Record<string, PolicyDetail>>;
  const detail = Object.hasOwn(details, name) ? details[name] : undefined;
  const listed = [...(lineage.overrides ?? []), ...(lineage.override === null ? [] : [lineage.override])];
  const applied = listed.find((each) => each.name === name);
  const written = findOverrideDefinition(name, context.definition);
  const version = applied?.version ?? detail?.version ?? written?.version;
  const action = applied?.action ?? (written && (written.action ?? "allow"));
  const reason = applied?.reason ?? detail?.reason;
  const description = applied?.description ?? written?.description;
  const expires = applied === undefined ? written && (written.expires_at ?? null) : applied.expires_at;
  return {
    name,
    ...(version !== undefined && { version }),
    ...(description !== undefined && { description }),
    ...(applied?.decision !== undefined && { decision: applied.decision }),
    ...(action !== undefined && { action }),
    ...(reason !== undefined && { reason }),
    ...(expires !== undefined && { expires_at: expires }),
    set: setParams(context, written),
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

/** Returns the params that the definition sets; without a definition, all that changed if it was the only override. */
function setParams({ record, isOnlyOne }: OverrideContext, written: OverridePolicy | undefined): JsonObject {
  if (written === undefined) return isOnlyOne ? changedParams(record) : {};
  const own = Object.keys(written.params ?? {});
  return filterParams(record, (key) => own.includes(key));
}

/** Returns the params of an allowed call that differ from the requested ones. */
export function changedParams(record: PolicyRecord): JsonObject {
  return filterParams(
    record,
    (key, value, requested) => !Object.hasOwn(requested, key) || !equal(requested[key] ?? null, value),
  );
}

function filterParams(
  { allowed, params, context }: PolicyRecord,
  isIncluded: (key: string, value: JsonObject[string], requested: JsonObject) => boolean,
): JsonObject {
  const requested = context?.["params"];
  if (!allowed || !isObject(params) || !isObject(requested)) return {};
  return Object.fromEntries(
    Object.entries(params).filter(([key, value]) => isIncluded(key, value, requested)),
  );
}
