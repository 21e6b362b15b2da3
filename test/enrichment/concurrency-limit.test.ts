import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../src/enrichment/concurrency.js";

/** Work that ends when it is told to. */
class Works {
  readonly started: number[] = [];
  readonly #ends: (() => void)[] = [];
  readonly #crowd: ConcurrencyLimit;

  constructor(most: number) {
    this.#crowd = new ConcurrencyLimit(most);
  }

  add(number: number, failing = false): Promise<number> {
    return this.#crowd.run(async () => {
      this.started.push(number);
      await new Promise<void>((resolve) => (this.#ends[number] = resolve));
      if (failing) throw new Error("it failed");
      return number;
    });
  }

  async end(number: number): Promise<void> {
    this.#ends[number]?.();
    await new Promise((resolve) => setImmediate(resolve));
  }
}

describe("a crowd", () => {
  it("lets in so many at a time, and the others in the order in which they came", async () => {
    const works = new Works(2);
    const all = Promise.all([0, 1, 2, 3].map((number) => works.add(number)));
    await works.end(99);
    expect(works.started).toEqual([0, 1]);
    await works.end(1);
    expect(works.started).toEqual([0, 1, 2]);
    await works.end(0);
    expect(works.started).toEqual([0, 1, 2, 3]);
    await works.end(2);
    await works.end(3);
    expect(await all).toEqual([0, 1, 2, 3]);
  });

  it("is left by those who fail, too", async () => {
    const works = new Works(1);
    const failed = works.add(0, true).catch((error: unknown) => (error as Error).message);
    const next = works.add(1);
    await works.end(0);
    expect(await failed).toBe("it failed");
    await works.end(1);
    expect(await next).toBe(1);
    const last = works.add(2);
    await works.end(2);
    expect(await last).toBe(2);
  });
});
