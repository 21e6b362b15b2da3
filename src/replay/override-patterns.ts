import { canonicalJson } from "../digest/canonical-json.js";
import { isObject } from "../expression/equal.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { OverrideApplication, PolicyEvaluation } from "../model/lineage.js";
import type { PolicyRecord } from "../model/record.js";
import type { Count, Store, TimeRange } from "../model/store.js";
import { counterName, overrideUseCounter, sessionOf } from "../record/counters.js";
import { policyDetails } from "../record/explain-call.js";
import { conditionValueReader } from "../record/recorded-values.js";
import { sanitizeRecord } from "../record/sanitize-record.js";
import { isText, validItems } from "../record/well-formed.js";
import type { DecisionVisitor } from "./walk-log.js";
import { walkLog } from "./walk-log.js";

/** How often an override flipped the denials of a policy, and for which inputs. */
export interface OverridePattern {
  /** The decision that has the policy. */
  readonly decision_id: string;
  readonly policy: string;
  readonly override: string;
  /** The decision that declares the override. */
  readonly override_decision_id: string;
  /** The finally allowed calls for which the override flipped the denial. */
  readonly flips: number;
  /** All denials of the policy, flipped or not. */
  readonly denials: number;
  /** The share of flips in the denials. */
  readonly share: number;
  /** The time of the first flip. */
  readonly first: string;
  readonly last: string;
  readonly sessions: number;
  /** The authenticated callers. */
  readonly callers: number;
  /** The flips of calls for which a condition of the policy could not be evaluated. */
  readonly errors: number;
  /** The newest records, newest first. */
  readonly examples: readonly string[];
  /** The values that `when` of the override read, by path. */
  readonly inputs: readonly InputValues[];
}

/** The values at a path in the calls of a pattern. */
export interface InputValues {
  readonly path: string;
  /** The most frequent values, masked as in the records. */
  readonly values: readonly { readonly value: Json; readonly count: number }[];
  readonly distinct: number;
  /** The calls with a less frequent value. */
  readonly other: number;
  /** The calls without a value. */
  readonly missing: number;
  /** The calls whose inputs were not recorded. */
  readonly not_recorded: number;
}

export interface OverridePatterns {
  /** The decisions about tool calls that were read. */
  readonly calls: number;
  /** The lines that were skipped because they are damaged. */
  readonly damaged: number;
  /** The most frequent first. */
  readonly patterns: readonly OverridePattern[];
}

/** Groups the calls of a log that overrides allowed, by the override and the policy whose denial it flipped. */
export async function findOverridePatterns(
  store: Store,
  range: TimeRange,
  onProgress: (calls: number, share: number) => void = () => undefined,
): Promise<OverridePatterns> {
  const collector = new PatternCollector();
  await walkLog(store, range, collector, (share) => onProgress(collector.calls, share));
  return collector.finish();
}

/** A denial that an override flipped, in a call that may still be denied by another policy. */
interface Flip {
  readonly record: PolicyRecord;
  readonly definition: Definition | undefined;
  readonly policy: PolicyEvaluation;
  readonly override: OverrideApplication;
  readonly denials: DenialCount;
}

/** The denials of a policy so far. */
interface DenialCount {
  count: number;
}

class PatternCollector implements DecisionVisitor {
  calls = 0;
  damaged = 0;
  readonly #denials = new Map<string, DenialCount>();
  readonly #patterns = new Map<string, PatternCounts>();
  /** The call whose records are being read: those of one check are next to each other. */
  #check: string | undefined;
  #flips: Flip[] = [];
  #counters = new Set<string>();

  visit: DecisionVisitor["visit"] = ({ record: untrusted }, madeWith) => {
    if (untrusted.type !== "policy") return;
    this.calls++;
    const record = sanitizeRecord(untrusted);
    const { decision_id, check_id, lineage } = record;
    if (check_id === undefined || check_id !== this.#check) this.#finishCall();
    this.#check = check_id;
    for (const each of validItems(record.counted, isCount)) this.#counters.add(counterName(each));
    const { override: deciding, overrides = deciding === null ? [] : [deciding] } = lineage;
    for (const policy of lineage.policies) {
      if (policy.base_decision === "allow") continue;
      const denials = this.#denialsOf(decision_id, policy.name);
      denials.count++;
      const override = overrides.find(
        (each) => each.name === policy.override && each.overrides.includes(policy.name),
      );
      const definition = "loaded" in madeWith ? madeWith.loaded.definition : undefined;
      if (override !== undefined) this.#flips.push({ record, definition, policy, override, denials });
    }
  };

  #denialsOf(decision: string, policy: string): DenialCount {
    const key = keyOf(decision, policy);
    const denials = this.#denials.get(key) ?? { count: 0 };
    this.#denials.set(key, denials);
    return denials;
  }

  visitDamaged = (): void => {
    this.damaged++;
  };

