import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { PathGetter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuditPayload, ScoredOutcome } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { version } from "../version.js";

interface Selection {
  readonly selected_labels: readonly string[];
  readonly selected_targets: readonly string[];
  readonly outputs?: readonly Json[];
}

/**
 * Returns a hash that is equal whenever the same definition read the same values and selected the same branches,
 * at any time: SHA-256 of the canonical JSON of `{decision_id, definition_hash, outputs, selected_labels,
 * selected_targets, values_read}`; without `outputs` where the definition declares none.
 */
export function deterministicHash(
  loaded: LoadedDefinition,
  valuesRead: string,
  { selected_labels, selected_targets, outputs }: Selection,
): string {
  const answered = outputs === undefined ? "" : `,"outputs":${canonicalJson(outputs)}`;
  const labels = canonicalJson(selected_labels);
  const targets = canonicalJson(selected_targets);
  return sha256Hex(
    `${hashPrefix(loaded)}${answered},"selected_labels":${labels},"selected_targets":${targets},"values_read":${valuesRead}}`,
  );
}

/**
 * Returns the key of a cached answer: equal for the same definition and the same values read. Each organisation has its
 * own answers, so that `cached` does not show what others have asked.
 */
export function cacheKey(loaded: LoadedDefinition, valuesRead: string, org?: string): string {
  const owner = org === undefined ? "" : `,"org_id":${canonicalJson(org)}`;
  return sha256Hex(`${hashPrefix(loaded)}${owner},"values_read":${valuesRead}}`);
}

/** The start of the hashed text is the same for all decisions of a definition. Without this cache a batch takes 10 % more time. */
const hashPrefixes = new WeakMap<LoadedDefinition, string>();

function hashPrefix(loaded: LoadedDefinition): string {
  let text = hashPrefixes.get(loaded);
  if (text === undefined) {
    const { definition, definition_hash } = loaded;
    text = canonicalJson({ decision_id: definition.id, definition_hash }).slice(0, -1);
    hashPrefixes.set(loaded, text);
  }
  return text;
}

/** Returns the canonical JSON of all values that an answer depends on, by path. A missing value is left out, so it differs from null. */
export function valuesReadJson({ input, reads }: Prepared, scope: Scope): string {
  const values: Record<string, Json> = {};
  for (const path of reads) {
    const value = getterOf(path)(scope);
    if (value !== undefined) values[path] = value;
  }
  // A context key named `context` shadows that path; without an input, or with a schema, the whole context is read.
  if (input === undefined || reads.includes("context")) values["context"] = scope.context;
  return canonicalJson(values);
}

const maxCachedGetters = 10_000;
/** Definitions read few paths, many times. Without this cache a batch takes 3 % more time. */
const getters = new Map<string, PathGetter>();

function getterOf(path: string): PathGetter {
  let getter = getters.get(path);
  if (getter === undefined) {
    getter = pathGetter(path.split("."));
    if (getters.size < maxCachedGetters) getters.set(path, getter);
  }
  return getter;
}

/** The values that the specification hashes in addition to the context. */
export interface ScoredHashInput extends Pick<ScoredOutcome, "decision" | "confidence" | "scoring_strategy"> {
  readonly evaluations: readonly object[];
}

/** Hashes exactly the fields that the specification names; time and feedback are not included. */
export function scoredHash(context: JsonObject, outcome: ScoredHashInput): string {
  const { evaluations, decision, confidence, scoring_strategy } = outcome;
  const hashed = { context, evaluations, decision, confidence, scoring_strategy };
  return sha256Hex(canonicalJson(hashed as unknown as Json));
}

interface AuditDetails {
  readonly context: JsonObject;
  readonly feedback: JsonObject | undefined;
  readonly at: string;
  readonly hash: string;
}

/** Builds the payload that a scored decision can be replayed from. */
export function buildAuditPayload(outcome: ScoredOutcome, details: AuditDetails): AuditPayload {
  const { context, feedback = {}, at, hash } = details;
  const { evaluations, decision, confidence, scoring_strategy, scoring_parameters } = outcome;
  return {
    timestamp: at,
    context,
    feedback,
    evaluations,
    decision,
    confidence,
    scoring_strategy,
    scoring_parameters,
    agent_version: version,
    deterministic_hash: hash,
  };
}
