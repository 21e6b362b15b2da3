import { writeSync } from "node:fs";
import { compose } from "../../../dist/index.js";

/* Decides until it has done its work or is killed; names each record that was acknowledged. */
const [directory, decisions, orders] = process.argv.slice(2);
const { name, records, atOnce = 1, bulk = 0, bulkEvery = 7, store = {} } = JSON.parse(orders);
const world = await compose({ decisions, store: { directory, ...store } });

let next = 0;
async function work() {
  while (records === undefined || next < records) {
    const number = next++;
    const filler = number % bulkEvery === 0 ? "ü".repeat(bulk) : "";
    // Every other decision uses the cache.
    const request = number % 2 === 0 ? { id: `${name}-${number % 100}` } : {};
    const { record_id } = await world.decide({
      decision_id: number % 2 === 0 ? "decision-ab-prompt-variant" : "decision-quality-gate",
      context: { artifact: { quality_score: (number % 10) / 10 }, request, filler },
      session_id: name,
    });
    writeSync(1, `${record_id}\n`);
  }
}

await Promise.all(Array.from({ length: atOnce }, work));
await world.close();
