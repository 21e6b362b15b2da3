import type { Definition } from "../model/definition.js";
import type { DecisionRecord } from "../model/record.js";
import type { NamedCondition, PolicyDetail } from "../model/result.js";
import type { ExplainedCondition } from "./explain.js";
import type { AppliedOverride } from "./explain-override.js";
import { explainOverride } from "./explain-override.js";
import type { Readings } from "./readings.js";
import { pathReadings, readingsOf } from "./readings.js";
import { soundRecord } from "./sound-record.js";

/** The record of what policies made of a call. */
export type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** What the policies made of a call, each with what it said and read. */
export interface ExplainedCall {
  readonly inputs: readonly ExplainedInput[];
  readonly policies: readonly ExplainedPolicy[];
  readonly left_out: readonly LeftOutPolicy[];
}

/** A part of the context, and what was read of it. */
export interface ExplainedInput extends Readings {
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
export interface LeftOutPolicy {
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
  const record = soundRecord(kept);
  if (record.type !== "policy") return undefined;
  const details = detailsOf(record);
  const policies = consultedPolicies(record);
  const applied = new Set(policies.flatMap(({ override = [] }) => override));
  const read = readingsOf(record, definition);
  const conditionsOf = (name: string): readonly ExplainedCondition[] =>
    (details.get(name)?.conditions ?? []).map((each) => ({ ...labelled(each), ...read(each.expression) }));
  return {
    inputs: inputsOf(record),
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

const labelled = ({
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

function inputsOf(record: CallRecord): readonly ExplainedInput[] {
  const read = pathReadings(record);
  return record.lineage.inputs.map(({ source, keys }) => ({
    source,
    ...read(keys.length === 0 ? [source] : keys.map((key) => `${source}.${key}`)),
  }));
}

/** A policy that was in effect, and what it said. */
export interface ConsultedPolicy extends Omit<ExplainedPolicy, "conditions" | "override"> {
  /** The name of what flipped its denial. */
  readonly override?: string;
}

type Details = ReadonlyMap<string, PolicyDetail>;

const detailsOf = ({ evaluation_details: details }: CallRecord): Details =>
  new Map(Object.entries(details as Readonly<Record<string, PolicyDetail>>));

/** Of a sound record: told by the lineage, and by the details where it has none. */
export function consultedPolicies(record: CallRecord): readonly ConsultedPolicy[] {
  const { policies } = record.lineage;
  const details = detailsOf(record);
  if (policies.length === 0) return consultedByDetails(details);
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

function consultedByDetails(details: Details): readonly ConsultedPolicy[] {
  return [...details].flatMap(([name, detail]) => {
    const { version, result: allows, reason, overridden_by: override, left_out, overrides } = detail;
    if (left_out !== undefined || overrides !== undefined) return [];
    const told = { ...(reason !== undefined && { reason }), ...(override !== undefined && { override }) };
    return [{ name, version, allows, ...told }];
  });
}
