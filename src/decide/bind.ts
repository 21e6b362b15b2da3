import { frozenCopy } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";

/** The caller's context as our own frozen copy: what is decided on can no longer change. */
export function bind(context: unknown): JsonObject {
  return bound(context, "the context", 'name the values, as in {"artifact": {"quality_score": 0.9}}');
}

export function bindFeedback(feedback: unknown): JsonObject | undefined {
  return feedback === undefined ? undefined : bound(feedback, "the feedback", 'such as {"source": "retry"}');
}

export function bindCaller(caller: unknown): JsonObject {
  return bound(caller, "the caller", 'such as {"subject": "alice", "issuer": "https://id.example"}');
}

export function bindMap(map: unknown): JsonObject {
  return bound(map, "the map", 'such as {"artifact": {"type": "{{ kind }}"}}');
}

/** An event may be any JSON. */
export function bindEvent(event: unknown): Json {
  return copied(event, "the event");
}

function bound(document: unknown, what: string, hint: string): JsonObject {
  if (typeof document !== "object" || document === null || Array.isArray(document)) {
    throw new DecisionError("input_invalid", `${what} must be a JSON object (got ${kindOf(document)})`, {
      hint,
    });
  }
  return copied(document, what) as JsonObject;
}

function copied(document: unknown, what: string): Json {
  try {
    return frozenCopy(document);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DecisionError("input_invalid", `${what} cannot be used: ${error.message}`, { cause: error });
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return value === undefined ? "nothing" : `a ${typeof value}`;
}
