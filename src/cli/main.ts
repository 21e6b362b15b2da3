import { CommanderError } from "commander";
import { DecisionError } from "../errors.js";
import type { ExitCode } from "./exit-codes.js";
import { exitCodeOf } from "./exit-codes.js";
import { styleFor, wantsJsonErrors } from "./flags.js";
import type { Io } from "./io.js";
import { OutputClosed } from "./io.js";
import { buildProgram, commandNames } from "./program.js";
import { bugDocument, describeError, errorDocument } from "./report-error.js";

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
    if (error instanceof CommanderError && error.code === "commander.help") return showHelp(argv, program);
    return await report(error instanceof CommanderError ? asUsageError(error, argv) : error, argv, io);
  }
}

/** A group without a command: its help is the answer. */
function showHelp(argv: readonly string[], program: ReturnType<typeof buildProgram>): ExitCode {
  const group = program.commands.find((command) => command.name() === argv[0]);
  (group ?? program).outputHelp();
  return 0;
}

/** commander writes `error: what\n(Did you mean x?)`. */
function asUsageError({ message }: CommanderError, argv: readonly string[]): DecisionError {
  const [what = "", suggestion = ""] = message.replace(/^error: /, "").split("\n");
  return new DecisionError("usage", what.replaceAll("'", "`"), { hint: usageHint(what, suggestion, argv) });
}

function usageHint(what: string, suggestion: string, argv: readonly string[]): string {
  const [first = ""] = argv;
  if (what.includes("unknown command") && commandNames.includes(first)) {
    return `did you mean \`agent-33 decision ${first}\`?`;
  }
  if (what.includes("unknown option") && first.startsWith("-")) return "flags stand behind the command";
  const meant = /Did you mean (?:one of )?(.+)\?\)/.exec(suggestion)?.[1];
  if (meant !== undefined) return `did you mean \`${meant}\`?`;
  const words = argv.slice(0, 2).filter((word) => /^[a-z][a-z-]*$/.test(word));
  return `see \`${["agent-33", ...words].join(" ")} --help\``;
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
