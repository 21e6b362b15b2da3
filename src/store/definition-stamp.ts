import { statSync } from "node:fs";
import { findDefinitionFiles } from "./definition-directory.js";
import { lockPath } from "./lock-file.js";

/** Changes whenever a definition file of the directory, or what approves them, does. */
export function definitionStamp(directory: string): string {
  const lock = statSync(lockPath(directory), { bigint: true, throwIfNoEntry: false });
  const files = findDefinitionFiles(directory).map(({ path, stamp }) => `${path}\0${stamp}`);
  return [
    ...files,
    lock === undefined ? "" : `${lock.size}-${lock.ino}-${lock.mtimeNs}-${lock.ctimeNs}`,
  ].join("\n");
}
