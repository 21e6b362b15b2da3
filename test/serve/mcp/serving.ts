import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import type { ClientOptions } from "@modelcontextprotocol/client";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { createMcpHttp } from "../../../src/serve/mcp/http.js";
import type { McpHttp } from "../../../src/serve/mcp/http.js";
import type { McpOptions } from "../../../src/serve/mcp/server.js";
import type { RequestIdentity } from "../../../src/serve/operations/operation.js";
import { afterFile } from "../../after-file.js";

/** The protocol revisions of clients: the current one without sessions, and two older ones. */
export const revisions: readonly { readonly name: string; readonly options: ClientOptions }[] = [
  { name: "2026-07-28", options: { versionNegotiation: { mode: { pin: "2026-07-28" } } } },
  { name: "2025-11-25", options: { supportedProtocolVersions: ["2025-11-25"] } },
  { name: "2025-06-18", options: { supportedProtocolVersions: ["2025-06-18"] } },
];

export const current = revisions[0]!.options;
export const anonymous: RequestIdentity = { caller: undefined, correlationId: undefined };

export interface Changes extends Pick<McpOptions, "subscribe"> {
  readonly tell: () => void;
  readonly listeners: Set<() => void>;
}

/** Notifies listeners like a reloading world. */
export function changes(): Changes {
  const listeners = new Set<() => void>();
  return {
    listeners,
    tell: () => listeners.forEach((listener) => listener()),
    subscribe(listener) {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
  };
}

export const optionsOf = (given: Pick<McpOptions, "world"> & Partial<McpOptions>): McpOptions => ({
  subscribe: () => () => undefined,
  log: () => undefined,
  version: "1.2.3",
  ...given,
});

export interface ServedHttp {
  readonly url: URL;
  readonly mcp: McpHttp;
}

/** A plain server around the handler, closed after the tests of the file. */
export async function serveHttp(
  options: McpOptions,
  { by = anonymous, parse = true }: { readonly by?: RequestIdentity; readonly parse?: boolean } = {},
): Promise<ServedHttp> {
  const mcp = createMcpHttp(options);
  const server = createServer((req, res) => {
    void bodyOf(req, parse).then((body) => mcp.handle(req, res, { ...by, body }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  afterFile(async () => {
    await mcp.close();
    server.closeAllConnections();
    server.close();
  });
  return { url: new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`), mcp };
}

async function bodyOf(req: IncomingMessage, parse: boolean): Promise<unknown> {
  if (!parse || req.method !== "POST") return undefined;
  const chunks: Buffer[] = [];
  for await (const chunk of req) chunks.push(chunk as Buffer);
  try {
    return JSON.parse(Buffer.concat(chunks).toString()) as unknown;
  } catch {
    return undefined;
  }
}

export async function connectHttp(url: URL, options: ClientOptions = current): Promise<Client> {
  const client = new Client({ name: "test", version: "1" }, options);
  await client.connect(new StreamableHTTPClientTransport(url));
  afterFile(() => client.close());
  return client;
}
