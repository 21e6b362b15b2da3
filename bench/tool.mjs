import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("..", import.meta.url));
export const decisions = join(repository, "decisions");
export const command = join(repository, "bin/agent-33.js");

/** Runs node and waits for it; its caches and settings are in `directory`, whatever the user has set. */
export function runNode(args, directory, stdout = "pipe") {
  const { status, stderr, error } = spawnSync(process.execPath, args, {
    env: environment(directory),
    stdio: ["ignore", stdout, "pipe"],
    maxBuffer: Infinity,
  });
  if (status !== 0) throw new Error(`node ${args.join(" ")}: ${error?.message ?? stderr.toString().trim()}`);
}

/** Without what changes how node starts: NODE_EXTRA_CA_CERTS alone lengthens every start. */
function environment(directory) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:NODE|AGENT33)_/.test(name));
  return {
    ...Object.fromEntries(kept),
    AGENT33_CACHE: join(directory, "cache"),
    AGENT33_HOME: join(directory, "home"),
  };
}
