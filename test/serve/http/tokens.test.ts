import { connect } from "node:net";
import { beforeAll, describe, expect, it, vi } from "vitest";
import type { TokenOptions } from "../../../src/serve/auth/authenticate.js";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { sampleWorld } from "../sample-world.js";
import { hostileTokens } from "../auth/hostile-tokens.js";
import type { TokenWorld } from "../auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import { goodRequest } from "./hostile-requests.js";
import { rawExchange } from "./raw-exchange.js";
import type { Answered, Serving, ServingOptions } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let world: ServedWorld;
let tokens: TokenWorld;
let server: Serving;

async function guarded(more: Partial<TokenOptions> = {}, options: ServingOptions = {}): Promise<Serving> {
  const authenticate = await openAuthenticator({ ...optionsOf(tokens, keyFile(keySet(tokens))), ...more });
  return serving({
    world,
    authenticate,
    allowedOrigins: { hosts: undefined, origins: [], loopback: false },
    ...options,
  });
}

beforeAll(async () => {
  [world, tokens] = await Promise.all([sampleWorld(), tokenWorld()]);
  server = await guarded();
});

const bearer = (claims: object = {}): { readonly authorization: string } => ({
  authorization: `Bearer ${tokenOf(tokens, { claims })}`,
});

const challengeOf = ({ headers }: Answered): string | null => headers.get("www-authenticate");

/** RFC 6750, section 3: the characters of a description. */
const challenge =
  /^Bearer realm="agent-33"(, error="(invalid_token|invalid_request)", error_description="[\x20-\x21\x23-\x5b\x5d-\x7e]+")?$/;

describe("a hostile token over HTTP", () => {
  const sent = hostileTokens.filter(({ directOnly }) => directOnly !== true);

  it.each(sent)("is rejected with $status: $name", async ({ make, status }) => {
    const before = await server.recorded();
    const header = make(tokens);
    const bytes = goodRequest({ more: header === undefined ? [] : [`Authorization: ${header}`] });
    const answers = await rawExchange(server.port, bytes);
    expect(answers.map((each) => each.status)).toEqual([status]);
    const [answer] = answers;
    if (status === 401) expect(answer?.headers["www-authenticate"]).toMatch(challenge);
    const parts = (header ?? "").split(/[ .,]/).filter((part) => part.length > 12);
    expect(parts.filter((part) => answer?.body.includes(part))).toEqual([]);
    expect(await server.recorded()).toBe(before);
  });

  it("leaves no trace in the log", async () => {
    const logged = await server.logged();
    expect(logged).toContain('"status":401');
    expect(logged).not.toMatch(/eyJ|Bearer |BEGIN|evil\.example|user-1/);
    const { n } = tokens.keys["RS256"]!.jwk;
    expect(logged).not.toContain(n);
  });

  it("is rejected if there are two, even if the first is valid", async () => {
    const header = `Authorization: Bearer ${tokenOf(tokens)}`;
    const [answer] = await rawExchange(
      server.port,
      goodRequest({ more: [header, "Authorization: Bearer x"] }),
    );
    expect(answer?.status).toBe(401);
  });

  it("is requested without an error code if there is none", async () => {
    const answer = await post(server, "/decide", routineWire);
    expect([answer.status, challengeOf(answer)]).toEqual([401, 'Bearer realm="agent-33"']);
    const bad = await post(server, "/decide", routineWire, { authorization: "Bearer x.y.z" });
    expect(challengeOf(bad)).toContain('error="invalid_token"');
  });
});

