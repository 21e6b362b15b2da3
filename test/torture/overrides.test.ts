import { expect, it } from "vitest";
import { calls, overrides, race, sums } from "../decide/override-races.js";

const isFull = process.env["AGENT33_TORTURE"] === "full";
const [checks, kills] = isFull ? [250, 5] : [60, 1];

const prizes = [
  ["applies an override exactly 100 times", overrides(100)],
  ["applies overrides of at most 100 and 60 exactly 60 times, always together", overrides(100, 60)],
  ["allows exactly 50 calls of a session", calls(50, "session")],
  ["allows exactly 50 calls of an hour", calls(50, "1h")],
  ["allows exactly 50 amounts of 0.1 in a sum of 5", sums(50)],
  ["allows exactly 50 amounts of 0.1 in a sum of 5 in an hour", sums(50, "1h")],
] as const;

it.each(prizes)(`%s in ${8 * checks} checks of eight processes`, async (_, prize) => {
  const { winners, unsaid } = await race({ prize, processes: 8, checks });
  expect(winners).toBeGreaterThan(1);
  expect(unsaid).toBe(0);
});

it.each(prizes)(`%s though eight processes are killed ${kills} times each`, async (_, prize) => {
  const raced = await race({ prize, processes: 8, checks, kills });
  expect(raced.kills).toBe(8 * kills);
  expect(raced.killsInTime).toBeGreaterThan(kills);
});
