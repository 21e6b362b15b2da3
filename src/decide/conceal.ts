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
  return {
    scope: shown,
    evaluated: {
      ...evaluated,
      input_value: inputOf(prepared, shown, masked),
      evaluation_details: concealDetails(evaluated.evaluation_details, secrets),
      warnings: evaluated.warnings.map((warning) => conceal(warning, secrets)),
    },
  };
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
