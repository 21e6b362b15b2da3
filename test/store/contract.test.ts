import { describe } from "vitest";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { storeContract } from "./contract.js";
import { expectSound, openLog, storeDirectory } from "./jsonl-log.js";

describe("the memory store", () => storeContract(() => ({ store: openMemoryStore() })));

describe.each([
  { name: "with few segments", options: { segmentSize: 16 * 1024 } },
  { name: "with small segments", options: { segmentSize: 4096, checkpointEvery: 7 } },
  {
    name: "with a segment for each record",
    options: { segmentSize: 1, checkpointEvery: 1, durability: "fast" as const },
    many: 100,
  },
  { name: "without syncing to the disk", options: { segmentSize: 4096, durability: "fast" as const } },
])("the jsonl store, $name", ({ options, many }) =>
  storeContract(
    () => {
      const directory = storeDirectory();
      return { store: openLog(directory, options), check: () => void expectSound(directory) };
    },
    many === undefined ? {} : { many },
  ),
);
