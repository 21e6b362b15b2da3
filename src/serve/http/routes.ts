import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { Result } from "../../model/result.js";
import type { GateAnswer } from "../../record/record-json.js";
import { gateAnswerJson, resultJson } from "../../record/record-json.js";
import type { InputSchema, Operation } from "../operations/operation.js";
import { checkToolCall, recordToolResult } from "../operations/tool-calls.js";
import { decideAction, dryRunDecision, evaluateDecision } from "../operations/decide.js";
import { findPrecedents } from "../operations/find-precedents.js";
import { listDecisions, showDecision } from "../operations/definitions.js";
import { explainRecord, showRecord, findRecords } from "../operations/records.js";
import { assertBeforeCall, callOfEvent, hasSucceeded, isHookEvent } from "../../decide/hook-event.js";
import { isObject } from "../../expression/equal.js";

interface RequestParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** An operation at a method and a path. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly operation: Operation;
  /** The key of the input that the path contains as `{id}`. */
  readonly pathKey?: string;
  /** Builds the input from a hook event of a coding agent; absent: the route accepts none. */
  readonly fromHookEvent?: (event: JsonObject) => JsonObject;
  /** Serialises the answer; default: JSON.stringify. */
  readonly write?: (answer: unknown) => string;
}

const writeGate = (answer: unknown): string => gateAnswerJson(answer as GateAnswer);
const writeResult = (answer: unknown): string => resultJson(answer as Result);

/** A hook runs the call as it is, so no override may allow it by changing its params. */
const checkInput = (event: JsonObject): JsonObject => {
  assertBeforeCall(event);
  return { ...(callOfEvent(event) as unknown as JsonObject), fixed_params: true };
};

const resultInput = (event: JsonObject): JsonObject => ({
  ...(callOfEvent(event) as unknown as JsonObject),
  ok: hasSucceeded(event),
});

export const routes: readonly Route[] = [
  { method: "POST", path: "/decide", operation: decideAction, write: writeGate },
  {
    method: "POST",
    path: "/decisions/{id}/evaluate",
    operation: evaluateDecision,
    pathKey: "decision_id",
    write: writeResult,
  },
  {
    method: "POST",
    path: "/decisions/{id}/dry-run",
    operation: dryRunDecision,
    pathKey: "decision_id",
    write: writeResult,
  },
  { method: "POST", path: "/check", operation: checkToolCall, fromHookEvent: checkInput },
  { method: "POST", path: "/results", operation: recordToolResult, fromHookEvent: resultInput },
  { method: "POST", path: "/precedents", operation: findPrecedents },
  { method: "GET", path: "/decisions", operation: listDecisions },
  { method: "GET", path: "/decisions/{id}", operation: showDecision, pathKey: "decision_id" },
  { method: "GET", path: "/records", operation: findRecords },
  { method: "GET", path: "/records/{id}", operation: showRecord, pathKey: "record_id" },
  { method: "GET", path: "/records/{id}/explain", operation: explainRecord, pathKey: "record_id" },
];

/** Builds the input of an operation from the body or the query, and the path. */
export function operationInput(
  { method, operation, pathKey, fromHookEvent }: Route,
  { params, query, body }: RequestParts,
): unknown {
  if (fromHookEvent !== undefined && isHookEvent(body)) return fromHookEvent(body);
  const input = method === "GET" ? parseQuery(query as Query, operation.input) : body;
  if (pathKey === undefined) return input;
  if (!isObject(input)) return input;
  if (Object.hasOwn(input, pathKey)) {
    throw new DecisionError("input_invalid", `\`${pathKey}\` is already given in the path`, {
      hint: "remove it from the body",
    });
  }
  return { ...input, [pathKey]: (params as { readonly id: string }).id };
}

/** The input schema without the key that is part of the path. */
export function bodySchema({
  operation: { input },
  pathKey,
}: Pick<Route, "operation" | "pathKey">): InputSchema {
  if (pathKey === undefined) return input;
  const isOther = (key: string): boolean => key !== pathKey;
  return {
    ...input,
    properties: Object.fromEntries(Object.entries(input.properties).filter(([key]) => isOther(key))),
    required: input.required.filter(isOther),
  };
}

type Query = Readonly<Record<string, string | string[]>>;

/** Converts query texts to the types of the schema. Texts that cannot be converted are left for the schema to reject. */
function parseQuery(query: Query, { properties }: InputSchema): JsonObject {
  const entries = Object.entries(query).map(([key, value]) => {
    const type = properties[key]?.["type"];
    if (type === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value))
      return [key, Number(value)];
    if (type === "boolean" && (value === "true" || value === "false")) return [key, value === "true"];
    return [key, value];
  });
  return Object.fromEntries(entries) as JsonObject;
}

/** Paths that are not operations. */
export const builtInPaths = {
  health: "/healthz",
  readiness: "/readyz",
  metrics: "/metrics",
  document: "/openapi.json",
  actions: "/orgs/{org}/domains/{domain}/actions",
  mcp: "/mcp",
} as const;

/** Converts `/records/{id}` to the syntax of Fastify. */
export const toFastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** Returns the methods that a path supports; empty if the path does not exist. */
export function allowedMethods(url: string, { mcp }: { readonly mcp: boolean }): readonly string[] {
  const methods = matchingRoutes(url)
    .filter(({ path }) => mcp || path !== builtInPaths.mcp)
    .map(({ method }) => method);
  return methods.includes("GET") ? [...methods, "HEAD"] : methods;
}

/** Returns the path of the route that a URL matches, whatever its method is. */
export const routeOf = (url: string): string | undefined => matchingRoutes(url)[0]?.path;

function matchingRoutes(url: string): readonly { readonly method: string; readonly path: string }[] {
  const [path = ""] = url.split("?");
  const { mcp, ...others } = builtInPaths;
  return [
    ...routes,
    ...Object.values(others).map((each) => ({ method: "GET", path: each })),
    ...["GET", "POST", "DELETE"].map((method) => ({ method, path: mcp })),
  ].filter((each) => matchesPath(path, each.path));
}

function matchesPath(path: string, pattern: string): boolean {
  const [segments, expected] = [path.split("/"), pattern.split("/")];
  return (
    segments.length === expected.length &&
    expected.every((each, index) => each.startsWith("{") || each === segments[index])
  );
}