  /** Only calls that were finally allowed count as uses of their overrides. */
  #finishCall(): void {
    for (const flip of this.#flips) {
      const reference = { decision: declaringDecision(flip), policy: flip.override.name };
      const isUsed = [overrideUseCounter(reference), overrideUseCounter(reference, "orgs")].some((each) =>
        this.#counters.has(each),
      );
      if (isUsed) this.#count(flip);
    }
    this.#flips = [];
    this.#counters = new Set();
  }

  #count(flip: Flip): void {
    const key = keyOf(flip.record.decision_id, flip.policy.name, declaringDecision(flip), flip.override.name);
    const pattern = this.#patterns.get(key) ?? new PatternCounts(flip);
    this.#patterns.set(key, pattern);
    pattern.add(flip);
  }

  finish(): OverridePatterns {
    this.#finishCall();
    const patterns = [...this.#patterns.values()].map((each) => each.finish());
    // Equal ones in the order of their first flip.
    patterns.sort((a, b) => b.flips - a.flips);
    return { calls: this.calls, damaged: this.damaged, patterns };
  }
}

const isCount = (value: unknown): value is Count =>
  isText(value) || (isObject(value) && isText(value["counter"]));

const keyOf = (...names: readonly string[]): string => JSON.stringify(names);

const declaringDecision = ({ record, override }: Flip): string => override.decision ?? record.decision_id;

const maxExamples = 3;

/** The counts of one pattern. */
class PatternCounts {
  readonly #decisionId: string;
  readonly #policy: string;
  readonly #denials: DenialCount;
  readonly #override: string;
  readonly #overrideDecision: string;
  readonly #sessions = new Set<string>();
  readonly #callers = new Set<string>();
  readonly #inputs = new Map<string, ValueCounts>();
  #flips = 0;
  #errors = 0;
  #first = "";
  #last = "";
  #examples: readonly string[] = [];

  constructor(flip: Flip) {
    this.#decisionId = flip.record.decision_id;
    this.#policy = flip.policy.name;
    this.#denials = flip.denials;
    this.#override = flip.override.name;
    this.#overrideDecision = declaringDecision(flip);
  }

  add(flip: Flip): void {
    const { record, definition, policy, override } = flip;
    const { timestamp, record_id } = record;
    this.#flips++;
    this.#first ||= timestamp;
    this.#last = timestamp;
    this.#examples = [record_id, ...this.#examples].slice(0, maxExamples);
    const caller = callerOf(record);
    const session = sessionOf({ ...record, caller });
    if (session !== undefined) this.#sessions.add(JSON.stringify(session));
    if (caller !== undefined) this.#callers.add(JSON.stringify([caller.issuer, caller.subject]));
    // The evaluation may not have been recorded.
    const { conditions = [] } = policyDetails(record).get(policy.name) ?? {};
    const failed = conditions.filter(({ result }) => !result);
    if (failed.some(({ error }) => error !== undefined)) this.#errors++;
    if (override.condition === null) return;
    const denial = {
      policy: policy.name,
      version: policy.version,
      reason: policy.denial_reason,
      failed_conditions: failed.map(({ name }) => name),
    };
    const read = conditionValueReader(record, definition, { denial })(override.condition);
    for (const [path, value] of Object.entries(read.values)) this.#valuesAt(path).add(value);
    for (const path of read.missing ?? []) this.#valuesAt(path).missing++;
    for (const path of read.not_recorded ?? []) this.#valuesAt(path).notRecorded++;
  }

  #valuesAt(path: string): ValueCounts {
    const values = this.#inputs.get(path) ?? new ValueCounts();
    this.#inputs.set(path, values);
    return values;
  }

  finish(): OverridePattern {
    const { count: denials } = this.#denials;
    return {
      decision_id: this.#decisionId,
      policy: this.#policy,
      override: this.#override,
      override_decision_id: this.#overrideDecision,
      flips: this.#flips,
      denials,
      share: this.#flips / denials,
      first: this.#first,
      last: this.#last,
      sessions: this.#sessions.size,
      callers: this.#callers.size,
      errors: this.#errors,
      examples: this.#examples,
      inputs: [...this.#inputs].map(([path, values]) => ({ path, ...values.finish() })),
    };
  }
}

interface Caller {
  readonly issuer: Json;
  readonly subject: Json;
  readonly org_id?: string;
}

function callerOf({ facts }: PolicyRecord): Caller | undefined {
  const caller: JsonObject | undefined = isObject(facts["authenticated_caller"])
    ? facts["authenticated_caller"]
    : undefined;
  if (caller === undefined) return undefined;
  const { issuer = null, subject = null, org_id } = caller;
  return { issuer, subject, ...(typeof org_id === "string" && { org_id }) };
}

/** How many of the most frequent values are listed. */
const maxValues = 5;

/** Counts the values at a path. */
class ValueCounts {
  missing = 0;
  notRecorded = 0;
  readonly #counts = new Map<string, { readonly value: Json; count: number }>();

  add(value: Json): void {
    const key = canonicalJson(value);
    const counted = this.#counts.get(key) ?? { value, count: 0 };
    counted.count++;
    this.#counts.set(key, counted);
  }

  finish(): Omit<InputValues, "path"> {
    const sorted = [...this.#counts.values()].sort((a, b) => b.count - a.count);
    const other = sorted.slice(maxValues).reduce((sum, { count }) => sum + count, 0);
    return {
      values: sorted.slice(0, maxValues),
      distinct: sorted.length,
      other,
      missing: this.missing,
      not_recorded: this.notRecorded,
    };
  }
}
