import { systemClock } from "../clock.js";
import { InvalidAuditAdapterError, InvalidConfigurationError } from "../errors.js";
import { deepFreeze } from "../digest/freeze-json.js";
import type { Evaluator, ScoringPlugIn } from "../evaluate/scored/plug-ins.js";
import { toStrategy, prepareCustomEvaluator } from "../evaluate/scored/plug-ins.js";
import { ruleTracesOf } from "../evaluate/scored/rule-traces.js";
import { tallyVotes } from "../evaluate/scored/tally-votes.js";
import type { EvaluatorDefinition, Scoring } from "../model/definition.js";
import type { AuditPayload, ScoredDecision } from "../model/result.js";
import { buildAuditPayload, scoredHash } from "../record/deterministic-hash.js";
import { bindContext, bindFeedback } from "./bind.js";
import type { Clock } from "./request.js";

export interface ScoredAgentOptions {
  /** Own evaluators, or evaluators written as in a definition. */
  readonly evaluators: readonly (Evaluator | EvaluatorDefinition)[];
  /** An own strategy, or a built-in one by name; absent: `weighted_average`. */
  readonly scoring?: Scoring | ScoringPlugIn;
  /** Receives the audit payload of every decision. */
  readonly audit?: AuditAdapter;
  readonly clock?: Clock;
}

export interface AuditAdapter {
  record(payload: AuditPayload): void;
}

export interface ScoredAgent {
  decide(
    context: unknown,
    options?: { readonly feedback?: unknown; readonly verbose?: boolean },
  ): ScoredDecision;
}

/** Creates an agent that decides by votes in your own program, as a `scored` definition does, with your own evaluators. */
export function scoredAgent(options: ScoredAgentOptions): ScoredAgent {
  const { evaluators, audit, clock = systemClock } = options;
  if (!Array.isArray(evaluators) || evaluators.length === 0) {
    throw new InvalidConfigurationError("an agent needs at least one evaluator");
  }
  if (audit !== undefined && typeof (Object(audit) as Partial<AuditAdapter>).record !== "function") {
    throw new InvalidAuditAdapterError("an audit adapter has a function `record`");
  }
  const strategy = toStrategy(options.scoring);
  const voters = options.evaluators.map(prepareCustomEvaluator);
  return {
    decide(supplied, { feedback: suppliedFeedback, verbose = false } = {}) {
      const context = bindContext(supplied);
      const feedback = bindFeedback(suppliedFeedback) ?? {};
      const at = clock();
      const scope = { context, input: context, facts: {}, system: { request_time: at } };
      const voted = voters.map((voterWith) => voterWith(feedback).vote(scope));
      const { because, failed_conditions, ...outcome } = tallyVotes(voted, strategy);
      const hash = scoredHash(context, outcome);
      const { decision } = outcome;
      const made = deepFreeze({
        ...outcome,
        because,
        failed_conditions,
        explainability: {
          decision,
          because,
          failed_conditions,
          // One by one: two evaluators may have the same name.
          ...(verbose && {
            rule_traces: voted.flatMap(({ name, detail }) => ruleTracesOf({ [name]: detail })),
          }),
        },
        audit_payload: buildAuditPayload(outcome, { context, feedback, at, hash }),
        failures: voted.flatMap(({ name, detail }) =>
          detail.error === undefined ? [] : [{ evaluator: name, error: detail.error }],
        ),
      });
      audit?.record(made.audit_payload);
      return made;
    },
  };
}
