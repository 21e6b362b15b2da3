import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Conf from "conf";
import { DecisionError, fileErrorHint } from "../errors.js";
import { formatPublicKey, parseTrustedKey } from "../store/approval-keys.js";
import { makeDirectory } from "../store/files.js";
import type { SettingValue } from "./settings-table.js";

/** Stores a value in the user's settings file. */
export async function writeSetting(path: string, key: string, value: SettingValue): Promise<void> {
  await changeFile(path, (conf) => conf.set(key, value));
}

/** Removes a value from the user's settings file. */
export async function removeSetting(path: string, key: string): Promise<void> {
  await changeFile(path, (conf) => conf.delete(key));
}

async function changeFile(path: string, change: (conf: Conf) => void): Promise<void> {
  try {
    makeDirectory(dirname(path), 0o700);
    const { default: Conf } = await import("conf");
    const conf = new Conf({
      cwd: dirname(path),
      configName: "config",
      projectName: "agent-33",
      projectSuffix: "",
      configFileMode: 0o600,
      // `lineage.enabled` is a field of the object `lineage`.
      accessPropertiesByDotNotation: true,
    });
    change(conf);
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, {
      hint: `${fileErrorHint(error, path) ?? "make the directory writable"}, or set AGENT33_HOME to another directory`,
      cause: error,
    });
  }
}

/** Returns the path if the file contains an Ed25519 private key, or throws without showing its content. */
export async function checkSigningKey(file: string): Promise<string> {
  const pem = readKeyFile(file);
  const { createPrivateKey } = await import("node:crypto");
  let type: string | undefined;
  try {
    type = createPrivateKey({ key: pem, format: "pem" }).asymmetricKeyType;
  } catch {
    type = undefined;
  }
  if (type === "ed25519") return file;
  throw new DecisionError("usage", `\`${file}\` does not contain an Ed25519 private key in PEM`, {
    hint: "create one with `openssl genpkey -algorithm ed25519 -out FILE`; it must not be encrypted",
  });
}

function readKeyFile(file: string): Buffer {
  try {
    if (!statSync(file).isFile()) throw new Error("it is not a file");
    return readFileSync(file);
  } catch (error) {
    throw new DecisionError("usage", `cannot read \`${file}\`: ${(error as Error).message}`, {
      hint: fileErrorHint(error, file) ?? "specify a file with an Ed25519 private key in PEM",
      cause: error,
    });
  }
}

/**
 * Replaces the paths of key files by the keys themselves, so that replacing a file later does not change who is
 * trusted. Throws for anything that is not a public Ed25519 key.
 */
export function normalizeTrustedKeys(keys: string): string {
  return [...new Set(keys.split(",").map(normalizeTrustedKey))].join(",");
}

function normalizeTrustedKey(key: string): string {
  try {
    return formatPublicKey(parseTrustedKey(key));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    throw new DecisionError("usage", error.message, { hint: error.hint, cause: error });
  }
}
