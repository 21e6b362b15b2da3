import { describe, expect, it } from "vitest";
import { falseAlarms, foundDrifts } from "../record/split-streams.js";

const isFull = process.env["AGENT33_TORTURE"] === "full";
const [streams, inputs] = isFull ? [10_000, 20_000] : [1000, 5000];
const runs = isFull ? 1000 : 200;

describe("the sequential test of a split", () => {
  it.each([[[0.5, 0.5]], [[0.7, 0.2, 0.1]]])(
    "raises at most 1 false alarm per 1,000 correct streams of %j that are looked at after every input",
    (shares) => {
      const alarms = falseAlarms({ shares, streams, inputs, seed: 33 });
      process.stdout.write(
        `${shares.join("/")}: ${alarms} false alarms in ${streams} streams of ${inputs}\n`,
      );
      expect(alarms / streams).toBeLessThanOrEqual(0.001);
    },
  );

  it.each([
    { name: "one of two halves", shares: [0.5, 0.5], actual: [0.53, 0.47] },
    { name: "the largest of three", shares: [0.7, 0.2, 0.1], actual: [0.67, 0.22, 0.11] },
    { name: "the smallest of three", shares: [0.7, 0.2, 0.1], actual: [0.68, 0.19, 0.13] },
    {
      name: "a half beside 50 rare ones",
      shares: [0.5, ...Array.from({ length: 50 }, () => 0.01)],
      actual: [0.47, ...Array.from({ length: 50 }, () => 0.0106)],
    },
  ])("finds $name off by 3 percentage points within 20,000 inputs in 95 % of runs", ({ name, ...off }) => {
    const found = foundDrifts({ ...off, streams: runs, inputs: 20_000, seed: 33 });
    process.stdout.write(`${name}: ${found} of ${runs} found\n`);
    expect(found / runs).toBeGreaterThanOrEqual(0.95);
  });
});
