import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { warn } from "./world.js";

/** Lines that are JSON but no whole records are left out, which must not go unnoticed. */
export function warnOfDamage({ damaged }: { readonly damaged: number }, flags: CommonFlags, io: Io): void {
  if (damaged === 0) return;
  const what = damaged === 1 ? "1 line was left out as it is" : `${damaged} lines were left out as they are`;
  warn(flags, io, `${what} no whole record any more; see \`agent-33 decision verify\``);
}
