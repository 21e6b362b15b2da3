import { execFileSync } from "node:child_process";
import { accessSync, constants, mkdtempSync, rmSync, statfsSync, writeFileSync } from "node:fs";
import { freemem } from "node:os";
import { join } from "node:path";
import setUpRoot from "./temporary-root.js";

const memory = "/dev/shm";
/** Several times what the tests ever hold at once. */
const enough = 4 * 1024 ** 3;

/** As on a disk, but where there is plenty of memory nothing waits for one; who names a TMPDIR gets that. */
export default function setUp(): () => void {
  if (process.env["TMPDIR"] === undefined && isRoomy() && mayExecute()) process.env["TMPDIR"] = memory;
  return setUpRoot();
}

function isRoomy(): boolean {
  try {
    accessSync(memory, constants.W_OK);
    const { bavail, bsize } = statfsSync(memory);
    return Math.min(bavail * bsize, freemem()) > enough;
  } catch {
    return false;
  }
}

/** Where it is mounted `noexec`, an installed package would not start there. */
function mayExecute(): boolean {
  const folder = mkdtempSync(join(memory, "agent-33-probe-"));
  const probe = join(folder, "probe");
  try {
    writeFileSync(probe, "#!/bin/sh\n", { mode: 0o700 });
    execFileSync(probe);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
