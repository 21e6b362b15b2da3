import type { Diagnostic } from "../model/diagnostic.js";
import type { Paint, View } from "./format.js";
import { wrapMessages } from "./text-width.js";
import { plural, shortenPath } from "./text.js";
import { oneLine, printable } from "../text.js";

interface ValidationSummary {
  readonly valid: boolean;
  readonly decisions: number;
  /** Guardrails that were checked without input. */
  readonly guardrails: number;
}

export function diagnosticsView(
  diagnostics: readonly Diagnostic[],
  { valid, decisions, guardrails }: ValidationSummary,
): View {
  return {
    value: { valid, problems: diagnostics, guardrails_checked: guardrails },
    items: diagnostics,
    plain: () => diagnostics.map(plainDiagnostic).join("\n"),
    table: ({ paint, columns }) => {
      const lines = diagnostics.map((each) => describeDiagnostic(each, paint));
      const verdict = valid ? paint("green", "✓ valid") : paint("red", "✗ not valid");
      const checked = `${plural(decisions, "decision")}${guardrailsText(guardrails)}`;
      const text = [`${verdict}  ${checked}${severityCounts(diagnostics)}`, ...lines].join("\n");
      return wrapMessages(text, columns);
    },
  };
}

const guardrailsText = (checked: number): string =>
  checked === 0 ? "" : `, ${plural(checked, "guardrail")} checked without input`;

function plainDiagnostic(diagnostic: Diagnostic): string {
  const { file, line, column, severity, message, hint } = printableDiagnostic(diagnostic);
  return [`${file}:${line}:${column}`, severity, message, ...(hint === undefined ? [] : [hint])].join("\t");
}

/** `file:line:column  severity  what`, then the expression with its caret and the hint. */
export function describeDiagnostic(diagnostic: Diagnostic, paint: Paint = (_colour, text) => text): string {
  const { file, line, column, severity, message, hint, excerpt } = printableDiagnostic(diagnostic);
  const colour = severity === "error" ? "red" : severity === "warning" ? "yellow" : "cyan";
  const lines = [`${paint("bold", `${file}:${line}:${column}`)}  ${paint(colour, severity)}  ${message}`];
  if (excerpt !== undefined) lines.push(...excerpt.split("\n").map((each) => `    ${each}`));
  if (hint !== undefined) lines.push(`    ${paint("dim", "hint:")} ${hint}`);
  return lines.join("\n");
}

/** Escapes control characters that come from definition files. */
function printableDiagnostic(diagnostic: Diagnostic): Diagnostic {
  const { file, message, hint, excerpt, ...rest } = diagnostic;
  return {
    ...rest,
    file: oneLine(file),
    message: printable(message).replaceAll("\n", " "),
    ...(hint !== undefined && { hint: printable(hint) }),
    ...(excerpt !== undefined && { excerpt: printable(excerpt) }),
  };
}

/**
 * Formats diagnostics as workflow commands for GitHub Actions, which finds files by their paths from the root of the
 * repository: `cwd`, as a rule.
 */
export function githubAnnotations(diagnostics: readonly Diagnostic[], cwd: string): string {
  return diagnostics.map((each) => annotation({ ...each, file: shortenPath(each.file, cwd) })).join("");
}

function annotation(diagnostic: Diagnostic): string {
  const { file, line, column, severity, message, hint } = printableDiagnostic(diagnostic);
  const command = severity === "note" ? "notice" : severity;
  const text = escapeData(hint === undefined ? message : `${message} (${hint})`);
  return `::${command} file=${escapeProperty(file)},line=${line},col=${column}::${text}\n`;
}

const escapeData = (text: string): string =>
  text.replaceAll("%", "%25").replaceAll("\r", "%0D").replaceAll("\n", "%0A");
const escapeProperty = (text: string): string =>
  escapeData(text).replaceAll(":", "%3A").replaceAll(",", "%2C");

function severityCounts(diagnostics: readonly Diagnostic[]): string {
  const count = (severity: Diagnostic["severity"]): number =>
    diagnostics.filter((each) => each.severity === severity).length;
  const parts = (["error", "warning", "note"] as const).flatMap((severity) => {
    const number = count(severity);
    return number === 0 ? [] : [plural(number, severity)];
  });
  return parts.length === 0 ? "" : `, ${parts.join(", ")}`;
}
