import { expect, it } from "vitest";
import { expectIndexTrue } from "../store/index-runs.js";
import { expectRelatedTrue } from "../store/related-runs.js";

const runs = process.env["AGENT33_TORTURE"] === "full" ? 5_000 : 200;

it(`the index says what the log says in ${runs} uses of chance`, async () => {
  expect(await expectIndexTrue(runs)).toBe(runs);
});

it(`what has to do with what is what the plain store says in ${runs} uses of chance`, async () => {
  expect(await expectRelatedTrue(runs)).toBe(runs);
});
