import { readsMasked } from "../definition/mask-pointers.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { inputOf } from "../evaluate/evaluate.js";
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
  return {
    scope: shown,
    evaluated: {
      ...evaluated,
      ...(tells && { because: ["rolled for a masked input"] }),
      input_value: inputOf(prepared, shown, masked),
      evaluation_details: concealDetails(withoutRoll(evaluated.evaluation_details, tells), secrets),
      warnings: evaluated.warnings.map((warning) => conceal(warning, secrets)),
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

/** Only the reason of an error can name a value. */
function concealDetails(details: EvaluationDetails, secrets: readonly string[]): EvaluationDetails {
  const entries = Object.entries(details).map(([name, detail]: [string, unknown]) => [
    name,
    concealed(detail, secrets),
  ]);
  return Object.fromEntries(entries) as EvaluationDetails;
}

function concealed(detail: unknown, secrets: readonly string[]): unknown {
  if (typeof detail !== "object" || detail === null) return detail;
  const { error } = detail as { error?: unknown };
  if (typeof error === "string") return { ...detail, error: conceal(error, secrets) };
  return "condition" in detail ? detail : concealDetails(detail as EvaluationDetails, secrets);
}
