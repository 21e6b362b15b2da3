import { frozenCopy } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { ReadyDefinition } from "./find.js";
import type { CallState, DecisionRequest, System, World } from "./request.js";
import { isObject } from "../expression/equal.js";
import type { Session } from "../record/counters.js";
import { sessionOf } from "../record/counters.js";

/** A request as our own frozen copy: the caller can no longer change what is decided on. */
export interface Bound {
  readonly scope: Scope & { readonly system: System };
  readonly feedback: JsonObject | undefined;
  /** The time of the decision. */
  readonly at: string;
  /** The id of the record to append; undefined where nothing is recorded. */
  readonly recordId: string | undefined;
  readonly session: Session | undefined;
  /** The organisation that the caller is bound to. */
  readonly org: string | undefined;
  readonly dryRun: boolean;
  readonly strict: boolean;
  readonly noCache: boolean;
}

/** An empty set of facts. */
export const noFacts: JsonObject = Object.freeze({});

/** Copies and freezes the request, and adds the time, the record id and the caller. */
export function bind(
  { loaded }: ReadyDefinition,
  request: DecisionRequest,
  world: World,
  call: CallState,
): Bound {
  const context = bindContext(request.context);
  const feedback = bindFeedback(request.feedback);
  const at = call.at ?? world.clock();
  const id = world.newId(at);
  const { dry_run: dryRun = false, strict = false, no_cache: noCache = false } = request;
  const isRecorded =
    !dryRun && world.records !== undefined && loaded.definition.logging?.log_decision !== false;
  return {
    scope: { context, facts: noFacts, system: systemValues(request, at, id), input: undefined },
    feedback,
    at,
    recordId: isRecorded ? id : undefined,
    session: sessionOf(request),
    org: request.caller?.org_id,
    dryRun,
    strict,
    noCache,
  };
}

function systemValues({ caller }: DecisionRequest, at: string, id: string): System {
  const values = { request_time: at, request_id: id };
  return caller === undefined ? values : { ...values, authenticated_caller: bindCaller(caller) };
}

/** Copies and freezes a context. */
export function bindContext(context: unknown): JsonObject {
  return bindObject(context, "the context", 'name the values, as in {"artifact": {"quality_score": 0.9}}');
}

/** Copies and freezes the feedback, if there is any. */
export function bindFeedback(feedback: unknown): JsonObject | undefined {
  return feedback === undefined
    ? undefined
    : bindObject(feedback, "the feedback", 'for example {"source": "retry"}');
}

function bindCaller(caller: unknown): JsonObject {
  return bindObject(caller, "the caller", 'for example {"subject": "alice", "issuer": "https://id.example"}');
}

/** Copies and freezes an event map. */
export function bindMap(map: unknown): JsonObject {
  return bindObject(map, "the map", 'for example {"artifact": {"type": "{{ kind }}"}}');
}

/** Copies and freezes an event; it may be any JSON value. */
export function bindEvent(event: unknown): Json {
  return copyJson(event, "the event");
}

/** Copies and freezes the value that a call returned; it may be any JSON value. */
export function bindValue(value: unknown): Json {
  return copyJson(value, "the value");
}

function bindObject(document: unknown, name: string, hint: string): JsonObject {
  if (!isObject(document)) {
    throw new DecisionError("input_invalid", `${name} must be a JSON object (got ${kindOf(document)})`, {
      hint,
    });
  }
  return copyJson(document, name) as JsonObject;
}

function copyJson(document: unknown, name: string): Json {
  try {
    return frozenCopy(document);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new DecisionError("input_invalid", `${name} cannot be used: ${error.message}`, { cause: error });
  }
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  return value === undefined ? "nothing" : `a ${typeof value}`;
}
