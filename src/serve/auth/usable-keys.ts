import type { JsonWebKey } from "node:crypto";
import { createPublicKey } from "node:crypto";
import { DecisionError } from "../../errors.js";
import { signatureAlgorithms } from "./algorithms.js";

export interface PublicKey {
  readonly kty: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly [material: string]: string;
}

export interface KeySet {
  readonly keys: readonly PublicKey[];
}

type Written = Readonly<Record<string, unknown>>;

/** What a public key consists of; a key of another kind is not for us. */
const materials: Readonly<Record<string, readonly string[]>> = {
  RSA: ["n", "e"],
  EC: ["crv", "x", "y"],
  OKP: ["crv", "x"],
};
const curves: readonly unknown[] = ["P-256", "P-384", "P-521", "Ed25519"];
const secrets = ["d", "p", "q", "dp", "dq", "qi", "oth", "k", "priv"];
const smallestModulus = 2048;

/** The keys of a JSON Web Key Set that can check a token, and of each only what that takes; perhaps none. */
export function usableKeys(text: string, where: string): KeySet {
  const written = keysIn(text, where);
  written.forEach((key) => refuseSecret(key, where));
  const keys = written.filter(canCheckTokens).map(publicPart);
  keys.forEach((key) => checkStrength(key, where));
  return { keys };
}

/** Says that whoever had keys has none any more: none of the tokens counts. */
export const withoutKeys = (where: string): DecisionError =>
  unusable(where, "it holds no key that signs tokens");

function keysIn(text: string, where: string): readonly Written[] {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (cause) {
    throw unusable(where, "it is not JSON", { cause });
  }
  const keys = isObject(value) ? value["keys"] : undefined;
  if (!Array.isArray(keys) || !keys.every(isObject)) throw unusable(where, "it is not a JSON Web Key Set");
  return keys;
}

function refuseSecret(key: Written, where: string): void {
  if (key["kty"] === "oct") {
    throw unusable(where, `${nameOf(key)} is a symmetric key`, {
      hint: "whoever can check such tokens can forge them; use a key pair, and publish its public part",
    });
  }
  if (secrets.some((name) => key[name] !== undefined)) {
    throw unusable(where, `${nameOf(key)} holds a private key`, { hint: "publish only the public part" });
  }
}

function canCheckTokens({ kty, use, key_ops: uses, kid, alg, crv, ...key }: Written): boolean {
  if (typeof kty !== "string" || !Object.hasOwn(materials, kty)) return false;
  if (use !== undefined && use !== "sig") return false;
  if (uses !== undefined && !(Array.isArray(uses) && uses.includes("verify"))) return false;
  if (kid !== undefined && typeof kid !== "string") return false;
  if (alg !== undefined && !signatureAlgorithms.includes(alg as string)) return false;
  if (kty !== "RSA" && !curves.includes(crv)) return false;
  return (materials[kty] ?? []).every((name) => name === "crv" || typeof key[name] === "string");
}

/** `use`, `key_ops`, certificates and the like were heeded, or are none of our business. */
function publicPart(key: Written): PublicKey {
  const kept = ["kty", "kid", "alg", ...(materials[key["kty"] as string] ?? [])];
  return Object.fromEntries(kept.flatMap((name) => (key[name] === undefined ? [] : [[name, key[name]]]))) as {
    readonly kty: string;
  };
}

function checkStrength(key: PublicKey, where: string): void {
  let details;
  try {
    details = createPublicKey({ key: key as JsonWebKey, format: "jwk" }).asymmetricKeyDetails;
  } catch (cause) {
    throw unusable(where, `${nameOf(key)} is damaged`, { cause });
  }
  const { modulusLength = smallestModulus, publicExponent = 3n } = details ?? {};
  if (modulusLength < smallestModulus) {
    throw unusable(where, `${nameOf(key)} has ${modulusLength} bits, which is too weak`, {
      hint: "use a key of at least 2048 bits",
    });
  }
  // What is raised to the power of one is its own signature.
  if (publicExponent < 3n || publicExponent % 2n === 0n) {
    throw unusable(where, `${nameOf(key)} has an exponent that proves nothing`);
  }
}

const nameOf = ({ kid }: Written): string =>
  typeof kid === "string" ? `the key \`${kid}\`` : "one of its keys";

const isObject = (value: unknown): value is Written =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Says that keys cannot be used, and why. */
export function unusable(
  where: string,
  why: string,
  {
    hint = "give a JSON Web Key Set with the public keys of the issuer",
    cause,
  }: { readonly hint?: string; readonly cause?: unknown } = {},
): DecisionError {
  return new DecisionError("usage", `the keys in \`${where}\` cannot be used: ${why}`, { hint, cause });
}
