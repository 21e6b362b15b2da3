import type * as Os from "node:os";
import { resolve } from "node:path";
import type { Io } from "./io.js";
import { DecisionError } from "../errors.js";

type Environment = Readonly<Record<string, string | undefined>>;

/** The platform's directory for the settings or caches of a program. */
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

/** The cache directory; undefined if AGENT33_CACHE is set but empty, which disables caching. */
export function cacheHome(env: Environment): string | undefined {
  const path = env["AGENT33_CACHE"];
  if (path !== undefined) return path === "" ? undefined : path;
  return userDirectory("cache", env);
}

/** Used only if HOME is not set: loading node:os noticeably slows down the start. */
function homeDirectory(): string {
  const { getBuiltinModule } = process as { getBuiltinModule?: (id: string) => typeof Os };
  return getBuiltinModule?.("node:os").homedir() ?? process.env["USERPROFILE"] ?? ".";
}

/** The user's directory for settings and, by default, the store. */
export function agentHome({ env, cwd }: Pick<Io, "env" | "cwd">): string {
  const path = env["AGENT33_HOME"];
  return path ? resolve(cwd, expandHome(path, env)) : userDirectory("config", env);
}

/** The name of the store of a project, next to its settings file. */
export const projectStore = ".agent-33";

/** The default file of the private key that approves definitions. */
export const approvalKeyFile = (io: Pick<Io, "env" | "cwd">): string => `${agentHome(io)}/approval-key.pem`;

/** Replaces a leading `~/` by the home directory. */
export function expandHome(path: string, env: Io["env"]): string {
  if (!/^~(?=[/\\]|$)/.test(path)) return path;
  const home = env["HOME"] || env["USERPROFILE"];
  if (home) return home + path.slice(1);
  throw new DecisionError("usage", `cannot expand \`${path}\`: HOME is not set`, {
    hint: "set HOME, or use an absolute path",
  });
}
