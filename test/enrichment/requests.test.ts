import { describe, expect, it } from "vitest";
import type { Method } from "../../src/model/endpoint.js";
import type { JsonObject } from "../../src/model/json.js";
import { version } from "../../src/version.js";
import type { Asking, Heard, Listening } from "./servers.js";
import { ask, exchanging, httpServer, rawServer } from "./servers.js";

async function heardOf(path: string, asking: Asking): Promise<Heard> {
  const server = await httpServer();
  expect(await ask(`${server.url}${path}`, asking)).toEqual({ kind: "answer", data: null });
  expect(server.heard.length).toBe(1);
  return server.heard[0]!;
}

const params: JsonObject = {
  name: "Zoë & Söhne",
  amount: 12.5,
  large: true,
  note: null,
  tags: ["a", "b c"],
  at: { lat: 1 },
  "odd key?": "=&#",
};

describe("a request", () => {
  it.each<Method>(["get", "delete"])("to %s carries its params in the query", async (method) => {
    const { headers, body, ...heard } = await heardOf("/score?kind=full&name=x", { method, params });
    expect(heard.method).toBe(method.toUpperCase());
    const { pathname, searchParams } = new URL(heard.url, "http://x");
    expect([pathname, body]).toEqual(["/score", ""]);
    expect([...searchParams]).toEqual([
      ["kind", "full"],
      ["name", "Zoë & Söhne"],
      ["amount", "12.5"],
      ["large", "true"],
      ["note", ""],
      ["tags", '["a","b c"]'],
      ["at", '{"lat":1}'],
      ["odd key?", "=&#"],
    ]);
    expect(headers).not.toHaveProperty("content-type");
    expect(headers).not.toHaveProperty("transfer-encoding");
  });

  it.each<Method>(["post", "put"])("to %s carries its params as JSON", async (method) => {
    const { headers, body, ...heard } = await heardOf("/score?kind=full", { method, params });
    expect(heard).toEqual({ method: method.toUpperCase(), url: "/score?kind=full" });
    expect(JSON.parse(body)).toEqual(params);
    expect(headers).toMatchObject({
      "content-type": "application/json",
      "content-length": String(Buffer.byteLength(body)),
    });
    expect(headers).not.toHaveProperty("transfer-encoding");
  });

  it("is a GET of the URL as written by default", async () => {
    const { method, url } = await heardOf("/a%20b?x=1%202&&y", {});
    expect([method, url]).toEqual(["GET", "/a%20b?x=1%202&&y"]);
  });

  it("of POST without params has an empty object as its body", async () => {
    expect((await heardOf("/", { method: "post" })).body).toBe("{}");
  });

  it("names its user agent and the accepted type", async () => {
    expect((await heardOf("/", {})).headers).toEqual({
      accept: "application/json",
      "accept-encoding": "identity",
      "user-agent": `agent-33/${version}`,
      host: expect.stringMatching(/^127\.0\.0\.1:\d+$/) as string,
      connection: "keep-alive",
    });
  });

  it("has the headers of its endpoint, which override our own", async () => {
    const headers = { Accept: "text/csv", "X-Kind": "full", "Content-Type": "application/vnd.api+json" };
    expect((await heardOf("/", { method: "put", headers })).headers).toMatchObject({
      accept: "text/csv",
      "x-kind": "full",
      "content-type": "application/vnd.api+json",
    });
  });

  describe("on an idle connection that was closed", () => {
    /** Responds to one request per connection and resets it at the next one. */
    async function tiredServer(): Promise<Listening & { readonly resets: () => number }> {
      let resets = 0;
      const server = await rawServer((socket) => {
        socket.write("HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n");
        socket.on("data", () => {
          resets++;
          socket.resetAndDestroy();
        });
      });
      return { ...server, resets: () => resets };
    }

    it.each<Method>(["get", "put", "delete"])("is sent once more: %s", async (method) => {
      const [server, exchange] = [await tiredServer(), exchanging()];
      for (let time = 0; time < 2; time++) {
        expect(await ask(server.url, { exchange, method })).toEqual({ kind: "answer", data: null });
      }
      expect([server.resets(), server.connections()]).toEqual([1, 2]);
    });

    it("of POST does not happen, because it always has a new connection", async () => {
      const [server, exchange] = [await tiredServer(), exchanging()];
      await ask(server.url, { exchange });
      for (let time = 0; time < 2; time++) {
        expect(await ask(server.url, { exchange, method: "post" })).toEqual({ kind: "answer", data: null });
      }
      expect([server.resets(), server.connections()]).toEqual([0, 3]);
    });
  });
});
