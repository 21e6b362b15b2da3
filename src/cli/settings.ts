import { existsSync, readFileSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";

/** A setting with where it came from. */
export interface Setting {
  readonly value: string;
  readonly from: string;
}

/** The directory of definitions: flag, environment, `./decisions`, the user's settings. */
export function decisionsDirectory(flag: string | undefined, io: Io): Setting {
  const setting = decisionsSetting(flag, io);
  if (setting !== undefined) return setting;
  throw new DecisionError("definitions_missing", "no directory of definitions was found", {
    hint: "make one with `agent-33 decision new switch my-decision`, or name it with --decisions DIR or AGENT33_DECISIONS",
  });
}

export function decisionsSetting(flag: string | undefined, io: Io): Setting | undefined {
  if (flag !== undefined) return { value: flag, from: "--decisions" };
  const fromEnvironment = io.env["AGENT33_DECISIONS"];
  if (fromEnvironment) return { value: fromEnvironment, from: "AGENT33_DECISIONS" };
  if (existsSync(join(io.cwd, "decisions"))) return { value: "decisions", from: "the current directory" };
  const path = settingsFile(io);
  const fromSettings = readSettings(path)["decisions"];
  return typeof fromSettings === "string" ? { value: fromSettings, from: path } : undefined;
}

/** Where conf keeps the user's settings; read without conf, which would cost most of the start-up. */
export function settingsFile(io: Io): string {
  return join(io.env["AGENT33_HOME"] || userDirectory("config", io), "config.json");
}

/** Where definitions are kept as they were understood; undefined where there is no home. */
export function cacheHome(io: Io): string | undefined {
  const given = io.env["AGENT33_CACHE"];
  if (given !== undefined) return given === "" ? undefined : given;
  return userDirectory("cache", io);
}

function readSettings(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (error) {
    throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not JSON`, { cause: error });
  }
}

function userDirectory(kind: "config" | "cache", io: Io): string {
  const home = io.env["HOME"] || homedir();
  switch (process.platform) {
    case "darwin":
      return join(home, "Library", kind === "config" ? "Preferences" : "Caches", "agent-33");
    case "win32": {
      const root = kind === "config" ? io.env["APPDATA"] : io.env["LOCALAPPDATA"];
      return join(root ?? join(home, "AppData", "Local"), "agent-33", kind === "config" ? "Config" : "Cache");
    }
    default: {
      const root = kind === "config" ? io.env["XDG_CONFIG_HOME"] : io.env["XDG_CACHE_HOME"];
      return join(root || join(home, kind === "config" ? ".config" : ".cache"), "agent-33");
    }
  }
}
