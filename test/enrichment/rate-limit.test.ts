import fc from "fast-check";
import { expect, it } from "vitest";
import { reserveSlot } from "../../src/enrichment/admission.js";

/** A second and the safety margin of a twentieth. */
const limit = { count: 2, per: 1_000_000 };
const stretch = 1_050_000;

it.each([
  { name: "sends the first request at once", sent: [], at: 0 },
  { name: "sends as many as the limit allows", sent: [0], at: 0 },
  {
    name: "delays the next until the first is one period old",
    sent: [-400_000, -300_000],
    at: stretch - 400_000,
  },
  { name: "forgets old requests", sent: [-stretch, -10], at: 0 },
  { name: "queues behind reserved slots", sent: [-10, -5, stretch - 10], at: stretch - 5 },
  { name: "forgets requests from before the clock was set back", sent: [9e12, 9e12 + 1], at: 0 },
])("$name", ({ sent, at }) => {
  expect(reserveSlot(sent, limit, { now: 0, latest: 5_000_000 })?.at).toBe(at);
});

it("reserves no slot that would be too late", () => {
  expect(reserveSlot([-10, -10], limit, { now: 0, latest: stretch - 10 })).toBeUndefined();
  expect(reserveSlot([-10, -10], limit, { now: 0, latest: stretch - 9 })?.at).toBe(stretch - 10);
});

it("never exceeds the limit in any period", () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 5 }),
      fc.array(fc.integer({ min: 0, max: 900_000 }), { maxLength: 60 }),
      (count, gaps) => {
        let now = 0;
        let sent: readonly number[] = [];
        const turns: number[] = [];
        for (const gap of gaps) {
          now += gap;
          const turn = reserveSlot(sent, { count, per: 1_000_000 }, { now, latest: now + 4_000_000 });
          if (turn === undefined) continue;
          expect(turn.at).toBeGreaterThanOrEqual(now);
          ({ sent } = turn);
          turns.push(turn.at);
        }
        for (const [index, at] of turns.entries()) {
          const later = turns[index + count];
          if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(stretch);
        }
      },
    ),
    { numRuns: 300 },
  );
});
