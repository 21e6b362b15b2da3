import { appendFileSync, readFileSync, writeFileSync } from "node:fs";
import { openLock } from "../../../src/store/drivers/jsonl/lock.js";

/** Uses a lock according to its arguments and logs to a file what happens while it holds the lock. */
const [directory = "", order = "", file = "", times = "1"] = process.argv.slice(2);

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function count(): Promise<void> {
  const lock = openLock(directory);
  for (let done = 0; done < Number(times); done++) {
    const release = await lock.acquire();
    const before = Number(readFileSync(file, "utf8"));
    if (done % 10 === 0) await pause(0);
    writeFileSync(file, String(before + 1));
    release();
  }
}

async function hold(): Promise<void> {
  await openLock(directory).acquire();
  appendFileSync(file, `holds ${process.pid}\n`);
  setInterval(() => undefined, 1000);
}

async function enter(): Promise<void> {
  appendFileSync(file, `waits ${process.pid}\n`);
  const release = await openLock(directory).acquire();
  appendFileSync(file, `enters ${process.pid}\n`);
  await pause(20);
  appendFileSync(file, `leaves ${process.pid}\n`);
  release();
}

const acts = new Map([
  ["count", count],
  ["hold", hold],
  ["enter", enter],
]);
void acts.get(order)?.();
