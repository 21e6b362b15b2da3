import { expect, it } from "vitest";
import { killWriters } from "./killed-writers.js";

it("keeps every acknowledged record of writers that are killed at any moment", async () => {
  const { kills, acknowledged } = await killWriters(2);
  expect(kills).toBe(8);
  expect(acknowledged).toBeGreaterThan(0);
}, 180_000);
