/** A finding in a definition file. Only errors keep a definition from loading. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  readonly hint?: string;
  /** The expression with a caret under the error. */
  readonly excerpt?: string;
  readonly decision_id?: string;
}
