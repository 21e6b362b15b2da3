import { parseInstant } from "../expression/instant.js";
import type { OverridePolicy, PolicyDefinition } from "../model/definition.js";
import type { Ledger } from "../model/store.js";
import { counterName, overrideUseCounter } from "./counters.js";
import { microsecondsOf } from "./timestamp.js";

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
  /** The part of `uses` by callers of organisations, each of which has its own limit. */
  readonly org_uses: number;
  /** For callers without an organisation. */
  readonly uses_left: number | null;
  readonly last_used: string | null;
  /** The newest records that used it, newest first. */
  readonly records: readonly string[];
}

interface OverrideQuery {
  readonly log: Ledger;
  /** In milliseconds since 1970. Uses after this time do not count. */
  readonly now: number;
  /** How many records to list per override. */
  readonly records: number;
}

export async function overrideStatuses(
  definition: PolicyDefinition,
  { log, now, records }: OverrideQuery,
): Promise<readonly OverrideStatus[]> {
  const overrides = (definition.policies ?? []).flatMap((each) => (each.overrides === undefined ? [] : each));
  return Promise.all(
    overrides.map(async (policy) => {
      const { uses, org_uses, newest } = await findUses(policy.name, definition.id, { log, now, records });
      return {
        ...describeOverride(definition.id, policy, { uses, org_uses, now }),
        last_used: newest[0]?.timestamp ?? null,
        records: newest.slice(0, records).map(({ record_id }) => record_id),
      };
    }),
  );
}

function describeOverride(
  decision_id: string,
  policy: OverridePolicy,
  { uses, org_uses, now }: Pick<OverrideStatus, "uses" | "org_uses"> & Pick<OverrideQuery, "now">,
): Omit<OverrideStatus, "last_used" | "records"> {
  const { name, version = "0.0.0", overrides, action = "allow", max_applications: most } = policy;
  return {
    decision_id,
    name,
    version,
    overrides,
    action,
    status: statusOf(policy, uses - org_uses, now),
    effective_from: policy.effective_from ?? null,
    expires_at: policy.expires_at ?? null,
    max_applications: most ?? null,
    uses,
    org_uses,
    uses_left: most === undefined ? null : Math.max(0, most - (uses - org_uses)),
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

interface OverrideUses extends Pick<OverrideStatus, "uses" | "org_uses"> {
  /** Newest first. */
  readonly newest: readonly OverrideUse[];
}

/** Counts the uses of an override up to a time, and finds the newest ones. */
async function findUses(
  name: string,
  decision: string,
  { log, now, records }: OverrideQuery,
): Promise<OverrideUses> {
  const reference = { decision, policy: name };
  const shared = overrideUseCounter(reference);
  const ofOrgs = overrideUseCounter(reference, "orgs");
  const counts = { shared: (await log.counter(shared)).count, orgs: (await log.counter(ofOrgs)).count };
  const newest: OverrideUse[] = [];
  const isComplete = (): boolean =>
    newest.length >= Math.min(counts.shared + counts.orgs, Math.max(1, records));
  const used = isComplete() ? [] : log.related({ policy: name }, { label: "allowed_by_exception" });
  for await (const { record } of used) {
    if (record.kind !== "decision") continue;
    // Overrides of other decisions may have the same name.
    const counted = (record.counted ?? []).map(counterName);
    const count = counted.includes(shared) ? "shared" : counted.includes(ofOrgs) ? "orgs" : undefined;
    if (count === undefined) continue;
    if (microsecondsOf(record.timestamp) > now * 1000) counts[count]--;
    else newest.push({ record_id: record.record_id, timestamp: record.timestamp });
    if (isComplete()) break;
  }
  return { uses: counts.shared + counts.orgs, org_uses: counts.orgs, newest };
}
