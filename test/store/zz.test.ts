import { spawn } from "node:child_process";
import {
  cpSync,
  existsSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Store, Tally } from "../../src/model/store.js";
import { timestampOf, microsecondsOf } from "../../src/record/moment.js";
import { bundled } from "./bundle.js";
import type { Decided } from "./entries.js";
import { chance, decided, noon, noted, seqs, sha256 } from "./entries.js";
import { filled, linesOf, logFile, openLog, readLog, segmentFile, segmentFiles, storeDirectory, writeLog } from "./jsonl-log.js";
import { LogScan, comparable } from "./log-scan.js";

const small = { segmentSize: 3000, durability: "fast" as const };

async function add(store: Store, ...all: readonly Decided[]): Promise<void> {
  for (const each of all) await store.log.append({ body: decided(each) });
}

const ids = ["gate", "split", "ta]ble", 'quo"te', "back\\slash", "ünï", ""];

/** A log of several decisions with several labels. */
async function varied(count: number, options: object = small): Promise<string> {
  const directory = storeDirectory();
  const store = openLog(directory, options);
  for (let at = 0; at < count; at++) {
    const cache = at % 3 === 0 ? {} : { cache_key: sha256(String(at % 5)), cached: at % 3 === 1 };
    await add(store, {
      decision_id: ids[at % ids.length] ?? "",
      selected_labels: at % 4 === 0 ? [] : [`L${at % 3}`, `M${at % 2}`].slice(0, at % 4),
      definition_hash: sha256(`v${at % 2}`),
      input: at % 6,
      timestamp: timestampOf(microsecondsOf(noon) + at * 1000),
      ...cache,
    });
  }
  await store.close();
  return directory;
}

const indexFiles = (directory: string): readonly string[] =>
  existsSync(logFile(directory, "index")) ? readdirSync(logFile(directory, "index")) : [];

const rowsOf = (directory: string): string =>
  logFile(directory, `index/${indexFiles(directory).find((name) => name.startsWith("rows-")) ?? ""}`);

/** Everything that is asked of an index is what the log says. */
async function expectTrue(directory: string, { log }: Store = openLog(directory, small)): Promise<void> {
  const scan = new LogScan(directory);
  expect(await log.state()).toEqual(scan.state());
  expect(await log.cacheUse()).toEqual(scan.cacheUse());
  expect(await seqs(log.select({}))).toEqual(scan.select({}));
  for (const decision_id of ids) {
    expect(comparable(await log.tally(decision_id, {}))).toEqual(comparable(scan.tally(decision_id)));
    for (const query of [{ decision_id }, { decision_id, limit: 3 }, { decision_id, label: "L1", reverse: true }])
      expect({ query, found: await seqs(log.select(query)) }).toEqual({ query, found: scan.select(query) });
  }
}

/** Makes the index, and sees that it is there. */
async function indexed(directory: string): Promise<void> {
  await expectTrue(directory);
  expect(indexFiles(directory)).toContain("state.json");
}


it("x", async () => {
    const directory = await varied(40, { durability: "fast" });
    await indexed(directory);
    const bytes = readLog(directory, segmentFile(1));
    const lines = linesOf(directory);
    const kept = lines.slice(0, 31).reduce((sum, line) => sum + Buffer.byteLength(line) + 1, 0);
    truncateSync(logFile(directory, segmentFile(1)), kept);
    await expectTrue(directory);
    writeLog(directory, segmentFile(1), bytes);
    for (const id of ids) {
      const { log } = openLog(directory, small);
      const before = readFileSync(logFile(directory, "index/tally-"+encodeURIComponent(id)+".json"),"utf8");
      const a = await log.tally(id, {}); const b = new LogScan(directory).tally(id);
      const f = (t: Tally) => JSON.stringify(Object.values(t.definitions).map(d=>[d.total,d.distinct_inputs]));
      console.log(id, f(a), f(b), before, readFileSync(logFile(directory, "index/tally-"+encodeURIComponent(id)+".json"),"utf8"));
      console.log(new LogScan(directory).records.filter((r)=> r.kind==="decision" && r.decision_id===id).map((r)=> r.seq+":"+(r as any).deterministic_hash.slice(0,6)+":"+(r as any).selected_labels+":"+(r as any).cached+":"+(r as any).cache_key?.slice(0,3)).join(" "));
    }
});
