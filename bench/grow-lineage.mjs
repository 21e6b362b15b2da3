/*
 * node grow-lineage.mjs DECISIONS STORE RECORDS
 *
 * Makes a store with a log of so many records that have to do with each other (see lineage-decisions.mjs).
 */
import { compose } from "../dist/index.js";
import { askAt } from "./lineage-decisions.mjs";
import { reportProgress } from "./progress.mjs";

const together = 512;
const [decisions, directory, size] = process.argv.slice(2);
const records = Number(size);

const world = await compose({ decisions, store: { directory, durability: "fast" } });
for (let made = 0; made < records; made += together) {
  const length = Math.min(together, records - made);
  await Promise.all(Array.from({ length }, (_, index) => askAt(made + index, world)));
  reportProgress("records", made, { total: records, every: together * 400 });
}
await world.close();
