import { openJsonlStore } from "../../../src/store/drivers/jsonl/store.js";

/** Puts values on a shelf in batches, according to its arguments. */
const [directory = "", name = "", lots = "1", perLot = "1", length = "1"] = process.argv.slice(2);

async function put(): Promise<void> {
  const clock = (): string => "2026-03-02T12:00:00.000000Z";
  const store = openJsonlStore({ directory, clock, newId: () => "none" });
  const shelf = store.shelf("cache");
  for (let lot = 0; lot < Number(lots); lot++) {
    const first = lot * Number(perLot);
    const numbers = Array.from({ length: Number(perLot) }, (_, at) => first + at);
    const own = numbers.map((number) => ({ key: `${name}-${number}`, value: "x".repeat(Number(length)) }));
    await shelf.put([...own, { key: `shared-${lot}`, value: name }]);
  }
  await store.close();
}

void put();
