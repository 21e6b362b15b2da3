import type { NodeIncomingMessageLike, NodeServerResponseLike } from "@modelcontextprotocol/node";
import type { AuthInfo } from "@modelcontextprotocol/server";
import type { JsonRpcError } from "./json-rpc.js";
import { batchNotSupported, jsonRpcError } from "./json-rpc.js";
import { createMcpHandler, toNodeHandler } from "./sdk.js";
import type { McpOptions } from "./server.js";
import { createWorkTracker, createMcpServer } from "./server.js";
import type { RequestIdentity } from "../operations/operation.js";

/** The parts of a Node request that are used here. */
export interface NodeRequest extends AsyncIterable<unknown> {
  readonly method?: string | undefined;
  readonly url?: string | undefined;
  readonly headers: Record<string, string | string[] | undefined>;
}

export interface McpHttp {
  /** Answers a request that has passed access control. */
  readonly handle: (req: NodeRequest, res: NodeServerResponseLike, parsed: McpHttpRequest) => Promise<void>;
  /** Accepts no new requests, finishes running ones, then ends the event streams. */
  readonly close: () => Promise<void>;
}

export interface McpHttpRequest extends RequestIdentity {
  /** The parsed body; undefined: the SDK reads it. */
  readonly body: unknown;
}

/**
 * Serves MCP over HTTP without sessions, so there are none to hijack or to pile up. Only clients of the newer protocol
 * version can subscribe to changes.
 */
export function createMcpHttp(options: McpOptions): McpHttp {
  const { track, idle } = createWorkTracker();
  const onerror = ({ message }: Error): void => options.log({ level: "warn", event: "protocol", message });
  const handler = createMcpHandler(
    ({ era, authInfo }) =>
      createMcpServer(options, { ...identityFrom(authInfo), listChanged: era === "modern", track: track }),
    { onerror },
  );
  const unsubscribe = options.subscribe(() => {
    handler.notify.toolsChanged();
    handler.notify.resourcesChanged();
  });
  let isClosing = false;
  return {
    async handle(req, res, { body, ...identity }) {
      if (isClosing) {
        sendError(res, 503, jsonRpcError(-32000, "the server is shutting down"));
        return;
      }
      if (Array.isArray(body)) {
        // Rate limits count requests, and a batch could contain any number of calls.
        sendError(res, 400, batchNotSupported());
        return;
      }
      const authInfo = toAuthInfo(identity);
      const answer = toNodeHandler(
        {
          async fetch(request, context) {
            const response = await handler.fetch(request, { ...context, authInfo });
            // The HTTP server decides: it closes connections when it shuts down.
            response.headers.delete("connection");
            return response;
          },
        },
        { onerror },
      );
      const exchange = answer(req as NodeIncomingMessageLike, res, body);
      await (isSubscription(req) ? exchange : track(exchange));
    },
    async close() {
      isClosing = true;
      unsubscribe();
      await idle();
      await handler.close();
    },
  };
}

/** Carries the identity through the SDK, which passes `extra` on unchanged. */
const toAuthInfo = (identity: RequestIdentity): AuthInfo => ({
  token: "",
  clientId: identity.caller?.client_id ?? "",
  scopes: [...(identity.caller?.scopes ?? [])],
  extra: { identity },
});

function identityFrom(info: AuthInfo | undefined): RequestIdentity {
  const identity = info?.extra?.["identity"] as RequestIdentity | undefined;
  if (identity === undefined) throw new Error("the SDK did not pass on the identity");
  return identity;
}

/** The SDK rejects subscriptions without this header. */
const isSubscription = ({ headers }: NodeRequest): boolean =>
  headers["mcp-method"] === "subscriptions/listen";

function sendError(res: NodeServerResponseLike, status: number, error: JsonRpcError): void {
  res.writeHead(status, { "content-type": "application/json", connection: "close" });
  res.end(JSON.stringify(error));
}
