import type { AddressInfo } from "node:net";
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client";
import { systemClock } from "../../src/clock.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Authenticate } from "../../src/serve/auth/authenticate.js";
import { openHttpServer } from "../../src/serve/http/http-server.js";
import { routes } from "../../src/serve/http/routes.js";
import { ReloadingWorld } from "../../src/serve/reloading-world.js";
import { LogWriter } from "../../src/serve/log-writer.js";
import { errorKey } from "../../src/serve/mcp/call-tool.js";
import { createMcpHttp } from "../../src/serve/mcp/http.js";
import { Metrics } from "../../src/serve/metrics.js";
import type { ServedWorld } from "../../src/serve/operations/operation.js";
import { afterFile } from "../after-file.js";

/** An error, from either transport. */
export interface Rejection {
  /** Over HTTP, or if the connection itself fails. */
  readonly status?: number;
  readonly code?: string;
  readonly message?: string;
  readonly hint?: string;
  readonly errors?: unknown;
}

export type Reply = { readonly answer: JsonObject } | { readonly refused: Rejection };

/** Runs an operation by name with the token. */
export type Transport = (question: string, input: object, token?: string) => Promise<Reply>;

export interface Transports {
  readonly HTTP: Transport;
  readonly MCP: Transport;
}

export const transportNames = ["HTTP", "MCP"] as const;

/** Serves a world over HTTP and MCP until the end of the file's tests. */
export async function openTransports(world: ServedWorld, authenticate?: Authenticate): Promise<Transports> {
  const origin = await served(world, authenticate);
  const clients = new Map<string | undefined, Promise<Client>>();
  const clientOf = (token: string | undefined): Promise<Client> => {
    const client = clients.get(token) ?? connected(origin, token);
    clients.set(token, client);
    return client;
  };
  return {
    HTTP: (name, input, token) => askHttp(origin, { name, input, token }),
    MCP: (name, input, token) => askMcp(() => clientOf(token), { name, input }),
  };
}

async function served(world: ServedWorld, authenticate: Authenticate | undefined): Promise<string> {
  const reloadingWorld = await ReloadingWorld.open({
    open: () => Promise.resolve(world),
    stamp: () => "",
    rejectBroken: true,
    intervalMs: 60_000,
    onReload: () => undefined,
  });
  const mcp = createMcpHttp({
    world: () => reloadingWorld.current,
    subscribe: reloadingWorld.subscribe,
    log: () => undefined,
    version: "1.2.3",
  });
  const server = await openHttpServer({
    reloadingWorld,
    authenticate,
    allowedOrigins: { hosts: undefined, origins: [], loopback: true },
    rateLimits: { caller: undefined, org: undefined },
    maxInFlight: 100,
    maxBodyBytes: 1024 * 1024,
    requestTimeout: 10_000,
    publicMetrics: false,
    metrics: new Metrics({ inFlight: () => 0, decisions: () => 0, isStale: () => false }),
    log: new LogWriter((_bytes, done) => done(null), { clock: systemClock, quiet: true }),
    mcp: mcp.handle,
  });
  const { port }: AddressInfo = await server.listen("127.0.0.1", 0);
  afterFile(async () => {
    await reloadingWorld.stop();
    await mcp.close();
    await server.drain(0);
  });
  return `http://127.0.0.1:${port}`;
}

type Problem = Omit<Rejection, "message"> & { readonly detail?: string };

interface TransportCall {
  readonly name: string;
  readonly input: object;
  readonly token?: string | undefined;
}

const bearing = (token: string | undefined): Record<string, string> =>
  token === undefined ? {} : { authorization: `Bearer ${token}` };

/** Sends a request to the path of the operation. */
export async function askHttp(origin: string, { name, input, token }: TransportCall): Promise<Reply> {
  const route = routes.find(({ operation: question }) => question.name === name);
  if (route?.method !== "POST") throw new Error(`\`${name}\` is not asked with a body`);
  const { path, pathKey: inPath = "" } = route;
  const { [inPath]: id, ...body } = input as Readonly<Record<string, string>>;
  const response = await fetch(origin + path.replace("{id}", encodeURIComponent(id ?? "")), {
    method: "POST",
    headers: { "content-type": "application/json", ...bearing(token) },
    body: JSON.stringify(body),
  });
  const reply: unknown = await response.json();
  if (response.ok) return { answer: reply as JsonObject };
  const { status, code, detail: message, hint, errors } = reply as Problem;
  return { refused: { ...(status && { status }), ...named({ code, message, hint, errors }) } };
}

export async function askMcp(
  clientOf: () => Promise<Client>,
  { name, input }: TransportCall,
): Promise<Reply> {
  let client;
  try {
    client = await clientOf();
  } catch (error) {
    return { refused: { status: statusOf(error) } };
  }
  const {
    isError = false,
    structuredContent,
    _meta,
  } = await client.callTool({ name, arguments: { ...input } });
  if (!isError) return { answer: structuredContent as JsonObject };
  const error = _meta?.[errorKey] as Rejection & { readonly details?: Rejection };
  const { code, message, hint, details } = error;
  return { refused: named({ code, message, hint, errors: details?.errors }) };
}

const named = (fields: Readonly<Record<keyof Omit<Rejection, "status">, unknown>>): Rejection =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined));

/** The client puts the status into the error. */
function statusOf(error: unknown): number {
  const status = (error as { readonly status?: number; readonly code?: number }).status;
  if (typeof status === "number") return status;
  throw error;
}

async function connected(origin: string, token: string | undefined): Promise<Client> {
  const client = new Client({ name: "test", version: "1" });
  const requestInit = { headers: bearing(token) };
  await client.connect(new StreamableHTTPClientTransport(new URL("/mcp", origin), { requestInit }));
  afterFile(() => client.close());
  return client;
}
