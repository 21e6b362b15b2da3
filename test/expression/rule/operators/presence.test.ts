import { describe, expect, it } from "vitest";
import type { Json } from "../../../../src/model/json.js";
import { ask, askMissing, checkValue, traceOf } from "../evaluate-condition.js";

describe("present and blank", () => {
  const blanks: Json[] = [null, "", [], {}];
  const values: Json[] = [false, true, 0, 1, " ", "a", [null], { a: null }];

  it.each(blanks.map((value) => ({ value })))("treat $value as blank", ({ value }) => {
    expect([ask("present", value), ask("blank", value)]).toEqual([false, true]);
  });

  it.each(values.map((value) => ({ value })))("treat $value as present", ({ value }) => {
    expect([ask("present", value), ask("blank", value)]).toEqual([true, false]);
  });

  it("treat a missing field as blank, without a note", () => {
    expect([askMissing("present"), askMissing("blank")]).toEqual(["`x` is missing", true]);
  });

  it("can be written with `value: true`, which changes nothing", () => {
    expect([ask("present", "a", true), ask("present", "", true)]).toEqual([true, false]);
    expect([ask("blank", "a", true), askMissing("blank", true)]).toEqual([false, true]);
  });

  it("expect null if no value is written", () => {
    expect(traceOf({ field: "x", op: "present" }, { x: 1 }).expected).toBeNull();
  });

  it.each([
    ["present", false, "`present` takes no `value`: write `blank` instead"],
    ["blank", false, "`blank` takes no `value`: write `present` instead"],
    ["present", null, "`present` takes no `value`"],
    ["blank", "yes", "`blank` takes no `value`"],
  ])("%s rejects the value %j", (op, value, message) => {
    expect(checkValue(op, value)).toBe(message);
  });
});
