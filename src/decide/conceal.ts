import { readsMasked } from "../definition/mask-pointers.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { inputOf } from "../evaluate/evaluate.js";
import type { EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { conceal, maskContext, masked, secretsIn } from "../record/mask.js";
import { isRoll } from "../record/roll.js";
import type { Secret } from "./conceal-outcome.js";
import { concealOutcome, concealReadings } from "./conceal-outcome.js";

/** What may be shown and kept of a question and its answer, where some of its values are masked. */
export interface Shown {
  readonly scope: Scope;
  readonly evaluated: Evaluated;
}

export function withoutMasked(prepared: Prepared, scope: Scope, evaluated: Evaluated): Shown {
  const secret = secretOf(prepared, scope);
  if (secret === undefined) return { scope, evaluated };
  const { pointers, secrets } = secret;
  const shown: Scope = { ...scope, context: maskContext(scope.context, pointers) };
  // Whoever guesses an input could roll for it and compare.
  const tells = isRoll(evaluated.evaluation_details) && secret.isMasked("input");
  const details = withoutRoll(evaluated.evaluation_details, tells);
  return {
    scope: { ...shown, facts: concealReadings(scope.facts, secret) },
    evaluated: {
      ...evaluated,
      because: tells
        ? ["rolled for a masked input"]
        : evaluated.because.map((reason) => (evaluated.outcome ? conceal(reason, secrets) : reason)),
      input_value: inputOf(prepared, shown, masked),
      evaluation_details: concealReadings(details, secret),
      warnings: evaluated.warnings.map((warning) => conceal(warning, secrets)),
      ...(evaluated.outcome && { outcome: concealOutcome(evaluated.outcome, secret) }),
    },
  };
}

/** A failure that tells of no masked value. */
export function failureWithoutMasked(error: unknown, prepared: Prepared, scope: Scope): unknown {
  const secret = secretOf(prepared, scope);
  if (secret === undefined || !(error instanceof DecisionError)) return error;
  const { code, hint, details } = error;
  const message = conceal(error.message, secret.secrets);
  if (message === error.message) return error;
  const { decision_id } = (details ?? {}) as { readonly decision_id?: unknown };
  return new DecisionError(code, `\`${prepared.definition.id}\`: ${message}`, {
    hint,
    ...(decision_id !== undefined && { details: { decision_id } }),
  });
}

/** Undefined where nothing is masked. */
function secretOf(prepared: Prepared, { context }: Scope): Secret | undefined {
  const pointers = prepared.definition.logging?.mask ?? [];
  if (pointers.length === 0) return undefined;
  return {
    pointers,
    secrets: secretsIn(context, pointers),
    isMasked: (path) => sourcesOf(path, prepared).some((each) => readsMasked(each, pointers)),
  };
}

/** `input` stands for what its own expression reads. */
function sourcesOf(path: string, { input }: Prepared): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [path];
  if (input === undefined) return [["context", ...rest].join(".")];
  if (input.tree?.kind === "path") return [[...input.tree.segments, ...rest].join(".")];
  return input.reads;
}

function withoutRoll(details: EvaluationDetails, tells: boolean): EvaluationDetails {
  if (!tells) return details;
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== "roll"));
}
