import { DecisionError } from "../errors.js";
import type { Problem } from "../model/problem.js";
import type { Paint } from "../present/format.js";
import { printable } from "../printable.js";
import { describeProblem } from "../present/problems-view.js";
import { version } from "../version.js";

/** What of an error's details is shown to people. */
interface Shown {
  readonly problems?: readonly Problem[];
  /** The expression with a caret under the faulty place. */
  readonly excerpt?: string;
}

export function describeError(error: unknown, paint: Paint): string {
  if (!(error instanceof DecisionError)) return describeBug(error, paint);
  const lines = [`${paint("red", "error:")} ${printable(error.message)}`];
  const { problems = [], excerpt } = (error.details ?? {}) as Shown;
  if (excerpt !== undefined) lines.push(indent(printable(excerpt)));
  lines.push(...problems.map((problem) => indent(describeProblem(problem, paint))));
  if (error.hint !== undefined) lines.push(`${paint("cyan", "hint:")} ${printable(error.hint)}`);
  return `${lines.join("\n")}\n`;
}

function describeBug(error: unknown, paint: Paint): string {
  const stack = error instanceof Error ? (error.stack ?? error.message) : String(error);
  const where = `agent-33 ${version}, Node ${process.version}, ${process.platform}`;
  return `${paint("red", "error:")} this is a bug in agent-33, not in what you did\n${indent(stack)}\n${paint("cyan", "hint:")} please report it with the lines above (${where})\n`;
}

export function bugDocument(error: unknown): { readonly error: object } {
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
