import { expect, it } from "vitest";
import { overrides, race, sums } from "./override-races.js";

it("applies an override as often as it may be, however many processes ask at once", async () => {
  const { winners } = await race({ prize: overrides(20), processes: 3, checks: 15 });
  expect(winners).toBeGreaterThan(1);
}, 180_000);

it("lets amounts pass up to their sum, however many processes ask at once", async () => {
  const { winners } = await race({ prize: sums(12, "1d"), processes: 3, checks: 10 });
  expect(winners).toBeGreaterThan(1);
}, 180_000);
