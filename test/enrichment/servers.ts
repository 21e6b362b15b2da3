import type { IncomingHttpHeaders, RequestListener } from "node:http";
import { createServer as createHttpServer } from "node:http";
import type { AddressInfo, Server, Socket } from "node:net";
import { createServer, Socket as ClientSocket } from "node:net";
import { onTestFinished, vi } from "vitest";
import type { Exchange, ExchangeOutcome, ExchangeOptions } from "../../src/enrichment/exchange.js";
import { lazyExchange } from "../../src/enrichment/exchange.js";
import type { Endpoint } from "../../src/model/endpoint.js";
import type { JsonObject } from "../../src/model/json.js";

export interface Listening {
  readonly port: number;
  readonly url: string;
  /** The number of connections. */
  readonly connections: () => number;
}

export interface Heard {
  readonly method: string;
  /** Path and query. */
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** Listens on this machine until the test has ended. */
export async function listen(server: Server, host = "127.0.0.1"): Promise<Listening> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on("connection", (socket: Socket) => {
    connections++;
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined);
  });
  await new Promise<void>((listening) => server.listen(0, host, listening));
  onTestFinished(async () => {
    const closed = new Promise((done) => server.close(done));
    for (const socket of sockets) socket.destroy();
    await closed;
  });
  const { port } = server.address() as AddressInfo;
  return {
    port,
    url: `http://${host.includes(":") ? `[${host}]` : host}:${port}`,
    connections: () => connections,
  };
}

/** Responds to each request as the handler says, after reading all of it. */
export async function httpServer(
  answer: RequestListener = (_request, response) => response.end(),
): Promise<Listening & { readonly heard: readonly Heard[] }> {
  const heard: Heard[] = [];
  const server = createHttpServer((request, response) => {
    let body = "";
    request.setEncoding("utf8").on("data", (chunk: string) => (body += chunk));
    request.on("end", () => {
      heard.push({ method: request.method ?? "", url: request.url ?? "", headers: request.headers, body });
      answer(request, response);
    });
  });
  return { ...(await listen(server)), heard };
}

/** Writes raw bytes to each client, as no proper server would. */
export function rawServer(act: (socket: Socket, said: Buffer) => void): Promise<Listening> {
  return listen(createServer((socket) => socket.once("data", (said) => act(socket, said))));
}

/** A server that answers every request with these bytes and ends the connection. */
export const saying = (...parts: readonly (string | Uint8Array)[]): Promise<Listening> =>
  rawServer((socket) => {
    for (const part of parts) socket.write(part);
    socket.end();
  });

/** The outgoing connections that this process tries meanwhile. */
export function watchSockets(): readonly Socket[] {
  const connect = vi.spyOn(ClientSocket.prototype, "connect");
  onTestFinished(() => connect.mockRestore());
  return connect.mock.contexts as readonly Socket[];
}

/** An exchange with endpoints on this machine. */
export function exchanging(options: Partial<ExchangeOptions> = {}): Exchange {
  return lazyExchange({ env: {}, ...options });
}

export interface Asking extends Omit<Endpoint, "url"> {
  readonly params?: JsonObject;
  readonly exchange?: Exchange;
  readonly signal?: AbortSignal;
}

/** Sends a request to an endpoint, which may be on this machine by default. */
export function ask(
  url: string,
  { params = {}, exchange, signal, ...more }: Asking = {},
): Promise<ExchangeOutcome> {
  const endpoint = { url, allow_private: true, ...more };
  return (exchange ?? exchanging())({ endpoint, params, signal: signal ?? AbortSignal.timeout(10_000) });
}
