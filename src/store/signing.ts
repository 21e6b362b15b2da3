import { readFileSync } from "node:fs";
import type * as Crypto from "node:crypto";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Checkpoint, Signer } from "../record/chain.js";
import { checkpointSignedText } from "../record/chain.js";

/** Signs with the Ed25519 key in a PEM file, which is read when something is signed for the first time. */
export function signerFromFile(path: string): Signer {
  let signer: Signer | undefined;
  return (text) => {
    signer ??= readSigner(path);
    return signer(text);
  };
}

function readSigner(path: string): Signer {
  const key = openPrivateKey(path);
  return (text) => ({ key: key.fingerprint, signature: key.sign(text) });
}

/** A private key that was read; its bytes are never shown. */
export interface PrivateKey {
  readonly fingerprint: string;
  readonly publicKey: Crypto.KeyObject;
  /** The signature in base64. */
  sign(text: string): string;
}

export function openPrivateKey(path: string): PrivateKey {
  const { createPrivateKey, createPublicKey, sign } = nodeCrypto();
  const key = readKey(path, (pem) => {
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

/** Told as what it is, before somebody looks for what is wrong with it. */
function assertPrivateKeyPem(pem: string, path: string): void {
  if (/-----BEGIN ENCRYPTED PRIVATE KEY-----|^Proc-Type:.*ENCRYPTED/m.test(pem)) {
    throw new DecisionError("usage", `the key in \`${path}\` is encrypted`, {
      hint: "write it without a passphrase with `openssl pkey -in FILE -out key.pem`, for yourself alone to read",
    });
  }
  if (pem.includes("-----BEGIN PUBLIC KEY-----")) {
    throw new DecisionError("usage", `\`${path}\` holds a public key, and signing takes the private one`, {
      hint: "it is most likely the file of the same name without `.pub`",
    });
  }
}

/** Tells whether a checkpoint was signed with the other half of a public key. */
export type CheckSignature = (checkpoint: Checkpoint) => boolean;

export function checkpointSignatureCheck(path: string): CheckSignature {
  const check = textSignatureCheck(path);
  return (checkpoint) => check(checkpointSignedText(checkpoint), checkpoint);
}

/** The same of any text. */
export type CheckTextSignature = (
  text: string,
  signed: { readonly key?: string | undefined; readonly signature?: string | undefined },
) => boolean;

export function textSignatureCheck(path: string): CheckTextSignature {
  const { createPublicKey } = nodeCrypto();
  const key = readKey(path, (pem) => createPublicKey(pem));
  const name = keyFingerprint(key);
  return (text, { key: signedBy, signature }) =>
    signature !== undefined && signedBy === name && isValidSignature(key, text, signature);
}

/** Whether a signature in base64 is that of a text. */
export function isValidSignature(key: Crypto.KeyObject, text: string, signature: string): boolean {
  const bytes = Buffer.from(signature, "base64");
  // Node reads base64 leniently: only one spelling of a signature is the one that was written.
  return bytes.toString("base64") === signature && nodeCrypto().verify(null, Buffer.from(text), key, bytes);
}

/** SHA-256 of what comes piece by piece. */
export const createSha256 = (): Crypto.Hash => nodeCrypto().createHash("sha256");

/** Nobody chose it, and nobody else has it. */
export const newLockId = (): string => nodeCrypto().randomBytes(16).toString("hex");

/** Keys are told apart by the SHA-256 of their public half. */
export function keyFingerprint(key: Crypto.KeyObject): string {
  return sha256Hex(key.export({ type: "spki", format: "pem" }).toString());
}

function readKey(path: string, parse: (pem: string) => Crypto.KeyObject): Crypto.KeyObject {
  if (path.includes("-----BEGIN")) {
    throw new DecisionError("usage", "a key is named by its file (got the text of a key)", {
      hint: keyFileHint,
    });
  }
  let key: Crypto.KeyObject;
  try {
    key = parse(readFileSync(path, "utf8"));
  } catch (error) {
    if (error instanceof DecisionError) throw error;
    const { code, message } = error as NodeJS.ErrnoException;
    const why = code?.startsWith("ERR_") === false ? message : "it holds no key in PEM";
    throw new DecisionError("usage", `cannot use the key in \`${path}\`: ${why}`, {
      hint: keyFileHint,
      cause: error,
    });
  }
  if (key.asymmetricKeyType === "ed25519") return key;
  throw new DecisionError("usage", `the key in \`${path}\` is not an Ed25519 key`, { hint: keyFileHint });
}

const keyFileHint =
  "make one with `agent-33 decision keygen --out key.pem`, or with `openssl genpkey -algorithm ed25519 -out key.pem` and `openssl pkey -in key.pem -pubout`";

/** Loaded when it is needed: most decisions sign nothing. */
export function nodeCrypto(): typeof Crypto {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Crypto };
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- Node before 20.16
  return getBuiltinModule?.("node:crypto") ?? (require("node:crypto") as typeof Crypto);
}
