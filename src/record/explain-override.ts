import { equal, isObject } from "../expression/equal.js";
import type { Definition, OverridePolicy } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { PolicyDetail } from "../model/result.js";
import type { CallRecord } from "./explain-call.js";

/** An override that was applied, as much as is known of it. */
export interface AppliedOverride {
  readonly name: string;
  readonly version?: string;
  readonly action?: string;
  readonly reason?: string;
  /** Null: never; absent: nobody knows. */
  readonly expires_at?: string | null;
  /** What it set of the params: nothing where the call is denied, or where nobody knows. */
  readonly set: JsonObject;
}

interface Circumstances {
  readonly record: CallRecord;
  readonly definition: Definition | undefined;
  /** No other override was applied to the call. */
  readonly isOnlyOne: boolean;
}

/** The lineage knows the override that decided; of the others the definition may know more. */
export function explainOverride(name: string, circumstances: Circumstances): AppliedOverride {
  const { lineage, evaluation_details } = circumstances.record;
  const details = evaluation_details as Readonly<Record<string, PolicyDetail>>;
  const detail = Object.hasOwn(details, name) ? details[name] : undefined;
  const applied = lineage.override?.name === name ? lineage.override : undefined;
  const written = writtenOverride(name, circumstances.definition);
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
    set: paramsSet(circumstances, written),
  };
}

function writtenOverride(name: string, definition: Definition | undefined): OverridePolicy | undefined {
  if (definition?.type !== "policy") return undefined;
  const found = definition.policies?.find((each) => each.name === name);
  return found?.overrides === undefined ? undefined : found;
}

/** What the definition says it sets; where that is not kept and it was the only one, all that was changed. */
function paramsSet({ record, isOnlyOne }: Circumstances, written: OverridePolicy | undefined): JsonObject {
  if (written === undefined) return isOnlyOne ? paramsChanged(record) : {};
  const own = Object.keys(written.params ?? {});
  return paramsWhere(record, (key) => own.includes(key));
}

/** The params of an allowed call that are not as they were asked about. */
export function paramsChanged(record: CallRecord): JsonObject {
  return paramsWhere(
    record,
    (key, value, asked) => !Object.hasOwn(asked, key) || !equal(asked[key] ?? null, value),
  );
}

function paramsWhere(
  { allowed, params, context }: CallRecord,
  isMeant: (key: string, value: JsonObject[string], asked: JsonObject) => boolean,
): JsonObject {
  const asked = context?.["params"];
  if (!allowed || !isObject(params) || !isObject(asked)) return {};
  return Object.fromEntries(Object.entries(params).filter(([key, value]) => isMeant(key, value, asked)));
}
