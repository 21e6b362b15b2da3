import type { Outcome } from "../evaluate/evaluated.js";
import { withParams } from "../evaluate/policy/with-params.js";
import { isObject } from "../expression/equal.js";
import type { Json } from "../model/json.js";
import { conceal, maskContext, masked } from "../record/mask.js";

/** What must not be told: where it stands in the context, and the values themselves as texts. */
export interface Secret {
  readonly pointers: readonly string[];
  /** Whether a path leads to, into or past one of them. */
  readonly isMasked: (path: string) => boolean;
  readonly secrets: readonly string[];
}

/** What may be shown of an outcome: filled-in texts may name a masked value, and params hold them. */
export function concealOutcome(outcome: Outcome, secret: Secret): Outcome {
  switch (outcome.type) {
    case "scored":
      return outcome;
    case "policy": {
      const shown = concealReadings(outcome, secret);
      const { params = null } = maskContext(
        { params: withParams(outcome.params, shown.set_params) },
        secret.pointers,
      );
      return { ...shown, params };
    }
    case "gate":
      return concealReadings(outcome, secret);
  }
}

/** The fields that are made of values of the context while a decision is made. */
const told: ReadonlySet<string> = new Set(["error", "note", "reason", "denial_reason", "left_out"]);

/** A document in which no text for people names a masked value, and what was read of one is masked. */
export function concealReadings<Document>(document: Document, secret: Secret): Document {
  return concealPart(document as Json, secret) as Document;
}

function concealPart(part: Json, secret: Secret): Json {
  if (Array.isArray(part)) return (part as readonly Json[]).map((each) => concealPart(each, secret));
  if (!isObject(part)) return part;
  const isReading = typeof part["field"] === "string" && secret.isMasked(part["field"]);
  const entries = Object.entries(part).map(([key, value]): [string, Json] => {
    if (typeof value === "string" && told.has(key)) return [key, conceal(value, secret.secrets)];
    if (isReading && key === "actual") return [key, masked];
    return [key, key === "set_params" ? concealTexts(value, secret) : concealPart(value, secret)];
  });
  return Object.fromEntries(entries);
}

/** Params that are set may be made of anything. */
function concealTexts(part: Json, secret: Secret): Json {
  if (Array.isArray(part)) return (part as readonly Json[]).map((each) => concealTexts(each, secret));
  if (isObject(part)) {
    return Object.fromEntries(Object.entries(part).map(([key, value]) => [key, concealTexts(value, secret)]));
  }
  const text = typeof part === "string" ? part : JSON.stringify(part);
  const tells = secret.secrets.some((each) => text.includes(each));
  return tells ? masked : part;
}
