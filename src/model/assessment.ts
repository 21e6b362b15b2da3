/** How serious a finding is, from the least serious on. */
export type Severity = "info" | "caution";

/** How consistent decisions are with their precedents. */
export interface Assessment {
  readonly observer: "precedent_consistency";
  readonly summary: string;
  readonly severity: Severity;
  readonly suggestions: readonly string[];
  /** How many decisions were assessed. */
  readonly decisions: number;
  /** Newest first. */
  readonly deviations: readonly Deviation[];
}

/** A decision whose outcome or rationale differs from a precedent. */
export interface Deviation {
  readonly record_id: string;
  readonly precedent_id: string;
  readonly decision_id: string;
  readonly deviation_type: "outcome_differs" | "rationale_differs";
  readonly explanation: string;
}
