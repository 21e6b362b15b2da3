import { parseDuration } from "../definition/duration.js";
import { parseInstant } from "../expression/instant.js";

/**
 * Parses an ISO 8601 timestamp with a zone, a date (midnight UTC), or a duration before `now`, as microseconds
 * since 1970. Exact from 1684 to 2255; outside that range it is precise enough for comparisons.
 */
export function parseTime(text: string, now: number): number | undefined {
  const fraction = fractions.exec(text)?.[1] ?? "";
  const milliseconds = parseInstant(text.replace(fractions, ""));
  if (milliseconds !== undefined) return milliseconds * 1000 + Number(fraction.padEnd(6, "0").slice(0, 6));
  const duration = parseDuration(text);
  return duration === undefined ? undefined : now - duration;
}

/** Only seconds have a fraction. */
const fractions = /(?<=^.{13}:\d{2}:\d{2})[.,](\d+)(?=[Zz+-])/;

/** Parses a record's timestamp; NaN if it is malformed. Fast for many timestamps in order, as it keeps the last minute. */
export function microsecondsOf(timestamp: string): number {
  if (timestamp.length !== timestampLength) return Number.NaN;
  const minute =
    twoDigits(timestamp, 0) * 1e10 +
    twoDigits(timestamp, 2) * 1e8 +
    twoDigits(timestamp, 5) * 1e6 +
    twoDigits(timestamp, 8) * 1e4 +
    twoDigits(timestamp, 11) * 1e2 +
    twoDigits(timestamp, 14);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastMinuteStart = minuteStart(minute);
  }
  return (
    lastMinuteStart +
    twoDigits(timestamp, 17) * 1e6 +
    twoDigits(timestamp, 20) * 1e4 +
    twoDigits(timestamp, 22) * 1e2 +
    twoDigits(timestamp, 24)
  );
}

/** Returns the start of a minute written as YYYYMMDDHHMM. Avoids `Date.parse`, which looks up the time zone first. */
export function minuteStart(minute: number): number {
  const part = (from: number, size: number): number => Math.floor(minute / from) % size;
  const month = part(1e6, 100);
  if (!(month >= 1 && month <= 12)) return Number.NaN;
  return Date.UTC(part(1e8, 1e4), month - 1, part(1e4, 100), part(100, 100), part(1, 100)) * 1000;
}

const timestampLength = "YYYY-MM-DDTHH:MM:SS.ffffffZ".length;
const zero = 48;

/** The last minute and its start: timestamps of a batch share the minute, and converting it takes longest. */
let lastMinute = Number.NaN;
let lastMinuteStart = Number.NaN;

function twoDigits(text: string, at: number): number {
  return (text.charCodeAt(at) - zero) * 10 + text.charCodeAt(at + 1) - zero;
}

/** Formats a time as records have it: UTC with six decimals. */
export function formatTimestamp(microseconds: number): string {
  const whole = Math.floor(microseconds);
  // Remainders are exact; the quotient of a distant time would be rounded.
  const fraction = ((whole % 1e6) + 1e6) % 1e6;
  const second = new Date((whole - fraction) / 1000).toISOString().slice(0, -4);
  return `${second}${String(fraction).padStart(6, "0")}Z`;
}
