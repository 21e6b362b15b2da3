import type { ServerContext } from "@modelcontextprotocol/server";
import { callTool, formatError } from "./call-tool.js";
import { toProtocolError } from "./json-rpc.js";
import { completeIds, listResources, readResource, resourceTemplates } from "./resources.js";
import {
  answerValidator,
  PlainServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
} from "./sdk.js";
import { listTools } from "./tools.js";
import { DecisionError } from "../../errors.js";
import type { Permissions, Scope } from "../auth/authenticate.js";
import { hasScope } from "../auth/authenticate.js";
import type { LogLevel } from "../log-writer.js";
import { decideAction, evaluateDecision } from "../operations/decide.js";
import { listActions } from "../operations/definitions.js";
import type { Invocation, RequestIdentity, ServedWorld } from "../operations/operation.js";
import { findRecords } from "../operations/records.js";
import { checkToolCall, recordToolResult } from "../operations/tool-calls.js";
import { visibleError } from "../visible-error.js";

export interface McpOptions {
  readonly world: () => ServedWorld;
  /** Calls the listener after each reload of the definitions. Returns a function that ends the subscription. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Writes an entry for the operator. Clients do not see it. */
  readonly log: (entry: McpLogEntry) => void;
  readonly version: string;
  /** The scopes to offer to callers without a token; undefined: all. */
  readonly scopes?: readonly Scope[] | undefined;
}

export interface McpLogEntry {
  readonly level: LogLevel;
  readonly event: "called" | "failed" | "bug" | "protocol" | "refused_line";
  readonly [more: string]: unknown;
}

interface Connection extends RequestIdentity {
  /** Whether the client can be notified of changes. */
  readonly listChanged: boolean;
  /** Receives each running request. */
  readonly track?: <T>(work: Promise<T>) => Promise<T>;
}

/** Creates the MCP server for one connection. */
export function createMcpServer(options: McpOptions, connection: Connection): PlainServer {
  const { listChanged, track = (work) => work, caller, correlationId } = connection;
  const capabilities = { tools: { listChanged }, resources: { listChanged }, completions: {} };
  const server = new PlainServer(
    { name: "agent-33", version: options.version },
    {
      capabilities,
      instructions: instructionsFor({ caller, offered: options.scopes }),
      jsonSchemaValidator: answerValidator,
    },
  );
  const handler =
    <Request, Answer>(answer: (request: Request, invocation: Invocation) => Promise<Answer>) =>
    (request: Request, { mcpReq }: ServerContext): Promise<Answer> => {
      const invocation = { world: options.world(), caller, correlationId, offered: options.scopes };
      return track(answer(request, invocation)).catch((error: unknown) => {
        throw toProtocolError(error, mcpReq.method, options);
      });
    };
  server.setRequestHandler(
    "tools/list",
    handler(async (_request, invocation) => ({ tools: await listTools(invocation) })),
  );
  server.setRequestHandler(
    "tools/call",
    handler(({ params }, invocation) => callTool(params, invocation, options.log)),
  );
  server.setRequestHandler(
    "resources/list",
    handler(async (_request, invocation) => ({ resources: await listResources(invocation) })),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler(
    "resources/read",
    handler(async ({ params: { uri } }, invocation) => ({
      contents: [{ uri, mimeType: "application/json", text: await readResourceText(uri, invocation) }],
    })),
  );
  server.setRequestHandler(
    "completion/complete",
    handler(async ({ params: { ref, argument } }, invocation) => {
      const completion = "uri" in ref ? await completeIds(ref.uri, argument, invocation) : undefined;
      if (completion !== undefined) return { completion };
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `the argument \`${argument.name}\` has no completions`,
      );
    }),
  );
  return server;
}

const notFoundCodes = new Set(["definition_not_found", "record_not_found", "input_invalid"]);

async function readResourceText(uri: string, invocation: Invocation): Promise<string> {
  try {
    const text = await readResource(uri, invocation);
    if (text !== undefined) return text;
  } catch (error) {
    if (!(error instanceof DecisionError) || !notFoundCodes.has(error.code)) throw error;
    const text = formatError(visibleError(error, "mcp"));
    throw new ResourceNotFoundError(uri, text.replace("error: ", "").replace("\nhint: ", "; "));
  }
  throw new ResourceNotFoundError(uri, `unknown resource \`${uri}\`; \`resources/list\` lists all resources`);
}

/** Sent to each agent when it connects: each sentence with the operation whose scope it needs. */
const instructions: readonly (readonly [{ readonly scope: Scope }, string])[] = [
  [
    decideAction,
    "Before you act, call `decide` (or the `decide_…` tool of the action) and act only on GREEN.",
  ],
  [
    checkToolCall,
    "Before you call one of your own tools, call `check_tool_call`, and use only the params it returns.",
  ],
  [recordToolResult, "After the call, report its outcome with `record_tool_result`."],
  [listActions, "`list_actions` and `list_decisions` list what you can decide."],
  [evaluateDecision, "`evaluate` makes any decision by its id, and `dry_run` does so without recording it."],
  [
    findRecords,
    "To see past decisions and their reasons, use `find_records`, `explain_record` and `find_precedents`.",
  ],
];

const instructionsFor = (permissions: Permissions): string =>
  instructions
    .filter(([{ scope }]) => hasScope(permissions, scope))
    .map(([, sentence]) => sentence)
    .join(" ");

interface WorkTracker {
  readonly track: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when no work is running. */
  readonly idle: () => Promise<void>;
}

/** Keeps track of running work, even if its client has disconnected. */
export function createWorkTracker(): WorkTracker {
  const running = new Set<Promise<unknown>>();
  return {
    track(work) {
      running.add(work);
      const remove = (): unknown => running.delete(work);
      work.then(remove, remove);
      return work;
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
