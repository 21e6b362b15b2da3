import { readsMasked } from "../definition/mask-pointers.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { inputOf } from "../evaluate/evaluate.js";
import { concealOutcome, concealReadings } from "./conceal-outcome.js";
import type { EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { conceal, maskContext, masked, secretsIn } from "../record/mask.js";

/** What may be shown and kept of a question and its answer, where some of its values are masked. */
export interface Shown {
  readonly scope: Scope;
  readonly evaluated: Evaluated;
}

export function withoutMasked(prepared: Prepared, scope: Scope, evaluated: Evaluated): Shown {
  const pointers = prepared.definition.logging?.mask ?? [];
  if (pointers.length === 0) return { scope, evaluated };
  const shown: Scope = { ...scope, context: maskContext(scope.context, pointers) };
  const secrets = secretsIn(scope.context, pointers);
  // Whoever guesses an input could roll for it and compare.
  const tells = isRoll(evaluated.evaluation_details) && readsAny(prepared, pointers);
  const details = withoutRoll(evaluated.evaluation_details, tells);
  return {
    scope: { ...shown, facts: concealReadings(scope.facts, { pointers, secrets }) },
    evaluated: {
      ...evaluated,
      because: tells
        ? ["rolled for a masked input"]
        : evaluated.because.map((reason) => (evaluated.outcome ? conceal(reason, secrets) : reason)),
      input_value: inputOf(prepared, shown, masked),
      evaluation_details: concealReadings(details, { pointers, secrets }),
      warnings: evaluated.warnings.map((warning) => conceal(warning, secrets)),
      ...(evaluated.outcome && { outcome: concealOutcome(evaluated.outcome, { pointers, secrets }) }),
    },
  };
}

const isRoll = (details: EvaluationDetails): boolean => "total_weight" in details && "weights" in details;

const readsAny = ({ input }: Prepared, pointers: readonly string[]): boolean =>
  (input?.reads ?? ["context"]).some((path) => readsMasked(path, pointers));

function withoutRoll(details: EvaluationDetails, tells: boolean): EvaluationDetails {
  if (!tells) return details;
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== "roll"));
}
