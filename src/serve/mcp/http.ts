import type { NodeIncomingMessageLike, NodeServerResponseLike } from "@modelcontextprotocol/node";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { JsonRpcError } from "./json-rpc.js";
import { batchNotSupported, jsonRpcError } from "./json-rpc.js";
import { createMcpHandler, toNodeHandler } from "./sdk.js";
import type { CallerIdentity, McpOptions } from "./server.js";
import { createWorkTracker, createMcpServer } from "./server.js";

/** What is used of the request that Node hands out. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
}

export interface McpHttp {
  /** Answers a request to the endpoint; who asks, and from where, has been looked at before. */
  readonly handle: (req: NodeRequest, res: NodeServerResponseLike, given: McpHttpRequest) => Promise<void>;
  /** Takes no more, finishes what was begun, then ends the streams of those who listen. */
  readonly close: () => Promise<void>;
}

export interface McpHttpRequest extends CallerIdentity {
  /** Parsed; undefined: it is still to be read. */
  readonly body: unknown;
}

/**
 * MCP over HTTP. Nothing is kept between requests, for clients of the old kind neither: there are no sessions that
 * could be taken over or pile up. Only clients of the new kind can listen for changes.
 */
export function createMcpHttp(options: McpOptions): McpHttp {
  const { track: during, idle } = createWorkTracker();
  const onerror = ({ message }: Error): void => options.log({ level: "warn", event: "protocol", message });
  const handler = createMcpHandler(
    ({ era, authInfo }) =>
      createMcpServer(options, { ...identityFrom(authInfo), listChanged: era === "modern", track: during }),
    { onerror },
  );
  const forget = options.subscribe(() => {
    handler.notify.toolsChanged();
    handler.notify.resourcesChanged();
  });
  let isClosing = false;
  return {
    async handle(req, res, { body, ...by }) {
      if (isClosing) {
        sendError(res, 503, jsonRpcError(-32000, "the server is shutting down"));
        return;
      }
      if (Array.isArray(body)) {
        // Nobody would count how many calls there are in one request.
        sendError(res, 400, batchNotSupported());
        return;
      }
      const authInfo = toAuthInfo(by);
      const answer = toNodeHandler(
        { fetch: (request, given) => handler.fetch(request, { ...given, authInfo }) },
        { onerror },
      );
      const exchange = answer(req as NodeIncomingMessageLike, res, body);
      await (isSubscription(req) ? exchange : during(exchange));
    },
    async close() {
      isClosing = true;
      forget();
      await idle();
      await handler.close();
    },
  };
}

/** The SDK hands this on untouched, and looks at none of it. */
const toAuthInfo = (by: CallerIdentity): AuthInfo => ({
  token: "",
  clientId: by.caller?.client_id ?? "",
  scopes: [...(by.caller?.scopes ?? [])],
  extra: { by },
});

function identityFrom(info: AuthInfo | undefined): CallerIdentity {
  const by = info?.extra?.["by"] as CallerIdentity | undefined;
  if (by === undefined) throw new Error("the SDK lost who asks");
  return by;
}

/** Whoever asks for that without this header is refused. */
const isSubscription = ({ headers }: NodeRequest): boolean =>
  headers["mcp-method"] === "subscriptions/listen";

function sendError(res: NodeServerResponseLike, status: number, told: JsonRpcError): void {
  res.writeHead(status, { "content-type": "application/json", connection: "close" });
  res.end(JSON.stringify(told));
}
