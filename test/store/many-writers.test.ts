import { expect, it } from "vitest";
import { writeAtOnce } from "./many-writers.js";

it("keeps all records of eight processes and of the command in one chain", async () => {
  expect(await writeAtOnce({ processes: 8, records: 100, commands: 6 })).toBe(806);
}, 180_000);
