import { expect, it } from "vitest";
import { expectIndexTrue } from "../store/index-runs.js";

const runs = process.env["AGENT33_TORTURE"] === "full" ? 5_000 : 200;

it(`the index says what the log says in ${runs} uses of chance`, async () => {
  expect(await expectIndexTrue(runs)).toBe(runs);
});
