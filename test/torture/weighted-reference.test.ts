import { describe, expect, it } from "vitest";
import { compareWithPython, hasPython } from "../evaluate/python-reference.js";

const count = process.env["AGENT33_TORTURE"] === "full" ? 1_000_000 : 50_000;
const available = hasPython();
const reason = available ? "" : " (skipped: there is no python3 on this machine)";

describe.skipIf(!available)(`the weighted roll beside CPython's${reason}`, () => {
  it(`is the same in every bit for ${count} texts and several totals`, () => {
    expect(compareWithPython(count)).toEqual([]);
  });
});
