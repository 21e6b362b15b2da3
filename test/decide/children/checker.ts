import { existsSync, fdatasyncSync, openSync, writeSync } from "node:fs";
import { compose } from "../../../src/compose.js";
import type { Orders } from "../override-races.js";

/** Asks about the same call time and again; each answer is on the disk before the next is asked for. */
const [home = "", said = "", orders = "{}"] = process.argv.slice(2);
const { checks, tool, session: session_id, params, caller, store, doomed } = JSON.parse(orders) as Orders;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function work(): Promise<void> {
  const file = openSync(said, "a");
  const world = await compose({
    decisions: `${home}/decisions`,
    store: { directory: `${home}/store`, ...store },
  });
  // The definitions are read, so that what comes next is nothing but the race.
  await Promise.all(world.definitions.summaries.map(({ id }) => world.definitions.find(id)));
  writeSync(file, "ready\n");
  while (!existsSync(`${home}/go`)) await pause(1);
  for (let done = 0; done < checks; done++) {
    const { outcome, decisions } = await world.check({ tool, params, session_id, caller });
    writeSync(file, `${JSON.stringify({ outcome, ids: decisions.map(({ record_id }) => record_id) })}\n`);
    fdatasyncSync(file);
  }
  await world.close();
  if (doomed) setInterval(() => undefined, 1000);
}

void work();
