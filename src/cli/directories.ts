import type * as Os from "node:os";
import { resolve } from "node:path";
import type { Io } from "./io.js";
import { DecisionError } from "../errors.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The directory that this system keeps a user's settings or caches of a program in. */
function userDirectory(kind: "config" | "cache", env: Environment): string {
  const home = env["HOME"] || homeDirectory();
  switch (process.platform) {
    case "darwin":
      return `${home}/Library/${kind === "config" ? "Preferences" : "Caches"}/agent-33`;
    case "win32": {
      const root = kind === "config" ? env["APPDATA"] : env["LOCALAPPDATA"];
      return `${root ?? `${home}/AppData/Local`}/agent-33/${kind === "config" ? "Config" : "Cache"}`;
    }
    default: {
      const root = kind === "config" ? env["XDG_CONFIG_HOME"] : env["XDG_CACHE_HOME"];
      return `${root || `${home}/${kind === "config" ? ".config" : ".cache"}`}/agent-33`;
    }
  }
}

/** Where what can be worked out again is kept; undefined where the user wants nothing kept. */
export function cacheHome(env: Environment): string | undefined {
  const given = env["AGENT33_CACHE"];
  if (given !== undefined) return given === "" ? undefined : given;
  return userDirectory("cache", env);
}

/** Asked only where nothing else says it: loading node:os is a noticeable part of a start. */
function homeDirectory(): string {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Os };
  return getBuiltinModule?.("node:os").homedir() ?? process.env["USERPROFILE"] ?? ".";
}

/** The user's own directory: of settings and, where nothing else is said, of the store. */
export function agentHome({ env, cwd }: Pick<Io, "env" | "cwd">): string {
  const given = env["AGENT33_HOME"];
  return given ? resolve(cwd, expandHome(given, env)) : userDirectory("config", env);
}

/** Where the user's own key is that approves definitions. */
export const approvalKeyFile = (io: Pick<Io, "env" | "cwd">): string => `${agentHome(io)}/approval-key.pem`;

/** The path with the user's home directory for a leading `~/`. */
export function expandHome(path: string, env: Io["env"]): string {
  if (!/^~(?=[/\\]|$)/.test(path)) return path;
  const home = env["HOME"] || env["USERPROFILE"];
  if (home) return home + path.slice(1);
  throw new DecisionError("usage", `\`${path}\` needs a home directory, and HOME is not set`, {
    hint: "set HOME, or write the whole path",
  });
}
