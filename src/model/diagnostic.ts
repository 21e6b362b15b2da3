/** Something in a definition file that a reviewer should know. Only errors keep it from loading. */
export interface Diagnostic {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly severity: "error" | "warning" | "note";
  readonly message: string;
  readonly hint?: string;
  /** The faulty expression with a caret under the place. */
  readonly excerpt?: string;
  readonly decision_id?: string;
}
