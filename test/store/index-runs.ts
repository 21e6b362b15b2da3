import { rmSync, truncateSync, writeFileSync, existsSync, readdirSync, statSync } from "node:fs";
import fc from "fast-check";
import { expect } from "vitest";
import type { DecisionType } from "../../src/model/definition.js";
import type { Query, Store, TimeRange } from "../../src/model/store.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import type { Decided } from "./entries.js";
import { called, decided, definitionHash, noon, noted, seqs, sha256 } from "./entries.js";
import { expectSound, logFile, openLog, storeDirectory } from "./jsonl-log.js";
import { LogScan, comparable } from "./log-scan.js";

const start = microsecondsOf(noon);

const names = [
  "gate",
  "split",
  'q"uote',
  "back\\slash\\",
  "]",
  '"],"cached":true,"cache_key":"',
  "ü漢🎉",
  "",
];
const name = fc.constantFrom(...names);
const label = fc.oneof(name, fc.string({ unit: "binary", maxLength: 6 }), fc.string({ maxLength: 12 }));
const moment = fc.integer({ min: -5, max: 30 }).map((at) => start + at * 1_500_000);
const types = ["binary", "weighted", "rule_table"] as const satisfies readonly DecisionType[];

const decision: fc.Arbitrary<Decided> = fc
  .record(
    {
      decision_id: name,
      selected_labels: fc.array(label, { maxLength: 3 }),
      time: moment,
      version: fc.integer({ min: 1, max: 2 }),
      input: fc.integer({ min: 0, max: 4 }),
      cache: fc.constantFrom("none", "miss", "hit"),
      stage_id: fc.constantFrom("s1", "s2"),
      session_id: fc.constantFrom("s1", "s2"),
      bulk: fc.constantFrom(0, 0, 0, 700),
    },
    { noNullPrototype: true },
  )
  .map(({ time, version, cache, bulk, ...rest }) => ({
    ...rest,
    timestamp: formatTimestamp(time),
    definition_hash: definitionHash(`${rest.decision_id} ${version}`),
    // A definition has one type.
    type: types[(names.indexOf(rest.decision_id) + version) % 3] ?? "binary",
    context: { filler: ']"\\'.repeat(bulk) },
    ...(cache !== "none" && { cache_key: sha256("key"), cached: cache === "hit" }),
  }));

const optional = <T>(value: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> =>
  fc.option(value, { nil: undefined, freq: 2 });

function withoutUndefined<T extends object>(value: T): Partial<T> {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as Partial<T>;
}

const range = fc
  .record({ since: optional(moment), until: optional(moment) })
  .map((ends) => withoutUndefined(ends) as TimeRange);

const query = fc
  .record({
    kind: optional(fc.constantFrom("decision" as const, "tool_result" as const, "note" as const)),
    decision_id: optional(name),
    stage_id: optional(fc.constantFrom("s1", "s2", "s3")),
    session_id: optional(fc.constantFrom("s1", "s2", "s3")),
    label: optional(label),
    target: optional(label.map((each) => `to-${each}`)),
    type: optional(fc.constantFrom(...types)),
    limit: optional(fc.integer({ min: 0, max: 6 })),
    reverse: optional(fc.boolean()),
    after: optional(fc.integer({ min: 0, max: 40 })),
    since: optional(moment),
    until: optional(moment),
  })
  .map((all) => withoutUndefined(all) as Query);

type Step =
  | { readonly do: "append"; readonly decisions: readonly Decided[] }
  | { readonly do: "call"; readonly time: number; readonly tool: string; readonly stage_id: string }
  | { readonly do: "note" | "remove index" | "break state" | "cut rows" | "cut entries" }
  | { readonly do: "prune"; readonly keep: number }
  | { readonly do: "select"; readonly reader: number; readonly query: Query }
  | { readonly do: "tally"; readonly reader: number; readonly id: string; readonly range: TimeRange }
  | { readonly do: "find"; readonly reader: number; readonly at: number; readonly digits: number }
  | { readonly do: "look"; readonly reader: number };

const reader = fc.integer({ min: 0, max: 2 });

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant("append" as const),
      decisions: fc.array(decision, { maxLength: 6 }),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("call" as const),
      time: moment,
      tool: name,
      stage_id: fc.constantFrom("s1", "s2"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      do: fc.constantFrom("note", "remove index", "break state", "cut rows", "cut entries"),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant("prune" as const), keep: fc.integer({ min: 0, max: 20 }) }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant("select" as const), reader, query }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant("tally" as const), reader, id: name, range }) },
  {
    weight: 2,
    arbitrary: fc.record({
      do: fc.constant("find" as const),
      reader,
      at: fc.nat(60),
      digits: fc.constantFrom(4, 9, 14, 36),
    }),
  },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("look" as const), reader }) },
);

