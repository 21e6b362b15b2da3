import { readFileSync } from "node:fs";
import type * as Crypto from "node:crypto";
import { nodeCrypto, sha256Hex } from "../digest/sha256.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import type { Checkpoint, Signer } from "../record/chain.js";
import { checkpointSignedText } from "../record/chain.js";
import { readRegularFile } from "./regular-file.js";

/**
 * Signs with the Ed25519 key in a PEM file. The file is read now, because signing holds the lock of the store; a problem
 * with it is thrown by the first signature, because most commands sign nothing.
 */
export function signerFromFile(path: string): Signer {
  const readPem = readNow(() => readRegularFile(path, maxKeyBytes).toString("utf8"));
  let key: PrivateKey | undefined;
  return (text) => {
    key ??= openPrivateKey(path, readPem);
    return { key: key.fingerprint, signature: key.sign(text) };
  };
}

/** Files of keys have a few hundred bytes. */
const maxKeyBytes = 1024 * 1024;

/** Returns a function that returns the result, or throws the error, of this moment. */
function readNow<T>(read: () => T): () => T {
  try {
    const result = read();
    return () => result;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

/** A private key. Its bytes are not accessible. */
export interface PrivateKey {
  readonly fingerprint: string;
  readonly publicKey: Crypto.KeyObject;
  /** Returns the signature in base64. */
  sign(text: string): string;
}

export function openPrivateKey(path: string, readPem = () => readFileSync(path, "utf8")): PrivateKey {
  const { createPrivateKey, createPublicKey, sign } = nodeCrypto();
  const key = readKey(path, () => {
    const pem = readPem();
    assertPrivateKeyPem(pem, path);
    return createPrivateKey(pem);
  });
  const publicKey = createPublicKey(key);
  return {
    fingerprint: keyFingerprint(publicKey),
    publicKey,
    sign: (text) => sign(null, Buffer.from(text), key).toString("base64"),
  };
}

/** Throws a specific error for the usual mistakes: an encrypted key or a public key. */
function assertPrivateKeyPem(pem: string, path: string): void {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type:.*ENCRYPTED/m.test(pem)) {
    throw new DecisionError("usage", `the key in \`${path}\` is encrypted`, {
      hint: "remove the passphrase with `openssl pkey -in FILE -out key.pem` and make the file readable for you only",
    });
  }
  if (pem.includes("-----BEGIN PUBLIC KEY-----")) {
    throw new DecisionError("usage", `\`${path}\` contains a public key; signing needs the private key`, {
      hint: "the private key is usually in the file with the same name without `.pub`",
    });
  }
}

/** Returns true if a checkpoint was signed with the private key of a given public key. */
export type CheckSignature = (checkpoint: Checkpoint) => boolean;

export function checkpointSignatureCheck(path: string): CheckSignature {
  const check = textSignatureCheck(path);
  return (checkpoint) => check(checkpointSignedText(checkpoint), checkpoint);
}

/** Returns true if a text was signed with the private key of a given public key. */
export type CheckTextSignature = (
  text: string,
  signed: { readonly key?: string | undefined; readonly signature?: string | undefined },
) => boolean;

export function textSignatureCheck(path: string): CheckTextSignature {
  const { createPublicKey } = nodeCrypto();
  const key = readKey(path, () => createPublicKey(readFileSync(path, "utf8")));
  const name = keyFingerprint(key);
  return (text, { key: signedBy, signature }) =>
    signature !== undefined && signedBy === name && isValidSignature(key, text, signature);
}

/** Verifies a signature in base64. */
export function isValidSignature(key: Crypto.KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  // Node decodes base64 leniently, so other spellings of the same bytes are refused.
  return bytes.toString("base64") === signature && nodeCrypto().verify(null, Buffer.from(text), key, bytes);
}

/** Returns an incremental SHA-256 hash. */
export const createSha256 = (): Crypto.Hash => nodeCrypto().createHash("sha256");

/** Returns a random id. */
export const newLockId = (): string => nodeCrypto().randomBytes(16).toString("hex");

/** Returns the SHA-256 of the public key, which identifies a key. */
export function keyFingerprint(key: Crypto.KeyObject): string {
  return sha256Hex(key.export({ type: "spki", format: "pem" }).toString());
}

function readKey(path: string, read: () => Crypto.KeyObject): Crypto.KeyObject {
  if (path.includes("-----BEGIN")) {
    throw new DecisionError("usage", "specify the path of a key file, not its content", {
      hint: keyFileHint,
    });
  }
  let key: Crypto.KeyObject;
  try {
    key = read();
  } catch (error) {
    if (error instanceof DecisionError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const reason = code?.startsWith("ERR_") === false ? message : "it does not contain a key in PEM format";
    throw new DecisionError("usage", `cannot use the key in \`${path}\`: ${reason}`, {
      hint: code === "ENOENT" ? keyFileHint : (fileErrorHint(error, path) ?? keyFileHint),
      cause: error,
    });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new DecisionError("usage", `the key in \`${path}\` is not an Ed25519 key`, { hint: keyFileHint });
}

const keyFileHint =
  "create one with `agent-33 decision keygen --out key.pem`, or with `openssl genpkey -algorithm ed25519 -out key.pem` and `openssl pkey -in key.pem -pubout`";
