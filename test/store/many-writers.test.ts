import { expect, it } from "vitest";
import { writeAtOnce } from "./many-writers.js";

it("keeps all records of four processes and of the command in one chain", async () => {
  expect(await writeAtOnce({ processes: 4, records: 50, commands: 2 })).toBe(202);
}, 180_000);
