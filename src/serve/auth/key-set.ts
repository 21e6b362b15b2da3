import type { JsonWebKey } from "node:crypto";
import { createPublicKey } from "node:crypto";
import { DecisionError } from "../../errors.js";
import { isObject } from "../../expression/equal.js";

interface PublicKey {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly [material: string]: string;
}

export interface KeySet {
  readonly keys: readonly PublicKey[];
}

type UnparsedKey = Readonly<Record<string, unknown>>;

/** The fields of a public key by key type. Keys of other types are ignored. */
const keyMaterial: Readonly<Record<string, readonly string[]>> = {
  RSA: ["n", "e"],
  EC: ["crv", "x", "y"],
  OKP: ["crv", "x"],
};
const curves: readonly unknown[] = ["P-256", "P-384", "P-521", "Ed25519"];
const privateFields = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const minModulusBits = 2048;

/** Parses a JSON Web Key Set. Returns the public part of each key that can verify tokens, possibly none. */
export function parseKeySet(text: string, source: string): KeySet {
  const unparsed = readKeys(text, source);
  unparsed.forEach((key) => assertPublic(key, source));
  const keys = unparsed.filter(canVerifyTokens).map(publicPart);
  keys.forEach((key) => assertStrong(key, source));
  return { keys };
}

/** The key set is valid but cannot verify any token. */
export const noUsableKeys = (source: string): DecisionError =>
  unusableKeys(source, "it contains no key for signatures");

function readKeys(text: string, source: string): readonly UnparsedKey[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unusableKeys(source, "it is not JSON", { cause });
  }
  const keys = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw unusableKeys(source, "it is not a JSON Web Key Set");
  return keys;
}

function assertPublic(key: UnparsedKey, source: string): void {
  if (key["kty"] === "oct") {
    throw unusableKeys(source, `${describeKey(key)} is a symmetric key`, {
      hint: "anyone who can verify such a token can forge one; use a key pair and publish its public part",
    });
  }
  if (privateFields.some((name) => key[name] !== undefined)) {
    throw unusableKeys(source, `${describeKey(key)} contains a private key`, {
      hint: "publish only the public part",
    });
  }
}

function canVerifyTokens({ kty, use, key_ops: uses, kid, alg, crv, ...key }: UnparsedKey): boolean {
  if (typeof kty !== "string" || !Object.hasOwn(keyMaterial, kty)) return false;
  if (use !== undefined && use !== "sig") return false;
  if (uses !== undefined && !(Array.isArray(uses) && uses.includes("verify"))) return false;
  if (kid !== undefined && typeof kid !== "string") return false;
  if (alg !== undefined && !signatureAlgorithms.includes(alg as string)) return false;
  if (kty !== "RSA" && !curves.includes(crv)) return false;
  return (keyMaterial[kty] ?? []).every((name) => name === "crv" || typeof key[name] === "string");
}

/** Drops `use` and `key_ops`, which are checked already, and certificates, which are not used. */
function publicPart(key: UnparsedKey): PublicKey {
  const fields = ["kty", "kid", "alg", ...(keyMaterial[key["kty"] as string] ?? [])];
  return Object.fromEntries(
    fields.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]])),
  ) as {
    readonly kty: string;
  };
}

function assertStrong(key: PublicKey, source: string): void {
  let details;
  try {
    details = createPublicKey({ key: key as JsonWebKey, format: "jwk" }).asymmetricKeyDetails;
  } catch (cause) {
    throw unusableKeys(source, `${describeKey(key)} is damaged`, { cause });
  }
  const { modulusLength = minModulusBits, publicExponent = 3n } = details ?? {};
  if (modulusLength < minModulusBits) {
    throw unusableKeys(source, `${describeKey(key)} is too weak: it has ${modulusLength} bits`, {
      hint: "use a key of at least 2048 bits",
    });
  }
  // With an exponent of 1, a message is its own signature.
  if (publicExponent < 3n || publicExponent % 2n === 0n) {
    throw unusableKeys(source, `${describeKey(key)} has an insecure exponent`);
  }
}

const describeKey = ({ kid }: UnparsedKey): string =>
  typeof kid === "string" ? `the key \`${kid}\`` : "one of its keys";

export function unusableKeys(
  source: string,
  reason: string,
  {
    hint = "give a JSON Web Key Set with the public keys of the issuer",
    cause,
  }: { readonly hint?: string; readonly cause?: unknown } = {},
): DecisionError {
  return new DecisionError("usage", `the keys in \`${source}\` cannot be used: ${reason}`, { hint, cause });
}

/** Asymmetric algorithms only: a server that can verify a token must not be able to sign one. */
export const signatureAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];
