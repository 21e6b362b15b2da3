import { describe, expect, it } from "vitest";
import { ConcurrencyLimit } from "../../src/enrichment/concurrency.js";

/** A task that ends on request. */
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

describe("a concurrency limit", () => {
  it("runs a limited number of tasks and the others in order of arrival", async () => {
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

  it("frees the place of a failed task", async () => {
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
