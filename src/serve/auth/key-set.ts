import type { JsonWebKey } from "node:crypto";
import { createPublicKey } from "node:crypto";
import { DecisionError } from "../../errors.js";

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

/** What a public key consists of; a key of another kind is not for us. */
const keyMaterial: Readonly<Record<string, readonly string[]>> = {
  RSA: ["n", "e"],
  EC: ["crv", "x", "y"],
  OKP: ["crv", "x"],
};
const curves: readonly unknown[] = ["P-256", "P-384", "P-521", "Ed25519"];
const privateFields = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const minModulusBits = 2048;

/** The keys of a JSON Web Key Set that can check a token, and of each only what that takes; perhaps none. */
export function parseKeySet(text: string, where: string): KeySet {
  const written = readKeys(text, where);
  written.forEach((key) => assertPublic(key, where));
  const keys = written.filter(canVerifyTokens).map(publicPart);
  keys.forEach((key) => assertStrong(key, where));
  return { keys };
}

/** Says that whoever had keys has none any more: none of the tokens counts. */
export const noUsableKeys = (where: string): DecisionError =>
  unusableKeys(where, "it holds no key that signs tokens");

function readKeys(text: string, where: string): readonly UnparsedKey[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unusableKeys(where, "it is not JSON", { cause });
  }
  const keys = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject))
    throw unusableKeys(where, "it is not a JSON Web Key Set");
  return keys;
}

function assertPublic(key: UnparsedKey, where: string): void {
  if (key["kty"] === "oct") {
    throw unusableKeys(where, `${describeKey(key)} is a symmetric key`, {
      hint: "whoever can check such tokens can forge them; use a key pair, and publish its public part",
    });
  }
  if (privateFields.some((name) => key[name] !== undefined)) {
    throw unusableKeys(where, `${describeKey(key)} holds a private key`, {
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

/** `use`, `key_ops`, certificates and the like were heeded, or are none of our business. */
function publicPart(key: UnparsedKey): PublicKey {
  const kept = ["kty", "kid", "alg", ...(keyMaterial[key["kty"] as string] ?? [])];
  return Object.fromEntries(kept.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]]))) as {
    readonly kty: string;
  };
}

function assertStrong(key: PublicKey, where: string): void {
  let details;
  try {
    details = createPublicKey({ key: key as JsonWebKey, format: "jwk" }).asymmetricKeyDetails;
  } catch (cause) {
    throw unusableKeys(where, `${describeKey(key)} is damaged`, { cause });
  }
  const { modulusLength = minModulusBits, publicExponent = 3n } = details ?? {};
  if (modulusLength < minModulusBits) {
    throw unusableKeys(where, `${describeKey(key)} has ${modulusLength} bits, which is too weak`, {
      hint: "use a key of at least 2048 bits",
    });
  }
  // What is raised to the power of one is its own signature.
  if (publicExponent < 3n || publicExponent % 2n === 0n) {
    throw unusableKeys(where, `${describeKey(key)} has an exponent that proves nothing`);
  }
}

const describeKey = ({ kid }: UnparsedKey): string =>
  typeof kid === "string" ? `the key \`${kid}\`` : "one of its keys";

const isObject = (value: unknown): value is UnparsedKey =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Says that keys cannot be used, and why. */
export function unusableKeys(
  where: string,
  why: string,
  {
    hint = "give a JSON Web Key Set with the public keys of the issuer",
    cause,
  }: { readonly hint?: string; readonly cause?: unknown } = {},
): DecisionError {
  return new DecisionError("usage", `the keys in \`${where}\` cannot be used: ${why}`, { hint, cause });
}

/** With which a token may be signed: whoever can check a signature must not be able to make one. */
export const signatureAlgorithms: readonly string[] = [
  ...["RS256", "RS384", "RS512"],
  ...["PS256", "PS384", "PS512"],
  ...["ES256", "ES384", "ES512"],
  ...["EdDSA", "Ed25519"],
];
