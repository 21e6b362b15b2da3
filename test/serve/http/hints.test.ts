import { beforeAll, describe, expect, it } from "vitest";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { sampleWorld } from "../sample-world.js";
import type { Changes, TokenWorld } from "../auth/token-world.js";
import { keyFile, keySet, optionsOf, tokenOf, tokenWorld } from "../auth/token-world.js";
import { goodRequest } from "./hostile-requests.js";
import { rawExchange } from "./raw-exchange.js";
import type { Serving } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let world: ServedWorld;
let server: Serving;

beforeAll(async () => {
  world = await sampleWorld();
  server = await serving({ world, maxBodyBytes: 2048 });
});

const evaluate = "/decisions/decision-quality-gate/evaluate";

describe("the hint of an error response", () => {
  it("names the option that allows the host", async () => {
    const [answer] = await rawExchange(server.port, goodRequest({ host: "Host: API.example:8080" }));
    expect(JSON.parse(answer?.body ?? "")).toMatchObject({
      status: 403,
      detail: "the host `api.example` is not allowed",
      hint: "the server option --allow-host api.example allows it",
    });
  });

  it.each([
    ["https://other.example", "the server option --allow-origin https://other.example allows it"],
    [
      "null",
      "send the request from a page of a web server; local files and sandboxed frames are not allowed",
    ],
  ])("says how to allow the origin %s", async (origin, hint) => {
    expect((await get(server, "/decisions", { origin })).body).toMatchObject({ status: 403, hint });
  });

  it("says how large a body may be", async () => {
    const { body } = await post(server, evaluate, { context: { text: "x".repeat(3000) } });
    expect(body).toMatchObject({
      status: 413,
      detail: "the body is too large",
      hint: "send at most 2048 bytes; the server option --max-body sets this limit",
    });
  });

  it.each<[string, unknown, string]>([
    ["an unknown key", { context: {}, zzzz: 1 }, "other accepted keys: `workflow_id`,"],
    ["an invalid context", { context: 5 }, "other accepted keys: `context`,"],
    ["no object", [], "send a JSON object"],
  ])("lists the accepted keys without the one in the path: %s", async (_name, body, hint) => {
    const answer = await post(server, evaluate, body);
    expect(answer.status).toBe(400);
    expect(answer.body["hint"]).toMatch(new RegExp(`^${hint}`));
    expect(answer.body["hint"]).not.toContain("decision_id");
  });

  it.each([
    { path: evaluate, body: { animal: {} }, hint: 'send {"context": {"animal": …}}' },
    {
      path: "/decide",
      body: { a: 1, b: 2, c: 3, d: 4 },
      hint: 'send {"context": {"a": …, "b": …, "c": …, …}}',
    },
    { path: evaluate, body: { contxt: {} }, hint: "did you mean `context`?" },
  ])(
    "says that the values to decide on belong in the context: $path, $body",
    async ({ path, body, hint }) => {
      expect((await post(server, path, body)).body).toMatchObject({ status: 400, hint });
    },
  );

  it("names the keys to add, if only these are wrong", async () => {
    const { body } = await post(server, "/check", { tool: "t" });
    expect(body).toMatchObject({ status: 400, detail: "`params` is missing", hint: "add `params`" });
  });

  it("says that no other keys are accepted", async () => {
    const { body } = await get(server, "/records/1?zzzz=1");
    expect(body).toMatchObject({ status: 400, hint: "no other keys are accepted" });
  });

  it.each([
    ["/decisions/zzzz", "`GET /decisions` lists all decisions"],
    ["/records/zzzz", "no records yet"],
  ])("mentions no commands: %s", async (path, hint) => {
    expect((await get(server, path)).body).toMatchObject({ status: 404, hint });
  });
});

describe("the hint for an invalid token", () => {
  let tokens: TokenWorld;
  let guarded: Serving;

  beforeAll(async () => {
    tokens = await tokenWorld();
    const authenticate = await openAuthenticator(optionsOf(tokens, keyFile(keySet(tokens))));
    guarded = await serving({ world, authenticate });
  });

  it.each<[string, (now: number) => Changes, string, RegExp]>([
    ["expired", (now) => ({ claims: { exp: now - 60 } }), "the token has expired", /^get a new token/],
    ["early", (now) => ({ claims: { nbf: now + 600 } }), "the token is not valid yet", /clocks/],
    [
      "from the future",
      (now) => ({ claims: { iat: now + 600 } }),
      "the token was issued in the future",
      /clocks/,
    ],
    [
      "of others",
      () => ({ claims: { iss: "https://other" } }),
      "the token is from another issuer",
      /issuer that/,
    ],
    [
      "for others",
      () => ({ claims: { aud: "other" } }),
      "the token is for another audience",
      /for this server/,
    ],
    ["endless", () => ({ claims: { exp: undefined } }), "the token has no expiry time", /`exp`/],
    ["forged", () => ({ key: tokens.attacker }), "the token is not signed by its issuer", /rotated its keys/],
    ["of `none`", () => ({ header: { alg: "none" } }), "the algorithm of the token is not accepted", /RS256/],
    [
      "without a subject",
      () => ({ claims: { sub: undefined } }),
      "the token has no `sub`",
      /configuration of the issuer/,
    ],
    [
      "an actor without a subject",
      () => ({ claims: { act: {} } }),
      "the claim `act` of the token has no `sub`",
      /configuration of the issuer/,
    ],
  ])("%s", async (_name, changes, detail, hint) => {
    const authorization = `Bearer ${tokenOf(tokens, changes(tokens.now))}`;
    const { body } = await post(guarded, "/decide", routineWire, { authorization });
    expect(body).toMatchObject({ status: 401, detail, hint: expect.stringMatching(hint) as string });
    expect(JSON.stringify(body)).not.toContain(tokens.issuer);
  });

  it.each<Record<string, string>>([{}, { authorization: "Basic eDp5" }, { authorization: "Bearer a b" }])(
    "none: %j",
    async (headers) => {
      const { body } = await post(guarded, "/decide", routineWire, headers);
      expect(body).toMatchObject({ status: 401, hint: "send `authorization: Bearer TOKEN`" });
    },
  );

  it("no signed JWT", async () => {
    const { body } = await post(guarded, "/decide", routineWire, { authorization: "Bearer abc" });
    expect(body["hint"]).toBe("send the signed JWT exactly as the issuer returned it");
  });
});
