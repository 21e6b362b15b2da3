import type { Server, Socket } from "node:net";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";

/** What a server may do to those who ask it, by path. */
type Behaviour = (socket: Socket, request: string) => void;

const json = (body: string, more = ""): string =>
  `HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n${more}\r\n${body}`;

const status = (line: string, more = ""): string => `HTTP/1.1 ${line}\r\ncontent-length: 0\r\n${more}\r\n`;

/** Writes again and again until nobody listens. */
function drip(socket: Socket, text: string, everyMilliseconds: number): void {
  const timer = setInterval(() => socket.write(text), everyMilliseconds);
  socket.once("close", () => clearInterval(timer));
}

function flood(socket: Socket, bytes: number): void {
  const chunk = Buffer.alloc(64 * 1024, "a");
  let left = bytes;
  const more = (): void => {
    while (left > 0) {
      left -= chunk.length;
      if (!socket.write(chunk)) {
        socket.once("drain", more);
        return;
      }
    }
  };
  more();
}

const hundredMegabytes = 100 * 1024 * 1024;

export const behaviours: Readonly<Record<string, Behaviour>> = {
  fine: (socket) => socket.end(json('{"score": 720}')),
  silent: () => undefined,
  "slow-headers": (socket) => {
    socket.write("HTTP/1.1 200 OK\r\n");
    drip(socket, "x-more: 1\r\n", 50);
  },
  drip: (socket) => {
    socket.write("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n");
    drip(socket, " ", 20);
  },
  reset: (socket) => socket.resetAndDestroy(),
  "too-many": (socket) => socket.end(status("429 Too Many Requests", "retry-after: 600\r\n")),
  "server-error": (socket) => socket.end(status("500 Internal Server Error")),
  "half-a-body": (socket) =>
    socket.end('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n{"score":'),
  "a-hundred-megabytes": (socket) => {
    socket.write(
      `HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\ncontent-length: ${hundredMegabytes}\r\n\r\n`,
    );
    flood(socket, hundredMegabytes);
  },
  "no-http": (socket) => socket.end("220 mail.example ESMTP ready\r\n"),
  "broken-json": (socket) => socket.end(json('{"score": 72')),
  "deep-json": (socket) => socket.end(json("[".repeat(100_000) + "]".repeat(100_000))),
  "no-text": (socket) =>
    socket.end(
      Buffer.concat([
        Buffer.from("HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 4\r\n\r\n"),
        Buffer.from([0xff, 0xfe, 0x22, 0x00]),
      ]),
    ),
  echo: (socket, request) => socket.end(json(JSON.stringify({ score: 1, seen: request }))),
  "echo-in-status": (socket, request) => {
    const secret = /^(?:x-api-key|authorization): (.*)$/im.exec(request)?.[1] ?? "";
    socket.end(status(`500 ${secret}`));
  },
};

export interface HostileServer {
  readonly port: number;
  /** How many connections there were. */
  readonly connections: number;
  /** All that was sent to it. */
  readonly heard: string;
  close(): Promise<void>;
}

/** Does to each request what its path is called; `redirect` leads to another server. */
export async function startHostileServer(elsewhere?: string): Promise<HostileServer> {
  const open = new Set<Socket>();
  let connections = 0;
  let heard = "";
  const server: Server = createServer((socket) => {
    connections++;
    open.add(socket);
    socket.once("close", () => open.delete(socket));
    socket.on("error", () => undefined);
    let request = "";
    socket.on("data", (bytes) => {
      request += bytes.toString("latin1");
      heard += bytes.toString("latin1");
      if (!request.includes("\r\n\r\n")) return;
      const name = /^\w+ \/([^? ]*)/.exec(request)?.[1] ?? "";
      const asked = request;
      request = "";
      if (name === "redirect") socket.end(status("302 Found", `location: ${elsewhere ?? ""}\r\n`));
      else behaviours[name]?.(socket, asked);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    get connections() {
      return connections;
    },
    get heard() {
      return heard;
    },
    async close() {
      for (const socket of open) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
