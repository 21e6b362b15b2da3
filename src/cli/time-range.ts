import type { Command } from "commander";
import { systemClock } from "../clock.js";
import { DecisionError } from "../errors.js";
import type { TimeRange } from "../model/store.js";
import { microsecondsOf, parseMoment, timestampOf } from "../record/moment.js";

/** Flags of the commands that look at a stretch of the log. */
export interface TimeRangeFlags {
  readonly since?: string;
  readonly until?: string;
}

export function addTimeRangeFlags(command: Command): Command {
  return command
    .option(
      "--since <time>",
      "from this moment on: 2026-11-15T10:30:00Z, 2026-11-15 (midnight in UTC), or 7d (that long ago)",
    )
    .option("--until <time>", "up to this moment, itself included");
}

/** What the flags mean at this moment; durations are counted back from now. */
export function timeRange({ since, until }: TimeRangeFlags): TimeRange {
  const now = microsecondsOf(systemClock());
  const range = {
    ...(since !== undefined && { since: momentOf("--since", since, now) }),
    ...(until !== undefined && { until: momentOf("--until", until, now) }),
  };
  if (range.since !== undefined && range.until !== undefined && range.since > range.until) {
    throw new DecisionError("usage", "--since is later than --until", {
      hint: `they mean ${timestampOf(range.since)} and ${timestampOf(range.until)}: exchange them`,
    });
  }
  return range;
}

function momentOf(flag: string, text: string, now: number): number {
  const moment = parseMoment(text, now);
  if (moment !== undefined) return moment;
  const isWithoutZone = parseMoment(`${text}Z`, now) !== undefined;
  throw new DecisionError("usage", `${flag} \`${text}\` is not a moment`, {
    hint: isWithoutZone
      ? `a time needs its zone: \`${text}Z\` is UTC`
      : "give an instant (2026-11-15T10:30:00Z), a date (2026-11-15), or how long ago (30m, 24h, 7d)",
  });
}
