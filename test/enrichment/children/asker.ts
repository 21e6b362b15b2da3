import { systemClock } from "../../../src/clock.js";
import { parseState } from "../../../src/enrichment/endpoint-state.js";
import { createNetworkFetcher } from "../../../src/enrichment/fetcher.js";
import type { Endpoint } from "../../../src/model/endpoint.js";
import type { Shelf } from "../../../src/model/store.js";
import { openJsonlStore } from "../../../src/store/drivers/jsonl/store.js";

/** Fetches from an endpoint repeatedly until its input ends, and prints the outcomes. */
const [directory = "", endpoint = "{}"] = process.argv.slice(2);

const say = (said: object): void => void process.stdout.write(`${JSON.stringify(said)}\n`);

/** Prints the transitions of the circuit in the order in which they were written. */
function watched(shelf: Shelf): Shelf {
  const update: Shelf["update"] = (key, change) =>
    shelf.update(key, (kept) => {
      const changed = change(kept);
      const [from, to] = [kept, changed ?? kept].map((entry) => parseState(entry?.value).circuit);
      if (from !== to) say({ transition: `${from ?? ""} to ${to ?? ""}`, at: systemClock() });
      return changed;
    });
  return { ...shelf, update };
}

async function ask(): Promise<void> {
  let isOver = false;
  process.stdin.on("end", () => (isOver = true)).resume();
  const store = openJsonlStore({ directory, clock: systemClock, newId: () => "none" });
  const shelves = { breakers: watched(store.shelf("breakers")), responses: store.shelf("responses") };
  const fetcher = createNetworkFetcher({ shelves, env: {}, onWarning: (trouble) => say({ trouble }) });
  const asked = { name: "bureau", endpoint: JSON.parse(endpoint) as Endpoint, params: {} };
  const over = (): boolean => isOver;
  while (!over()) {
    const fetched = await fetcher.fetch({ ...asked, cached: true, dryRun: false });
    say({ outcome: fetched.ok ? fetched.from : "error" in fetched ? fetched.error.code : "left_out" });
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
  await store.close();
}

void ask();