describe("a valid token over HTTP", () => {
  it("is recorded with the whole chain of actors", async () => {
    const act = { sub: "agent-2", client_id: "runner", act: { sub: "agent-1" } };
    const answer = await post(server, "/decide", routineWire, bearer({ act, client_id: "console" }));
    expect(answer).toMatchObject({ status: 200, body: { status: "GREEN" } });
    const record = await get(server, `/records/${String(answer.body["record_id"])}`, bearer());
    expect(record.body["facts"]).toMatchObject({
      authenticated_caller: {
        subject: "user-1",
        issuer: tokens.issuer,
        client_id: "console",
        delegated: true,
        actors: [{ subject: "agent-2", client_id: "runner" }, { subject: "agent-1" }],
      },
    });
    const logged = await server.logged();
    expect(logged).toContain('"caller":"user-1","actors":["agent-2","agent-1"],"record_id":');
  });

  const bodies: Readonly<Record<string, object>> = {
    "/decide": routineWire,
    "/results": { tool: "t", session_id: "s", ok: true },
  };

  it("with the scope `report` reports the results of calls, and nothing else", async () => {
    const reporter = bearer({ scope: "report" });
    const result = await post(server, "/results", bodies["/results"], reporter);
    expect(result).toMatchObject({ status: 200, body: { linked: false } });
    expect((await post(server, "/decide", routineWire, reporter)).status).toBe(403);
  });

  it.each([
    { scope: "read", path: "/decide", needed: "decide" },
    { scope: "decide read audit", path: "/results", needed: "report" },
    { scope: "decide", path: "/decisions", needed: "read" },
    { scope: "decide read", path: "/records", needed: "audit" },
    { scope: "decide audit", path: "/metrics", needed: "read" },
    { scope: "audit", path: "/orgs/acme/domains/payments/actions", needed: "read" },
    { scope: "", path: "/records/latest/explain", needed: "audit" },
  ])("without the scope `$needed` is rejected at $path", async ({ scope, path, needed }) => {
    const before = await server.recorded();
    const body = bodies[path];
    const answer = await (body === undefined
      ? get(server, path, bearer({ scope }))
      : post(server, path, body, bearer({ scope })));
    expect(answer).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(challengeOf(answer)).toBe(
      `Bearer realm="agent-33", error="insufficient_scope", scope="${needed}"`,
    );
    expect(await server.recorded()).toBe(before);
  });

  it("without scopes permits nothing if scopes are required", async () => {
    const strict = await guarded({ requireScopes: true });
    expect((await post(strict, "/decide", routineWire, bearer())).status).toBe(403);
    expect((await post(strict, "/decide", routineWire, bearer({ scope: "decide" }))).status).toBe(200);
  });

  it("bound to an organisation is valid only for its gates", async () => {
    expect((await post(server, "/decide", routineWire, bearer({ org_id: "acme" }))).status).toBe(200);
    const other = bearer({ org_id: "globex" });
    const refused = await post(server, "/decide", routineWire, other);
    expect(refused.status).toBe(403);
    expect(challengeOf(refused)).toBe('Bearer realm="agent-33", error="insufficient_scope"');
    const id = "/decisions/gate-wire-approve";
    expect((await post(server, `${id}/evaluate`, { context: routineWire.context }, other)).status).toBe(404);
    expect((await get(server, id, other)).status).toBe(404);
    expect((await get(server, "/orgs/acme/domains/payments/actions", other)).status).toBe(403);
  });

  it("bound to an organisation cannot read metrics", async () => {
    const refused = await get(server, "/metrics", bearer({ org_id: "acme" }));
    expect(refused).toMatchObject({ status: 403, body: { code: "forbidden" } });
    expect(refused.body["hint"]).toBe("use a token without `org_id`");
  });

  it("is required everywhere except on public routes", async () => {
    for (const path of ["/healthz", "/readyz", "/openapi.json"])
      expect((await get(server, path)).status).toBe(200);
    const closed = ["/metrics", "/decisions", "/records", "/nowhere", "/orgs/acme/domains/payments/actions"];
    for (const path of closed) expect((await get(server, path)).status).toBe(401);
    expect((await get(server, "/metrics", bearer())).status).toBe(200);
    const telling = await guarded({}, { publicMetrics: true });
    expect((await get(telling, "/metrics")).status).toBe(200);
    expect((await get(telling, "/metrics", bearer({ org_id: "acme" }))).status).toBe(200);
  });

  it("is answered with 503 while there are no keys", async () => {
    const reports: string[] = [];
    const options = optionsOf(tokens, "http://127.0.0.1:9/jwks.json");
    const authenticate = await openAuthenticator(options, { report: (message) => reports.push(message) });
    const blind = await serving({ world, authenticate });
    const answer = await post(blind, "/decide", routineWire, bearer());
    expect(answer).toMatchObject({ status: 503, body: { code: "keys_unavailable" } });
    expect(answer.headers.get("retry-after")).toBe("5");
    expect(challengeOf(answer)).toBeNull();
    expect((await post(blind, "/decide", routineWire, { authorization: "Bearer x" })).status).toBe(401);
    expect((await get(blind, "/healthz")).status).toBe(200);
  });
});

