import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";
import { userDirectory } from "./user-directory.js";

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
  return join(io.env["AGENT33_HOME"] || userDirectory("config", io.env), "config.json");
}

function readSettings(path: string): Record<string, unknown> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch {
    return {};
  }
  try {
    const settings: unknown = JSON.parse(text);
    return typeof settings === "object" && settings !== null ? (settings as Record<string, unknown>) : {};
  } catch (error) {
    throw new DecisionError("file_unreadable", `the settings in \`${path}\` are not JSON`, { cause: error });
  }
}
