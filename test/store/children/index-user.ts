import { writeSync } from "node:fs";
import { openJsonlStore } from "../../../src/store/drivers/jsonl/store.js";

/** Queries the index of a log repeatedly and prints each answer. */
const [directory = "", id = "", times = "1"] = process.argv.slice(2);

async function ask(): Promise<void> {
  for (let done = 0; done < Number(times); done++) {
    const clock = (): string => "2026-03-02T12:00:00.000000Z";
    const { log } = openJsonlStore({ directory, clock, newId: () => "none" });
    const tally = await log.tally(id, {});
    const newest: number[] = [];
    for await (const { record } of log.select({ decision_id: id, limit: 5 })) newest.push(record.seq);
    writeSync(1, `${JSON.stringify({ tally, newest, use: await log.cacheUse() })}\n`);
  }
}

void ask();
