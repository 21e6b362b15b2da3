import { afterEach, describe, expect, it } from "vitest";
import { maxDuration, parseDuration } from "../../src/definition/duration.js";
import { formatTimestamp, microsecondsOf, parseTime } from "../../src/record/timestamp.js";

const second = 1e6;
const hour = 3600 * second;
const day = 24 * hour;

const zone = process.env["TZ"];
afterEach(() => {
  if (zone === undefined) delete process.env["TZ"];
  else process.env["TZ"] = zone;
});

describe("a duration", () => {
  it.each([
    ["500ms", 500_000],
    ["30s", 30 * second],
    ["5m", 300 * second],
    ["1h", hour],
    ["7d", 7 * day],
    ["2w", 14 * day],
    ["1h30m", 1.5 * hour],
    ["1.5h", 1.5 * hour],
    ["1w2d3h4m5s6ms", 9 * day + 3 * hour + 245 * second + 6000],
    ["30m1h", 1.5 * hour],
    ["1m1m", 120 * second],
    ["0s", 0],
    ["0.1ms", 100],
    ["0.29s", 290_000],
    ["007d", 7 * day],
    ["0.0004ms", 0],
    ["0.0006ms", 1],
  ])("of %s is parsed as microseconds", (text, microseconds) => {
    expect(parseDuration(text)).toBe(microseconds);
  });

  it.each([
    ["two thousand years", "99999w"],
    ["more digits than a number holds", `${"9".repeat(400)}h`],
    ["many that are long together", "5000w".repeat(1000)],
  ])("is at most the maximum: %s", (_what, text) => {
    expect(parseDuration(text)).toBe(maxDuration);
    expect(Number.isSafeInteger(maxDuration)).toBe(true);
  });

  it.each([
    "",
    "h",
    "5",
    "5 m",
    " 5m",
    "5m ",
    "5m\n",
    "-5m",
    "+5m",
    "5M",
    "5y",
    "5µs",
    ".5h",
    "5.h",
    "1e3s",
    "1,5h",
    "1h-30m",
    "٥m",
  ])("is not %j", (text) => {
    expect(parseDuration(text)).toBeUndefined();
  });

  it("is rejected quickly however long the text is", () => {
    expect(parseDuration("1".repeat(1e6))).toBeUndefined();
    expect(parseDuration(`${"1.5h".repeat(2e5)}!`)).toBeUndefined();
  });
});

