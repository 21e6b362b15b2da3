import { describe, expect, it } from "vitest";
import type { Auth } from "../../src/model/endpoint.js";
import type { Json } from "../../src/model/json.js";
import { ask, exchanging, httpServer, rawServer, watchSockets } from "./servers.js";

const env = {
  KEY: "canary-key/+=x",
  USER: "canary-user",
  PASSWORD: 'canary pass"wörd',
  TOKEN: "canary.token-123456",
  EMPTY: "",
  BLANK: " \t",
  LINES: "canary\n",
  UMLAUT: "canäry",
  COLON: "canary:user",
};

const basic: Auth = { type: "basic", username_key: "USER", password_key: "PASSWORD" };
const bearer: Auth = { type: "bearer", token_key: "TOKEN" };
const apiKey: Auth = { type: "api_key", secret_key: "KEY" };
const allOfThem: readonly (readonly [string, Auth])[] = [
  ["api_key", apiKey],
  ["basic", basic],
  ["bearer", bearer],
];

const base64 = (text: string): string => Buffer.from(text).toString("base64");

describe("auth", () => {
  it.each<readonly [string, Auth, string, string]>([
    ["api_key", apiKey, "x-api-key", env.KEY],
    ["api_key with a header", { ...apiKey, header: "X-Bureau" }, "x-bureau", env.KEY],
    ["basic", basic, "authorization", `Basic ${base64(`${env.USER}:${env.PASSWORD}`)}`],
    ["bearer", bearer, "authorization", `Bearer ${env.TOKEN}`],
  ])("of type %s is a header", async (_type, auth, name, value) => {
    const server = await httpServer();
    expect(await ask(server.url, { auth, exchange: exchanging({ env }) })).toEqual({
      kind: "answer",
      data: null,
    });
    expect(server.heard[0]?.headers[name]).toBe(value);
  });

  it("overrides a header of the same name in any letter case", async () => {
    const server = await httpServer();
    await ask(server.url, {
      auth: bearer,
      headers: { AUTHORIZATION: "Bearer other" },
      exchange: exchanging({ env }),
    });
    expect(server.heard[0]?.headers.authorization).toBe(`Bearer ${env.TOKEN}`);
  });

  it.each<readonly [string, Auth]>([
    ["`MISSING` is not set", { type: "api_key", secret_key: "MISSING" }],
    ["`constructor` is not set", { type: "api_key", secret_key: "constructor" }],
    ["`EMPTY` is empty", { type: "bearer", token_key: "EMPTY" }],
    ["`BLANK` is empty", { type: "bearer", token_key: "BLANK" }],
    ["`MISSING` is not set", { ...basic, username_key: "MISSING" }],
    ["`EMPTY` is empty", { ...basic, password_key: "EMPTY" }],
    [
      "`LINES` contains characters that are not allowed in a header",
      { type: "api_key", secret_key: "LINES" },
    ],
    ["`LINES` contains characters that are not allowed in a header", { type: "bearer", token_key: "LINES" }],
    [
      "`UMLAUT` contains characters that are not allowed in a header",
      { type: "bearer", token_key: "UMLAUT" },
    ],
    ["`LINES` contains control characters, such as a line break", { ...basic, password_key: "LINES" }],
    ["`COLON` contains `:`, which is not allowed in a user name", { ...basic, username_key: "COLON" }],
  ])("is refused without a usable secret: %s", async (fault, auth) => {
    const [server, sockets] = [await httpServer(), watchSockets()];
    const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
    expect(exchanged).toEqual({ kind: "refused", message: `the environment variable ${fault}` });
    expect([server.connections(), sockets]).toEqual([0, []]);
  });

  it.each(["Host", "Content-Length", "x y", "x\r\nx"])("cannot be in the header %j", async (header) => {
    const [server, exchange] = [await httpServer(), exchanging({ env })];
    const exchanged = await ask(server.url, { auth: { ...apiKey, header }, exchange });
    expect(exchanged.kind).toBe("refused");
    expect(JSON.stringify(exchanged)).not.toContain("canary");
    expect(server.connections()).toBe(0);
  });
});

