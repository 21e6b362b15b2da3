import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const { dependencies } = JSON.parse(readFileSync(new URL("package.json", import.meta.url), "utf8"));

export function versionOf(peer) {
  return dependencies[peer];
}

/** Fetches the peers at the first run; what needs none of them runs without. */
export function installPeers() {
  if (existsSync(new URL("node_modules", import.meta.url))) return;
  process.stderr.write("installing the peers to compare with (npm ci in bench/) …\n");
  const { status, error } = spawnSync("npm", ["ci"], {
    cwd: fileURLToPath(new URL(".", import.meta.url)),
    stdio: ["ignore", "ignore", "inherit"],
    shell: process.platform === "win32",
  });
  if (status !== 0)
    process.stderr.write(`the peers could not be installed${error ? `: ${error.message}` : ""}\n`);
}
