import { systemClock } from "../clock.js";
import { InvalidAuditAdapterError, InvalidConfigurationError } from "../errors.js";
import { deepFreeze } from "../digest/freeze-json.js";
import type { EvaluatorVote } from "../evaluate/scored/evaluator.js";
import type { AgentEvaluator, ScoringPlugIn } from "../evaluate/scored/plug-ins.js";
import { prepareVoter, toStrategy } from "../evaluate/scored/plug-ins.js";
import { ruleTracesOf } from "../evaluate/scored/rule-traces.js";
import { tallyVotes } from "../evaluate/scored/tally-votes.js";
import type { Scoring } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { AuditPayload, ScoredDecision } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { buildAuditPayload, scoredHash } from "../record/deterministic-hash.js";
import { bindContext, bindFeedback } from "./bind.js";
import type { Clock } from "./request.js";

export interface ScoredAgentOptions {
  /** Own evaluators, or evaluators written as in a definition. */
  readonly evaluators: readonly AgentEvaluator[];
  /** An own strategy, or a built-in one by name; absent: `weighted_average`. */
  readonly scoring?: Scoring | ScoringPlugIn;
  /** Receives the audit payload of every decision. */
  readonly audit?: AuditAdapter;
  readonly clock?: Clock;
}

export interface AuditAdapter {
  /** `decideAsync` waits for a promise that it returns. */
  record(payload: AuditPayload): void | Promise<void>;
}

export interface ScoredAgent {
  decide(context: unknown, options?: ScoredAgentRequest): ScoredDecision;
  /** The same for evaluators that return promises, which vote concurrently. */
  decideAsync(context: unknown, options?: ScoredAgentRequest): Promise<ScoredDecision>;
}

export interface ScoredAgentRequest {
  readonly feedback?: unknown;
  /** Adds the result of every condition. */
  readonly verbose?: boolean;
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
  const voters = options.evaluators.map(prepareVoter);
  const bindRequest = (supplied: unknown, suppliedFeedback: unknown): BoundRequest => {
    const context = bindContext(supplied);
    const feedback = bindFeedback(suppliedFeedback) ?? {};
    const at = clock();
    return { scope: { context, input: context, facts: {}, system: { request_time: at } }, feedback, at };
  };
  const decideBy = (
    voted: readonly EvaluatorVote[],
    { scope: { context }, feedback, at }: BoundRequest,
    verbose: boolean,
  ): ScoredDecision => {
    const { because, failed_conditions, ...outcome } = tallyVotes(voted, strategy);
    const hash = scoredHash(context, outcome);
    const { decision } = outcome;
    return deepFreeze({
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
  };
  return {
    decide(context, { feedback, verbose = false } = {}) {
      const request = bindRequest(context, feedback);
      const voted = voters.map((voter) => voter.vote(request.scope, request.feedback));
      const made = decideBy(voted, request, verbose);
      void audit?.record(made.audit_payload);
      return made;
    },
    async decideAsync(context, { feedback, verbose = false } = {}) {
      const request = bindRequest(context, feedback);
      const voted = await Promise.all(
        voters.map((voter) => voter.voteLater(request.scope, request.feedback)),
      );
      const made = decideBy(voted, request, verbose);
      await audit?.record(made.audit_payload);
      return made;
    },
  };
}

/** A request as our own frozen copy. */
interface BoundRequest {
  readonly scope: Scope;
  readonly feedback: JsonObject;
  readonly at: string;
}
