import { describe, expect, it } from "vitest";
import type { Tight } from "../store/full-disk.js";
import { fillByBatch, fillOneByOne, onSmallDisk, whyNoMount, withFileSizeLimit } from "../store/full-disk.js";

const isFull = process.env["AGENT33_TORTURE"] === "full";

const steps = (first: number, last: number, count: number): readonly number[] =>
  Array.from({ length: count }, (_, at) =>
    Math.round(first + (at * (last - first)) / Math.max(1, count - 1)),
  );

function within(tight: Tight, use: (tight: Tight) => void): void {
  try {
    use(tight);
  } finally {
    tight.remove();
  }
}

describe("where files may grow no further (`ulimit -f`)", () => {
  it.each(steps(1, 40, isFull ? 24 : 2))("keeps all that it answers within %i KB", (blocks) => {
    within(withFileSizeLimit(blocks), (tight) => expect(fillOneByOne(tight, 100).refused).toBe(4));
  });

  it.each(steps(20, 900, isFull ? 24 : 2))("keeps all that it answers of many within %i KB", (blocks) => {
    within(withFileSizeLimit(blocks), (tight) => expect(fillByBatch(tight, 1500).refused).toBeGreaterThan(0));
  });
});

const why = whyNoMount();

describe.skipIf(why !== undefined)(`on a full disk${why === undefined ? "" : ` (skipped: ${why})`}`, () => {
  it.each(steps(4, 160, isFull ? 40 : 3))("keeps all that it answers on a disk of %i KB", (kilobytes) => {
    within(onSmallDisk(kilobytes * 1024), (tight) => expect(fillOneByOne(tight, 100).refused).toBe(4));
  });

  it.each(steps(40, 1200, isFull ? 24 : 2))(
    "keeps all that it answers of many on a disk of %i KB",
    (kilobytes) => {
      within(onSmallDisk(kilobytes * 1024), (tight) =>
        expect(fillByBatch(tight, 1500).refused).toBeGreaterThan(0),
      );
    },
  );
});
