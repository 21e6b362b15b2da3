/** What decides, by how its paths begin: it must be tested through and through, every branch of it. */
export const measuredPaths: readonly string[] = [
  "src/evaluate/scored/",
  "src/evaluate/policy/",
  "src/evaluate/gate/",
  "src/guard/",
  "src/expression/rule/",
  "src/replay/",
  "src/errors.ts",
  "src/errors.ts",
];
