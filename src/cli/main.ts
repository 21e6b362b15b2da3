import type { Command } from "commander";
import { CommanderError } from "commander";
import { errorDocument } from "../error-document.js";
import { DecisionError } from "../errors.js";
import type { ExitCode } from "./exit-codes.js";
import { exitCodeOf } from "./exit-codes.js";
import { styleFor, wantsJsonErrors } from "./flags.js";
import type { Io } from "./io.js";
import { OutputClosed } from "./io.js";
import { buildProgram, commandNames } from "./program.js";
import { bugDocument, describeError } from "./report-error.js";

/** Runs one command line and tells the exit code; everything it says goes through `io`. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
  const program = buildProgram(io, (code) => (exitCode = code), argv);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCode;
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const path = pathOf(argv, program);
    if (error instanceof CommanderError && error.code === "commander.help") return showHelp(path);
    return await report(error instanceof CommanderError ? asUsageError(error, argv, path) : error, argv, io);
  }
}

/** The commands that the words lead through, from the program to the innermost. */
function pathOf(argv: readonly string[], program: Command): readonly Command[] {
  const [word, ...rest] = argv;
  const next = program.commands.find((each) => [each.name(), ...each.aliases()].includes(word ?? ""));
  return next === undefined ? [program] : [program, ...pathOf(rest, next)];
}

/** A group without a command: its help is the answer. */
function showHelp(path: readonly Command[]): ExitCode {
  path.at(-1)?.outputHelp();
  return 0;
}

/** commander writes `error: what\n(Did you mean x?)`; a key that was taken for a flag is not repeated. */
function asUsageError(
  { message }: CommanderError,
  argv: readonly string[],
  path: readonly Command[],
): DecisionError {
  const [what = "", suggestion = ""] = message
    .replace(/^error: /, "")
    .replace(/-----BEGIN[^']*/, "-----BEGIN…")
    .split("\n");
  const hint =
    usageHint(what, suggestion, argv) ?? `see \`${path.map((each) => each.name()).join(" ")} --help\``;
  return new DecisionError("usage", what.replaceAll("'", "`"), { hint });
}

function usageHint(what: string, suggestion: string, argv: readonly string[]): string | undefined {
  const [first = ""] = argv;
  if (what.includes("unknown command") && commandNames.includes(first)) {
    return `did you mean \`agent-33 decision ${first}\`?`;
  }
  if (what.includes("unknown option") && first.startsWith("-")) return "flags stand behind the command";
  const meant = /Did you mean (?:one of )?(.+)\?\)/.exec(suggestion)?.[1];
  return meant === undefined ? undefined : `did you mean \`${meant}\`?`;
}

async function report(error: unknown, argv: readonly string[], io: Io): Promise<ExitCode> {
  const expected = error instanceof DecisionError;
  if (wantsJsonErrors(argv)) {
    io.err.write(`${JSON.stringify(expected ? errorDocument(error) : bugDocument(error))}\n`);
  } else {
    const { paint } = await styleFor({ color: !argv.includes("--no-color") }, io, io.err);
    io.err.write(describeError(error, paint));
  }
  return expected ? exitCodeOf(error.code) : 1;
}
