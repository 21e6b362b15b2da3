import { beforeAll, describe, expect, it } from "vitest";
import type { Changes, TokenWorld } from "./token-world.js";
import {
  algorithms,
  base64url,
  claimsIn,
  json,
  keyFile,
  keyOf,
  keySet,
  keySetOf,
  optionsOf,
  signed,
  tokenKey,
  tokenOf,
  tokenWorld,
} from "./token-world.js";
import type { AuthenticatedCaller } from "../../../src/model/record.js";
import type { Authenticate, TokenOptions } from "../../../src/serve/auth/authenticate.js";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";

let world: TokenWorld;
let authenticate: Authenticate;
let seconds: number;

const open = (options: Partial<TokenOptions> = {}): Promise<Authenticate> =>
  openAuthenticator(
    { ...optionsOf(world, keyFile(keySet(world))), ...options },
    { now: () => seconds * 1000 },
  );

beforeAll(async () => {
  seconds = 1_700_000_000;
  world = await tokenWorld(seconds);
  authenticate = await open();
});

const caller: AuthenticatedCaller = {
  subject: "user-1",
  issuer: "https://issuer.example",
  scopes: ["decide", "report", "read", "audit"],
  delegated: false,
  actors: [],
};

const chain = (depth: number): object | undefined =>
  depth === 0 ? undefined : { sub: `agent-${depth}`, act: chain(depth - 1) };

interface Good {
  readonly name: string;
  readonly changes: (world: TokenWorld) => Changes;
  readonly expected?: Partial<AuthenticatedCaller>;
}

const claimed = (name: string, claims: object, expected?: Partial<AuthenticatedCaller>): Good => ({
  name,
  changes: () => ({ claims }),
  ...(expected ? { expected } : {}),
});

const good: readonly Good[] = [
  ...algorithms.map((alg): Good => ({
    name: `signed with ${alg}`,
    changes: (w) => ({ key: keyOf(w, alg) }),
  })),
  ...["JWT", "jwt", "at+jwt", "AT+JWT", "application/at+jwt", "application/JWT", undefined].map(
    (typ): Good => ({ name: `typ ${String(typ)}`, changes: () => ({ header: { typ } }) }),
  ),
  {
    name: "a thumbprint and other unused headers",
    changes: () => ({ header: { x5t: "abc", foo: 1 } }),
  },
  claimed("aud a list with ours", { aud: ["billing", "agent-33"] }),
  claimed("aud a list of ours alone", { aud: ["agent-33"] }),
  { name: "expired, but within the skew", changes: (w) => ({ claims: { exp: w.now - w.skew + 1 } }) },
  { name: "valid from soon, within the skew", changes: (w) => ({ claims: { nbf: w.now + w.skew } }) },
  { name: "issued soon, within the skew", changes: (w) => ({ claims: { iat: w.now + w.skew } }) },
  { name: "times with fractions", changes: (w) => ({ claims: { iat: w.now - 0.5, exp: w.now + 0.5 } }) },
  claimed("without nbf and iat", { nbf: undefined, iat: undefined }),
  claimed("a subject in another script", { sub: "用户-é" }, { subject: "用户-é" }),
  claimed("a subject of 256 characters", { sub: "u".repeat(256) }, { subject: "u".repeat(256) }),
  claimed("client_id", { client_id: "agent-a" }, { client_id: "agent-a" }),
  claimed("azp", { azp: "agent-b" }, { client_id: "agent-b" }),
  claimed("client_id before azp", { client_id: "agent-a", azp: "agent-b" }, { client_id: "agent-a" }),
  claimed("org_id", { org_id: "acme" }, { org_id: "acme" }),
  claimed("a claim called status", { status: 200, error: "none", message: "hello" }),
  claimed("scope", { scope: "decide openid" }, { scopes: ["decide"] }),
  claimed("scope with our name", { scope: "agent-33:read agent-33:audit" }, { scopes: ["read", "audit"] }),
  claimed("scope of another service", { scope: "other:decide DECIDE decides" }, { scopes: [] }),
  claimed("scope empty", { scope: "" }, { scopes: [] }),
  claimed("scp a list", { scp: ["audit", "agent-33:decide"] }, { scopes: ["decide", "audit"] }),
  claimed("scp an empty list", { scp: [] }, { scopes: [] }),
  claimed("scp a text", { scp: "read" }, { scopes: ["read"] }),
  claimed("scope before scp", { scope: "read", scp: ["decide"] }, { scopes: ["read"] }),
  claimed("the session of an operator", { session_mode: "operator" }, { mode: "operator" }),
  claimed("the session of a customer", { session_mode: "customer" }, { mode: "customer" }),
  claimed(
    "the session of an actor",
    { act: { sub: "agent-1", session_mode: "operator", act: { sub: "a", session_mode: "customer" } } },
    { mode: "operator", delegated: true, actors: [{ subject: "agent-1" }, { subject: "a" }] },
  ),
  claimed(
    "an actor for the subject",
    { act: { sub: "agent-1" } },
    { delegated: true, actors: [{ subject: "agent-1" }] },
  ),
  claimed(
    "a chain of actors, the one that asks now first",
    {
      act: {
        sub: "b",
        iss: "https://b.example",
        act: { sub: "a", client_id: "app", act: { sub: "z", azp: "web" } },
      },
    },
    {
      delegated: true,
      actors: [
        { subject: "b", issuer: "https://b.example" },
        { subject: "a", client_id: "app" },
        { subject: "z", client_id: "web" },
      ],
    },
  ),
  claimed(
    "eight actors",
    { act: chain(8) },
    {
      delegated: true,
      actors: [8, 7, 6, 5, 4, 3, 2, 1].map((depth) => ({ subject: `agent-${depth}` })),
    },
  ),
];

