import { closeSync, fsyncSync, openSync, unlinkSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { DecisionError } from "../errors.js";
import { makeDirectory } from "./make-directory.js";
import { crypto, nameOf } from "./signing.js";
import { oneLineKey } from "./trusted-keys.js";

export interface MadeKeys {
  /** The name of the key. */
  readonly key: string;
  readonly file: string;
  readonly public_file: string;
  /** The public key on one line. */
  readonly public_key: string;
}

/** Makes a key for approvals: the private half for its owner alone, the public one beside it. Overwrites nothing. */
export function makeKeys(file: string): MadeKeys {
  const { privateKey, publicKey } = crypto().generateKeyPairSync("ed25519");
  const public_file = `${file}.pub`;
  writeNew(file, privateKey.export({ type: "pkcs8", format: "pem" }).toString(), 0o600);
  try {
    writeNew(public_file, publicKey.export({ type: "spki", format: "pem" }).toString(), 0o644);
  } catch (error) {
    unlinkSync(file);
    throw error;
  }
  return { key: nameOf(publicKey), file, public_file, public_key: oneLineKey(publicKey) };
}

function writeNew(path: string, text: string, mode: number): void {
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
      throw new DecisionError("file_exists", `\`${path}\` is there already`, {
        hint: "keys are never overwritten; write elsewhere with --out FILE",
        cause: error,
      });
    }
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, { cause: error });
  }
}
