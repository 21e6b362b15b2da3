import { frozenCopy } from "../digest/freeze-json.js";
import { InvalidRuleDslError, NoEvaluationsError } from "../errors.js";
import { validateWeight } from "../evaluate/scored/evaluation.js";
import { validateConfidence } from "../evaluate/scored/scoring.js";
import type { JsonObject, Json } from "../model/json.js";
import type { AuditPayload, Evaluation } from "../model/result.js";
import { isObject } from "../expression/equal.js";

/** Fields that a payload may lack; a replay then does not compare them. */
type OptionalPayloadFields = Partial<
  Pick<AuditPayload, "timestamp" | "agent_version" | "deterministic_hash">
>;

/** A valid audit payload; the keys of its context and metadata are unchanged. */
export interface StoredPayload
  extends OptionalPayloadFields, Pick<AuditPayload, "context" | "decision" | "confidence"> {
  readonly votes: readonly StoredVote[];
  readonly scoring_strategy: string;
  readonly scoring_parameters: JsonObject;
  readonly feedback: JsonObject;
  /** Whether its own keys are Ruby symbols. */
  readonly hasSymbols: boolean;
}

const requiredKeys = ["context", "evaluations", "decision", "confidence"] as const;
const optionalKeys = ["timestamp", "agent_version", "deterministic_hash"] as const;

/** Validates an audit payload. Throws the specification's errors: first for missing keys, then for values out of bounds. */
export function readPayload(payload: unknown): StoredPayload {
  if (!isObject(payload)) {
    throw new InvalidRuleDslError("Audit payload must be an object", {
      hint: "pass the `audit_payload` of a scored decision",
    });
  }
  const fields = normalizeKeys(payload);
  for (const key of requiredKeys) requiredField(fields, key);
  const votes = asList(requiredField(fields, "evaluations")).map(readVote);
  const confidence = validateConfidence(requiredField(fields, "confidence").value);
  const strategy = optionalField(fields, "scoring_strategy");
  const stored: StoredPayload = {
    context: asJsonObject(requiredField(fields, "context")),
    votes,
    decision: asName(requiredField(fields, "decision")),
    confidence,
    scoring_strategy: strategy === undefined ? "weighted_average" : asText(strategy),
    scoring_parameters: readParameters(fields),
    feedback: asJsonObject(optionalField(fields, "feedback") ?? { path: "feedback", value: {} }),
    hasSymbols: !requiredKeys.some((key) => Object.hasOwn(payload, key)),
    ...readOptionalFields(fields),
  };
  if (votes.length === 0) {
    throw new NoEvaluationsError(undefined, { hint: "a decision is replayed from the votes in its payload" });
  }
  return stored;
}

function readParameters(fields: Readonly<Record<string, unknown>>): JsonObject {
  const field = optionalField(fields, "scoring_parameters");
  if (field === undefined) return {};
  return asJson({ path: field.path, value: normalizeKeys(asObject(field)) }) as JsonObject;
}

function readOptionalFields(fields: Readonly<Record<string, unknown>>): OptionalPayloadFields {
  const present = optionalKeys.flatMap((key) => optionalField(fields, key) ?? []);
  return Object.fromEntries(present.map((field) => [field.path, asText(field)]));
}

/** A vote in a payload. Its evaluator need not exist any more. */
export interface StoredVote {
  /** As in the payload, and as it was hashed. */
  readonly written: JsonObject;
  /** With a default reason and default metadata where the payload has none. */
  readonly evaluation: Evaluation;
}

function readVote(value: unknown, index: number): StoredVote {
  const path = `evaluations[${index}]`;
  const fields = normalizeKeys(asObject({ path, value }));
  const at = `${path}.`;
  const decision = asName(requiredField(fields, "decision", at));
  const weight = validateWeight(requiredField(fields, "weight", at).value);
  const evaluator_name = asName(requiredField(fields, "evaluator_name", at));
  const reason = asText(optionalField(fields, "reason", at) ?? defaultField(""));
  const metadata = asJsonObject(optionalField(fields, "metadata", at) ?? defaultField({}));
  const written = Object.freeze(
    Object.fromEntries(
      Object.entries(fields).map(([key, part]) => [key, asJson({ path: `${at}${key}`, value: part })]),
    ),
  );
  return {
    written,
    evaluation: Object.freeze({ ...written, decision, weight, reason, evaluator_name, metadata }),
  };
}

const defaultField = (value: unknown): Field => ({ path: "", value });

/**
 * Returns the object with plain keys, however they are spelled: `key`, `:key` (a Ruby symbol in JSON) or a
 * JavaScript symbol. Of several spellings of one name the plainest wins; undefined values are left out.
 */
function normalizeKeys(object: object): Readonly<Record<string, unknown>> {
  const values = object as Readonly<Record<string | symbol, unknown>>;
  const present = Reflect.ownKeys(object).filter((key) => values[key] !== undefined);
  const plainestLast = present.toSorted((a, b) => spellingRank(b) - spellingRank(a));
  return Object.fromEntries(plainestLast.map((key) => [plainName(key), values[key]]));
}

/** Returns the document with plain keys at every depth; a key whose plain name is taken keeps its spelling. */
export function normalizeKeysDeep(value: Json): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(normalizeKeysDeep);
  const entries = Object.entries(value as JsonObject).map(([key, part]): [string, Json] => {
    const name = plainName(key);
    return [Object.hasOwn(value, name) ? key : name, normalizeKeysDeep(part)];
  });
  return Object.fromEntries(entries);
}

function spellingRank(key: string | symbol): number {
  if (typeof key === "symbol") return 2;
  return plainName(key) === key ? 0 : 1;
}

function plainName(key: string | symbol): string {
  return typeof key === "symbol" ? (key.description ?? "") : key.replace(/^:(?=.)/s, "");
}

type Fields = Readonly<Record<string, unknown>>;

/** A value of a payload, with its path. */
interface Field {
  readonly path: string;
  readonly value: unknown;
}

/** Throws the specification's error if the key is missing. */
function requiredField(fields: Fields, key: string, within = ""): Field {
  const path = `${within}${key}`;
  if (!Object.hasOwn(fields, key))
    throw new InvalidRuleDslError(`Audit payload missing required key: ${path}`);
  return { path, value: fields[key] };
}

/** Returns undefined if the key is missing or null. */
function optionalField(fields: Fields, key: string, within = ""): Field | undefined {
  const value = Object.hasOwn(fields, key) ? (fields[key] ?? undefined) : undefined;
  return value === undefined ? undefined : { path: `${within}${key}`, value };
}

function asText({ path, value }: Field): string {
  if (typeof value !== "string") throw typeError(path, "text");
  return value;
}

function asName({ path, value }: Field): string {
  if (typeof value !== "string" || value === "") throw typeError(path, "text that is not empty");
  return value;
}

function asList({ path, value }: Field): readonly unknown[] {
  if (!Array.isArray(value)) throw typeError(path, "a list");
  return value as readonly unknown[];
}

function asObject({ path, value }: Field): object {
  if (!isObject(value)) throw typeError(path, "an object");
  return value;
}

/** Returns a frozen copy with unchanged keys. */
const asJsonObject = (field: Field): JsonObject =>
  asJson({ path: field.path, value: asObject(field) }) as JsonObject;

function asJson({ path, value }: Field): Json {
  try {
    return frozenCopy(value);
  } catch (error) {
    throw typeError(path, `JSON (${(error as Error).message})`);
  }
}

const typeError = (path: string, what: string): InvalidRuleDslError =>
  new InvalidRuleDslError(`Audit payload key must be ${what}: ${path}`);
