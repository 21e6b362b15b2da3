import { cpSync, mkdirSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { compose } from "../../src/compose.js";
import { expectSound, linesOf, logFile, segmentFile, storeDirectory } from "../store/jsonl-log.js";
import { overrides } from "./override-races.js";

/** For test/decide/: a crash while the two records of a check were written. */
it.each([0.1, 0.4, 0.6, 0.9])("keeps nothing of a check of which %d were written", async (share) => {
  const home = storeDirectory();
  const directory = join(home, "store");
  const prize = overrides(3, 3);
  mkdirSync(join(home, "decisions"));
  for (const [at, text] of prize.decisions.entries()) writeFileSync(join(home, `decisions/${at}.json`), text);
  const ask = async (): Promise<string> => {
    const world = await compose({ decisions: join(home, "decisions"), store: { directory } });
    const { outcome } = await world.check({ tool: "deploy", params: {}, session_id: "s" });
    await world.close();
    return outcome;
  };
  await ask();
  const counters = join(directory, "counters");
  const before = readFileSync(logFile(directory, "head"));
  cpSync(counters, `${counters}-before`, { recursive: true });
  const segment = logFile(directory, segmentFile(1));
  const start = readFileSync(segment).length;
  await ask();
  // As a crash in the middle of the write leaves it: nothing counted, the head where it was.
  writeFileSync(logFile(directory, "head"), before);
  rmSync(counters, { recursive: true });
  renameSync(`${counters}-before`, counters);
  truncateSync(segment, start + Math.floor((readFileSync(segment).length - start) * share));

  expect([await ask(), await ask(), await ask()]).toEqual([
    "allowed_by_exception",
    "allowed_by_exception",
    "denied",
  ]);
  expectSound(directory);
  const records = linesOf(directory).map((line) => JSON.parse(line) as { check_id?: string });
  const sizes = new Map<string, number>();
  for (const { check_id: id } of records) if (id !== undefined) sizes.set(id, (sizes.get(id) ?? 0) + 1);
  expect([...sizes.values()]).toEqual([2, 2, 2, 2]);
});