describe("a rate limit", () => {
  it("applies to each caller separately", async () => {
    const limited = await guarded({}, { rateLimits: { caller: { count: 2, per: 60_000 } } });
    const ask = (sub: string, more: object = {}): Promise<Answered> =>
      get(limited, "/decisions", bearer({ sub, ...more }));
    expect((await ask("ann")).status).toBe(200);
    expect((await ask("ann")).status).toBe(200);
    const refused = await ask("ann");
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(50);
    expect((await ask("bob")).status).toBe(200);
    expect((await ask("ann", { client_id: "another" })).status).toBe(200);
    expect((await get(limited, "/healthz")).status).toBe(200);
  });

  it("ends with its time window", async () => {
    const limited = await guarded({}, { rateLimits: { caller: { count: 1, per: 80 } } });
    expect((await get(limited, "/decisions", bearer())).status).toBe(200);
    const refused = await get(limited, "/decisions", bearer());
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([429, "1"]);
    await new Promise((resolve) => setTimeout(resolve, 90));
    expect((await get(limited, "/decisions", bearer())).status).toBe(200);
  });

  it("applies to each organisation across callers, and nothing beyond it is recorded", async () => {
    const limited = await guarded({}, { rateLimits: { org: { count: 2, per: 60_000 } } });
    const before = await limited.recorded();
    expect((await post(limited, "/decide", routineWire, bearer({ sub: "ann" }))).status).toBe(200);
    const byId = "/decisions/gate-wire-approve/evaluate";
    expect((await post(limited, byId, { context: routineWire.context }, bearer({ sub: "bob" }))).status).toBe(
      200,
    );
    expect((await post(limited, "/decide", routineWire, bearer({ sub: "cem" }))).status).toBe(429);
    expect((await post(limited, byId, { context: routineWire.context }, bearer())).status).toBe(429);
    const other = { ...routineWire, org_id: "globex" };
    expect((await post(limited, "/decide", other, bearer())).status).toBe(404);
    expect((await get(limited, "/decisions", bearer())).status).toBe(200);
    expect(await limited.recorded()).toBe(before + 2);
  });

  it("applies to the organisation of the token", async () => {
    const limited = await guarded({}, { rateLimits: { org: { count: 1, per: 60_000 } } });
    const bound = bearer({ org_id: "globex" });
    expect((await get(limited, "/decisions", bound)).status).toBe(200);
    expect((await get(limited, "/decisions", bound)).status).toBe(429);
    expect((await post(limited, "/decide", routineWire, bearer({ org_id: "acme" }))).status).toBe(200);
  });

  it("is not affected by unknown organisations", async () => {
    const limited = await guarded({}, { rateLimits: { org: { count: 1, per: 60_000 } } });
    for (const org_id of ["a", "b", "a", "b"]) {
      expect((await post(limited, "/decide", { ...routineWire, org_id }, bearer())).status).toBe(404);
    }
  });
});

describe("a slow caller", () => {
  it("can use at most half of the concurrent requests", async () => {
    const shared = await guarded({}, { maxInFlight: 4 });
    const slow = Array.from({ length: 2 }, () => connect(shared.port, "127.0.0.1"));
    const { authorization } = bearer({ sub: "slow" });
    for (const socket of slow)
      socket.write(goodRequest({ more: [`Authorization: ${authorization}`], length: 1000 }));
    await vi.waitUntil(() => shared.server.inFlight() === 2, 5_000);
    const refused = await post(shared, "/decide", routineWire, { authorization });
    expect(refused).toMatchObject({ status: 429, body: { code: "too_many_requests" } });
    expect(refused.headers.get("retry-after")).toBe("1");
    expect((await post(shared, "/decide", routineWire, bearer({ sub: "other" }))).status).toBe(200);
    for (const socket of slow) socket.destroy();
    await vi.waitUntil(() => shared.server.inFlight() === 0, 5_000);
    expect((await post(shared, "/decide", routineWire, { authorization })).status).toBe(200);
  });
});