describe("a time", () => {
  const now = microsecondsOf("2026-11-15T10:30:45.123456Z");
  const shown = (text: string): string | undefined => {
    const moment = parseTime(text, now);
    return moment === undefined ? undefined : formatTimestamp(moment);
  };

  it.each([
    ["an instant to the microsecond", "2026-11-15T10:30:45.123456Z", "2026-11-15T10:30:45.123456Z"],
    ["an instant without seconds", "2026-11-15T10:30Z", "2026-11-15T10:30:00.000000Z"],
    ["one decimal", "2026-11-15T10:30:45.1Z", "2026-11-15T10:30:45.100000Z"],
    ["a comma for the point", "2026-11-15T10:30:45,000001Z", "2026-11-15T10:30:45.000001Z"],
    ["nanoseconds, cut", "2026-11-15T10:30:45.123456999Z", "2026-11-15T10:30:45.123456Z"],
    ["far more digits, cut", `2026-11-15T10:30:45.${"9".repeat(40)}Z`, "2026-11-15T10:30:45.999999Z"],
    ["a zone behind the decimals", "2026-11-15T10:30:45.123456+01:00", "2026-11-15T09:30:45.123456Z"],
    ["a space before the time", "2026-11-15 10:30:45.5Z", "2026-11-15T10:30:45.500000Z"],
    ["a date", "2026-11-15", "2026-11-15T00:00:00.000000Z"],
    ["a date before 1970", "1969-07-20", "1969-07-20T00:00:00.000000Z"],
    ["decimals before 1970", "1969-12-31T23:59:59.999999Z", "1969-12-31T23:59:59.999999Z"],
    ["29 February of a leap year", "2028-02-29T23:59:59.999999Z", "2028-02-29T23:59:59.999999Z"],
    ["29 February of 2000", "2000-02-29", "2000-02-29T00:00:00.000000Z"],
    ["a time that reaches the next year in UTC", "2026-12-31T23:30:00-01:00", "2027-01-01T00:30:00.000000Z"],
    ["no time ago", "0s", "2026-11-15T10:30:45.123456Z"],
    ["an hour and a half ago", "1h30m", "2026-11-15T09:00:45.123456Z"],
    ["a week ago", "7d", "2026-11-08T10:30:45.123456Z"],
    ["as long ago as can be said", "99999w", "1826-11-14T10:30:45.123456Z"],
  ])("is %s", (_what, text, timestamp) => {
    expect(shown(text)).toBe(timestamp);
  });

  it.each([
    ["nothing", ""],
    ["a time without a zone", "2026-11-15T10:30:45.123456"],
    ["29 February of a common year", "2027-02-29"],
    ["29 February of 1900", "1900-02-29"],
    ["hour 24", "2026-11-15T24:00:00Z"],
    ["a leap second", "2016-12-31T23:59:60.5Z"],
    ["decimals of a minute", "2026-11-15T10:30.5Z"],
    ["decimals behind the zone", "2026-11-15T10:30+01:00:00.5"],
    ["a point without digits", "2026-11-15T10:30:45.Z"],
    ["two fractions", "2026-11-15T10:30:45.1.2Z"],
    ["a word", "yesterday"],
    ["a number", "1763202645"],
    ["a duration with a sign", "-7d"],
    ["white space around", " 7d"],
    ["a line behind", "2026-11-15\n"],
  ])("is not %s", (_what, text) => {
    expect(parseTime(text, now)).toBeUndefined();
  });

  it("is the same in every zone of the machine, also where summer time begins and ends", () => {
    for (const machine of [
      "UTC",
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
    ]) {
      process.env["TZ"] = machine;
      expect(shown("2026-03-29T02:30:00Z")).toBe("2026-03-29T02:30:00.000000Z");
      expect(shown("2026-03-08T02:30:00-05:00")).toBe("2026-03-08T07:30:00.000000Z");
      expect(shown("2026-03-08")).toBe("2026-03-08T00:00:00.000000Z");
      expect(microsecondsOf("2026-10-25T02:30:00.000000Z")).toBe(Date.UTC(2026, 9, 25, 2, 30) * 1000);
    }
  });

  it("distinguishes the two hours that a clock shows twice when summer time ends", () => {
    const first = parseTime("2026-10-25T02:30:00+02:00", now);
    const again = parseTime("2026-10-25T02:30:00+01:00", now);
    expect((again ?? 0) - (first ?? 0)).toBe(hour);
  });

  it("is 24 hours earlier for a day, whatever summer time does", () => {
    process.env["TZ"] = "Europe/Berlin";
    const morning = microsecondsOf("2026-03-29T10:00:00.000000Z");
    expect(parseTime("1d", morning)).toBe(microsecondsOf("2026-03-28T10:00:00.000000Z"));
  });
});

describe("a timestamp", () => {
  it.each([
    "1970-01-01T00:00:00.000000Z",
    "1969-12-31T23:59:59.999999Z",
    "2024-02-29T23:59:59.999999Z",
    "2026-11-15T10:30:45.123456Z",
    "2026-11-15T10:30:45.000001Z",
    "2100-03-01T00:00:00.000000Z",
    "2255-01-01T00:00:00.000001Z",
    "1700-01-01T00:00:00.999999Z",
  ])("%s survives a round trip through microseconds", (timestamp) => {
    expect(formatTimestamp(microsecondsOf(timestamp))).toBe(timestamp);
    expect(microsecondsOf(timestamp)).toBe(parseTime(timestamp, 0));
  });

  it("does not depend on the timestamp parsed before it", () => {
    const start = Date.UTC(2024, 1, 28) * 1000;
    let state = 1;
    const random = (): number => (state = (state * 48271) % 2147483647) / 2147483647;
    for (let count = 0; count < 20_000; count++) {
      const near = count % 3 === 0 ? Math.floor(random() * 1000 * day) : count * 7_123_457;
      const moment = start + near;
      expect(microsecondsOf(formatTimestamp(moment))).toBe(moment);
    }
  });

  it.each([
    "",
    "2026-11-15",
    "2026-11-15T10:30:45Z",
    "2026-11-15T10:30:45.123Z",
    "2026-13-15T10:30:45.123456Z",
  ])("cannot be %j", (text) => {
    expect(microsecondsOf(text)).toBeNaN();
  });

  it("has its decimals truncated, not rounded", () => {
    expect(formatTimestamp(1_999_999.9)).toBe("1970-01-01T00:00:01.999999Z");
    expect(formatTimestamp(-0.5)).toBe("1969-12-31T23:59:59.999999Z");
  });
});
