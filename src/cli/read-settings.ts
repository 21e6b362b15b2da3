import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DecisionError } from "../errors.js";
import { agentHome } from "./agent-home.js";
import type { Io } from "./io.js";

export interface SettingsFile {
  readonly path: string;
  readonly values: Readonly<Record<string, unknown>>;
}

/** The files of settings; each is read when it is first asked for, and only then. */
export interface SettingsFiles {
  project(): SettingsFile | undefined;
  user(): SettingsFile;
}

export function settingsFiles(io: Io): SettingsFiles {
  return {
    project: once(() => {
      const path = projectFile(io.cwd);
      return path === undefined ? undefined : readSettings(path);
    }),
    user: once(() => readSettings(settingsFile(io))),
  };
}

/** Where conf keeps the user's settings; read without conf, which would cost most of the start-up. */
export function settingsFile(io: Io): string {
  return join(agentHome(io), "config.json");
}

/** The settings of a project stand in its directory and count in all below it. */
function projectFile(directory: string): string | undefined {
  const path = join(directory, "agent-33.json");
  if (existsSync(path)) return path;
  const above = dirname(directory);
  return above === directory ? undefined : projectFile(above);
}

function readSettings(path: string): SettingsFile {
  if (!existsSync(path)) return { path, values: {} };
  const values = parse(read(path), path);
  if (typeof values === "object" && values !== null && !Array.isArray(values)) {
    return { path, values: values as Record<string, unknown> };
  }
  throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not a JSON object`, {
    hint: mend,
  });
}

function read(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const { message } = error as Error;
    throw new DecisionError("file_unreadable", `cannot read \`${path}\`: ${message}`, {
      hint: "see that you may read it",
      cause: error,
    });
  }
}

function parse(text: string, path: string): unknown {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not JSON`, {
      hint: mend,
      cause: error,
    });
  }
}

const mend = "mend the file, or remove it to go on with the defaults";

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}
