import { fail } from "../failure.js";
import { isAbsolute, isWithin, normalizePath } from "../file-path.js";
import type { FunctionEntry } from "../function-table.js";

export const pathFunctions: readonly FunctionEntry[] = [
  {
    name: "path_within",
    summary: "the path is the base or below it; errored if only one of them is absolute, or for `~`",
    parameters: [
      { name: "path", type: "path" },
      { name: "base", type: "path" },
    ],
    returns: "boolean",
    example: { expression: "path_within('/repo/../etc/hosts', '/repo')", answer: false },
    run: pathWithin,
  },
  {
    name: "normalize_path",
    summary: "the path without `.`, `..`, repeated and trailing slashes; a relative path stays relative",
    parameters: [{ name: "path", type: "path" }],
    returns: "text",
    example: { expression: "normalize_path('/repo//docs/../src/')", answer: "/repo/src" },
    run: normalizePath,
  },
];

function pathWithin(path: string, base: string): boolean {
  const isHome = [path, base].some((each) => each.startsWith("~"));
  if (isHome) fail("`path_within` cannot compare a path that starts with `~`: some tools replace it");
  // Whether a relative path is within an absolute one depends on the current directory of the tool.
  if (rootOf(path) !== rootOf(base))
    fail(`\`path_within\` cannot compare ${kindOf(path)} path and ${kindOf(base)} base`);
  return isWithin(path, base);
}

/** Returns what a path starts at: `/`, a drive such as `C:`, a scheme such as `file:`, or nothing if it is relative. */
const rootOf = (path: string): string =>
  isAbsolute(path) ? "/" : (/^(?:[a-z]:|[a-z][a-z0-9+.-]*:(?=\/))/i.exec(path)?.[0].toUpperCase() ?? "");

const kindOf = (path: string): string => (rootOf(path) === "" ? "a relative" : "an absolute");
