import type { KeyObject } from "node:crypto";
import { readFileSync, closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { makeDirectory } from "./files.js";
import { nodeCrypto } from "../digest/sha256.js";
import { isValidSignature, keyFingerprint } from "./signing.js";
import type { VerifySignature } from "../definition/approval/lock.js";
import { DecisionError } from "../errors.js";

/** The one-line form of a public key. */
const oneLinePattern = /^ed25519:([A-Za-z0-9+/]{43}=)$/;
/** The bytes before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** Formats a public key as `ed25519:` and base64, so that settings need no key file. */
export function formatPublicKey(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  return `ed25519:${der.subarray(derPrefix.length).toString("base64")}`;
}

/** Returns a function that verifies signatures made with the given public keys (one-line form or PEM files). */
export function signatureVerifier(keys: readonly string[]): VerifySignature {
  const trusted = new Map(keys.map(parseTrustedKey).map((key) => [keyFingerprint(key), key]));
  return (text, { key: fingerprint, signature }) => {
    const key = trusted.get(fingerprint);
    if (key === undefined) return "untrusted";
    return isValidSignature(key, text, signature) ? "fits" : "unfit";
  };
}

/** Parses a public Ed25519 key. Other kinds are refused, because their signatures have other properties. */
export function parseTrustedKey(written: string): KeyObject {
  const key = written.startsWith("ed25519:") ? keyFromLine(written) : keyFromFile(written);
  if (key.asymmetricKeyType === "ed25519") return key;
  throw unusableKeyError(written, "it is not an Ed25519 key");
}

function keyFromLine(written: string): KeyObject {
  const bytes = Buffer.from(oneLinePattern.exec(written)?.[1] ?? "", "base64");
  if (bytes.length !== 32 || `ed25519:${bytes.toString("base64")}` !== written) {
    throw unusableKeyError(written, "it is not `ed25519:` and 32 bytes in base64");
  }
  return nodeCrypto().createPublicKey({
    key: Buffer.concat([derPrefix, bytes]),
    format: "der",
    type: "spki",
  });
}

function keyFromFile(path: string): KeyObject {
  if (path.includes("-----BEGIN"))
    throw unusableKeyError("-----BEGIN…", "specify the path of a key file, not its content");
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    throw unusableKeyError(path, (error as Error).message, error);
  }
  if (pem.includes("PRIVATE KEY"))
    throw unusableKeyError(path, "it contains a private key, which must stay secret");
  try {
    return nodeCrypto().createPublicKey(pem);
  } catch (error) {
    throw unusableKeyError(path, "it does not contain a public key in PEM format", error);
  }
}

function unusableKeyError(written: string, why: string, cause?: unknown): DecisionError {
  return new DecisionError("not_approved", `the trusted key \`${written}\` cannot be used: ${why}`, {
    hint: "list public keys in the setting `trusted_keys`: `ed25519:…` or PEM files, separated by commas",
    cause,
  });
}

/** Throws if the key is not among the trusted ones: its signature would make the whole lock invalid. */
export function assertTrustedKey(key: KeyObject, keys: readonly string[]): void {
  if (
    keys.length === 0 ||
    keys.some((written) => keyFingerprint(parseTrustedKey(written)) === keyFingerprint(key))
  )
    return;
  throw new DecisionError("not_approved", "the signing key is not trusted, so nothing was signed", {
    hint: `sign with a trusted key, or trust this one with \`${trustCommand(key, keys)}\``,
  });
}

/** Returns the command that adds a key to the trusted ones. */
export const trustCommand = (key: KeyObject, keys: readonly string[]): string =>
  `agent-33 decision config set trusted_keys ${[...keys, formatPublicKey(key)].join(",")}`;

export interface GeneratedKeys {
  /** The fingerprint of the key. */
  readonly key: string;
  readonly file: string;
  readonly public_file: string;
  /** The public key in one-line form. */
  readonly public_key: string;
}

/**
 * Generates a key pair for approvals and writes both files. Only the owner can read the private key. Overwrites
 * nothing.
 */
export function generateKeys(file: string): GeneratedKeys {
  const { privateKey, publicKey } = nodeCrypto().generateKeyPairSync("ed25519");
  const public_file = `${file}.pub`;
  writeNewFile(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString(), 0o600);
  try {
    writeNewFile(public_file, publicKey.export({ type: "spki", format: "pem" }).toString(), 0o644);
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
  return { key: keyFingerprint(publicKey), file, public_file, public_key: formatPublicKey(publicKey) };
}

function writeNewFile(path: string, text: string, mode: number): void {
  try {
    makeDirectory(dirname(path), 0o700);
    const fd = openSync(path, "wx", mode);
    try {
      writeSync(fd, text);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "EEXIST") {
      throw new DecisionError("file_exists", `\`${path}\` already exists`, {
        hint: "keys are never overwritten; choose another file with --out FILE",
        cause: error,
      });
    }
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, { cause: error });
  }
}
