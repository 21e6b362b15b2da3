import { createServer } from "node:https";
import { connect } from "node:net";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Method } from "../../src/model/endpoint.js";
import type { Certificate } from "./certificate.js";
import { certificateFor } from "./certificate.js";
import type { Listening } from "./servers.js";
import { ask, exchanging, httpServer, listen, rawServer, saying, watchSockets } from "./servers.js";

const lookUp = (): Promise<readonly string[]> => Promise.resolve(["127.0.0.1"]);

async function secureServer(certificate: Certificate): Promise<Listening & { readonly heard: string[] }> {
  const heard: string[] = [];
  const server = createServer(certificate, (request, response) => {
    heard.push(String(request.headers.host));
    response.writeHead(200, { "content-type": "application/json" }).end('{"score": 700}');
  });
  return { ...(await listen(server)), heard };
}

describe("a connection with TLS", () => {
  it.each<Method>(["get", "post"])("is made to the host that the certificate names: %s", async (method) => {
    const certificate = certificateFor("rates.example");
    const server = await secureServer(certificate);
    const exchange = exchanging({ lookUp, authorities: certificate.cert });
    expect(await ask(`https://rates.example:${server.port}/`, { exchange, method })).toEqual({
      kind: "answer",
      data: { score: 700 },
    });
    expect(server.heard).toEqual([`rates.example:${server.port}`]);
  });

  it("is not made with a certificate for another host", async () => {
    const certificate = certificateFor("other.example");
    const server = await secureServer(certificate);
    const exchange = exchanging({ lookUp, authorities: certificate.cert });
    expect(await ask(`https://rates.example:${server.port}/`, { exchange })).toEqual({
      kind: "network",
      message: "its certificate is for another host name",
    });
    expect(server.heard).toEqual([]);
  });

  it("is not made with an expired certificate", async () => {
    const certificate = certificateFor("rates.example", { until: "20210101000000Z" });
    const server = await secureServer(certificate);
    const exchange = exchanging({ lookUp, authorities: certificate.cert });
    expect(await ask(`https://rates.example:${server.port}/`, { exchange })).toEqual({
      kind: "network",
      message: "its certificate has expired",
    });
    expect(server.heard).toEqual([]);
  });

  it("is not made with an untrusted certificate, whatever the environment variables say", async () => {
    const before = process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    onTestFinished(() => {
      if (before === undefined) delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
      else process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = before;
    });
    process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
    const server = await secureServer(certificateFor("rates.example"));
    const exchange = exchanging({ lookUp });
    expect(await ask(`https://rates.example:${server.port}/`, { exchange })).toEqual({
      kind: "network",
      message: "its certificate is not trusted (DEPTH_ZERO_SELF_SIGNED_CERT)",
    });
    expect(server.heard).toEqual([]);
  });

  it("is not made to a server without TLS", async () => {
    const server = await saying("HTTP/1.1 400 Bad Request\r\n\r\n");
    expect(await ask(`https://127.0.0.1:${server.port}/`)).toMatchObject({
      kind: "network",
      message: expect.stringContaining("the TLS handshake failed") as string,
    });
  });

  it("is given up where the server is silent", async () => {
    const [ending, sockets] = [new AbortController(), watchSockets()];
    const server = await rawServer(() => setTimeout(() => ending.abort(), 50));
    const asking = { signal: ending.signal };
    expect(await ask(`https://127.0.0.1:${server.port}/`, asking)).toEqual({ kind: "timeout" });
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([true]);
  });

  it("is not reused for another host at the same address", async () => {
    const certificate = certificateFor("rates.example");
    const server = await secureServer(certificate);
    const exchange = exchanging({ lookUp, authorities: certificate.cert });
    await ask(`https://rates.example:${server.port}/`, { exchange });
    expect(await ask(`https://other.example:${server.port}/`, { exchange })).toMatchObject({
      kind: "network",
      message: "its certificate is for another host name",
    });
  });
});

const openSockets = (): number =>
  process.getActiveResourcesInfo().filter((name) => name === "TCPSocketWrap").length;

/** Waits until the number is stable. */
async function settledSockets(): Promise<number> {
  for (;;) {
    const count = openSockets();
    await new Promise((done) => setTimeout(done, 200));
    if (openSockets() === count) return count;
  }
}

describe("an idle connection", () => {
  it("does not keep the process running", async () => {
    const server = await httpServer((request, response) => {
      // Counts only the client's side.
      request.socket.unref();
      response.end();
    });
    // Sockets of earlier tests may still be closing.
    expect(await settledSockets()).toBe(0);
    const sockets = watchSockets();
    await ask(server.url);
    await new Promise((done) => setImmediate(done));
    expect(sockets.map(({ destroyed }) => destroyed)).toEqual([false]);
    expect(openSockets()).toBe(0);
    // Proves that the count includes sockets.
    const other = connect(server.port, "127.0.0.1");
    await new Promise((done) => other.once("connect", done));
    expect(openSockets()).toBeGreaterThan(0);
    other.destroy();
  });

  it("is reused for the next request, but not for another host at its address", async () => {
    const server = await httpServer();
    const exchange = exchanging({ lookUp });
    for (const host of ["a.example", "a.example", "b.example"]) {
      await ask(`http://${host}:${server.port}/`, { exchange });
    }
    expect([server.heard.length, server.connections()]).toEqual([3, 2]);
  });
});
