import type { Diagnostic } from "../model/diagnostic.js";
import { printable } from "../text.js";
import type { Path, Position, SourceDocument } from "./yaml-source.js";

/** A diagnostic before its line and column are known: its place is a path into the document. */
export interface Finding extends DiagnosticText {
  readonly path: Path;
  /** Set if the key itself is wrong, and not the value under it. */
  readonly key?: string;
  /** The position in the text at the path, for expressions. */
  readonly offset?: number;
}

export interface DiagnosticText {
  /** `error` if absent. */
  readonly severity?: Diagnostic["severity"];
  readonly message: string;
  readonly hint?: string | undefined;
  readonly excerpt?: string;
}

/** A place in a file, and the decision it belongs to. */
export interface FilePlace extends Position {
  readonly file: string;
  readonly decision_id?: string;
}

/** Builds every diagnostic, so that texts from a file never contain line breaks or terminal commands. */
export function diagnosticAt(place: FilePlace, text: DiagnosticText): Diagnostic {
  const { file, line, column, decision_id } = place;
  const { severity = "error", message, hint, excerpt } = text;
  return {
    file,
    line,
    column,
    severity,
    message: shorten(printable(message).replaceAll("\n", " ")),
    ...(hint !== undefined && { hint: shorten(printable(hint)) }),
    ...(excerpt !== undefined && { excerpt: printable(excerpt) }),
    ...(decision_id !== undefined && { decision_id }),
  };
}

/** A name or a value in a file can be as long as the file. */
const maxLength = 1000;

const shorten = (text: string): string =>
  text.length <= maxLength ? text : `${text.slice(0, maxLength).replace(/[\ud800-\udbff]$/, "")}…`;

/** Converts the path of a finding to `file:line:column`. `within` is the path that the finding's path starts from. */
export function locateFinding(
  finding: Finding,
  source: SourceDocument,
  { within = [], ...place }: { readonly within?: Path; readonly file: string; readonly decision_id?: string },
): Diagnostic {
  return diagnosticAt({ ...place, ...positionOf(finding, source, within) }, finding);
}

function positionOf({ path, key, offset }: Finding, source: SourceDocument, within: Path): Position {
  const full = [...within, ...path];
  if (key !== undefined) return source.locateKey(full, key);
  return offset === undefined ? source.locate(full) : source.locateWithin(full, offset);
}

/** Sorts diagnostics by file, line and column. */
export const sortDiagnostics = (diagnostics: readonly Diagnostic[]): readonly Diagnostic[] =>
  diagnostics.toSorted((a, b) => compareText(a.file, b.file) || a.line - b.line || a.column - b.column);

function compareText(a: string, b: string): number {
  if (a === b) return 0;
  return a < b ? -1 : 1;
}
