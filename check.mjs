import { spawn } from "node:child_process";
import { constants, setPriority } from "node:os";

/**
 * Runs the tests, and the compiler at a low priority at the same time, so that no test gets slower. Lint and format take
 * as long as a third of the tests; `npm run static` and CI run them.
 */
async function main() {
  const checks = start("npm run types", ["ignore", "pipe", "pipe"]);
  setPriority(checks.pid, constants.priority.PRIORITY_LOW);
  const said = [];
  for (const stream of [checks.stdout, checks.stderr]) stream.on("data", (piece) => said.push(piece));
  const checked = ended(checks);
  const tested = await ended(start("vitest run", "inherit"));
  const codes = [await checked, tested];
  process.stdout.write(Buffer.concat(said));
  if (codes.some((code) => code !== 0)) process.exitCode = 1;
}

const start = (command, stdio) => spawn(command, { shell: true, stdio });

const ended = (child) => new Promise((resolve) => child.once("close", resolve));

await main();