describe("a valid token", () => {
  it.each(good)("identifies the caller: $name", async ({ changes, expected }) => {
    expect(await authenticate(`Bearer ${tokenOf(world, changes(world))}`)).toEqual({
      ...caller,
      ...expected,
    });
  });

  it.each(["bearer", "BEARER", "BeArEr"])("accepts the scheme %s", async (scheme) => {
    expect(await authenticate(`${scheme} ${tokenOf(world)}`)).toEqual(caller);
  });

  it("may be nested 32 levels deep, with any values in unused claims", async () => {
    const key = keyOf(world, "RS256");
    const claims = JSON.stringify(claimsIn(world));
    for (const more of [
      `"deep":${"[".repeat(31)}${"]".repeat(31)}`,
      '"__proto__":{"org_id":"acme","act":{"sub":"x"}}',
      '"constructor":{"prototype":1}',
      '"text":"{\\"sub\\":1,\\"sub\\":2}","list":[{"a":1},{"a":2}]',
    ]) {
      const payload = base64url(claims.replace("{", `{${more},`));
      const token = signed(json({ alg: "RS256", kid: key.kid }), payload, key);
      expect(await authenticate(`Bearer ${token}`)).toEqual(caller);
    }
  });

  it("needs no kid if only one key matches", async () => {
    const single = await open({ jwks: keyFile(keySetOf(keyOf(world, "RS256"), keyOf(world, "ES256"))) });
    const token = tokenOf(world, { header: { kid: undefined } });
    expect(await single(`Bearer ${token}`)).toEqual(caller);
    const other = await tokenKey("RS256", "another");
    const several = await open({ jwks: keyFile(keySetOf(keyOf(world, "RS256"), other)) });
    expect(await several(`Bearer ${token}`)).toMatchObject({ status: 401, error: "invalid_token" });
    expect(await several(`Bearer ${tokenOf(world)}`)).toEqual(caller);
  });

  it("permits nothing without scopes if scopes are required", async () => {
    const strict = await open({ requireScopes: true });
    expect(await strict(`Bearer ${tokenOf(world)}`)).toEqual({ ...caller, scopes: [] });
    const token = tokenOf(world, { claims: { scope: "decide" } });
    expect(await strict(`Bearer ${token}`)).toEqual({ ...caller, scopes: ["decide"] });
  });

  it("is rejected if its algorithm is not allowed", async () => {
    const only = await open({ algorithms: ["ES256"] });
    expect(await only(`Bearer ${tokenOf(world)}`)).toMatchObject({ status: 401 });
    expect(await only(`Bearer ${tokenOf(world, { key: keyOf(world, "ES256") })}`)).toEqual(caller);
  });

  it("is valid until it expires, also from the cache", async () => {
    const header = `Bearer ${tokenOf(world, { claims: { exp: world.now + 60 } })}`;
    try {
      for (const after of [0, 1, 60, 60 + world.skew - 1]) {
        seconds = world.now + after;
        expect(await authenticate(header)).toEqual(caller);
      }
      for (const after of [60 + world.skew, 10_000]) {
        seconds = world.now + after;
        expect(await authenticate(header)).toEqual({
          status: 401,
          error: "invalid_token",
          message: "the token has expired",
          hint: "get a new token from its issuer",
        });
      }
    } finally {
      seconds = world.now;
    }
  });

  it("is verified once per key edition", async () => {
    const header = `Bearer ${tokenOf(world, { claims: { jti: "once" } })}`;
    expect(await authenticate(header)).toBe(await authenticate(header));
  });

  it("is rejected with a kid of more than 256 characters, even if such a key exists", async () => {
    const keys = await Promise.all([256, 257].map((length) => tokenKey("ES256", "k".repeat(length))));
    const named = await open({ jwks: keyFile(keySetOf(...keys)) });
    const found = await Promise.all(keys.map((key) => named(`Bearer ${tokenOf(world, { key })}`)));
    expect(found).toEqual([caller, expect.objectContaining({ status: 401 })]);
  });

  it("returns a frozen caller", async () => {
    const header = `Bearer ${tokenOf(world, { claims: { act: { sub: "agent-1" } } })}`;
    const found = (await authenticate(header)) as unknown as {
      scopes: string[];
      actors: { subject: string }[];
    };
    expect(() => found.scopes.push("admin")).toThrow(TypeError);
    expect(() => (found.actors[0]!.subject = "somebody")).toThrow(TypeError);
  });

  it("is cached by its whole text, among many", async () => {
    const headers = Array.from({ length: 1100 }, (_, index) => {
      const token = tokenOf(world, { key: keyOf(world, "Ed25519"), claims: { sub: `user-${index}` } });
      return `Bearer ${token}`;
    });
    for (const round of [1, 2]) {
      const found = await Promise.all(headers.map((header) => authenticate(header)));
      const subjects = found.map((one) => ("subject" in one ? one.subject : round));
      expect(subjects).toEqual(headers.map((_, index) => `user-${index}`));
    }
  });
});

