import type { Problem } from "../model/problem.js";
import type { Paint, View } from "./format.js";
import { printable } from "../printable.js";

export interface Checked {
  readonly decisions: number;
  /** Those that need no input. */
  readonly guardrails: number;
}

export function problemsView(problems: readonly Problem[], { decisions, guardrails }: Checked): View {
  const valid = !problems.some((problem) => problem.severity === "error");
  return {
    value: { valid, problems, guardrails_checked: guardrails },
    items: problems,
    plain: () => problems.map(plainProblem).join("\n"),
    table: ({ paint }) => {
      const lines = problems.map((problem) => describeProblem(problem, paint));
      const verdict = valid ? paint("green", "✓ valid") : paint("red", "✗ not valid");
      return [
        `${verdict}  ${several(decisions, "decision")}${guardrailsText(guardrails)}${summary(problems)}`,
        ...lines,
      ].join("\n");
    },
  };
}

const several = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

const guardrailsText = (checked: number): string =>
  checked === 0 ? "" : `, ${several(checked, "guardrail")} checked that need no input`;

function plainProblem(problem: Problem): string {
  const { file, line, column, severity, message, hint } = shown(problem);
  return [`${file}:${line}:${column}`, severity, message, ...(hint === undefined ? [] : [hint])].join("\t");
}

/** `file:line:column  severity  what`, then the expression with its caret and the hint. */
export function describeProblem(problem: Problem, paint: Paint = (_colour, text) => text): string {
  const { file, line, column, severity, message, hint, excerpt } = shown(problem);
  const colour = severity === "error" ? "red" : severity === "warning" ? "yellow" : "cyan";
  const lines = [`${paint("bold", `${file}:${line}:${column}`)}  ${paint(colour, severity)}  ${message}`];
  if (excerpt !== undefined) lines.push(...excerpt.split("\n").map((each) => `    ${each}`));
  if (hint !== undefined) lines.push(`    ${paint("dim", "hint:")} ${hint}`);
  return lines.join("\n");
}

/** A file can call its keys what it likes; people are shown no more than its text. */
function shown(problem: Problem): Problem {
  const { file, message, hint, excerpt, ...rest } = problem;
  return {
    ...rest,
    file: printable(file),
    message: printable(message).replaceAll("\n", " "),
    ...(hint !== undefined && { hint: printable(hint) }),
    ...(excerpt !== undefined && { excerpt: printable(excerpt) }),
  };
}

/** Annotations as GitHub's workflow commands write them. */
export function githubAnnotations(problems: readonly Problem[]): string {
  return problems.map(annotation).join("");
}

function annotation(problem: Problem): string {
  const { file, line, column, severity, message, hint } = shown(problem);
  const command = severity === "note" ? "notice" : severity;
  const text = escapeData(hint === undefined ? message : `${message} (${hint})`);
  return `::${command} file=${escapeProperty(file)},line=${line},col=${column}::${text}\n`;
}

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

function summary(problems: readonly Problem[]): string {
  const count = (severity: Problem["severity"]): number =>
    problems.filter((each) => each.severity === severity).length;
  const parts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const number = count(severity);
    return number === 0 ? [] : [`${number} ${severity}${number === 1 ? "" : "s"}`];
  });
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
}