/** A second store, which behaves like another process. */
class Run {
  readonly directory = storeDirectory();
  readonly writer: Store;
  readonly readers: readonly Store[];

  constructor(segmentSize: number) {
    const options = { segmentSize, checkpointEvery: 7, durability: "fast" as const };
    this.writer = openLog(this.directory, options);
    this.readers = [1, 2].map(() => openLog(this.directory, options));
  }

  /** The third reader is opened for each query. */
  reader(number: number): Store {
    return this.readers[number] ?? openLog(this.directory);
  }

  async take(step: Step): Promise<void> {
    const scan = new LogScan(this.directory);
    switch (step.do) {
      case "append":
        await Promise.all(step.decisions.map((each) => this.writer.log.append({ body: decided(each) })));
        return;
      case "call": {
        const { time, tool, stage_id } = step;
        await this.writer.log.append({ body: called({ timestamp: formatTimestamp(time), tool, stage_id }) });
        return;
      }
      case "note":
        await this.writer.log.append({ body: noted({ some: "note" }) });
        return;
      case "prune":
        await this.writer.log.prune(await this.writer.log.prunable({ keep: step.keep }), noted);
        return;
      case "remove index":
        rmSync(logFile(this.directory, "index"), { recursive: true, force: true });
        return;
      case "break state":
        if (this.#indexFiles().length > 0) writeFileSync(logFile(this.directory, "index/state.json"), "{");
        return;
      case "cut rows":
      case "cut entries":
        for (const file of this.#indexFiles().filter((each) =>
          each.startsWith(step.do === "cut rows" ? "rows-" : "postings-"),
        ))
          truncateSync(
            logFile(this.directory, `index/${file}`),
            statSync(logFile(this.directory, `index/${file}`)).size / 2,
          );
        return;
      case "select":
        expect(await seqs(this.reader(step.reader).log.select(step.query))).toEqual(scan.select(step.query));
        return;
      case "tally": {
        const tally = await this.reader(step.reader).log.tally(step.id, step.range);
        expect(comparable(tally)).toEqual(comparable(scan.tally(step.id, step.range)));
        return;
      }
      case "find":
        await this.#find(scan, step);
        return;
      case "look": {
        const { log } = this.reader(step.reader);
        expect(await log.state()).toEqual(scan.state());
        // An open reader sees appends of others with a delay; this one is the writer itself.
        const related = await seqs(this.writer.log.related({ session_id: "s1" }));
        expect(related).toEqual(scan.select({ session_id: "s1", reverse: true }));
        expect(await log.cacheUse()).toEqual(scan.cacheUse());
      }
    }
  }

  async #find(scan: LogScan, { reader, at, digits }: Step & { readonly do: "find" }): Promise<void> {
    const { log } = this.reader(reader);
    const bySeq = scan.records.find(({ seq }) => seq === at);
    const found = await log.find({ seq: at });
    expect("record" in found ? found.record : undefined).toEqual(bySeq);
    const latest = await log.find({ latest: true });
    expect("record" in latest ? latest.record.record_id : undefined).toBe(scan.latest());
    const id = scan.records[at % Math.max(1, scan.records.length)]?.record_id;
    if (id === undefined) return;
    const beginning = id.slice(0, digits);
    const among = scan.beginningWith(beginning);
    const several = await log.find({ beginning });
    expect("record" in several ? [several.record.record_id] : several.candidates).toEqual(among.slice(0, 5));
  }

  #indexFiles(): readonly string[] {
    const folder = logFile(this.directory, "index");
    return existsSync(folder) ? readdirSync(folder) : [];
  }
}

/** Runs random writes and index queries; returns their number. */
export async function expectIndexTrue(runs: number): Promise<number> {
  let done = 0;
  const anything = fc.array(step, { minLength: 5, maxLength: 40, size: "max" });
  const property = fc.asyncProperty(segmentSizes, anything, async (segmentSize, steps) => {
    const run = new Run(segmentSize);
    for (const each of steps) await run.take(each);
    expectSound(run.directory);
    await run.writer.close();
    rmSync(run.directory, { recursive: true, force: true });
    done++;
  });
  await fc.assert(property, { numRuns: runs });
  return done;
}

const segmentSizes = fc.constantFrom(1, 1500, 6000, 1_000_000);
