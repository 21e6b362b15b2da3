import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

export const repository = fileURLToPath(new URL("..", import.meta.url));
export const decisions = join(repository, "decisions");
export const command = join(repository, "bin/agent-33.js");

/** Runs node and waits for it; gives what it wrote. */
export function runNode(args, places) {
  return run(process.execPath, args, places);
}

/**
 * Runs a program and waits for it; gives what it wrote. Its caches, its settings and, unless told otherwise,
 * its store are in `directory`, whatever the user has set.
 */
export function run(program, args, { directory, store, stdout = "pipe", stderr = "pipe" }) {
  const done = spawnSync(program, args, {
    cwd: directory,
    env: environment(directory, store ?? join(directory, "store")),
    stdio: ["ignore", stdout, stderr],
    maxBuffer: Infinity,
  });
  if (done.status === 0) return done.stdout?.toString() ?? "";
  const why = done.error?.message ?? (done.stderr?.toString().trim() || `it ended with ${done.status}`);
  throw new Error(`${program} ${args.join(" ")}: ${why}`);
}

/** Without what changes how node starts: NODE_EXTRA_CA_CERTS alone lengthens every start. */
export function environment(directory, store) {
  const kept = Object.entries(process.env).filter(([name]) => !/^(?:NODE|AGENT33)_/.test(name));
  return {
    ...Object.fromEntries(kept),
    AGENT33_CACHE: join(directory, "cache"),
    AGENT33_HOME: join(directory, "home"),
    AGENT33_STORE: store,
  };
}
