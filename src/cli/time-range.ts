import type { Command } from "commander";
import { systemClock } from "../clock.js";
import type { TimeRange } from "../model/store.js";
import { askedRange } from "../record/asked-range.js";

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

/** What the flags mean at this moment. */
export const timeRange = ({ since, until }: TimeRangeFlags): TimeRange =>
  askedRange({ since, until }, systemClock(), asFlag);

export const asFlag = (field: string): string => `--${field}`;
