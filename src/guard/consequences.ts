import type { Evaluated, Outcome } from "../evaluate/evaluate.js";
import type { Definition } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Check, Proposed, WorkFrame } from "../model/result.js";

/** An answer after the guardrails checked it. */
export interface Guarded {
  readonly evaluated: Evaluated;
  readonly checks: readonly Check[];
  readonly blocked: boolean;
  readonly escalated: boolean;
  /** The original answer, if it was blocked or escalated. */
  readonly proposed: Proposed | undefined;
}

type Consequence = Omit<Guarded, "checks">;

/** Returns what guardrails check: the targets, the tool of an allowed call, or the action of a GREEN gate. */
export function guardedTargets(
  { selected_targets, outcome }: Evaluated,
  definition: Definition,
): readonly string[] {
  switch (outcome?.type) {
    case undefined:
    case "scored":
      return selected_targets;
    case "policy":
      return outcome.allowed ? [outcome.tool] : [];
    case "gate":
      return outcome.status === "GREEN" && definition.type === "gate" ? [definition.action.name] : [];
  }
}

/** Keeps the answer and adds the messages as warnings. */
export function warnAnswer(evaluated: Evaluated, messages: readonly string[]): Consequence {
  const warnings = messages.length === 0 ? evaluated.warnings : [...evaluated.warnings, ...messages];
  return {
    evaluated: messages.length === 0 ? evaluated : { ...evaluated, warnings },
    blocked: false,
    escalated: false,
    proposed: undefined,
  };
}

/** The reason why an answer is changed, and its context. */
interface Objection {
  readonly reason: string;
  readonly context: JsonObject;
}

/** Blocks an answer: nothing is selected, a call is denied, a gate is RED. */
export function blockAnswer(evaluated: Evaluated, objection: Objection): Consequence {
  const { outcome } = evaluated;
  const kept = { blocked: true, escalated: false, proposed: proposalOf(evaluated) };
  switch (outcome?.type) {
    case undefined:
    case "scored":
      return { ...kept, evaluated: { ...withSelection(evaluated, []), selected_targets: [] } };
    case "policy":
      return { ...kept, evaluated: denyCall(evaluated, outcome, objection) };
    case "gate":
      return { ...kept, evaluated: withStatus(evaluated, outcome, { ...objection, status: "RED" }) };
  }
}

/** Escalates an answer: it routes to `to`, a call is denied, a gate is YELLOW. */
export function escalateAnswer(
  evaluated: Evaluated,
  objection: Objection & { readonly to: string | undefined },
): Consequence {
  const { outcome } = evaluated;
  const { to } = objection;
  const kept = { blocked: false, escalated: true, proposed: proposalOf(evaluated) };
  switch (outcome?.type) {
    case undefined:
    case "scored": {
      // Validation requires `escalate_to` for definitions with targets.
      const targets = to === undefined ? [] : [to];
      return { ...kept, evaluated: { ...withSelection(evaluated, targets), selected_targets: targets } };
    }
    case "policy":
      return { ...kept, evaluated: denyCall(evaluated, outcome, objection) };
    case "gate":
      return { ...kept, evaluated: withStatus(evaluated, outcome, { ...objection, status: "YELLOW" }) };
  }
}

/** Replaces the selected labels. The new ones have no outputs. */
function withSelection(evaluated: Evaluated, labels: readonly string[]): Evaluated {
  return {
    ...evaluated,
    selected_labels: labels,
    aggregate: undefined,
    ...(evaluated.outputs !== undefined && { outputs: labels.map(() => null) }),
  };
}

function proposalOf(evaluated: Evaluated): Proposed {
  const proposed = proposedAnswer(evaluated);
  return evaluated.outputs === undefined ? proposed : { ...proposed, proposed_outputs: evaluated.outputs };
}

function proposedAnswer({ selected_targets, selected_labels, outcome }: Evaluated): Proposed {
  switch (outcome?.type) {
    case undefined:
    case "scored":
      return { proposed_targets: selected_targets, proposed_labels: selected_labels };
    case "policy":
      return { proposed_targets: selected_targets, proposed_outcome: outcome.outcome };
    case "gate":
      return { proposed_targets: selected_targets, proposed_status: outcome.status };
  }
}

type PolicyPart = Extract<Outcome, { readonly type: "policy" }>;
type GatePart = Extract<Outcome, { readonly type: "gate" }>;

/** Denies an allowed call, without counting it or changing its params. A denial stays as it is. */
function denyCall(evaluated: Evaluated, outcome: PolicyPart, { reason, context }: Objection): Evaluated {
  if (!outcome.allowed) return evaluated;
  return {
    ...evaluated,
    selected_labels: ["denied"],
    because: [...evaluated.because, reason],
    outcome: {
      ...outcome,
      allowed: false,
      outcome: "denied",
      reason,
      params: context["params"] ?? null,
      overrides: [],
      set_params: {},
      counted: [],
    },
  };
}

interface StatusChange {
  readonly status: "RED" | "YELLOW";
  readonly reason: string;
  /** The next human owner. */
  readonly to?: string | undefined;
}

/** Sets the status, unless the current one is stricter. */
function withStatus(
  evaluated: Evaluated,
  outcome: GatePart,
  { status, reason, to }: StatusChange,
): Evaluated {
  if (outcome.status === "RED" || outcome.status === status) return evaluated;
  return {
    ...withSelection(evaluated, [status]),
    because: [...evaluated.because, reason],
    outcome: { ...outcome, status, work_frame: frameFor(outcome.work_frame, status, to) },
  };
}

/** Removes the allowed actions and the required output, which were meant for an agent that continues. */
function frameFor(frame: WorkFrame, status: StatusChange["status"], owner: string | undefined): WorkFrame {
  return {
    ...frame,
    mode: status === "RED" ? "stop" : "review",
    next_action: null,
    allowed_actions: [],
    required_output: null,
    next_human_owner: owner ?? frame.next_human_owner,
  };
}
