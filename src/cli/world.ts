import { stopwatch } from "../clock.js";
import type { Composed } from "../compose.js";
import { compose } from "../compose.js";
import type { Problem } from "../model/problem.js";
import { printable } from "../printable.js";
import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { decisionsDirectory } from "./settings.js";
import { cacheHome } from "./user-directory.js";

/** The world as flags, environment and settings describe it; definitions that cannot be used are warned of. */
export async function openWorld(flags: CommonFlags, io: Io): Promise<Composed> {
  const startedAt = stopwatch();
  const decisions = decisionsDirectory(flags.decisions, io);
  const world = await compose({ decisions: decisions.value, cacheHome: cacheHome(io.env) });
  if (flags.verbose) {
    const { ids, filesRead, filesCached } = world.definitions;
    const took = (stopwatch() - startedAt).toFixed(1);
    note(io, `decisions: ${decisions.value} (from ${decisions.from})`);
    note(
      io,
      `definitions: ${ids.length} in ${took} ms (${filesRead} files read, ${filesCached} from the cache)`,
    );
  }
  return world;
}

export function note(io: Io, text: string): void {
  io.err.write(`${printable(text)}\n`);
}

export function warn(flags: CommonFlags, io: Io, message: string): void {
  if (!flags.quiet) io.err.write(`warning: ${printable(message)}\n`);
}

/** Broken files are only a warning to those who ask for something else. */
export function warnOfProblems(flags: CommonFlags, io: Io, problems: readonly Problem[]): void {
  const files = new Map<string, Problem[]>();
  for (const problem of problems) files.set(problem.file, [...(files.get(problem.file) ?? []), problem]);
  for (const [file, found] of files) {
    const [first] = found;
    const more = found.length > 1 ? ` (and ${found.length - 1} more)` : "";
    if (first)
      warn(flags, io, `${file}:${first.line}:${first.column} cannot be used: ${first.message}${more}`);
  }
}
