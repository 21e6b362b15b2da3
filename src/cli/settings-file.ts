import { readFileSync, statSync } from "node:fs";
import { dirname } from "node:path";
import type Conf from "conf";
import type { SettingDefinition, Value } from "./settings.js";
import { DecisionError } from "../errors.js";
import { makeDirectory } from "../store/files.js";
import { formatPublicKey, parseTrustedKey } from "../store/approval-keys.js";

type Values = Record<string, unknown>;

/** Keeps a value in the user's settings; the other settings stay as they are. */
export async function writeSetting(path: string, setting: SettingDefinition, value: Value): Promise<void> {
  await change(path, setting, (conf) => conf.set(setting.key, value));
}

export async function removeSetting(path: string, setting: SettingDefinition): Promise<void> {
  await change(path, setting, (conf) => conf.delete(setting.key));
}

async function change(
  path: string,
  setting: SettingDefinition,
  make: (conf: Conf<Values>) => void,
): Promise<void> {
  try {
    makeDirectory(dirname(path), 0o700);
    make(await open(dirname(path), setting));
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === undefined) throw error;
    throw new DecisionError("file_unwritable", `cannot write \`${path}\`: ${message}`, {
      hint: "see that the directory can be written; AGENT33_HOME names another one",
      cause: error,
    });
  }
}

/**
 * conf refuses to open a file with a value that its schema forbids, and so could not mend it either:
 * it is shown the file without the value that is about to be replaced.
 */
async function open(cwd: string, { key, schema }: SettingDefinition): Promise<Conf<Values>> {
  const { default: Conf } = await import("conf");
  return new Conf<Values>({
    cwd,
    configName: "config",
    projectName: "agent-33",
    projectSuffix: "",
    configFileMode: 0o600,
    accessPropertiesByDotNotation: false,
    schema: { [key]: schema },
    deserialize: (text) =>
      Object.fromEntries(Object.entries(JSON.parse(text) as Values).filter(([name]) => name !== key)),
  });
}

/** Refuses a file that is not there or holds no Ed25519 private key; its content is never shown. */
export async function checkSigningKey(file: string): Promise<void> {
  const pem = readKeyFile(file);
  const { createPrivateKey } = await import("node:crypto");
  let type: string | undefined;
  try {
    type = createPrivateKey({ key: pem, format: "pem" }).asymmetricKeyType;
  } catch {
    type = undefined;
  }
  if (type === "ed25519") return;
  throw new DecisionError("usage", `\`${file}\` does not hold an Ed25519 private key in PEM`, {
    hint: "make one with `openssl genpkey -algorithm ed25519 -out FILE`; it must not be encrypted",
  });
}

function readKeyFile(file: string): Buffer {
  try {
    if (!statSync(file).isFile()) throw new Error("it is not a file");
    return readFileSync(file);
  } catch (error) {
    throw new DecisionError("usage", `cannot read \`${file}\`: ${(error as Error).message}`, {
      cause: error,
    });
  }
}

/**
 * The keys themselves, as they are kept in the settings: who exchanges a file later changes nothing. Refuses what
 * is no public Ed25519 key.
 */
export function normalizeTrustedKeys(written: string): string {
  return [...new Set(written.split(",").map(normalizeTrustedKey))].join(",");
}

function normalizeTrustedKey(written: string): string {
  try {
    return formatPublicKey(parseTrustedKey(written));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    throw new DecisionError("usage", error.message, { hint: error.hint, cause: error });
  }
}
