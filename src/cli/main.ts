import type { Command } from "commander";
import { CommanderError } from "commander";
import { describeError } from "./error-text.js";
import type { ExitCode } from "./exit-codes.js";
import { exitCodeOf } from "./exit-codes.js";
import { styleFor, wantsJsonErrors } from "./flags.js";
import type { Io } from "./io.js";
import { escapeForTerminal, OutputClosed } from "./io.js";
import { buildProgram } from "./program.js";
import { DecisionError, errorDocument, fileErrorHint, toFileError } from "../errors.js";
import { version } from "../version.js";
import { didYouMean } from "../text.js";

/** Runs one command line and returns the exit code. All input and output goes through `streams`. */
export async function main(words: readonly string[], streams: Io): Promise<ExitCode> {
  const io = escapeForTerminal(streams);
  let exitCode: ExitCode = 0;
  const argv =
    words[0] === "decision" && words[1] === "help" ? ["help", "decision", ...words.slice(2)] : words;
  const program = await buildProgram(io, (code) => (exitCode = code), argv);
  try {
    await program.parseAsync(argv, { from: "user" });
    return exitCode;
  } catch (error) {
    if (error instanceof OutputClosed) return exitCode;
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    const path = findCommandPath(argv, program);
    if (error instanceof CommanderError && error.code === "commander.help") return showHelp(path);
    return await reportError(
      error instanceof CommanderError ? await toUsageError(error, argv, path) : error,
      argv,
      io,
    );
  }
}

/** Returns the commands that the arguments select, from the program to the innermost subcommand. */
function findCommandPath(argv: readonly string[], program: Command): readonly Command[] {
  const [word, ...rest] = argv;
  const next = program.commands.find((each) => [each.name(), ...each.aliases()].includes(word ?? ""));
  return next === undefined ? [program] : [program, ...findCommandPath(rest, next)];
}

/** Prints the help of a command group that was called without a subcommand. */
function showHelp(path: readonly Command[]): ExitCode {
  path.at(-1)?.outputHelp();
  return 0;
}

/** Converts an error of commander (`error: message\n(Did you mean x?)`). A private key in the message is not shown. */
async function toUsageError(
  { message }: CommanderError,
  argv: readonly string[],
  path: readonly Command[],
): Promise<DecisionError> {
  const [text = "", suggestion = ""] = message
    .replace(/^error: /, "")
    .replace(/-----BEGIN[^']*/, "-----BEGIN…")
    .split("\n");
  const hint =
    (await usageHint({ text, suggestion, argv, path })) ??
    `see \`${path.map((each) => each.name()).join(" ")} --help\``;
  return new DecisionError("usage", text.replaceAll("'", "`"), { hint });
}

interface UsageProblem {
  readonly text: string;
  /** The suggestion of commander, which knows the flags of the command. */
  readonly suggestion: string;
  readonly argv: readonly string[];
  readonly path: readonly Command[];
}

async function usageHint({ text, suggestion, argv, path }: UsageProblem): Promise<string | undefined> {
  const command = /unknown command '(.*)'/.exec(text)?.[1];
  if (command !== undefined) {
    const { unknownCommandHint } = await import("./suggestions.js");
    return unknownCommandHint(command, path);
  }
  const [first = ""] = argv;
  if (text.includes("unknown option") && first.startsWith("-")) {
    const isBeforeCommand = argv.some((word) => !word.startsWith("-"));
    return didYouMean(first, ["--version", "--help"]) ?? (isBeforeCommand ? flagsAfterCommand : undefined);
  }
  const name = /Did you mean (?:one of )?(.+)\?\)/.exec(suggestion)?.[1];
  return name === undefined ? undefined : `did you mean \`${name}\`?`;
}

const flagsAfterCommand = "put flags after the command";

async function reportError(thrown: unknown, argv: readonly string[], io: Io): Promise<ExitCode> {
  const error = withFileHint(toFileError(thrown) ?? thrown);
  const isExpected = error instanceof DecisionError;
  if (wantsJsonErrors(argv)) {
    io.err.write(`${JSON.stringify(isExpected ? errorDocument(error) : bugDocument(error))}\n`);
  } else {
    const { paint } = await styleFor({ color: !argv.includes("--no-color") }, io, io.err);
    io.err.write(describeError(error, paint));
  }
  return isExpected ? exitCodeOf(error.code) : 1;
}

/** Adds the hint of an error of the file system where the error has none. */
function withFileHint(error: unknown): unknown {
  if (!(error instanceof DecisionError) || error.hint !== undefined) return error;
  const hint = fileErrorHint(error.cause);
  if (hint === undefined) return error;
  return new DecisionError(error.code, error.message, { hint, details: error.details, cause: error.cause });
}

function bugDocument(error: unknown): { readonly error: object } {
  const message = error instanceof Error ? error.message : String(error);
  return {
    error: {
      code: "bug",
      message,
      details: { version, stack: error instanceof Error ? error.stack : undefined },
    },
  };
}
