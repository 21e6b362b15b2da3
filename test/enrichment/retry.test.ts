import { expect, it } from "vitest";
import { isRetryable, backoffBefore, parseRetryAfter } from "../../src/enrichment/retry.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { noon } from "../store/entries.js";

const retry = { attempts: 9, base: 100, max: 1000 };

it.each([
  { attempt: 2, most: 100 },
  { attempt: 3, most: 200 },
  { attempt: 4, most: 400 },
  { attempt: 5, most: 800 },
  { attempt: 6, most: 1000 },
  { attempt: 60, most: 1000 },
])("waits a random time of up to $most before attempt $attempt", ({ attempt, most }) => {
  expect([0, 0.5, 1].map((random) => backoffBefore(attempt, retry, random))).toEqual([0, most / 2, most]);
});

const now = microsecondsOf(noon);

it.each([
  { text: "0", wanted: 0 },
  { text: "3", wanted: 3e6 },
  { text: " 120 ", wanted: 120e6 },
  { text: "1.5", wanted: 1.5e6 },
  { text: "Mon, 02 Mar 2026 12:00:07 GMT", wanted: 7e6 },
  { text: "Monday, 02-Mar-26 12:00:07 GMT", wanted: 7e6 },
  { text: "Mon Mar  2 12:00:07 2026", wanted: 7e6 },
  { text: "Mon, 02 Mar 2026 11:00:00 GMT", wanted: 0 },
  { text: "soon", wanted: undefined },
  { text: "-5", wanted: undefined },
  { text: "", wanted: undefined },
  { text: "2026-03-02", wanted: undefined },
  { text: "Mon, 42 Mar 2026 11:00:00 GMT", wanted: undefined },
  { text: "9".repeat(400), wanted: Infinity },
])("parses the Retry-After `$text`", ({ text, wanted }) => {
  expect(parseRetryAfter(text, now)).toBe(wanted);
});

it.each([408, 425, 429, 500, 502, 503, 504])("retries after status %i with any method", (status) => {
  expect(isRetryable({ kind: "status", status }, "get")).toBe(true);
  expect(isRetryable({ kind: "status", status }, "post")).toBe(true);
});

it.each([301, 302, 307, 308, 400, 401, 403, 404, 409, 422, 501, 505])(
  "does not retry after status %i",
  (status) => {
    expect(isRetryable({ kind: "status", status }, "get")).toBe(false);
  },
);

it.each([
  { method: "get", again: true },
  { method: "put", again: true },
  { method: "delete", again: true },
  { method: "post", again: false },
] as const)("asks again by $method after a network failure: $again", ({ method, again }) => {
  expect(isRetryable({ kind: "network", message: "reset" }, method)).toBe(again);
});

it.each([
  { kind: "answer", data: 1 },
  { kind: "refused", message: "no" },
  { kind: "timeout" },
  { kind: "broken", message: "half" },
] as const)("does not ask again after: $kind", (exchanged) => {
  expect(isRetryable(exchanged, "get")).toBe(false);
});
