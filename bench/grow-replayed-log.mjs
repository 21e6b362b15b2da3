/*
 * node grow-replayed-log.mjs KIND STORE RECORDS
 *
 * Makes a store with a log of so many records of the sample decisions, by making them (see replay-requests.mjs).
 */
import { compose } from "../dist/index.js";
import { reportProgress } from "./progress.mjs";
import { requests } from "./replay-requests.mjs";
import { decisions } from "./tool.mjs";

const together = 512;
const [kind, directory, size] = process.argv.slice(2);
const records = Number(size);

const world = await compose({ decisions, store: { directory, durability: "fast" } });
const ask = (request) => ("tool" in request ? world.check(request) : world.decide(request));
for (let made = 0; made < records; made += together) {
  const length = Math.min(together, records - made);
  await Promise.all(Array.from({ length }, (_, index) => ask(requests[kind](made + index))));
  reportProgress("records", made, { total: records, every: together * 200 });
}
await world.close();
