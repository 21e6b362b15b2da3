import { fail } from "../failure.js";
import { isWithin, normalizePath, rootOf } from "../file-path.js";
import type { FunctionEntry } from "../function-table.js";

export const pathFunctions = (): readonly FunctionEntry[] => [
  {
    name: "path_within",
    summary: "the path is the base or below it; errored if only one is absolute, for `~` and for URLs",
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
    summary: "the path without `.`, `..`, repeated and trailing slashes; errored for URLs",
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
  if (rootOf(path).toUpperCase() !== rootOf(base).toUpperCase())
    fail(`\`path_within\` cannot compare ${kindOf(path)} path and ${kindOf(base)} base`);
  return isWithin(path, base);
}

const kindOf = (path: string): string => (rootOf(path) === "" ? "a relative" : "an absolute");
