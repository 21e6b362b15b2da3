import { createPublicKey, generateKeyPairSync } from "node:crypto";
import { beforeAll, describe, expect, it } from "vitest";
import { parseKeySet } from "../../../src/serve/auth/key-set.js";
import type { TokenKey } from "./token-world.js";
import { tokenKey } from "./token-world.js";

let rsa: TokenKey;
let ec: TokenKey;

beforeAll(async () => {
  [rsa, ec] = await Promise.all([tokenKey("RS256", "rsa"), tokenKey("ES256", "ec")]);
});

const kidsOf = (...keys: readonly unknown[]): readonly unknown[] =>
  parseKeySet(JSON.stringify({ keys }), "jwks.json").keys.map(({ kid }) => kid);

const weak = (): object =>
  generateKeyPairSync("rsa", { modulusLength: 1024 }).publicKey.export({ format: "jwk" });

describe("a key set", () => {
  it("keeps only the fields of a key that verify a token", () => {
    const { keys } = parseKeySet(
      JSON.stringify({ keys: [{ ...ec.jwk, key_ops: ["verify"], x5c: ["abc"], ext: "no" }] }),
      "jwks.json",
    );
    const { kty, crv, x, y } = ec.jwk;
    expect(keys).toEqual([{ kty, crv, x, y, kid: "ec", alg: "ES256" }]);
  });

  it.each([
    ["for encryption", { use: "enc" }],
    ["for other operations", { key_ops: ["encrypt"] }],
    ["for operations that are no list", { key_ops: "verify" }],
    ["of an unknown type", { kty: "QUANTUM" }],
    ["of a type that names a prototype", { kty: "__proto__" }],
    ["on an unknown curve", { kty: "EC", crv: "secp256k1" }],
    ["with a kid that is no text", { kid: 7 }],
    ["with an algorithm that is not for us", { alg: "RSA-OAEP-256" }],
    ["with a symmetric algorithm", { alg: "HS256" }],
    ["that lacks a part", { n: undefined }],
  ])("ignores a key %s", (_name, changes) => {
    expect(kidsOf({ ...rsa.jwk, kid: "odd", ...changes }, ec.jwk)).toEqual(["ec"]);
    expect(kidsOf({ ...rsa.jwk, ...changes })).toEqual([]);
  });

  it.each<[string, () => unknown, string, string?]>([
    ["a symmetric key", () => ({ kty: "oct", k: "c2VjcmV0", kid: "s" }), "the key `s` is a symmetric key"],
    [
      "a private key",
      () => ({ ...rsa.privateKey.export({ format: "jwk" }), kid: "p" }),
      "the key `p` contains a private key",
      "publish only the public part",
    ],
    [
      "a private key without a name",
      () => ({ ...ec.jwk, kid: undefined, d: "" }),
      "one of its keys contains a private key",
    ],
    [
      "a private key for encryption",
      () => ({ ...ec.jwk, use: "enc", d: "AA" }),
      "the key `ec` contains a private key",
    ],
    [
      "a private key of an unknown type",
      () => ({ kty: "AKP", priv: "AA" }),
      "one of its keys contains a private key",
    ],
    ["a weak key", weak, "one of its keys is too weak: it has 1024 bits", "use a key of at least 2048 bits"],
    [
      "a weak key filled up with zeros",
      () => {
        const { n = "" } = weak() as { n?: string };
        const padded = Buffer.concat([Buffer.alloc(128), Buffer.from(n, "base64url")]).toString("base64url");
        return { kty: "RSA", e: "AQAB", n: padded };
      },
      "one of its keys is too weak",
    ],
    ["an exponent of one", () => ({ ...rsa.jwk, e: "AQ" }), "the key `rsa` has an insecure exponent"],
    ["an even exponent", () => ({ ...rsa.jwk, e: "Ag" }), "the key `rsa` has an insecure exponent"],
    ["a point beside its curve", () => ({ ...ec.jwk, y: ec.jwk.x }), "the key `ec` is damaged"],
    [
      "a key that is too short",
      () => ({ kty: "OKP", crv: "Ed25519", x: "AAAA" }),
      "one of its keys is damaged",
    ],
    ["something that is no key", () => "key", "it is not a JSON Web Key Set"],
    ["null for a key", () => null, "it is not a JSON Web Key Set"],
  ])("is rejected for %s, whatever else it contains", (_name, make, why, hint) => {
    let refusal: unknown;
    try {
      kidsOf(ec.jwk, make());
    } catch (error) {
      refusal = error;
    }
    expect(refusal).toMatchObject({ code: "usage", message: expect.stringContaining(why) as string });
    expect((refusal as { hint: string }).hint).toContain(hint ?? "");
    expect((refusal as Error).message).not.toContain("c2VjcmV0");
  });

  it.each([
    ["", "it is not JSON"],
    ["<html></html>", "it is not JSON"],
    ["null", "it is not a JSON Web Key Set"],
    ["[]", "it is not a JSON Web Key Set"],
    ['{"keys":{}}', "it is not a JSON Web Key Set"],
  ])("is rejected: %j", (text, why) => {
    expect(() => parseKeySet(text, "jwks.json")).toThrow(`the keys in \`jwks.json\` cannot be used: ${why}`);
  });

  it("is rejected in PEM format, with a hint", () => {
    const pem = String(createPublicKey(rsa.privateKey).export({ type: "spki", format: "pem" }));
    expect(() => parseKeySet(pem, "key.pem")).toThrow("the keys in `key.pem` cannot be used: it is not JSON");
  });
});
