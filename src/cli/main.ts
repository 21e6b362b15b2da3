import type { Command } from "commander";
import { CommanderError } from "commander";
import type { ExitCode } from "./exit-codes.js";
import { exitCodeOf } from "./exit-codes.js";
import { styleFor, wantsJsonErrors } from "./flags.js";
import type { Io } from "./io.js";
import { OutputClosed } from "./io.js";
import { buildProgram, commandNames } from "./program.js";
import { errorDocument, DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { printable } from "../text.js";
import type { Paint } from "../present/format.js";
import { describeDiagnostic } from "../present/diagnostics-view.js";
import { version } from "../version.js";

/** Runs one command line and tells the exit code; everything it says goes through `io`. */
export async function main(argv: readonly string[], io: Io): Promise<ExitCode> {
  let exitCode: ExitCode = 0;
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
      error instanceof CommanderError ? asUsageError(error, argv, path) : error,
      argv,
      io,
    );
  }
}

/** The commands that the words lead through, from the program to the innermost. */
function findCommandPath(argv: readonly string[], program: Command): readonly Command[] {
  const [word, ...rest] = argv;
  const next = program.commands.find((each) => [each.name(), ...each.aliases()].includes(word ?? ""));
  return next === undefined ? [program] : [program, ...findCommandPath(rest, next)];
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

async function reportError(error: unknown, argv: readonly string[], io: Io): Promise<ExitCode> {
  const expected = error instanceof DecisionError;
  if (wantsJsonErrors(argv)) {
    io.err.write(`${JSON.stringify(expected ? errorDocument(error) : bugDocument(error))}\n`);
  } else {
    const { paint } = await styleFor({ color: !argv.includes("--no-color") }, io, io.err);
    io.err.write(describeError(error, paint));
  }
  return expected ? exitCodeOf(error.code) : 1;
}

/** What of an error's details is shown to people. */
interface ErrorDetails {
  readonly problems?: readonly Diagnostic[];
  /** The expression with a caret under the faulty place. */
  readonly excerpt?: string;
}

function describeError(error: unknown, paint: Paint): string {
  if (!(error instanceof DecisionError)) return describeBug(error, paint);
  const lines = [`${paint("red", "error:")} ${printable(error.message)}`];
  const { problems = [], excerpt } = (error.details ?? {}) as ErrorDetails;
  if (excerpt !== undefined) lines.push(indent(printable(excerpt)));
  lines.push(...problems.map((problem) => indent(describeDiagnostic(problem, paint))));
  if (error.hint !== undefined) lines.push(`${paint("cyan", "hint:")} ${printable(error.hint)}`);
  return `${lines.join("\n")}\n`;
}

function describeBug(error: unknown, paint: Paint): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const where = `agent-33 ${version}, Node ${process.version}, ${process.platform}`;
  return `${paint("red", "error:")} this is a bug in agent-33, not in what you did\n${indent(stack)}\n${paint("cyan", "hint:")} please report it with the lines above (${where})\n`;
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
