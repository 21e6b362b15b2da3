import { describe, expect, it } from "vitest";
import { parseInstant } from "../../src/expression/instant.js";

describe("parseInstant", () => {
  it.each([
    "1970-01-01T00:00:00Z",
    "2026-03-02T12:34:56.789Z",
    "2024-02-29T23:59:59.999Z",
    "1969-12-31T23:59:59.999Z",
    "9999-12-31T23:59:59.999Z",
    "1900-02-28T00:00:00Z",
  ])("reads %s as the platform does", (text) => {
    expect(parseInstant(text)).toBe(Date.parse(text));
  });

  it.each([
    ["a date alone, as midnight in UTC", "2026-03-02", "2026-03-02T00:00:00Z"],
    ["a time without seconds", "2026-03-02T12:34Z", "2026-03-02T12:34:00Z"],
    ["a space before the time", "2026-03-02 12:34:56Z", "2026-03-02T12:34:56Z"],
    ["small letters", "2026-03-02t12:34:56z", "2026-03-02T12:34:56Z"],
    ["a zone to the east", "2026-03-02T01:00:00+02:00", "2026-03-01T23:00:00Z"],
    ["a zone to the west", "2026-03-02T23:30:00-05:30", "2026-03-03T05:00:00Z"],
    ["a zone without a colon", "2026-03-02T01:00:00+0200", "2026-03-01T23:00:00Z"],
    ["a comma before the fraction", "2026-03-02T00:00:00,5Z", "2026-03-02T00:00:00.500Z"],
    ["microseconds, cut off", "2026-03-02T00:00:00.123999Z", "2026-03-02T00:00:00.123Z"],
    ["nanoseconds, cut off", "2026-03-02T00:00:00.999999999Z", "2026-03-02T00:00:00.999Z"],
  ])("reads %s", (_what, text, same) => {
    expect(parseInstant(text)).toBe(Date.parse(same));
  });

  it("reads every millisecond of a second as itself", () => {
    const texts = Array.from({ length: 1000 }, (_, index) => String(index).padStart(3, "0"));
    const wrong = texts.filter((text) => parseInstant(`1970-01-01T00:00:00.${text}Z`) !== Number(text));
    expect(wrong).toEqual([]);
  });

  it.each([
    ["a time without a zone", "2026-03-02T12:00:00"],
    ["a day that its month does not have", "2026-02-30"],
    ["29 February of a common year", "2025-02-29"],
    ["month 13", "2026-13-01"],
    ["month 0", "2026-00-01"],
    ["day 0", "2026-01-00"],
    ["hour 24", "2026-01-01T24:00:00Z"],
    ["minute 60", "2026-01-01T00:60:00Z"],
    ["a leap second", "2016-12-31T23:59:60Z"],
    ["a zone of 24 hours", "2026-01-01T00:00:00+24:00"],
    ["a zone of 60 minutes", "2026-01-01T00:00:00+01:60"],
    ["a year of two digits", "26-03-02"],
    ["a month of one digit", "2026-3-2"],
    ["a month alone", "2026-03"],
    ["words", "yesterday"],
    ["nothing", ""],
    ["white space around", " 2026-03-02 "],
    ["something behind", "2026-03-02x"],
    ["a line behind", "2026-03-02\n"],
    ["another order", "02/03/2026"],
  ])("rejects %s", (_what, text) => {
    expect(parseInstant(text)).toBeUndefined();
  });

  it("knows the years before 100", () => {
    expect(parseInstant("0050-01-01")).toBe(Date.parse("0050-01-01T00:00:00Z"));
  });
});
