import type { Result } from "../model/result.js";
import type { Change } from "../serve/living-world.js";
import { LivingWorld } from "../serve/living-world.js";
import type { LogLines } from "../serve/log-lines.js";
import { observedWorld } from "../serve/observed-world.js";
import type { DecideFlags } from "./flags.js";
import type { Io } from "./io.js";
import { openServed } from "./open-served.js";
import { warnOfProblems } from "./world.js";

/** How often definitions are looked at. */
const everyMilliseconds = 250;

interface Listeners {
  readonly log: LogLines;
  readonly onChange?: (change: Change) => void;
  readonly onDecided?: (result: Result) => void;
}

/** The world for whoever stays: definitions that change meanwhile are taken up. */
export async function openLiving(
  flags: DecideFlags,
  io: Io,
  { log, onChange = () => undefined, onDecided = () => undefined }: Listeners,
): Promise<LivingWorld> {
  const served = await openServed(flags, io);
  const living = await LivingWorld.open({
    open: async () => observedWorld(await served.open(), onDecided),
    stamp: served.stamp,
    keepsSound: !served.mustBeApproved,
    everyMilliseconds,
    onChange(change) {
      onChange(change);
      tellChange(change, log);
    },
  });
  warnOfProblems(flags, io, living.current.definitions.problems);
  return living;
}

function tellChange(change: Change, log: LogLines): void {
  if (change.became === "current") {
    const { decisions, problems, gone } = change;
    const more = { decisions, problems: problems.length, ...(gone.length > 0 && { gone }) };
    log.log(gone.length > 0 ? "warn" : "info", "definitions taken up", more);
    return;
  }
  const problems = change.problems.map(
    ({ file, line, column, message, hint }) =>
      `${file}:${line}:${column} ${message}${hint === undefined ? "" : ` (${hint})`}`,
  );
  log.log("error", `a change of the definitions is not taken up: ${change.reason}`, { problems });
}
