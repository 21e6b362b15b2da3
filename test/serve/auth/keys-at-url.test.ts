import { createServer } from "node:http";
import type { RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import type { Authenticate } from "../../../src/serve/auth/authenticate.js";
import { openKeysAtUrl } from "../../../src/serve/auth/keys-at-url.js";
import { authenticateWithKeys, openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { TokenKey, TokenWorld } from "./token-world.js";
import { algorithms, keyOf, keySetOf, optionsOf, tokenKey, tokenOf, tokenWorld } from "./token-world.js";

let world: TokenWorld;
let old: TokenKey;
let fresh: TokenKey;

beforeAll(async () => {
  world = await tokenWorld();
  old = keyOf(world, "ES256");
  fresh = await tokenKey("ES256", "fresh");
});

interface Issuer {
  readonly url: string;
  readonly asked: () => number;
  answer: RequestListener;
  readonly close: () => Promise<void>;
}

const serving =
  (...keys: readonly TokenKey[]): RequestListener =>
  (_request, response) =>
    response.end(keySetOf(...keys));

/** Serves on a loopback address until the test ends. */
async function issuer(answer: RequestListener): Promise<Issuer> {
  let asked = 0;
  const server = createServer((request, response) => {
    asked++;
    made.answer(request, response);
  });
  await new Promise<void>((listening) => server.listen(0, "127.0.0.1", listening));
  const close = async (): Promise<void> => {
    const closed = new Promise((done) => server.close(done));
    server.closeAllConnections();
    await closed;
  };
  onTestFinished(close);
  const { port } = server.address() as AddressInfo;
  const made: Issuer = { url: `http://127.0.0.1:${port}/jwks`, asked: () => asked, answer, close };
  return made;
}

/** Fakes only the date; sockets and timers run as usual. */
function holdDate(): (ms: number) => void {
  let now = world.now * 1000;
  vi.useFakeTimers({ toFake: ["Date"], now });
  onTestFinished(() => void vi.useRealTimers());
  return (ms) => vi.setSystemTime((now += ms));
}

const reports: string[] = [];

function open(url: string): Promise<Authenticate> {
  reports.length = 0;
  return openAuthenticator(optionsOf(world, url), { report: (message) => reports.push(message) });
}

/** Authenticates with a token signed by the key: 200, or the error. */
async function ask(authenticate: Authenticate, key: TokenKey): Promise<number> {
  const found = await authenticate(`Bearer ${tokenOf(world, { key })}`);
  return "status" in found ? found.status : 200;
}

describe("keys at a URL", () => {
  it("are fetched once for many tokens", async () => {
    const { url, asked } = await issuer(serving(...Object.values(world.keys)));
    const authenticate = await open(url);
    const found = await Promise.all(algorithms.map((alg) => ask(authenticate, keyOf(world, alg))));
    expect(found).toEqual(algorithms.map(() => 200));
    expect(asked()).toBe(1);
  });

  it("are fetched again for an unknown kid, but not for every one", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(200);
    served.answer = serving(old, fresh);
    for (let round = 0; round < 5; round++) expect(await ask(authenticate, fresh)).toBe(401);
    expect(served.asked()).toBe(1);
    advance(10_000);
    expect(await ask(authenticate, fresh)).toBe(200);
    expect(await ask(authenticate, old)).toBe(200);
    expect(served.asked()).toBe(2);
  });

  it("drop a removed key and the tokens it verified", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const authenticate = await open(served.url);
    const header = `Bearer ${tokenOf(world, { key: old, claims: { exp: world.now + 9000 } })}`;
    expect(await authenticate(header)).toMatchObject({ subject: "user-1" });
    served.answer = serving(fresh);
    advance(10_000);
    expect(await ask(authenticate, fresh)).toBe(200);
    expect(await authenticate(header)).toMatchObject({ status: 401 });
  });

  it("are revoked when the issuer serves an empty set, which is reported", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(200);
    served.answer = serving();
    advance(301_000);
    await ask(authenticate, old);
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    expect(reports[0]).toContain("it contains no key for signatures; all tokens are rejected");
    await vi.waitFor(async () => expect(await ask(authenticate, old)).toBe(401));
  });

  it("are the same edition until they change", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const keys = openKeysAtUrl(
      new URL(served.url),
      () => Date.now(),
      () => undefined,
    );
    const first = await keys.edition();
    advance(600_001);
    expect(await keys.edition()).toBe(first);
    served.answer = serving(fresh);
    advance(600_001);
    expect(await keys.edition()).not.toBe(first);
    expect(served.asked()).toBe(3);
  });

  it("are refreshed in the background before they expire", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(200);
    advance(301_000);
    const again = new Promise<void>((resolve) => {
      served.answer = (request, response) => {
        serving(old)(request, response);
        resolve();
      };
    });
    expect(await ask(authenticate, old)).toBe(200);
    await again;
    expect(served.asked()).toBe(2);
  });

  it("stay valid for exactly ten minutes without the issuer", async () => {
    const advance = holdDate();
    const served = await issuer(serving(old));
    const authenticate = await open(served.url);
    const header = `Bearer ${tokenOf(world, { key: old, claims: { exp: world.now + 9000 } })}`;
    expect(await authenticate(header)).toMatchObject({ subject: "user-1" });
    await served.close();
    advance(599_000);
    expect(await authenticate(header)).toMatchObject({ subject: "user-1" });
    await vi.waitFor(() => expect(reports).toHaveLength(1));
    advance(2000);
    expect(await authenticate(header)).toEqual({
      status: 503,
      message: "tokens cannot be verified at the moment",
      hint: "try again in 5 s",
    });
  });

  it("may be unavailable at the start, and are fetched again after a pause", async () => {
    const advance = holdDate();
    const served = await issuer((_request, response) => response.writeHead(500).end());
    const authenticate = await open(served.url);
    for (let round = 0; round < 5; round++) expect(await ask(authenticate, old)).toBe(503);
    expect(served.asked()).toBe(1);
    expect(reports).toEqual([`the keys at \`${served.url}\` cannot be fetched: the response has status 500`]);
    served.answer = serving(old);
    advance(1999);
    expect(await ask(authenticate, old)).toBe(503);
    advance(1);
    expect(await ask(authenticate, old)).toBe(200);
  });

  it("are not needed to reject a malformed token", async () => {
    const served = await issuer((_request, response) => response.writeHead(500).end());
    const authenticate = await open(served.url);
    expect(await authenticate(undefined)).toMatchObject({ status: 401 });
    expect(await authenticate("Bearer a.b.c")).toMatchObject({ status: 401 });
    expect(await authenticate(`Bearer ${tokenOf(world, { header: { alg: "none" } })}`)).toMatchObject({
      status: 401,
    });
  });

  it("are unavailable if the connection is refused", async () => {
    const served = await issuer(serving(old));
    await served.close();
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(503);
    expect(reports[0]).toContain("ECONNREFUSED");
  });

  it.each<[string, RequestListener, string]>([
    [
      "HTML",
      (_request, response) => response.setHeader("content-type", "text/html").end("<html>"),
      "it is not JSON",
    ],
    ["nothing", (_request, response) => response.end(), "it is not JSON"],
    ["204", (_request, response) => response.writeHead(204).end(), "the response has status 204"],
    ["404", (_request, response) => response.writeHead(404).end("{}"), "the response has status 404"],
    [
      "a private key",
      (_request, response) =>
        response.end(JSON.stringify({ keys: [old.privateKey.export({ format: "jwk" })] })),
      "contains a private key",
    ],
    [
      "a symmetric key beside a good one",
      (_request, response) => response.end(JSON.stringify({ keys: [old.jwk, { kty: "oct", k: "AA" }] })),
      "is a symmetric key",
    ],
    [
      "an answer that breaks off",
      (request, response) => {
        response.writeHead(200, { "content-length": 1000 }).write("{");
        setImmediate(() => request.socket.destroy());
      },
      "cannot be fetched",
    ],
  ])("are unavailable if the issuer answers with %s", async (_name, answer, why) => {
    const served = await issuer(answer);
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(503);
    expect(reports[0]).toContain(why);
  });

  it.each([301, 302, 303, 307, 308])("are not fetched from a redirect: status %i", async (status) => {
    const elsewhere = await issuer(serving(old));
    const served = await issuer((_request, response) =>
      response.writeHead(status, { location: elsewhere.url }).end(),
    );
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(503);
    expect(elsewhere.asked()).toBe(0);
  });

  it.each([true, false])("are rejected after one megabyte; with content-length: %s", async (announced) => {
    let sent = 0;
    let end: () => void;
    const ended = new Promise<void>((resolve) => (end = resolve));
    const served = await issuer((_request, response) => {
      if (announced) response.setHeader("content-length", 1024 ** 3);
      const chunk = Buffer.alloc(64 * 1024, " ");
      const send = (): void => {
        while (sent < 1024 ** 3 && !response.destroyed) {
          sent += chunk.length;
          if (!response.write(chunk)) break;
        }
      };
      response.on("drain", send).on("close", () => end());
      send();
    });
    const authenticate = await open(served.url);
    expect(await ask(authenticate, old)).toBe(503);
    await ended;
    expect(sent).toBeLessThan(64 * 1024 * 1024);
    expect(reports[0]).toContain("the response is larger than 1 MiB");
  });

  it.each<[string, RequestListener]>([
    ["never answers", () => undefined],
    ["never ends its answer", (_request, response) => response.writeHead(200).write("{")],
  ])("time out when the issuer %s", async (_name, answer) => {
    const served = await issuer(answer);
    const reports: string[] = [];
    const keys = openKeysAtUrl(
      new URL(served.url),
      () => Date.now(),
      (message) => reports.push(message),
      {
        timeout: 150,
        cooldown: 10_000,
        maxAge: 600_000,
      },
    );
    const authenticate = authenticateWithKeys(
      keys,
      { ...optionsOf(world, served.url), algorithms },
      () => world.now,
    );
    expect(await ask(authenticate, old)).toBe(503);
    expect(reports[0]).toMatch(/cannot be fetched: .*timeout/);
  });
});
