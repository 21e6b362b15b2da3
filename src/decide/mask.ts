import { maskedPathTest } from "../definition/definition-reads.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Prepared, Outcome } from "../evaluate/evaluate.js";
import { inputOf } from "../evaluate/evaluate.js";
import type { PolicyFacts } from "../evaluate/policy/policy-facts.js";
import { policyFacts } from "../evaluate/policy/policy-facts.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";
import type { EvaluationDetails } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { isRollDetails } from "../record/condition-results.js";
import { maskText, maskContext, maskMarker, maskedTexts } from "../record/mask.js";

/** The scope and the answer with the masked values replaced: what may be shown and recorded. */
export interface Masked {
  readonly scope: Scope;
  readonly evaluated: Evaluated;
}

/** Replaces the values that `logging.mask` and `masks` name, before anything is hashed, shown or recorded. */
export function mask(prepared: Prepared, scope: Scope, evaluated: Evaluated): Masked {
  const secret = findSecrets(prepared, scope);
  if (secret === undefined) return { scope, evaluated };
  const { pointers, secrets } = secret;
  const maskedScope: Scope = { ...scope, context: maskContext(scope.context, pointers) };
  // The roll is a hash of the input: a guessed input could be confirmed by it.
  const revealsInput = isRollDetails(evaluated.evaluation_details) && secret.isMasked("input");
  const details = revealsInput ? withoutRoll(evaluated.evaluation_details) : evaluated.evaluation_details;
  return {
    scope: { ...maskedScope, facts: maskReadings(scope.facts, secret) },
    evaluated: {
      ...evaluated,
      because: revealsInput
        ? ["rolled for a masked input"]
        : evaluated.because.map((reason) => (evaluated.outcome ? maskText(reason, secrets) : reason)),
      input_value: inputOf(prepared, maskedScope, maskMarker),
      evaluation_details: maskReadings(details, secret),
      warnings: evaluated.warnings.map((warning) => maskText(warning, secrets)),
      ...(evaluated.outcome && { outcome: maskOutcome(evaluated.outcome, secret) }),
    },
  };
}

/** Returns an error whose message names no masked value. */
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

/** Finds the values to mask; undefined where nothing is masked. */
function findSecrets(prepared: Prepared, { context, facts }: Scope): Secrets | undefined {
  const { masks: pointers } = prepared;
  if (pointers.length === 0) return undefined;
  return {
    pointers,
    secrets: [context, ...changedContexts(context, policyFacts(facts))].flatMap((each) =>
      maskedTexts(each, pointers),
    ),
    isMasked: maskedPathTest(prepared.input, pointers),
  };
}

/** The contexts with the params that overrides set: reasons may show them. */
const changedContexts = (context: JsonObject, { recheck }: PolicyFacts): readonly JsonObject[] =>
  (recheck?.changes ?? []).map(({ set_params: params }) => ({ ...context, params }));

function withoutRoll(details: EvaluationDetails): EvaluationDetails {
  return Object.fromEntries(Object.entries(details).filter(([name]) => name !== "roll"));
}

/** The values to mask: where they are in the context, and as texts to search for in messages. */
interface Secrets {
  readonly pointers: readonly string[];
  /** Whether a path refers to a masked value, or to a part or a parent of one. */
  readonly isMasked: (path: string) => boolean;
  readonly secrets: readonly string[];
}

/** Masks an outcome: rendered texts may contain a masked value, and params hold them. */
function maskOutcome(outcome: Outcome, secret: Secrets): Outcome {
  switch (outcome.type) {
    case "scored":
      return outcome;
    case "policy": {
      const masked = maskReadings(outcome, secret);
      const { params = null } = maskContext(
        { params: mergeParams(outcome.params, masked.set_params) },
        secret.pointers,
      );
      return { ...masked, params };
    }
    case "gate":
      return maskReadings(outcome, secret);
  }
}

/** Fields whose texts are rendered from values of the context. */
const renderedFields: ReadonlySet<string> = new Set(["error", "note", "reason", "denial_reason", "left_out"]);

/** Masks rendered texts and recorded readings (`actual`) in a document. */
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
    return [key, key === "set_params" ? maskSetParams(value, secret) : maskPart(value, secret)];
  });
  return Object.fromEntries(entries);
}

function maskSetParams(params: Json, secret: Secrets): Json {
  return maskTexts(maskContext({ params }, secret.pointers)["params"] ?? null, secret.secrets);
}

/** Masks every value that contains a masked text: a document may be built from anything. */
export function maskTexts(part: Json, secrets: readonly string[]): Json {
  if (Array.isArray(part)) return (part as readonly Json[]).map((each) => maskTexts(each, secrets));
  if (isObject(part)) {
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, maskTexts(value, secrets)]));
  }
  const text = typeof part === "string" ? part : JSON.stringify(part);
  return secrets.some((each) => text.includes(each)) ? maskMarker : part;
}
