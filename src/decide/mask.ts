import { readsMasked } from "../definition/definition-reads.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Prepared, Outcome } from "../evaluate/evaluate.js";
import { inputOf } from "../evaluate/evaluate.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { isObject } from "../expression/equal.js";
import type { Json } from "../model/json.js";
import type { EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { isRollDetails } from "../record/condition-results.js";
import { maskText, maskContext, maskMarker, maskedTexts } from "../record/mask.js";

/** What may be shown and kept of a question and its answer, where some of its values are masked. */
interface Masked {
  readonly scope: Scope;
  readonly evaluated: Evaluated;
}

export function maskResult(prepared: Prepared, scope: Scope, evaluated: Evaluated): Masked {
  const secret = findSecrets(prepared, scope);
  if (secret === undefined) return { scope, evaluated };
  const { pointers, secrets } = secret;
  const shown: Scope = { ...scope, context: maskContext(scope.context, pointers) };
  // Whoever guesses an input could roll for it and compare.
  const tells = isRollDetails(evaluated.evaluation_details) && secret.isMasked("input");
  const details = withoutRoll(evaluated.evaluation_details, tells);
  return {
    scope: { ...shown, facts: maskReadings(scope.facts, secret) },
    evaluated: {
      ...evaluated,
      because: tells
        ? ["rolled for a masked input"]
        : evaluated.because.map((reason) => (evaluated.outcome ? maskText(reason, secrets) : reason)),
      input_value: inputOf(prepared, shown, maskMarker),
      evaluation_details: maskReadings(details, secret),
      warnings: evaluated.warnings.map((warning) => maskText(warning, secrets)),
      ...(evaluated.outcome && { outcome: maskOutcome(evaluated.outcome, secret) }),
    },
  };
}

/** A failure that tells of no masked value. */
export function maskFailure(error: unknown, prepared: Prepared, scope: Scope): unknown {
  const secret = findSecrets(prepared, scope);
  if (secret === undefined || !(error instanceof DecisionError)) return error;
  const { code, hint, details } = error;
  const message = maskText(error.message, secret.secrets);
  if (message === error.message) return error;
  const { decision_id } = (details ?? {}) as { readonly decision_id?: unknown };
  return new DecisionError(code, `\`${prepared.definition.id}\`: ${message}`, {
    hint,
    ...(decision_id !== undefined && { details: { decision_id } }),
  });
}

/** Undefined where nothing is masked. */
function findSecrets(prepared: Prepared, { context }: Scope): Secrets | undefined {
  const pointers = prepared.definition.logging?.mask ?? [];
  if (pointers.length === 0) return undefined;
  return {
    pointers,
    secrets: maskedTexts(context, pointers),
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

/** What must not be told: where it stands in the context, and the values themselves as texts. */
interface Secrets {
  readonly pointers: readonly string[];
  /** Whether a path leads to, into or past one of them. */
  readonly isMasked: (path: string) => boolean;
  readonly secrets: readonly string[];
}

/** What may be shown of an outcome: filled-in texts may name a masked value, and params hold them. */
function maskOutcome(outcome: Outcome, secret: Secrets): Outcome {
  switch (outcome.type) {
    case "scored":
      return outcome;
    case "policy": {
      const shown = maskReadings(outcome, secret);
      const { params = null } = maskContext(
        { params: mergeParams(outcome.params, shown.set_params) },
        secret.pointers,
      );
      return { ...shown, params };
    }
    case "gate":
      return maskReadings(outcome, secret);
  }
}

/** The fields that are made of values of the context while a decision is made. */
const renderedFields: ReadonlySet<string> = new Set(["error", "note", "reason", "denial_reason", "left_out"]);

/** A document in which no text for people names a masked value, and what was read of one is masked. */
function maskReadings<Document>(document: Document, secret: Secrets): Document {
  return maskPart(document as Json, secret) as Document;
}

function maskPart(part: Json, secret: Secrets): Json {
  if (Array.isArray(part)) return (part as readonly Json[]).map((each) => maskPart(each, secret));
  if (!isObject(part)) return part;
  const isReading = typeof part["field"] === "string" && secret.isMasked(part["field"]);
  const entries = Object.entries(part).map(([key, value]): [string, Json] => {
    if (typeof value === "string" && renderedFields.has(key)) return [key, maskText(value, secret.secrets)];
    if (isReading && key === "actual") return [key, maskMarker];
    return [key, key === "set_params" ? maskTexts(value, secret) : maskPart(value, secret)];
  });
  return Object.fromEntries(entries);
}

/** Params that are set may be made of anything. */
function maskTexts(part: Json, secret: Secrets): Json {
  if (Array.isArray(part)) return (part as readonly Json[]).map((each) => maskTexts(each, secret));
  if (isObject(part)) {
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, maskTexts(value, secret)]));
  }
  const text = typeof part === "string" ? part : JSON.stringify(part);
  const tells = secret.secrets.some((each) => text.includes(each));
  return tells ? maskMarker : part;
}
