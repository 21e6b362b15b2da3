/** The tests of what decides, which are run with their coverage, and so not with the others. */
export const coveredTests = [
  "test/{evaluate,guard,conformance,replay}/**/*.test.ts",
  "test/cli/{backtest,replay,replay-payload}.test.ts",
  "test/expression/rule/**/*.test.ts",
  "test/decide/{check,scored-agent}.test.ts",
  "test/contract-errors.test.ts",
];
