import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { Json, JsonObject } from "../model/json.js";

/** A tool call as a hook event of a coding agent describes it. */
export interface HookCall {
  readonly tool: string;
  /** Any value; the check rejects those that are not objects. */
  readonly params: unknown;
  readonly session_id: string;
}

/** Whether a document is a hook event rather than a call in our own form. */
export const isHookEvent = (document: unknown): document is JsonObject =>
  isObject(document) && Object.hasOwn(document, "tool_name") && !Object.hasOwn(document, "tool");

/** How the command line completes an event. */
interface EventOptions {
  /** The session of an event without one. */
  readonly defaultSession?: string | undefined;
  /** Names another way than the event to say what is missing, such as `use --session-id ID`. */
  readonly otherWay?: string;
}

/** Reads the call from an event: {session_id, tool_name, tool_input}. Other keys are ignored. */
export function callOfEvent(event: unknown, { defaultSession, otherWay }: EventOptions = {}): HookCall {
  if (!isObject(event)) {
    throw new DecisionError("input_invalid", "the event must be a JSON object", { hint: eventHint });
  }
  const {
    tool_name: tool,
    tool_input: params = {},
    session_id = defaultSession,
  } = event as Partial<Record<string, unknown>>;
  if (typeof tool !== "string" || tool === "") {
    throw new DecisionError("input_invalid", "the event has no `tool_name`", { hint: eventHint });
  }
  if (typeof session_id !== "string" || session_id === "") {
    throw new DecisionError("usage", "specify a session", {
      hint: oneOf("add a `session_id` string to the event", otherWay),
    });
  }
  return { tool, params, session_id };
}

const oneOf = (hint: string, otherWay: string | undefined): string =>
  otherWay === undefined ? hint : `${hint}, or ${otherWay}`;

const eventHint =
  'for example {"session_id": "s-1", "tool_name": "write_file", "tool_input": {"path": "a.txt"}}';

/** Throws if the call of an event was made already: a check after the call cannot prevent it. */
export function assertBeforeCall(event: JsonObject, { otherWay }: Pick<EventOptions, "otherWay"> = {}): void {
  if (!isAfterCall(event) && !isNamed(event, /^(?:post|after)/i)) return;
  throw new DecisionError(
    "input_invalid",
    "the event is from after the call, so the call cannot be checked",
    { hint: `send the event from before the call; ${otherWay ?? "`POST /results`"} accepts this one` },
  );
}

/** Whether the call of an event succeeded. Anything that may be a failure is one: a success can allow later calls. */
export function hasSucceeded(event: JsonObject, { otherWay }: Pick<EventOptions, "otherWay"> = {}): boolean {
  if (!isAfterCall(event)) {
    throw new DecisionError("input_invalid", "the event has no `tool_response`", {
      hint: oneOf("send the event from after the call, not the one from before it", otherWay),
    });
  }
  if (isFailureEvent(event)) return false;
  return isSuccess(event["tool_response"] ?? null);
}

const failureFlags: readonly string[] = ["iserror", "interrupted", "failed", "timedout"];
const failureWords: readonly unknown[] = ["error", "failed", "failure"];

function isSuccess(response: Json): boolean {
  if (Array.isArray(response)) return response.every(isSuccess);
  if (!isObject(response)) return response !== null && response !== false;
  return Object.entries(response).every(([name, value]) => {
    const key = name.toLowerCase().replaceAll("_", "");
    const isEmpty =
      value === null || value === false || value === "" || (Array.isArray(value) && value.length === 0);
    if (failureFlags.includes(key) || key === "error" || key === "errors") return isEmpty;
    if (key === "success" || key === "ok") return value === true || value === null;
    if (key === "exitcode") return value === 0 || value === null;
    if (key === "status" || key === "type") return !failureWords.includes(value);
    return [value].flat().every((part) => typeof part !== "object" || part === null || isSuccess(part));
  });
}

const isAfterCall = (event: JsonObject): boolean =>
  Object.hasOwn(event, "tool_response") || isFailureEvent(event);

const isFailureEvent = (event: JsonObject): boolean => isNamed(event, /fail/i);

const isNamed = ({ hook_event_name: name }: JsonObject, pattern: RegExp): boolean =>
  typeof name === "string" && pattern.test(name);
