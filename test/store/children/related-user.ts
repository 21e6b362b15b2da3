import { writeSync } from "node:fs";
import type { LogLine } from "../../../src/model/store.js";
import { openJsonlStore } from "../../../src/store/drivers/jsonl/store.js";

/** Queries the records of an entity and a session repeatedly and prints each answer. */
const [directory = "", times = "1", opened = "again"] = process.argv.slice(2);
const entity = { type: "customer", id: "c1" };
const open = (): ReturnType<typeof openJsonlStore> =>
  openJsonlStore({ directory, clock: () => "2026-03-02T12:00:00.000000Z", newId: () => "none" });

async function seqsOf(lines: AsyncIterable<LogLine>): Promise<readonly number[]> {
  const found: number[] = [];
  for await (const { record } of lines) found.push(record.seq);
  return found;
}

async function ask(): Promise<void> {
  let store = open();
  for (let done = 0; done < Number(times); done++) {
    if (opened === "again") store = open();
    const related = await seqsOf(store.log.related({ entity }));
    const session = await seqsOf(store.log.select({ session_id: "s1" }));
    const neighbours = (await store.log.neighbours({ decision_id: "gate" }, [entity], 1000)).map(
      ({ seq }) => seq,
    );
    writeSync(1, `${JSON.stringify({ related, session, neighbours })}\n`);
    if (opened === "again") await store.close();
    else await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await store.close();
}

void ask();
