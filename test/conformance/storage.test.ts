import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it, vi } from "vitest";
import { formatTimestamp } from "../../src/record/timestamp.js";
import type { Workplace } from "../cli/workspace.js";
import { workplace } from "../cli/workspace.js";
import { decided, TestClock } from "../store/entries.js";
import { chained } from "../store/forging.js";
import { linesOf, logFile, openLog, segmentFiles } from "../store/jsonl-log.js";

const small = { AGENT33_SEGMENT_SIZE: "2000", AGENT33_CHECKPOINT_EVERY: "2" };
const gate = ["evaluate", "decision-quality-gate", "--input", '{"artifact":{"quality_score":0.9}}'];

async function json(place: Workplace, words: readonly string[]): Promise<unknown> {
  return JSON.parse((await place.run([...words, "--json"])).out);
}

const day = 86_400_000;

/** Fills a store with a record for every other day, from 101 to 73 days before now. */
async function fillWithOldRecords(directory: string, now: number): Promise<void> {
  const clock = new TestClock();
  const store = openLog(directory, { segmentSize: 2000, checkpointEvery: 2, clock: clock.read });
  for (let age = 101; age > 72; age -= 2) {
    const timestamp = formatTimestamp((now - age * day) * 1000);
    clock.set(timestamp);
    await store.log.append({ body: decided({ input: age, timestamp }) });
  }
  await store.close();
}

/** The lines of each log file. */
const segmentsOf = (directory: string): ReadonlyMap<string, readonly string[]> =>
  new Map(
    segmentFiles(directory).map((name) => {
      const text = readFileSync(logFile(directory, name), "utf8");
      return [name, text.trimEnd().split("\n")];
    }),
  );

const timestampOf = (line: string): number =>
  Date.parse((JSON.parse(line) as { readonly timestamp: string }).timestamp);

/** "Storage growth: Decisions accumulate; implement retention policies", a limitation of spec 2. */
describe("retention as a setting", () => {
  it("removes what is older on its own, by whole segments, with a note, and `verify` holds", async () => {
    const place = workplace();
    const now = Date.now();
    await fillWithOldRecords(place.store, now);
    const before = segmentsOf(place.store);

    const env = { ...small, AGENT33_HOME: join(place.root, "home") };
    expect(await place.run(["config", "set", "retention", "90d"], { env })).toMatchObject({ code: 0 });
    expect(await place.run(gate, { env })).toMatchObject({ code: 0 });
    const notes = async (): Promise<string> => (await place.run(["log", "--kind", "note"])).out;
    await vi.waitFor(async () => expect(await notes()).toContain("retention"), 10_000);

    const after = segmentsOf(place.store);
    const removed = [...before].flatMap(([name, lines]) => (after.has(name) ? [] : lines));
    const [[oldest, oldestLines] = ["", []]] = after;
    const limit = now - 90 * day;
    expect(removed.length).toBeGreaterThan(0);
    expect(removed.filter((line) => timestampOf(line) >= limit)).toEqual([]);
    expect(oldestLines.some((line) => timestampOf(line) >= limit)).toBe(true);
    expect(oldestLines).toEqual(before.get(oldest));
    expect(JSON.parse(await notes())).toMatchObject({
      kind: "note",
      note: "pruned",
      details: { records: removed.length, through: removed.length, retention: "90d" },
    });
    expect(await json(place, ["verify"])).toMatchObject({ ok: true, pruned: removed.length });
  });
});

/** "Audit reports: Generate decision lineage reports for compliance", a future extension of spec 2. */
describe("import", () => {
  it("restores an export into an empty store: every hash is intact, and `verify` holds", async () => {
    const place = workplace();
    const context =
      '{"session":{"query":{"audience":"ceo","metric_type":"retention","segment":"enterprise"}}}';
    const session = ["--session-id", "q4"];
    await place.run(gate, { env: small });
    await place.run(
      [
        "check",
        "select_metric",
        "--params",
        '{"name":"revenue_retention"}',
        "--context",
        context,
        ...session,
      ],
      { env: small },
    );
    await place.run(["result", "select_metric", ...session, "--ok"], { env: small });
    await place.run(gate, { env: small });
    const [out, moved] = [join(place.root, "audit"), join(place.root, "moved")];
    expect(await place.run(["export", "--out", out])).toMatchObject({ code: 0 });
    expect(await json(place, ["import", out, "--store", moved])).toMatchObject({ imported: 4, size: 4 });

    const lines = linesOf(moved);
    expect(lines).toEqual(linesOf(place.store));
    // Computed again from the texts, without the code under test.
    expect(lines).toEqual(chained(lines));
    const verified = (store: string): Promise<unknown> => json(place, ["verify", "--store", store]);
    expect(await verified(moved)).toEqual(await verified(place.store));
    expect(await verified(moved)).toMatchObject({ ok: true, size: 4 });
    expect((await place.run(["replay", "--all", "--store", moved])).code).toBe(0);

    expect(await place.run([...gate, "--store", moved], { env: small })).toMatchObject({ code: 0 });
    expect(linesOf(moved).slice(0, 4)).toEqual(lines);
    expect(linesOf(moved)).toEqual(chained(linesOf(moved)));
    expect((await place.run(["import", out, "--store", moved])).code).toBe(2);
  });

  it("restores nothing from an export with a changed byte", async () => {
    const place = workplace();
    await place.run(gate);
    const [out, moved] = [join(place.root, "audit"), join(place.root, "moved")];
    await place.run(["export", "--out", out]);
    const records = join(out, "records.jsonl");
    writeFileSync(records, readFileSync(records, "utf8").replace("0.9", "0.8"));
    expect((await place.run(["import", out, "--store", moved])).code).toBe(6);
    expect(existsSync(join(moved, "log"))).toBe(false);
  });
});
