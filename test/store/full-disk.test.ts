import { describe, expect, it } from "vitest";
import { fillByBatch, fillOneByOne, onSmallDisk, whyNoMount, withFileSizeLimit } from "./full-disk.js";

describe("with a file size limit (`ulimit -f`)", () => {
  it("acknowledges only stored records, and continues when the limit is lifted", () => {
    const { acknowledged, refused } = fillOneByOne(withFileSizeLimit(12), 40);
    expect([acknowledged > 3, refused]).toEqual([true, 4]);
  }, 180_000);

  it("acknowledges only the stored records of a batch", () => {
    const { acknowledged } = fillByBatch(withFileSizeLimit(500), 1200);
    expect(acknowledged).toBeGreaterThan(0);
  }, 180_000);
});

const why = whyNoMount();

describe.skipIf(why !== undefined)(`on a full disk${why === undefined ? "" : ` (skipped: ${why})`}`, () => {
  it("acknowledges only stored records, and continues when there is space", () => {
    const tight = onSmallDisk(72 * 1024);
    try {
      const { acknowledged, refused } = fillOneByOne(tight, 40);
      expect([acknowledged > 3, refused]).toEqual([true, 4]);
    } finally {
      tight.remove();
    }
  }, 180_000);

  it("acknowledges only the stored records of a batch", () => {
    const tight = onSmallDisk(900 * 1024);
    try {
      expect(fillByBatch(tight, 1200).acknowledged).toBeGreaterThan(0);
    } finally {
      tight.remove();
    }
  }, 180_000);
});