/** Every encoding in which a secret could be read. */
function expectNoSecretIn(exchanged: unknown): void {
  const shown = JSON.stringify(exchanged);
  for (const secret of [env.KEY, env.USER, env.PASSWORD, env.TOKEN, `${env.USER}:${env.PASSWORD}`]) {
    for (const spelling of [
      secret,
      base64(secret),
      encodeURIComponent(secret),
      JSON.stringify(secret).slice(1, -1),
    ]) {
      expect(shown).not.toContain(spelling);
    }
  }
  expect(shown).not.toMatch(/canary/i);
}

describe("a secret", () => {
  it.each(allOfThem)(
    "of %s does not come back where an endpoint repeats its headers",
    async (_type, auth) => {
      const server = await httpServer((request, response) => {
        const { headers, rawHeaders } = request;
        const values = Object.fromEntries(Object.values(headers).map((value) => [String(value), 1]));
        const [user = "", password = ""] = Buffer.from(headers.authorization?.slice(6) ?? "", "base64")
          .toString()
          .split(":");
        const echo = { headers, rawHeaders, values, user, password, text: JSON.stringify(headers) };
        const encoded = {
          url: encodeURIComponent(JSON.stringify(echo)),
          base64: base64(JSON.stringify(echo)),
        };
        response
          .writeHead(200, { "content-type": "application/json" })
          .end(JSON.stringify({ echo, encoded }));
      });
      const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
      expect(exchanged).toMatchObject({
        kind: "answer",
        data: { echo: { headers: { accept: "application/json" } } },
      });
      expectNoSecretIn(exchanged);
      const { encoded } = (exchanged as unknown as { data: { encoded: { url: string; base64: string } } })
        .data;
      expectNoSecretIn([decodeURIComponent(encoded.url)]);
      expect(encoded.base64).toContain("[secret]");
    },
  );

  it.each(allOfThem)("of %s is masked in a text", async (_type, auth) => {
    const server = await httpServer((request, response) => response.end(request.rawHeaders.join("\n")));
    const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
    expect(exchanged).toMatchObject({ kind: "answer", data: expect.stringContaining("[secret]") as string });
    expectNoSecretIn(exchanged);
  });

  it.each(allOfThem)("of %s is masked with a failed status", async (_type, auth) => {
    const server = await httpServer((request, response) => {
      const secret = request.headers.authorization ?? request.headers["x-api-key"];
      response
        .writeHead(429, String(secret), { "retry-after": String(secret), location: String(secret) })
        .end();
    });
    const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
    expect(exchanged).toMatchObject({ kind: "status", status: 429 });
    expectNoSecretIn(exchanged);
  });

  it.each(allOfThem)("of %s is masked in the message of a broken response", async (_type, auth) => {
    const server = await rawServer((socket, said) => {
      socket.write(said);
      socket.end();
    });
    const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
    expect(exchanged.kind).toBe("broken");
    expectNoSecretIn(exchanged);
  });

  it.each(allOfThem)("of %s is masked in the message of invalid JSON", async (_type, auth) => {
    const server = await httpServer((request, response) =>
      response
        .writeHead(200, { "content-type": "application/json" })
        .end(`{"x": ${request.rawHeaders.join("\n")}`),
    );
    const exchanged = await ask(server.url, { auth, exchange: exchanging({ env }) });
    expect(exchanged.kind).toBe("broken");
    expectNoSecretIn(exchanged);
  });

  it("is masked where it is part of the host name", async () => {
    const exchange = exchanging({ env: { KEY: "canary" }, lookUp: () => Promise.resolve(["127.0.0.1"]) });
    const asking = { auth: apiKey, allow_private: false, exchange };
    expect(await ask("http://canary.example/", asking)).toMatchObject({
      kind: "refused",
      message: expect.stringContaining("`[secret].example` resolves to `127.0.0.1`") as Json,
    });
  });

  it("is not sent to the target of a redirect", async () => {
    const elsewhere = await httpServer();
    const server = await httpServer((_request, response) =>
      response.writeHead(302, { location: elsewhere.url }).end(),
    );
    for (const [, auth] of allOfThem) {
      expect(await ask(server.url, { auth, exchange: exchanging({ env }) })).toEqual({
        kind: "status",
        status: 302,
      });
    }
    expect([server.heard.length, elsewhere.connections()]).toEqual([3, 0]);
  });
});
