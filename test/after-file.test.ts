import { expect, it } from "vitest";
import { afterFile, endFile } from "./after-file.js";

it("is asked for by a test, and ends the last first", async () => {
  const ended: string[] = [];
  afterFile(() => ended.push("first"));
  afterFile(() => Promise.resolve().then(() => ended.push("second")));
  await endFile();
  await endFile();
  expect(ended).toEqual(["second", "first"]);
});
