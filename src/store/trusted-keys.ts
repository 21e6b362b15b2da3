import { readFileSync } from "node:fs";
import type { KeyObject } from "node:crypto";
import type { VerifySignature } from "../definition/approval/verify-lock.js";
import { DecisionError } from "../errors.js";
import { crypto, fitsKey, nameOf } from "./signing.js";

/** How a public key is written on one line. */
const onOneLine = /^ed25519:([A-Za-z0-9+/]{43}=)$/;
/** What stands before the 32 bytes of an Ed25519 key in DER (RFC 8410). */
const derPrefix = Buffer.from("302a300506032b6570032100", "hex");

/** `ed25519:` and the public key in base64, so that settings need no file for it. */
export function oneLineKey(key: KeyObject): string {
  const der = key.export({ type: "spki", format: "der" });
  return `ed25519:${der.subarray(derPrefix.length).toString("base64")}`;
}

/** Tells what was signed with these keys: public ones, on one line each or in PEM files. */
export function verifierOf(keys: readonly string[]): VerifySignature {
  const trusted = new Map(keys.map(readTrustedKey).map((key) => [nameOf(key), key]));
  return (text, { key: name, signature }) => {
    const key = trusted.get(name);
    if (key === undefined) return "untrusted";
    return fitsKey(key, text, signature) ? "fits" : "unfit";
  };
}

/** A public Ed25519 key, and nothing else: with a key of another kind a signature would mean something else. */
export function readTrustedKey(written: string): KeyObject {
  const key = written.startsWith("ed25519:") ? fromLine(written) : fromFile(written);
  if (key.asymmetricKeyType === "ed25519") return key;
  throw unusable(written, "it is not an Ed25519 key");
}

function fromLine(written: string): KeyObject {
  const bytes = Buffer.from(onOneLine.exec(written)?.[1] ?? "", "base64");
  if (bytes.length !== 32 || `ed25519:${bytes.toString("base64")}` !== written) {
    throw unusable(written, "it is not `ed25519:` and 32 bytes in base64");
  }
  return crypto().createPublicKey({ key: Buffer.concat([derPrefix, bytes]), format: "der", type: "spki" });
}

function fromFile(path: string): KeyObject {
  if (path.includes("-----BEGIN")) throw unusable("-----BEGIN…", "a key is named by its file");
  let pem: string;
  try {
    pem = readFileSync(path, "utf8");
  } catch (error) {
    throw unusable(path, (error as Error).message, error);
  }
  if (pem.includes("PRIVATE KEY")) throw unusable(path, "it holds a private key, which is to stay secret");
  try {
    return crypto().createPublicKey(pem);
  } catch (error) {
    throw unusable(path, "it holds no public key in PEM", error);
  }
}

function unusable(written: string, why: string, cause?: unknown): DecisionError {
  return new DecisionError("not_approved", `the trusted key \`${written}\` cannot be used: ${why}`, {
    hint: "name public keys in the setting `trusted_keys`: `ed25519:…` or PEM files, separated by commas",
    cause,
  });
}

/** Where keys are trusted, what another one signed would only keep the whole lock from counting. */
export function refuseUntrustedKey(key: KeyObject, keys: readonly string[]): void {
  if (keys.length === 0 || keys.some((written) => nameOf(readTrustedKey(written)) === nameOf(key))) return;
  throw new DecisionError("not_approved", "the key to sign with is not trusted here, so nothing is signed", {
    hint: `sign with a key that is, or trust this one too with \`${trustCommand(key, keys)}\``,
  });
}

/** What to type to trust a key beside those that are trusted already. */
export const trustCommand = (key: KeyObject, keys: readonly string[]): string =>
  `agent-33 decision config set trusted_keys ${[...keys, oneLineKey(key)].join(",")}`;
