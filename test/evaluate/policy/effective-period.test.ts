import { describe, expect, it } from "vitest";
import { effectivePeriod } from "../../../src/evaluate/policy/base-policy.js";

const at = (text: string): number => Date.parse(text);
const from = "2026-01-01T00:00:00Z";
const until = "2027-01-01T00:00:00+01:00";

describe("the window of a policy", () => {
  it.each([
    { name: "without bounds is always open", bounds: {}, time: 0, why: undefined },
    {
      name: "that begins at no time never opens",
      bounds: { effective_from: "soon" },
      time: at(from),
      why: "not in effect before soon",
    },
    {
      name: "that ends at no time is closed",
      bounds: { expires_at: "later" },
      time: at(from),
      why: "expired on later",
    },
    { name: "without bounds needs no time", bounds: {}, time: undefined, why: undefined },
    {
      name: "opens with its first moment",
      bounds: { effective_from: from },
      time: at(from),
      why: undefined,
    },
    {
      name: "is closed a millisecond earlier",
      bounds: { effective_from: from },
      time: at(from) - 1,
      why: `not in effect before ${from}`,
    },
    {
      name: "is open until its last moment",
      bounds: { expires_at: until },
      time: at(until) - 1,
      why: undefined,
    },
    {
      name: "is closed from the moment it expires",
      bounds: { expires_at: until },
      time: at(until),
      why: `expired on ${until}`,
    },
    {
      name: "takes a date for its midnight in UTC",
      bounds: { effective_from: "2026-01-01" },
      time: at(from),
      why: undefined,
    },
    {
      name: "is closed where the time is not known",
      bounds: { effective_from: from },
      time: undefined,
      why: "the time of the request is unknown",
    },
    {
      name: "never opens at what is no time",
      bounds: { effective_from: "soon" },
      time: at(until),
      why: "not in effect before soon",
    },
    {
      name: "is long closed at what is no time",
      bounds: { expires_at: "later" },
      time: at(from),
      why: "expired on later",
    },
  ])("$name", ({ bounds, time, why }) => {
    expect(effectivePeriod({ name: "p", ...bounds })(time)).toBe(why);
  });
});