describe("an unauthenticated request", () => {
  it.each([
    [undefined, undefined],
    ["Basic dXNlcg", undefined],
    ["Bearer", "invalid_request"],
    ["Bearer a,b", "invalid_request"],
    ["Bearer a.b.c", "invalid_token"],
  ])("has an error code of RFC 6750: %s", async (header, error) => {
    const found = (await authenticate(header)) as { error?: string };
    expect(found.error).toBe(error);
  });
});

describe("token options", () => {
  it.each([
    [{ algorithms: ["none"] }, "the token algorithm `none` is not secure"],
    [{ algorithms: ["RS256", "HS256"] }, "the token algorithm `HS256` is not secure"],
    [{ algorithms: ["hs512"] }, "the token algorithm `hs512` is not secure"],
    [{ algorithms: ["RS255"] }, "unknown token algorithm `RS255`"],
    [{ algorithms: [""] }, "unknown token algorithm ``"],
    [{ clockSkewSeconds: -1 }, "the clock skew `-1` is not between 0 and 300 seconds"],
    [{ clockSkewSeconds: 301 }, "the clock skew `301` is not between 0 and 300 seconds"],
    [{ clockSkewSeconds: Number.NaN }, "the clock skew `NaN` is not between 0 and 300 seconds"],
    [{ issuer: "" }, "the issuer of tokens must have 1 to 256 characters"],
    [{ audience: "" }, "the audience of tokens must have 1 to 256 characters"],
    [{ jwks: "http://issuer.example/jwks" }, "could be forged in transit"],
    [{ jwks: "http://127.0.0.1.evil.example/jwks" }, "could be forged in transit"],
    [{ jwks: "http://localhost.evil.example/jwks" }, "could be forged in transit"],
    [{ jwks: "file:///etc/jwks.json" }, "could be forged in transit"],
    [{ jwks: "https://" }, "it is malformed"],
    [{ jwks: "https://name:secret@issuer.example/jwks" }, "`https://…@issuer.example` cannot be used"],
  ])("are rejected if tokens could not be trusted: %j", async (options, message) => {
    await expect(open(options)).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(message) as string,
      hint: expect.any(String) as string,
    });
  });

  it("never repeat the password of a URL", async () => {
    await expect(open({ jwks: "http://name:secret@x/jwks" })).rejects.not.toThrow(/secret/);
  });
});
