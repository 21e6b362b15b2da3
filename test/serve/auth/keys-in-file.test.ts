import { execFileSync } from "node:child_process";
import { mkdtempSync, renameSync, rmSync, truncateSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { Authenticate } from "../../../src/serve/auth/authenticate.js";
import { openKeysInFile } from "../../../src/serve/auth/keys-in-file.js";
import { openAuthenticator } from "../../../src/serve/auth/open-authenticator.js";
import type { TokenKey, TokenWorld } from "./token-world.js";
import { keyFile, keyOf, keySetOf, optionsOf, tokenKey, tokenOf, tokenWorld } from "./token-world.js";

let world: TokenWorld;
let old: TokenKey;
let fresh: TokenKey;

beforeAll(async () => {
  world = await tokenWorld(1_700_000_000);
  old = keyOf(world, "ES256");
  fresh = await tokenKey("ES256", "fresh");
});

interface Opened {
  readonly path: string;
  readonly ask: (key: TokenKey) => Promise<number>;
  readonly wait: (ms: number) => void;
  readonly reports: readonly string[];
}

/** Authenticates with tokens signed by the key: 200, or the error. */
async function opened(...keys: readonly TokenKey[]): Promise<Opened> {
  const path = keyFile(keySetOf(...keys));
  const reports: string[] = [];
  let now = world.now * 1000;
  const authenticate: Authenticate = await openAuthenticator(optionsOf(world, path), {
    now: () => now,
    report: (message) => reports.push(message),
  });
  return {
    path,
    ask: async (key) => {
      const found = await authenticate(`Bearer ${tokenOf(world, { key })}`);
      return "status" in found ? found.status : 200;
    },
    wait: (ms) => (now += ms),
    reports,
  };
}

describe("keys in a file", () => {
  it("are read again when a token names an unknown key", async () => {
    const { path, ask } = await opened(old);
    writeFileSync(path, keySetOf(old, fresh));
    expect(await ask(fresh)).toBe(200);
    expect(await ask(old)).toBe(200);
  });

  it("are not read for every unknown kid", async () => {
    const { path, ask, wait } = await opened(old);
    expect(await ask(fresh)).toBe(401);
    writeFileSync(path, keySetOf(old, fresh));
    wait(1999);
    expect(await ask(fresh)).toBe(401);
    wait(1);
    expect(await ask(fresh)).toBe(200);
  });

  it("are the same edition until the file changes", async () => {
    const path = keyFile(keySetOf(old));
    let now = 0;
    const keys = await openKeysInFile(
      path,
      () => now,
      () => undefined,
    );
    const first = await keys.edition();
    now += 2000;
    writeFileSync(path, keySetOf(old));
    expect(await keys.edition()).toBe(first);
    now += 2000;
    writeFileSync(path, keySetOf(fresh));
    expect(await keys.edition()).not.toBe(first);
  });

  it("drop a removed key and the tokens it verified", async () => {
    const { path, ask, wait } = await opened(old, fresh);
    const token = `Bearer ${tokenOf(world, { key: old })}`;
    let now = world.now * 1000;
    const authenticate = await openAuthenticator(optionsOf(world, path), { now: () => now });
    expect(await authenticate(token)).toMatchObject({ subject: "user-1" });
    expect(await ask(old)).toBe(200);
    const replaced = join(dirname(path), "new.json");
    writeFileSync(replaced, keySetOf(fresh));
    renameSync(replaced, path);
    wait(2000);
    now += 2000;
    expect(await authenticate(token)).toMatchObject({ status: 401 });
    expect(await ask(old)).toBe(401);
    expect(await ask(fresh)).toBe(200);
  });

  it("do not trust another key with a known kid", async () => {
    const { path, ask, wait } = await opened(old);
    const impostor = await tokenKey("ES256", old.kid);
    expect(await ask(impostor)).toBe(401);
    writeFileSync(path, keySetOf(impostor));
    wait(2000);
    expect(await ask(impostor)).toBe(200);
    expect(await ask(old)).toBe(401);
  });

  it.each<[string, (path: string) => void, string]>([
    ["is gone", (path) => rmSync(path), "ENOENT"],
    ["is empty", (path) => truncateSync(path), "it is not JSON"],
    ["is half written", (path) => truncateSync(path, 40), "it is not JSON"],
    ["is too large", (path) => truncateSync(path, 1024 * 1024 + 1), "it is larger than 1 MiB"],
  ])("stay in use when the file %s, which is reported once", async (_name, breakIt, why) => {
    const { path, ask, wait, reports } = await opened(old);
    breakIt(path);
    for (let round = 0; round < 3; round++) {
      wait(2000);
      expect(await ask(old)).toBe(200);
      expect(await ask(fresh)).toBe(401);
    }
    expect(reports).toHaveLength(1);
    expect(reports[0]).toContain(why);
    expect(reports[0]).toContain("the previous keys stay in use");
    writeFileSync(path, keySetOf(fresh));
    wait(2000);
    expect(await ask(fresh)).toBe(200);
    expect(await ask(old)).toBe(401);
  });

  it.each([
    { name: "a symmetric key", key: () => ({ kty: "oct", k: "c2VjcmV0" }), why: "is a symmetric key" },
    { name: "a private key", key: () => ({ ...fresh.jwk, d: "c2VjcmV0" }), why: "contains a private key" },
    { name: "a damaged key", key: () => ({ ...fresh.jwk, x: "AAAA" }), why: "is damaged" },
  ])("stay in use while the file contains $name, alone or with others", async ({ key, why }) => {
    const { path, ask, wait, reports } = await opened(old);
    for (const keys of [[key()], [fresh.jwk, key()]]) {
      writeFileSync(path, JSON.stringify({ keys }));
      wait(2000);
      expect(await ask(old)).toBe(200);
    }
    expect(reports).toHaveLength(1);
    expect(reports[0]).toContain(why);
    expect(reports[0]).toContain("the previous keys stay in use");
  });

  it.each([
    { name: "none at all", keys: () => [] },
    { name: "none that signs tokens", keys: () => [{ ...old.jwk, use: "enc" }] },
  ])("are revoked when the file contains $name, which is reported once", async ({ keys }) => {
    const { path, ask, wait, reports } = await opened(old);
    expect(await ask(old)).toBe(200);
    writeFileSync(path, JSON.stringify({ keys: keys() }));
    for (let round = 0; round < 3; round++) {
      wait(2000);
      expect(await ask(old)).toBe(401);
    }
    expect(reports).toEqual([
      `the keys in \`${path}\` cannot be used: it contains no key for signatures; all tokens are rejected`,
    ]);
    writeFileSync(path, keySetOf(old));
    wait(2000);
    expect(await ask(old)).toBe(200);
  });

  it.each<[string, (folder: string) => string, string]>([
    ["there is none", (folder) => join(folder, "none.json"), "ENOENT"],
    ["it is a folder", (folder) => folder, "it is not a file"],
    ["it never ends", () => "/dev/zero", "it is not a file"],
    [
      "it is a pipe",
      (folder) => {
        execFileSync("mkfifo", [join(folder, "pipe")]);
        return join(folder, "pipe");
      },
      "it is not a file",
    ],
    ["it is not JSON", () => keyFile("keys"), "it is not JSON"],
    ["it holds no key", () => keyFile('{"keys":[]}'), "it contains no key for signatures"],
  ])("must be readable at the start: %s", async (_name, pathIn, why) => {
    const path = pathIn(mkdtempSync(join(tmpdir(), "agent-33-keys-")));
    await expect(openAuthenticator(optionsOf(world, path))).rejects.toMatchObject({
      code: "usage",
      message: expect.stringContaining(why) as string,
      hint: "give a JSON Web Key Set with the public keys of the issuer",
    });
  });
});
