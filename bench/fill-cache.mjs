/*
 * node fill-cache.mjs DECISIONS STORE ENTRIES
 *
 * Makes a store with so many cached answers. The oldest are real, the others copies under other keys.
 */
import { hash } from "node:crypto";
import { compose } from "../dist/index.js";
import { cached, scoreAt } from "./long-log-decisions.mjs";
import { reportProgress } from "./progress.mjs";

const real = 5;
const together = 10_000;
const [decisions, directory, size] = process.argv.slice(2);

const world = await compose({ decisions, store: { directory, durability: "fast" } });
for (let index = 0; index < real; index++)
  await world.decide({ decision_id: cached.id, context: scoreAt(index) });
const shelf = world.records.store.shelf("cache");
const { value: entry } = await shelf.entries().next();
const copyAt = (index) => ({ ...entry, key: hash("sha256", `copy ${index}`) });
const copies = Number(size) - real;
for (let made = 0; made < copies; made += together) {
  const length = Math.min(together, copies - made);
  await shelf.put(Array.from({ length }, (_, index) => copyAt(made + index)));
  reportProgress("cached answers", made, { total: Number(size), every: together * 20 });
}
await world.close();
