import type { Diagnostic } from "../model/diagnostic.js";
import type { Paint, View } from "./format.js";
import { printable } from "../text.js";

interface CheckedCounts {
  readonly decisions: number;
  /** Those that need no input. */
  readonly guardrails: number;
}

export function diagnosticsView(
  problems: readonly Diagnostic[],
  { decisions, guardrails }: CheckedCounts,
): View {
  const valid = !problems.some((problem) => problem.severity === "error");
  return {
    value: { valid, problems, guardrails_checked: guardrails },
    items: problems,
    plain: () => problems.map(plainDiagnostic).join("\n"),
    table: ({ paint }) => {
      const lines = problems.map((problem) => describeDiagnostic(problem, paint));
      const verdict = valid ? paint("green", "✓ valid") : paint("red", "✗ not valid");
      return [
        `${verdict}  ${plural(decisions, "decision")}${guardrailsText(guardrails)}${severityCounts(problems)}`,
        ...lines,
      ].join("\n");
    },
  };
}

const plural = (number: number, what: string): string => `${number} ${what}${number === 1 ? "" : "s"}`;

const guardrailsText = (checked: number): string =>
  checked === 0 ? "" : `, ${plural(checked, "guardrail")} checked that need no input`;

function plainDiagnostic(problem: Diagnostic): string {
  const { file, line, column, severity, message, hint } = printableDiagnostic(problem);
  return [`${file}:${line}:${column}`, severity, message, ...(hint === undefined ? [] : [hint])].join("\t");
}

/** `file:line:column  severity  what`, then the expression with its caret and the hint. */
export function describeDiagnostic(problem: Diagnostic, paint: Paint = (_colour, text) => text): string {
  const { file, line, column, severity, message, hint, excerpt } = printableDiagnostic(problem);
  const colour = severity === "error" ? "red" : severity === "warning" ? "yellow" : "cyan";
  const lines = [`${paint("bold", `${file}:${line}:${column}`)}  ${paint(colour, severity)}  ${message}`];
  if (excerpt !== undefined) lines.push(...excerpt.split("\n").map((each) => `    ${each}`));
  if (hint !== undefined) lines.push(`    ${paint("dim", "hint:")} ${hint}`);
  return lines.join("\n");
}

/** A file can call its keys what it likes; people are shown no more than its text. */
function printableDiagnostic(problem: Diagnostic): Diagnostic {
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
export function githubAnnotations(problems: readonly Diagnostic[]): string {
  return problems.map(annotation).join("");
}

function annotation(problem: Diagnostic): string {
  const { file, line, column, severity, message, hint } = printableDiagnostic(problem);
  const command = severity === "note" ? "notice" : severity;
  const text = escapeData(hint === undefined ? message : `${message} (${hint})`);
  return `::${command} file=${escapeProperty(file)},line=${line},col=${column}::${text}\n`;
}

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

function severityCounts(problems: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"]): number =>
    problems.filter((each) => each.severity === severity).length;
  const parts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const number = count(severity);
    return number === 0 ? [] : [`${number} ${severity}${number === 1 ? "" : "s"}`];
  });
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
}
