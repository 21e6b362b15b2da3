import { expect, it } from "vitest";
import { fillOneByOne, withFileSizeLimit } from "./full-disk.js";

it("acknowledges only stored records within a file size limit, and continues when it is lifted", () => {
  const { acknowledged, refused } = fillOneByOne(withFileSizeLimit(12), 40);
  expect([acknowledged > 3, refused]).toEqual([true, 4]);
}, 180_000);
