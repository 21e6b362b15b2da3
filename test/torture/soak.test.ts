import { expect, it } from "vitest";
import { soak } from "../serve/soak.js";
import { expectSoaked } from "../serve/soaking/expect-soaked.js";

const seconds = process.env["AGENT33_TORTURE"] === "full" ? 60 : 10;

it(`serves fifty connections as fast as they ask for ${seconds} s, and keeps what it answered`, async () => {
  const report = await soak({ seconds, connections: 50, pause: 0 });
  expectSoaked(report);
  expect(report.records).toBeGreaterThan(20 * seconds);
});
