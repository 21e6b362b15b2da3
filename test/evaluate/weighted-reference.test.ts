import { describe, expect, it } from "vitest";
import { compareWithPython, hasPython } from "./python-reference.js";

const available = hasPython();
const reason = available ? "" : " (skipped: there is no python3 on this machine)";

describe.skipIf(!available)(`the weighted roll beside CPython's${reason}`, () => {
  it("is the same in every bit for 2,000 texts and several totals", () => {
    expect(compareWithPython(2_000)).toEqual([]);
  });
});
