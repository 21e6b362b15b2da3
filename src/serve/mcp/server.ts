import type { ServerContext } from "@modelcontextprotocol/server";
import { callTool, formatError } from "./call-tool.js";
import { toProtocolError } from "./json-rpc.js";
import { completeIds, listResources, readResource, resourceTemplates } from "./resources.js";
import { PlainServer, ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from "./sdk.js";
import { listTools } from "./tools.js";
import { DecisionError } from "../../errors.js";
import type { AuthenticatedCaller } from "../../model/record.js";
import type { LogLevel } from "../log-writer.js";
import type { Invocation, ServedWorld } from "../operations/operation.js";
import { visibleError } from "../visible-error.js";

interface Connection extends CallerIdentity {
  /** Whether changes can be told to whoever is connected. */
  readonly listChanged: boolean;
  /** Hears of each request that is being answered. */
  readonly track?: <T>(work: Promise<T>) => Promise<T>;
}

/** What answers one who is connected. */
export function createMcpServer(options: McpOptions, connection: Connection): PlainServer {
  const { listChanged, track: during = (work) => work, caller, correlationId } = connection;
  const capabilities = { tools: { listChanged }, resources: { listChanged }, completions: {} };
  const server = new PlainServer(
    { name: "agent-33", version: options.version },
    { capabilities, instructions },
  );
  const answering =
    <Request, Answer>(answer: (request: Request, asker: Invocation) => Promise<Answer>) =>
    (request: Request, { mcpReq }: ServerContext): Promise<Answer> => {
      const asker = { world: options.world(), caller, correlationId };
      return during(answer(request, asker)).catch((error: unknown) => {
        throw toProtocolError(error, mcpReq.method, options);
      });
    };
  server.setRequestHandler(
    "tools/list",
    answering(async (_request, asker) => ({ tools: await listTools(asker) })),
  );
  server.setRequestHandler(
    "tools/call",
    answering(({ params }, asker) => callTool(params, asker, options.log)),
  );
  server.setRequestHandler(
    "resources/list",
    answering(async (_request, asker) => ({ resources: await listResources(asker) })),
  );
  server.setRequestHandler("resources/templates/list", () => ({ resourceTemplates }));
  server.setRequestHandler(
    "resources/read",
    answering(async ({ params: { uri } }, asker) => ({
      contents: [{ uri, mimeType: "application/json", text: await readResourceText(uri, asker) }],
    })),
  );
  server.setRequestHandler(
    "completion/complete",
    answering(async ({ params: { ref, argument } }, asker) => {
      const completion = "uri" in ref ? await completeIds(ref.uri, argument, asker) : undefined;
      if (completion !== undefined) return { completion };
      throw new ProtocolError(
        ProtocolErrorCode.InvalidParams,
        `there is nothing to complete \`${argument.name}\` of`,
      );
    }),
  );
  return server;
}

const notFoundCodes = new Set(["definition_not_found", "record_not_found", "input_invalid"]);

async function readResourceText(uri: string, asker: Invocation): Promise<string> {
  try {
    const text = await readResource(uri, asker);
    if (text !== undefined) return text;
  } catch (error) {
    if (!(error instanceof DecisionError) || !notFoundCodes.has(error.code)) throw error;
    const told = formatError(visibleError(error));
    throw new ResourceNotFoundError(uri, told.replace("error: ", "").replace("\nhint: ", "; "));
  }
  throw new ResourceNotFoundError(
    uri,
    `there is no resource \`${uri}\`; \`resources/list\` tells which there are`,
  );
}

/** What an agent is told when it connects. */
const instructions =
  "Before you act, ask `decide` (or the `decide_…` tool of the action) and act only on GREEN; before you call a tool " +
  "of yours, ask `check_tool_call`, call it with the params of the answer only, and tell how it went with " +
  "`record_tool_result`. " +
  "`list_actions` and `list_decisions` tell what can be asked, `evaluate` makes any decision by its id, and `dry_run` " +
  "shows what would be decided without a record. " +
  "To see what was decided and why, use `find_records`, `explain_record` and `find_precedents`.";

/** What the door of MCP is told once. */
export interface McpOptions {
  readonly world: () => ServedWorld;
  /** Hears that definitions have changed, until what it gives is called. */
  readonly subscribe: (listener: () => void) => () => void;
  /** Takes what is for whoever runs the server, never for whoever asks. */
  readonly log: (entry: McpLogEntry) => void;
  readonly version: string;
}

export interface McpLogEntry {
  readonly level: LogLevel;
  readonly event: "called" | "failed" | "bug" | "protocol" | "refused_line";
  readonly [more: string]: unknown;
}

/** Who is at the door. */
export interface CallerIdentity {
  readonly caller: AuthenticatedCaller | undefined;
  readonly correlationId: string | undefined;
}

interface WorkTracker {
  readonly track: <T>(work: Promise<T>) => Promise<T>;
  /** Resolves when nothing runs any more. */
  readonly idle: () => Promise<void>;
}

/** Knows what has been begun and not ended, whoever still waits for it. */
export function createWorkTracker(): WorkTracker {
  const running = new Set<Promise<unknown>>();
  return {
    track(work) {
      running.add(work);
      const forget = (): unknown => running.delete(work);
      work.then(forget, forget);
      return work;
    },
    async idle() {
      while (running.size > 0) await Promise.allSettled(running);
    },
  };
}
