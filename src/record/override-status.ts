import { parseInstant } from "../expression/instant.js";
import type { OverridePolicy, PolicyDefinition } from "../model/definition.js";
import type { Ledger } from "../model/store.js";
import { overrideUseCounter } from "./counters.js";

/** An override with its state and its uses, as `overrides --format json` prints it. */
export interface OverrideStatus {
  readonly decision_id: string;
  readonly name: string;
  readonly version: string;
  readonly overrides: readonly string[];
  readonly action: NonNullable<OverridePolicy["action"]>;
  readonly status: "live" | "pending" | "expired" | "used_up";
  readonly effective_from: string | null;
  readonly expires_at: string | null;
  readonly max_applications: number | null;
  readonly uses: number;
  readonly uses_left: number | null;
  readonly last_used: string | null;
  /** The newest records that used it, newest first. */
  readonly records: readonly string[];
}

interface OverrideQuery {
  readonly log: Ledger;
  /** In milliseconds since 1970. */
  readonly now: number;
  /** How many records to list per override. */
  readonly records: number;
}

export async function overrideStatuses(
  definition: PolicyDefinition,
  { log, now, records }: OverrideQuery,
): Promise<readonly OverrideStatus[]> {
  const overrides = (definition.policies ?? []).flatMap((each) => (each.overrides === undefined ? [] : each));
  const counted = await Promise.all(
    overrides.map(async (policy) => {
      const counter = overrideUseCounter({ decision: definition.id, policy: policy.name });
      return { policy, counter, uses: (await log.counter(counter)).count };
    }),
  );
  const used = await findUses(definition.id, counted, { log, records });
  return counted.map(({ policy, counter, uses }) => {
    const found = used.get(counter) ?? [];
    return {
      ...describeOverride(definition.id, policy, { uses, now }),
      last_used: found[0]?.timestamp ?? null,
      records: found.map(({ record_id }) => record_id),
    };
  });
}

function describeOverride(
  decision_id: string,
  policy: OverridePolicy,
  { uses, now }: { readonly uses: number; readonly now: number },
): Omit<OverrideStatus, "last_used" | "records"> {
  const { name, version = "0.0.0", overrides, action = "allow", max_applications: most } = policy;
  return {
    decision_id,
    name,
    version,
    overrides,
    action,
    status: statusOf(policy, uses, now),
    effective_from: policy.effective_from ?? null,
    expires_at: policy.expires_at ?? null,
    max_applications: most ?? null,
    uses,
    uses_left: most === undefined ? null : Math.max(0, most - uses),
  };
}

function statusOf(policy: OverridePolicy, uses: number, now: number): OverrideStatus["status"] {
  const { effective_from, expires_at, max_applications: most = Infinity } = policy;
  if (expires_at !== undefined && now >= (parseInstant(expires_at) ?? -Infinity)) return "expired";
  if (uses >= most) return "used_up";
  return effective_from !== undefined && now < (parseInstant(effective_from) ?? Infinity)
    ? "pending"
    : "live";
}

interface OverrideUse {
  readonly record_id: string;
  readonly timestamp: string;
}

/** Finds the uses of each override, starting with the newest record. */
async function findUses(
  decisionId: string,
  counted: readonly { readonly counter: string; readonly uses: number }[],
  { log, records }: { readonly log: Ledger; readonly records: number },
): Promise<ReadonlyMap<string, readonly OverrideUse[]>> {
  const found = new Map<string, OverrideUse[]>();
  const limits = new Map(counted.map(({ counter, uses }) => [counter, Math.min(uses, Math.max(1, records))]));
  const isMissing = (): boolean =>
    [...limits].some(([name, count]) => (found.get(name)?.length ?? 0) < count);
  if (!isMissing()) return found;
  const query = {
    decision_id: decisionId,
    kind: "decision",
    label: "allowed_by_exception",
    reverse: true,
  } as const;
  for await (const { record } of log.select(query)) {
    if (record.kind !== "decision") continue;
    for (const count of record.counted ?? []) {
      const name = typeof count === "string" ? count : count.counter;
      const uses = found.get(name) ?? [];
      if (uses.length >= (limits.get(name) ?? 0)) continue;
      found.set(name, [...uses, { record_id: record.record_id, timestamp: record.timestamp }]);
    }
    if (!isMissing()) break;
  }
  return found;
}
