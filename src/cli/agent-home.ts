import { resolve } from "node:path";
import { DecisionError } from "../errors.js";
import type { Io } from "./io.js";
import { userDirectory } from "./user-directory.js";

/** The user's own directory: of settings and, where nothing else is said, of the store. */
export function agentHome({ env, cwd }: Pick<Io, "env" | "cwd">): string {
  const given = env["AGENT33_HOME"];
  return given ? resolve(cwd, withHome(given, env)) : userDirectory("config", env);
}

/** Where the user's own key is that approves definitions. */
export const approvalKey = (io: Pick<Io, "env" | "cwd">): string => `${agentHome(io)}/approval-key.pem`;

/** The path with the user's home directory for a leading `~/`. */
export function withHome(path: string, env: Io["env"]): string {
  if (!/^~(?=[/\\]|$)/.test(path)) return path;
  const home = env["HOME"] || env["USERPROFILE"];
  if (home) return home + path.slice(1);
  throw new DecisionError("usage", `\`${path}\` needs a home directory, and HOME is not set`, {
    hint: "set HOME, or write the whole path",
  });
}
