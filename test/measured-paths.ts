/** The path prefixes of the code that decides; it must have 100 % coverage. */
export const measuredPaths: readonly string[] = [
  "src/evaluate/scored/",
  "src/evaluate/policy/",
  "src/evaluate/gate/",
  "src/evaluate/limits.ts",
  "src/guard/",
  "src/expression/rule/",
  "src/replay/",
  "src/errors.ts",
];
