import { beforeAll, describe, expect, it } from "vitest";
import fc from "fast-check";
import type { Authenticate } from "../../../src/serve/auth/authenticate.js";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import { runsFor } from "../../thoroughness.js";
import { hostileTokens } from "./hostile-tokens.js";
import type { TokenWorld } from "./token-world.js";
import { algorithms, keyFile, keyOf, keySet, optionsOf, tokenOf, tokenWorld } from "./token-world.js";

let world: TokenWorld;
let authenticate: Authenticate;

beforeAll(async () => {
  world = await tokenWorld(1_700_000_000);
  authenticate = await openAuthenticator(optionsOf(world, keyFile(keySet(world))), {
    now: () => world.now * 1000,
  });
});

describe("a hostile token", () => {
  it("has a unique name", () => {
    expect(new Set(hostileTokens.map(({ name }) => name)).size).toBe(hostileTokens.length);
    expect(hostileTokens.length).toBeGreaterThan(150);
  });

  it.each(hostileTokens)("is rejected: $name", async ({ make }) => {
    const header = make(world);
    const found = await authenticate(header);
    expect(found).toMatchObject({ status: 401, message: expect.any(String) as string });
    expect(found).not.toHaveProperty("subject");
  });

  it("is answered with a short message that repeats nothing of it", async () => {
    for (const { make } of hostileTokens) {
      const header = make(world) ?? "";
      const { message } = (await authenticate(header)) as { message: string };
      expect(message.length).toBeLessThan(80);
      const parts = header.split(/[ .,]/).filter((part) => part.length > 12);
      expect(parts.filter((part) => message.includes(part))).toEqual([]);
      expect(message).not.toMatch(/evil|admin|user-1|key-|issuer\.example/);
    }
  });

  it("affects neither later tokens nor object prototypes", async () => {
    for (const { make } of hostileTokens) await authenticate(make(world));
    expect(await authenticate(`Bearer ${tokenOf(world)}`)).toMatchObject({ subject: "user-1" });
    expect(({} as Record<string, unknown>)["sub"]).toBeUndefined();
  });
});

describe("a valid token", () => {
  it.each(algorithms)("is rejected with any single character changed, signed with %s", async (alg) => {
    const token = tokenOf(world, { key: keyOf(world, alg) });
    expect(await authenticate(`Bearer ${token}`)).toMatchObject({ subject: "user-1" });
    const start = token.indexOf(".") + 1;
    const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_.=+/";
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: start, max: token.length - 1 }),
        fc.integer({ min: 0, max: alphabet.length - 1 }).map((index) => alphabet.charAt(index)),
        async (at, character) => {
          fc.pre(token[at] !== character);
          const changed = `${token.slice(0, at)}${character}${token.slice(at + 1)}`;
          expect(await authenticate(`Bearer ${changed}`)).toMatchObject({ status: 401 });
        },
      ),
      { numRuns: runsFor(60) },
    );
  });

  it.each(algorithms)("is rejected with a non-canonical last character, signed with %s", async (alg) => {
    const token = tokenOf(world, { key: keyOf(world, alg) });
    for (const character of "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_") {
      if (token.endsWith(character)) continue;
      expect(await authenticate(`Bearer ${token.slice(0, -1)}${character}`)).toMatchObject({ status: 401 });
    }
  });

  it("is never produced by random bytes", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: "binary", maxLength: 200 }), async (text) => {
        for (const header of [text, `Bearer ${text}`, `Bearer ${tokenOf(world)}${text || "."}`]) {
          expect(await authenticate(header)).toMatchObject({ status: 401 });
        }
      }),
      { numRuns: runsFor(50) },
    );
  });
});
