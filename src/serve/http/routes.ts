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

/** What a request gives. */
interface RequestParts {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
}

/** A question that is asked by a method and a path. */
export interface Route {
  readonly method: "GET" | "POST";
  readonly path: string;
  readonly question: Operation;
  /** Which of the question's keys stands in the path. */
  readonly inPath?: string;
  /** How the answer is written; else as any JSON is. */
  readonly write?: (answer: unknown) => string;
}

const writeGate = (answer: unknown): string => gateAnswerJson(answer as GateAnswer);
const writeResult = (answer: unknown): string => resultJson(answer as Result);

export const routes: readonly Route[] = [
  { method: "POST", path: "/decide", question: decideAction, write: writeGate },
  {
    method: "POST",
    path: "/decisions/{id}/evaluate",
    question: evaluateDecision,
    inPath: "decision_id",
    write: writeResult,
  },
  {
    method: "POST",
    path: "/decisions/{id}/dry-run",
    question: dryRunDecision,
    inPath: "decision_id",
    write: writeResult,
  },
  { method: "POST", path: "/check", question: checkToolCall },
  { method: "POST", path: "/results", question: recordToolResult },
  { method: "POST", path: "/precedents", question: findPrecedents },
  { method: "GET", path: "/decisions", question: listDecisions },
  { method: "GET", path: "/decisions/{id}", question: showDecision, inPath: "decision_id" },
  { method: "GET", path: "/records", question: findRecords },
  { method: "GET", path: "/records/{id}", question: showRecord, inPath: "record_id" },
  { method: "GET", path: "/records/{id}/explain", question: explainRecord, inPath: "record_id" },
];

/** What is asked: the body, or the query as the question's schema reads it, and what stands in the path. */
export function operationInput(
  { method, question, inPath }: Route,
  { params, query, body }: RequestParts,
): unknown {
  const asked = method === "GET" ? parseQuery(query as Query, question.input) : body;
  if (inPath === undefined) return asked;
  if (typeof asked !== "object" || asked === null || Array.isArray(asked)) return asked;
  if (Object.hasOwn(asked, inPath)) {
    throw new DecisionError("input_invalid", `\`${inPath}\` stands in the path already`, {
      hint: "leave it out of the body",
    });
  }
  return { ...asked, [inPath]: (params as { readonly id: string }).id };
}

/** What a question takes without what stands in the path. */
export function bodySchema({ question: { input }, inPath }: Pick<Route, "question" | "inPath">): InputSchema {
  if (inPath === undefined) return input;
  const isOther = (key: string): boolean => key !== inPath;
  return {
    ...input,
    properties: Object.fromEntries(Object.entries(input.properties).filter(([key]) => isOther(key))),
    required: input.required.filter(isOther),
  };
}

type Query = Readonly<Record<string, string | string[]>>;

/** A query has only texts; those that cannot be read as what is meant are left for the schema to refuse. */
function parseQuery(query: Query, { properties }: InputSchema): JsonObject {
  const read = Object.entries(query).map(([key, value]) => {
    const type = properties[key]?.["type"];
    if (type === "integer" && typeof value === "string" && /^-?\d{1,15}$/.test(value))
      return [key, Number(value)];
    if (type === "boolean" && (value === "true" || value === "false")) return [key, value === "true"];
    return [key, value];
  });
  return Object.fromEntries(read) as JsonObject;
}

/** What the server tells of itself. */
export const builtInPaths = {
  health: "/healthz",
  readiness: "/readyz",
  metrics: "/metrics",
  document: "/openapi.json",
  actions: "/orgs/{org}/domains/{domain}/actions",
  mcp: "/mcp",
} as const;

/** `/records/{id}` as the web framework writes it. */
export const toFastifyPath = (path: string): string => path.replace(/\{(\w+)\}/g, ":$1");

/** The methods that a path takes; none where there is nothing. */
export function allowedMethods(url: string, { mcp }: { readonly mcp: boolean }): readonly string[] {
  const [path = ""] = url.split("?");
  const { mcp: mcpPath, ...own } = builtInPaths;
  const known = [
    ...routes,
    ...Object.values(own).map((each) => ({ method: "GET", path: each })),
    ...(mcp ? ["GET", "POST", "DELETE"].map((method) => ({ method, path: mcpPath })) : []),
  ];
  const fitting = known.filter((each) => matchesPath(path, each.path)).map(({ method }) => method);
  return fitting.includes("GET") ? [...fitting, "HEAD"] : fitting;
}

function matchesPath(path: string, pattern: string): boolean {
  const [steps, wanted] = [path.split("/"), pattern.split("/")];
  return (
    steps.length === wanted.length &&
    wanted.every((each, index) => each.startsWith("{") || each === steps[index])
  );
}
