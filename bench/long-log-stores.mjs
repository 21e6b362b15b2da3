import { existsSync, readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { busy, requestAt, writeDecisions } from "./long-log-decisions.mjs";
import { run, runNode } from "./tool.mjs";

export const handful = 5;

/**
 * A long log and a large cache, and small ones beside them; `busy` is how many records of the busy decision
 * the long log has.
 */
export function makeStores(records, directory) {
  const decisions = writeDecisions(directory);
  const make = (script, name, size) => {
    const store = join(directory, name);
    const path = fileURLToPath(new URL(script, import.meta.url));
    runNode([path, decisions, store, String(size)], { directory, stderr: "inherit" });
    return { directory, store, decisions };
  };
  const stores = {
    long: make("grow-log.mjs", "store-of-long-log", records),
    short: make("grow-log.mjs", "store-of-short-log", handful),
    manyAnswers: make("fill-cache.mjs", "store-of-many-answers", records),
    fewAnswers: make("fill-cache.mjs", "store-of-few-answers", handful),
  };
  // What is still on its way to the disk would get in the way of what is measured.
  run("sync", [], { directory });
  return { ...stores, long: { ...stores.long, busy: busyAmong(records) } };
}

export function segmentsOf({ store }) {
  const log = join(store, "log");
  return readdirSync(log)
    .filter((name) => /^\d+\.jsonl$/.test(name))
    .map((name) => join(log, name));
}

export function removeIndex({ store }) {
  const index = join(store, "log", "index");
  if (!existsSync(index)) throw new Error("the index is not where it was");
  rmSync(index, { recursive: true });
}

function busyAmong(records) {
  let count = 0;
  for (let index = 0; index < records; index++) if (requestAt(index).decision_id === busy.id) count++;
  return count;
}
