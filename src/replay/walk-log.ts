import type { DecisionRecord, LogRecord } from "../model/record.js";
import type { LogLine, Query, Store, UnreadableLine } from "../model/store.js";
import { isWellFormedRecord } from "../record/well-formed.js";
import type { ReplayableDefinition, UnavailableDefinition } from "./replayable-definitions.js";
import { ReplayableDefinitions } from "./replayable-definitions.js";

export type DecisionLine = LogLine & { readonly record: DecisionRecord };

/** A record that was changed may lack any field. */
export type DamagedRecord = Partial<DecisionRecord> & Pick<DecisionRecord, "seq">;

/** `changed`: its hash does not match; `malformed`: fields are missing; `unreadable`: the line is gone or is not JSON. */
export type Damage = "changed" | "malformed" | "unreadable";

/** Receives the decisions of a log. */
export interface DecisionVisitor {
  /** `definition` is the one the record was made with. */
  readonly visit: (line: DecisionLine, definition: ReplayableDefinition | UnavailableDefinition) => void;
  readonly visitDamaged: (record: DamagedRecord, damage: Damage) => void;
}

/** Visits the decisions among these lines, in order. */
export async function walkLines(
  lines: Iterable<LogLine>,
  store: Store,
  visitor: DecisionVisitor,
): Promise<void> {
  const visitLine = lineVisitor(store, visitor);
  for (const line of lines) await visitLine(line);
}

/**
 * Visits every decision in the log that matches the query, oldest first. An empty query also visits the
 * records that are missing between the oldest one that was not pruned and the newest. `onProgress` receives the share
 * of the log that was read.
 */
export async function walkLog(
  store: Store,
  query: Query,
  visitor: DecisionVisitor,
  onProgress: (share: number) => void,
): Promise<void> {
  const visitLine = lineVisitor(store, visitor);
  const visitUnreadable = (seq: number): void => visitor.visitDamaged({ seq }, "unreadable");
  const isWholeLog = Object.keys(query).length === 0;
  // Read before the walk: records that are appended during it are not missing.
  const { size, lost = 0 } = await store.log.state();
  let next = isWholeLog ? (await store.log.pruned()) + 1 : 0;
  let start: number | undefined;
  const advanceTo = (seq: number): void => {
    if (isWholeLog) for (; next < seq; next++) visitUnreadable(next);
    next = Math.max(next, seq + 1);
  };
  const onUnreadable = ({ seq, text }: UnreadableLine): void => {
    advanceTo(seq);
    if (!otherKindPrefix.test(text)) visitUnreadable(seq);
  };
  for await (const line of store.log.select({ ...query, unindexed: true }, onUnreadable)) {
    // A changed line may claim any sequence number.
    advanceTo(line.intact ? line.record.seq : next);
    start ??= next - 1;
    const visited = visitLine(line);
    // Awaiting every line would make a long walk slower.
    if (visited !== undefined) await visited;
    onProgress(Math.min(1, (next - start) / (size + lost - start + 1)));
  }
  if (isWholeLog) advanceTo(size + lost + 1);
}

/** Returns a promise only where a definition must be loaded first. */
function lineVisitor(store: Store, visitor: DecisionVisitor): (line: LogLine) => void | Promise<void> {
  const definitions = new ReplayableDefinitions(store);
  return (line) => {
    if (!isDecisionLine(line)) return undefined;
    const { record, intact } = line;
    if (!intact || !isWellFormedRecord(record)) {
      visitor.visitDamaged(record, intact ? "malformed" : "changed");
      return undefined;
    }
    const definition = definitions.get(record);
    if (definition instanceof Promise) return definition.then((loaded) => visitor.visit(line, loaded));
    visitor.visit(line, definition);
    return undefined;
  };
}

const otherKinds: ReadonlySet<string> = new Set<Exclude<LogRecord["kind"], "decision">>([
  "tool_result",
  "assessment",
  "note",
]);

/** Changing the `kind` of a decision's record does not exclude it from a replay. */
const isDecisionLine = (line: LogLine): line is DecisionLine =>
  line.record.kind === "decision" || !otherKinds.has(line.record.kind) || "deterministic_hash" in line.record;

const otherKindPrefix = /^\{"seq":\d+,"kind":"(?:tool_result|assessment|note)"/;

/** Records that could not be replayed for the same reason. */
export interface NotReplayable {
  readonly reason: string;
  readonly count: number;
  /** The ids of the first few. */
  readonly examples: readonly string[];
}

const maxExamples = 5;

/** Counts the records that could not be replayed, by reason. */
export class SkippedRecords {
  readonly #byReason = new Map<string, { count: number; readonly examples: string[] }>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  add(reason: string, recordId: string): void {
    this.#count++;
    const skipped = this.#byReason.get(reason) ?? { count: 0, examples: [] };
    skipped.count++;
    if (skipped.examples.length < maxExamples) skipped.examples.push(recordId);
    this.#byReason.set(reason, skipped);
  }

  /** The most frequent reason first. */
  reasons(): readonly NotReplayable[] {
    const reasons = [...this.#byReason].map(([reason, skipped]) => ({ reason, ...skipped }));
    return reasons.sort((a, b) => b.count - a.count);
  }
}
