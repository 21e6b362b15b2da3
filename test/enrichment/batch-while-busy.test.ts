import { expect, it } from "vitest";
import { batchWhileBusy } from "../../src/enrichment/concurrency.js";

it("processes items added during a batch together", async () => {
  const lots: (readonly number[])[] = [];
  const add = batchWhileBusy<number>(async (items) => {
    lots.push(items);
    await new Promise((resolve) => setImmediate(resolve));
  });
  const first = [add(1), add(2)];
  await Promise.resolve();
  await Promise.all([...first, add(3), add(4)]);
  await add(5);
  expect(lots).toEqual([[1, 2], [3, 4], [5]]);
});

it("rejects the items of a failed batch and continues with the next", async () => {
  let lots = 0;
  const add = batchWhileBusy<number>(() =>
    ++lots === 1 ? Promise.reject(new Error("full")) : Promise.resolve(),
  );
  const told = await Promise.allSettled([add(1), add(2)]);
  expect(told.map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(add(3)).resolves.toBeUndefined();
  expect(lots).toBe(2);
});
