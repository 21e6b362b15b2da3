import { createHash } from "node:crypto";
import type { JsonObject } from "../../src/model/json.js";
import type { Lineage } from "../../src/model/lineage.js";
import type { AssessmentRecord, LogRecord, RoutingRecord, ToolResultRecord } from "../../src/model/record.js";
import type { LogLine, ShelfEntry } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import {
  assessmentRecordBody,
  decisionRecordBody,
  noteRecordBody,
  toolResultRecordBody,
} from "../../src/record/record-json.js";
import { newRecordId } from "../../src/record/record-id.js";

export const noon = "2026-03-02T12:00:00.000000Z";

/** A clock that advances by a millisecond on every read and can be set. */
export class TestClock {
  #now: number;

  constructor(start = noon) {
    this.#now = microsecondsOf(start);
  }

  readonly read = (): string => {
    this.#now += 1000;
    return formatTimestamp(this.#now);
  };

  set(timestamp: string): void {
    this.#now = microsecondsOf(timestamp);
  }
}

let seed = 1;

/** A seeded random generator. */
export function chance(): number {
  seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
  return seed / 2 ** 32;
}

export const newId = (timestamp: string): string => newRecordId(microsecondsOf(timestamp), chance);

export const sha256 = (bytes: string | Uint8Array): string =>
  createHash("sha256").update(bytes).digest("hex");

/** The test definitions by hash. Each contains only a name. */
const named = new Map<string, string>();

/** Returns the hash of a test definition with this name. */
export function definitionHash(name: string): string {
  const definition = `definition ${sha256(name)}`;
  const hash = sha256(JSON.stringify(definition));
  named.set(hash, definition);
  return hash;
}

/** Returns the test definition that a record used, if it is one. */
export function definitionOf(body: string): ShelfEntry | undefined {
  const key = /"definition_hash":"([0-9a-f]{64})"/.exec(body)?.[1] ?? "";
  const value = named.get(key);
  return value === undefined ? undefined : { key, value };
}

export type Decided = Partial<Omit<RoutingRecord, "kind" | "seq" | "prev_hash" | "hash" | "input_value">> & {
  /** Equal inputs have equal deterministic hashes. */
  readonly input?: string | number;
};

/** The body of a decision's record, as the program writes it. */
export function decided({ input = 1, ...fields }: Decided = {}): string {
  const { timestamp = noon, decision_id = "gate", selected_labels = ["Pass"] } = fields;
  const { context = { input }, facts = {}, cache_key: cacheKey, cached_from: cachedFrom } = fields;
  const { answer_digest: answerDigest } = fields;
  const definition_hash = fields.definition_hash ?? definitionHash(decision_id);
  const result = {
    record_id: newId(timestamp),
    definition_hash,
    environment_hash: sha256("{}"),
    type: "binary" as const,
    selected_targets: selected_labels.map((label) => `to-${label}`),
    evaluation_details: {},
    because: [],
    failed_conditions: [],
    warnings: [],
    guardrails: [],
    blocked: false,
    escalated: false,
    cached: false,
    dry_run: false,
    deterministic_hash: sha256(`${definition_hash} ${selected_labels.join()} ${input}`),
    ...fields,
    timestamp,
    decision_id,
    selected_labels,
    input_value: input,
  };
  const lineage = { ...noLineage, ...fields.lineage };
  const cache = { cacheKey, cachedFrom, answerDigest };
  return decisionRecordBody(result, { provenance: fields, context, facts, ...cache, lineage });
}

const noLineage: Lineage = {
  entities: [],
  artifacts: [],
  inputs: [],
  conditions: [],
  policies: [],
  override: null,
  params_digest: null,
  precedents: [],
};

/** The body of a tool result. */
export function called({ timestamp = noon, ...fields }: Partial<ToolResultRecord> = {}): string {
  const { tool = "read_file", ok = true, decision_records = [] } = fields;
  return toolResultRecordBody({
    ...fields,
    record_id: newId(timestamp),
    timestamp,
    tool,
    ok,
    decision_records,
  });
}

/** The body of an assessment of a session. */
export function assessed(session_id: string, more: Partial<AssessmentRecord> = {}): string {
  return assessmentRecordBody({
    record_id: newId(noon),
    timestamp: noon,
    observer: "precedent_consistency",
    severity: "info",
    summary: "0 of 1 decision deviated from precedent",
    decisions: 1,
    session_id,
    parent_record_id: newId(noon),
    suggestions: [],
    deviations: [],
    ...more,
  });
}

/** The body of a note, such as a prune leaves. */
export function noted(details: JsonObject = {}, timestamp = noon): string {
  return noteRecordBody({ record_id: newId(timestamp), timestamp, note: "pruned", details });
}

export async function collect(lines: AsyncIterable<LogLine>): Promise<readonly LogLine[]> {
  const collected: LogLine[] = [];
  for await (const line of lines) collected.push(line);
  return collected;
}

export async function seqs(lines: AsyncIterable<LogLine>): Promise<readonly number[]> {
  return (await collect(lines)).map(({ record }) => record.seq);
}

/** Returns the problems of a chain, computed from the texts independently of the code under test. */
export function chainProblems(
  lines: readonly string[],
  first = 1,
  before = "0".repeat(64),
): readonly string[] {
  const problems: string[] = [];
  let [seq, previous] = [first, before];
  for (const line of lines) {
    const record = JSON.parse(line) as LogRecord;
    const hashed = line.replace(/,"hash":"[0-9a-f]{64}"\}$/, "}");
    if (record.seq !== seq) problems.push(`${record.seq} stands where ${seq} should be`);
    if (record.prev_hash !== previous) problems.push(`${record.seq} does not follow`);
    if (record.hash !== sha256(hashed)) problems.push(`${record.seq} has another hash`);
    previous = record.hash;
    seq++;
  }
  return problems;
}
