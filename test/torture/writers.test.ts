import { expect, it } from "vitest";
import { killWriters } from "../store/killed-writers.js";
import { writeAtOnce } from "../store/many-writers.js";

const isFull = process.env["AGENT33_TORTURE"] === "full";
const [records, commands] = isFull ? [5_000, 60] : [300, 10];
const rounds = isFull ? 500 : 12;

it(`keeps the records of eight processes × ${records}, none lost, none torn, in one chain`, async () => {
  expect(await writeAtOnce({ processes: 8, records, commands })).toBe(8 * records + commands);
});

it(`keeps every acknowledged record though four writers are killed ${rounds} times`, async () => {
  const { kills, acknowledged } = await killWriters(rounds);
  expect(kills).toBe(4 * rounds);
  expect(acknowledged).toBeGreaterThan(rounds);
});
