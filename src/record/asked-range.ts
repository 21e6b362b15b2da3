import { DecisionError } from "../errors.js";
import type { TimeRange } from "../model/store.js";
import { microsecondsOf, parseMoment, timestampOf } from "./moment.js";

/** A stretch of the log, as somebody writes it. */
export interface AskedRange {
  readonly since?: string | undefined;
  readonly until?: string | undefined;
}

/** How a field is called where it was written, as in `--since`. */
export type NameOf = (field: string) => string;

/** What is meant by it at this moment; durations are counted back from then. */
export function askedRange({ since, until }: AskedRange, at: string, nameOf: NameOf): TimeRange {
  const now = microsecondsOf(at);
  const range = {
    ...(since !== undefined && { since: momentOf(nameOf("since"), since, now) }),
    ...(until !== undefined && { until: momentOf(nameOf("until"), until, now) }),
  };
  if (range.since !== undefined && range.until !== undefined && range.since > range.until) {
    throw new DecisionError("usage", `${nameOf("since")} is later than ${nameOf("until")}`, {
      hint: `they mean ${timestampOf(range.since)} and ${timestampOf(range.until)}: exchange them`,
    });
  }
  return range;
}

function momentOf(name: string, text: string, now: number): number {
  const moment = parseMoment(text, now);
  if (moment !== undefined) return moment;
  const isWithoutZone = parseMoment(`${text}Z`, now) !== undefined;
  throw new DecisionError("usage", `${name} \`${text}\` is not a moment`, {
    hint: isWithoutZone
      ? `a time needs its zone: \`${text}Z\` is UTC`
      : "give an instant (2026-11-15T10:30:00Z), a date (2026-11-15), or how long ago (30m, 24h, 7d)",
  });
}
