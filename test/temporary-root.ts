import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** One folder for all that the tests put into the system's; it is gone after them, whatever they forget. */
export default function setUp(): () => void {
  const root = mkdtempSync(join(tmpdir(), "agent-33-tests-"));
  process.env["TMPDIR"] = root;
  return () => rmSync(root, { recursive: true, force: true });
}
