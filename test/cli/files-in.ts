import { readdirSync, readFileSync, statSync } from "node:fs";
import { join, relative } from "node:path";

/** All files under a folder with what is in them, by their paths from there. */
export function filesIn(root: string): readonly (readonly [string, string])[] {
  return readdirSync(root, { recursive: true, encoding: "utf8" })
    .map((name) => join(root, name))
    .filter((path) => statSync(path).isFile())
    .map((path) => [relative(root, path), readFileSync(path, "latin1")] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1));
}
