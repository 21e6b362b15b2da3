import { fail } from "../failure.js";
import { isAbsolute, isWithin, normalizePath } from "../file-path.js";
import type { FunctionEntry } from "../function-table.js";

export const pathFunctions: readonly FunctionEntry[] = [
  {
    name: "path_within",
    summary: "the path is the base or below it; errored if only one of them is absolute",
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
  // Whether a relative path is within an absolute one depends on the current directory of the tool.
  if (isAbsolute(path) !== isAbsolute(base)) {
    const kinds = isAbsolute(path)
      ? "an absolute path and a relative base"
      : "a relative path and an absolute base";
    fail(`\`path_within\` cannot compare ${kinds}`);
  }
  return isWithin(path, base);
}
