import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { describe, expect, it, onTestFinished } from "vitest";
import { ask, exchanging, httpServer, rawServer, saying, watchSockets } from "./servers.js";

const json = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
const brokenOff = { kind: "broken", message: "the response is incomplete" };
const tooLarge = { kind: "broken", message: "the response is larger than 1 MiB" };
const notHttp = { kind: "broken", message: "the response is not valid HTTP" };
const mebibyte = 1024 * 1024;

/** Repeats an action while the socket is open. */
function keepDoing(act: () => void, socket: Socket): void {
  const timer = setInterval(act, 10);
  socket.on("close", () => {
    clearInterval(timer);
  });
}

/** Writes without end, as fast as the client reads. */
function flood(socket: Socket, chunk: Buffer): void {
  const more = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", more);
  more();
}

const withLength = (body: string, length: number): string =>
  `${json}content-length: ${length}\r\n\r\n${body}`;

describe("an endpoint that does not respond", () => {
  it.each<readonly [string, (socket: Socket) => void]>([
    ["says nothing", () => undefined],
    [
      "sends its headers one by one, without an end",
      (socket) => {
        socket.write("HTTP/1.1 200 OK\r\n");
        keepDoing(() => socket.write("x: y\r\n"), socket);
      },
    ],
    [
      "sends its body byte by byte, without an end",
      (socket) => {
        socket.write(`${json}\r\n`);
        keepDoing(() => socket.write(" "), socket);
      },
    ],
    [
      "puts its answer off again and again",
      (socket) => keepDoing(() => socket.write("HTTP/1.1 102 Processing\r\n\r\n"), socket),
    ],
  ])("in time, because it %s, is given up at once", async (_how, act) => {
    const [ending, sockets] = [new AbortController(), watchSockets()];
    let ended = Infinity;
    const server = await rawServer((socket) => {
      act(socket);
      setTimeout(() => {
        ended = performance.now();
        ending.abort();
      }, 100);
    });
    expect(await ask(server.url, { signal: ending.signal })).toEqual({ kind: "timeout" });
    expect(performance.now() - ended).toBeLessThan(1000);
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it("is not called after the time is over", async () => {
    const [server, sockets] = [await rawServer(() => undefined), watchSockets()];
    expect(await ask(server.url, { signal: AbortSignal.abort() })).toEqual({ kind: "timeout" });
    expect(sockets).toEqual([]);
  });

  it("but resets the connection is a network failure", async () => {
    const server = await rawServer((socket) => socket.resetAndDestroy());
    expect(await ask(server.url)).toEqual({
      kind: "network",
      message: "the connection was closed without a response",
    });
  });

  it("but closes the connection is a network failure", async () => {
    const server = await rawServer((socket) => socket.end());
    expect(await ask(server.url)).toEqual({
      kind: "network",
      message: "the connection was closed without a response",
    });
  });

  it("because its port is closed is a network failure", async () => {
    const server = await rawServer(() => undefined);
    // No other process can get this port: the server holds it at another address.
    expect(await ask(`http://[::1]:${server.port}/`)).toMatchObject({ kind: "network" });
    expect(server.connections()).toBe(0);
  });
});

describe("a status", () => {
  it.each([400, 401, 403, 404, 408, 425, 500, 502, 503, 504, 599])(
    "of %i is told as it is",
    async (status) => {
      const server = await httpServer((_request, response) => response.writeHead(status).end("{}"));
      expect(await ask(server.url)).toEqual({ kind: "status", status });
    },
  );

  it.each(["7", "Wed, 21 Oct 2026 07:28:00 GMT"])("includes its Retry-After: %s", async (retryAfter) => {
    const server = await httpServer((_request, response) =>
      response.writeHead(429, { "retry-after": retryAfter }).end(),
    );
    expect(await ask(server.url)).toEqual({ kind: "status", status: 429, retryAfter });
  });

  it("other than 2xx does not read the body", async () => {
    const sockets = watchSockets();
    const server = await rawServer((socket) => {
      socket.write("HTTP/1.1 500 Oops\r\ncontent-type: text/plain\r\n\r\n");
      flood(socket, Buffer.alloc(64 * 1024, "x"));
    });
    expect(await ask(server.url)).toEqual({ kind: "status", status: 500 });
    expect(sockets[0]?.destroyed).toBe(true);
    expect(sockets[0]?.bytesRead).toBeLessThan(mebibyte);
  });

  it.each([301, 302, 303, 307, 308])("of %i is not followed", async (status) => {
    const elsewhere = await httpServer();
    const server = await httpServer((_request, response) =>
      response.writeHead(status, { location: `${elsewhere.url}/?leak` }).end(),
    );
    const sockets = watchSockets();
    expect(await ask(server.url, { headers: { "x-key": "canary" } })).toEqual({ kind: "status", status });
    expect([elsewhere.connections(), server.heard.length, sockets.length]).toEqual([0, 1, 1]);
  });
});

describe("a response that is too large", () => {
  it.each([
    ["by what it says", `content-length: ${100 * mebibyte}\r\n`, mebibyte / 2],
    ["and says nothing of its length", "", mebibyte * 1.25],
  ])("%s is cut off", async (_how, header, mostRead) => {
    const sockets = watchSockets();
    const server = await rawServer((socket) => {
      socket.write(`${json}${header}\r\n`);
      flood(socket, Buffer.alloc(64 * 1024, " "));
    });
    expect(await ask(server.url)).toEqual(tooLarge);
    expect(sockets[0]?.destroyed).toBe(true);
    expect(sockets[0]?.bytesRead).toBeLessThan(mostRead);
  });

  it("in small chunks is cut off", async () => {
    const sockets = watchSockets();
    const server = await rawServer((socket) => {
      socket.write(`${json}transfer-encoding: chunked\r\n\r\n`);
      flood(socket, Buffer.from("400\r\n".concat(" ".repeat(1024), "\r\n").repeat(16)));
    });
    expect(await ask(server.url)).toEqual(tooLarge);
    expect(sockets[0]?.bytesRead).toBeLessThan(mebibyte + 256 * 1024);
  });

  it.each([
    ["just fits", mebibyte, { kind: "answer", data: "x".repeat(mebibyte) }],
    ["is one byte longer", mebibyte + 1, tooLarge],
  ])("is recognised by its last byte: one that %s", async (_how, length, exchanged) => {
    const server = await httpServer((_request, response) => {
      response.writeHead(200, { "transfer-encoding": "chunked" }).end("x".repeat(length));
    });
    expect(await ask(server.url)).toEqual(exchanged);
  });

  it("in its headers is broken", async () => {
    const server = await saying(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(20_000)}\r\n\r\n`);
    expect(await ask(server.url)).toEqual(notHttp);
  });
});

describe("an incomplete response", () => {
  it.each([
    ["ends before its length", withLength('{"score": 1', 500), brokenOff],
    ["has no last chunk", `${json}transfer-encoding: chunked\r\n\r\n2\r\n{}\r\n`, brokenOff],
    ["has a broken chunk", `${json}transfer-encoding: chunked\r\n\r\nzz\r\n{}\r\n0\r\n\r\n`, brokenOff],
    [
      "has a chunk that is shorter than it says",
      `${json}transfer-encoding: chunked\r\n\r\nff\r\n{}`,
      brokenOff,
    ],
    ["goes on after its length", withLength('{"score": 1}', 2), brokenOff],
    ["has two lengths", `${json}content-length: 2\r\ncontent-length: 3\r\n\r\n{} `, notHttp],
    ["has a length and chunks", `${json}content-length: 2\r\ntransfer-encoding: chunked\r\n\r\n{}`, notHttp],
    ["has a length that is no number", `${json}content-length: many\r\n\r\n{}`, notHttp],
    ["has a length below zero", `${json}content-length: -1\r\n\r\n{}`, notHttp],
    ["is not HTTP", "SSH-2.0-OpenSSH_9.6\r\n", notHttp],
    ["is what a TLS server says", Buffer.from("15030100020228", "hex"), notHttp],
    ["has a header with a NUL", `HTTP/1.1 200 OK\r\nx: \0\r\n\r\n`, notHttp],
    [
      "speaks another protocol from there on",
      "HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: websocket\r\n\r\n",
      { kind: "broken", message: "the response switches to another protocol" },
    ],
  ])("%s", async (_how, said, exchanged) => {
    const server = await saying(said);
    expect(await ask(server.url)).toEqual(exchanged);
  });

  it("is reset within its body", async () => {
    const server = await rawServer((socket) => {
      socket.write(withLength('{"score": 1', 500), () => setTimeout(() => socket.resetAndDestroy(), 30));
    });
    expect(await ask(server.url)).toEqual(brokenOff);
  });
});

describe("a response that contradicts its headers", () => {
  const notUtf8 = { kind: "broken", message: "the response is not UTF-8" };
  const compressed = { kind: "broken", message: "the response is compressed, which was not requested" };
  const noJson = { kind: "broken", message: "the response is not valid JSON" };

  const nested = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`;

  it.each([
    ["compressed", { "content-encoding": "gzip" }, gzipSync("{}"), compressed],
    ["compressed, but not saying so", {}, gzipSync("{}"), notUtf8],
    ["in Latin-1", {}, Buffer.from('{"name": "Zoë"}', "latin1"), notUtf8],
    [
      "in an encoding that is not UTF-8",
      { "content-type": "application/json; charset=iso-8859-1" },
      "{}",
      notUtf8,
    ],
    ["in half a character", { "content-type": "text/plain" }, Buffer.from([0x61, 0xe2, 0x82]), notUtf8],
    ["half an object", {}, '{"score": 1', noJson],
    ["a page", {}, "<html></html>", noJson],
    ["white space", {}, "  ", noJson],
    ["not a number", {}, "NaN", noJson],
    [
      "too deep",
      {},
      nested(129),
      { kind: "broken", message: "the response cannot be used: it is nested deeper than 128" },
    ],
    [
      "as deep as can be sent",
      {},
      nested(500_000),
      { kind: "broken", message: "the response cannot be used: it is nested deeper than 128" },
    ],
    [
      "a number that is too large",
      {},
      '{"score": 1e999}',
      {
        kind: "broken",
        message: "the response cannot be used: `Infinity` is not a JSON number",
      },
    ],
  ])("is broken: %s", async (_how, headers, body, exchanged) => {
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-type": "application/json", ...headers }).end(body),
    );
    expect(await ask(server.url)).toEqual(exchanged);
  });

  it("has the exact text of integers that a number cannot represent", async () => {
    const server = await httpServer((_request, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end('{"id": 12345678901234567890, "n": [1, -9007199254740993]}'),
    );
    const data = { id: "12345678901234567890", n: [1, "-9007199254740993"] };
    expect(await ask(server.url)).toEqual({ kind: "answer", data, integers_as_text: 2 });
  });

  it("cannot change the prototype of objects", async () => {
    const body = '{"__proto__": {"polluted": true}, "constructor": {"prototype": {"polluted": true}}}';
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end(body),
    );
    const exchanged = await ask(server.url);
    expect(JSON.stringify(exchanged)).toBe(
      JSON.stringify({ kind: "answer", data: JSON.parse(body) as unknown }),
    );
    expect(Object.getPrototypeOf((exchanged as { data: object }).data)).toBe(Object.prototype);
    expect(({} as { polluted?: true }).polluted).toBeUndefined();
  });
});

describe("a response", () => {
  it.each([
    ["JSON", "application/json", '{"score": 700}', { score: 700 }],
    ["JSON with a charset", 'Application/JSON ; Charset="UTF-8"', "[1]", [1]],
    ["JSON of a kind", "application/problem+json", '"x"', "x"],
    ["JSON with a mark before it", "application/json", "\ufeff{}", {}],
    ["JSON that is null", "application/json", "null", null],
    ["JSON beyond ASCII", "application/json", '{"name": "Zoë"}', { name: "Zoë" }],
    ["JSON as deep as the tool takes", "application/json", `${"[".repeat(128)}${"]".repeat(128)}`, undefined],
    ["plain text", "text/plain; charset=us-ascii", '{"score": 700}', '{"score": 700}'],
    ["lines of JSON", "application/x-ndjson", "{}\n{}\n", "{}\n{}\n"],
    ["nothing", "application/json", "", null],
  ])("may be %s", async (_what, type, body, data) => {
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-type": type, "content-encoding": "identity" }).end(body),
    );
    expect(await ask(server.url)).toEqual({
      kind: "answer",
      data: data === undefined ? (JSON.parse(body) as unknown) : data,
    });
  });

  it("without a content type is text", async () => {
    const server = await saying("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n700");
    expect(await ask(server.url)).toEqual({ kind: "answer", data: "700" });
  });

  it.each([201, 202, 204, 205])("of status %i is accepted", async (status) => {
    const server = await httpServer((_request, response) => response.writeHead(status).end());
    expect(await ask(server.url)).toEqual({ kind: "answer", data: null });
  });

  it("is frozen", async () => {
    const server = await httpServer((_request, response) =>
      response.writeHead(200, { "content-type": "application/json" }).end('{"a": [1]}'),
    );
    const { data } = (await ask(server.url)) as unknown as { readonly data: { readonly a: unknown } };
    expect([data, data.a].every(Object.isFrozen)).toBe(true);
  });

  it("may follow others on the same connection", async () => {
    const warnings: Error[] = [];
    const warn = (warning: Error): void => void warnings.push(warning);
    process.on("warning", warn);
    onTestFinished(() => void process.off("warning", warn));
    const server = await httpServer();
    const signal = AbortSignal.timeout(10_000);
    const exchange = exchanging();
    for (let index = 0; index < 20; index++) await ask(server.url, { exchange, signal });
    expect([server.heard.length, server.connections(), warnings]).toEqual([20, 1, []]);
  });
});
