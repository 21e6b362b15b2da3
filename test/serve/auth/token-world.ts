import { KeyObject, constants, sign } from "node:crypto";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { JWK } from "jose";
import { exportJWK, generateKeyPair } from "jose";
import type { TokenOptions } from "../../../src/serve/auth/authenticate.js";

export interface TokenKey {
  readonly kid: string;
  readonly alg: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  /** The key as in the key set. */
  readonly jwk: JWK;
}

/** An issuer with a key for each algorithm, and an attacker with other keys. */
export interface TokenWorld {
  readonly issuer: string;
  readonly audience: string;
  /** In seconds. */
  readonly now: number;
  readonly skew: number;
  readonly keys: Readonly<Record<string, TokenKey>>;
  readonly attacker: TokenKey;
}

export const algorithms = [
  ...["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512", "EdDSA", "Ed25519"],
];

/** Uses the system time by default, so that the tokens are also valid for a running server. */
export async function tokenWorld(now = Math.floor(Date.now() / 1000)): Promise<TokenWorld> {
  const rsa = await tokenKey("RS256", "");
  const made = await Promise.all(
    algorithms.map(async (alg) => {
      const kid = `key-${alg}`;
      // Generating a key pair is slow; `alg` in the key set binds each to one algorithm.
      if (/^[RP]S/.test(alg)) return [alg, { ...rsa, kid, alg, jwk: { ...rsa.jwk, kid, alg } }] as const;
      return [alg, await tokenKey(alg, kid)] as const;
    }),
  );
  return {
    issuer: "https://issuer.example",
    audience: "agent-33",
    now,
    skew: 30,
    keys: Object.fromEntries(made),
    attacker: await tokenKey("RS256", "key-RS256"),
  };
}

export async function tokenKey(alg: string, kid: string): Promise<TokenKey> {
  const pair = await generateKeyPair(alg, { extractable: true });
  return {
    kid,
    alg,
    privateKey: KeyObject.from(pair.privateKey),
    publicKey: KeyObject.from(pair.publicKey),
    jwk: { ...(await exportJWK(pair.publicKey)), kid, alg, use: "sig" },
  };
}

export const keySetOf = (...keys: readonly TokenKey[]): string =>
  JSON.stringify({ keys: keys.map(({ jwk }) => jwk) });

export const keySet = ({ keys }: TokenWorld): string => keySetOf(...Object.values(keys));

export function keyFile(text: string): string {
  const path = join(mkdtempSync(join(tmpdir(), "agent-33-keys-")), "jwks.json");
  writeFileSync(path, text);
  return path;
}

export const optionsOf = (world: TokenWorld, jwks: string): TokenOptions => ({
  jwks,
  issuer: world.issuer,
  audience: world.audience,
  algorithms: [],
  clockSkewSeconds: world.skew,
  requireScopes: false,
});

export const claimsIn = ({ issuer, audience, now }: TokenWorld): Record<string, unknown> => ({
  iss: issuer,
  aud: audience,
  sub: "user-1",
  iat: now - 10,
  exp: now + 600,
});

export const base64url = (part: string | Uint8Array): string => Buffer.from(part).toString("base64url");

export const json = (value: unknown): string => base64url(JSON.stringify(value));

/** Signs any header and payload, which `jose` would refuse. */
export function signed(header: string, payload: string, key: TokenKey, alg = key.alg): string {
  const signature = sign(hashOf(alg), Buffer.from(`${header}.${payload}`), {
    key: key.privateKey,
    dsaEncoding: "ieee-p1363",
    ...(alg.startsWith("PS")
      ? { padding: constants.RSA_PKCS1_PSS_PADDING, saltLength: Number(alg.slice(2)) / 8 }
      : {}),
  });
  return `${header}.${payload}.${base64url(signature)}`;
}

const hashOf = (alg: string): string | null => (alg.startsWith("Ed") ? null : `sha${alg.slice(2)}`);

export interface Changes {
  readonly claims?: object;
  readonly header?: object;
  /** The algorithm of the key; default: RS256. */
  readonly key?: TokenKey;
}

/** A valid token with changes. A value of undefined removes a claim or header. */
export function tokenOf(
  world: TokenWorld,
  { claims, header, key = keyOf(world, "RS256") }: Changes = {},
): string {
  const { alg, kid } = key;
  return signed(json({ alg, typ: "JWT", kid, ...header }), json({ ...claimsIn(world), ...claims }), key);
}

export function keyOf(world: TokenWorld, alg: string): TokenKey {
  const key = world.keys[alg];
  if (key === undefined) throw new Error(`no key for ${alg}`);
  return key;
}
