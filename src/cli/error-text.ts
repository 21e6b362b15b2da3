import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import { describeDiagnostic } from "../present/diagnostics-view.js";
import type { Paint } from "../present/format.js";
import { oneLine, printable } from "../text.js";
import { version } from "../version.js";

/** The error details that are printed as text. */
interface ErrorDetails {
  readonly problems?: readonly Diagnostic[];
  /** The expression with a caret under the position of the error. */
  readonly excerpt?: string;
}

/** Formats an error as the lines that are printed: what is wrong, where, and how to fix it. */
export function describeError(error: unknown, paint: Paint): string {
  if (!(error instanceof DecisionError)) return describeBug(error, paint);
  const { problems = [], excerpt } = (error.details ?? {}) as ErrorDetails;
  const lines = [
    `${paint("red", "error:")} ${oneLine(error.message)}`,
    ...(excerpt === undefined ? [] : [indent(printable(excerpt))]),
    ...problems.map((problem) => indent(describeDiagnostic(problem, paint))),
    ...(error.hint === undefined ? [] : [`${paint("cyan", "hint:")} ${oneLine(error.hint)}`]),
  ];
  return `${lines.join("\n")}\n`;
}

function describeBug(error: unknown, paint: Paint): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const where = `agent-33 ${version}, Node ${process.version}, ${process.platform}`;
  return `${paint("red", "error:")} this is a bug in agent-33\n${indent(printable(stack))}\n${paint("cyan", "hint:")} please report it with the lines above (${where})\n`;
}

const indent = (text: string): string =>
  text
    .split("\n")
    .map((line) => `  ${line}`)
    .join("\n");
