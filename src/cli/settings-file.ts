import { dirname } from "node:path";
import type Conf from "conf";
import { DecisionError } from "../errors.js";
import { makeDirectory } from "../store/make-directory.js";
import type { KnownSetting, Value } from "./settings-table.js";

type Values = Record<string, unknown>;

/** Keeps a value in the user's settings; the other settings stay as they are. */
export async function writeSetting(path: string, setting: KnownSetting, value: Value): Promise<void> {
  await change(path, setting, (conf) => conf.set(setting.key, value));
}

export async function removeSetting(path: string, setting: KnownSetting): Promise<void> {
  await change(path, setting, (conf) => conf.delete(setting.key));
}

async function change(
  path: string,
  setting: KnownSetting,
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
async function open(cwd: string, { key, schema }: KnownSetting): Promise<Conf<Values>> {
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
