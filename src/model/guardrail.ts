/** What must hold for an answer to be acted on. */
export type Guardrail = NoDisabledTargets | WeightBounds | RequiresApproval | DistributionDrift;

interface CommonGuardrail {
  readonly description?: string;
  /** Absent: `block`. */
  readonly on_fail?: OnFail;
  /** Where an escalated answer leads instead. */
  readonly escalate_to?: string;
}

/** What becomes of an answer that fails. */
export type OnFail = "block" | "escalate" | "warn";

/** Nothing leads to what is switched off, here or under `targets`. */
export interface NoDisabledTargets extends CommonGuardrail {
  readonly type: "no_disabled_targets";
  /** Names, or globs. */
  readonly disabled_stages?: readonly string[];
}

/** No branch of a split is too small or too large. */
export interface WeightBounds extends CommonGuardrail {
  readonly type: "weight_bounds";
  readonly min_weight?: number;
  readonly max_weight?: number;
}

/** In some workflows some targets are reached by way of an approval only. */
export interface RequiresApproval extends CommonGuardrail {
  readonly type: "requires_approval";
  /** Names, or globs; absent: whichever workflow. */
  readonly workflows?: readonly string[];
  /** Names, or globs; absent: whatever it leads to. */
  readonly targets?: readonly string[];
  /** An answer that leads there is approved, or will be. */
  readonly approval_target?: string;
}

/** A split is taken as its weights say. */
export interface DistributionDrift extends CommonGuardrail {
  readonly type: "distribution_drift";
  /** Below this the split has drifted. Absent: 0.001. */
  readonly p_value?: number;
  /** Of fewer distinct inputs nothing is said. Absent: 500. */
  readonly minimum?: number;
}
