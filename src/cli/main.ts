import type { Command } from "commander";
import { CommanderError } from "commander";
import type { ExitCode } from "./exit-codes.js";
import { exitCodeOf } from "./exit-codes.js";
import { styleFor, wantsJsonErrors } from "./flags.js";
import type { Io } from "./io.js";
import { escapeForTerminal, OutputClosed } from "./io.js";
import { buildProgram } from "./program.js";
import { unknownCommandHint } from "./suggestions.js";
import { DecisionError, errorDocument, fileErrorHint, toFileError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Paint } from "../present/format.js";
import { describeDiagnostic } from "../present/diagnostics-view.js";
import { version } from "../version.js";
import { didYouMean, oneLine, printable } from "../text.js";

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
      error instanceof CommanderError ? toUsageError(error, argv, path) : error,
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
function toUsageError(
  { message }: CommanderError,
  argv: readonly string[],
  path: readonly Command[],
): DecisionError {
  const [text = "", suggestion = ""] = message
    .replace(/^error: /, "")
    .replace(/-----BEGIN[^']*/, "-----BEGIN…")
    .split("\n");
  const hint =
    usageHint({ text, suggestion, argv, path }) ??
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

function usageHint({ text, suggestion, argv, path }: UsageProblem): string | undefined {
  const command = /unknown command '(.*)'/.exec(text)?.[1];
  if (command !== undefined) return unknownCommandHint(command, path);
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

/** The error details that are printed as text. */
interface ErrorDetails {
  readonly problems?: readonly Diagnostic[];
  /** The expression with a caret under the position of the error. */
  readonly excerpt?: string;
}

function describeError(error: unknown, paint: Paint): string {
  if (!(error instanceof DecisionError)) return describeBug(error, paint);
  const lines = [`${paint("red", "error:")} ${oneLine(error.message)}`];
  const { problems = [], excerpt } = (error.details ?? {}) as ErrorDetails;
  if (excerpt !== undefined) lines.push(indent(printable(excerpt)));
  lines.push(...problems.map((problem) => indent(describeDiagnostic(problem, paint))));
  if (error.hint !== undefined) lines.push(`${paint("cyan", "hint:")} ${oneLine(error.hint)}`);
  return `${lines.join("\n")}\n`;
}

function describeBug(error: unknown, paint: Paint): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const where = `agent-33 ${version}, Node ${process.version}, ${process.platform}`;
  return `${paint("red", "error:")} this is a bug in agent-33\n${indent(printable(stack))}\n${paint("cyan", "hint:")} please report it with the lines above (${where})\n`;
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

const indent = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
