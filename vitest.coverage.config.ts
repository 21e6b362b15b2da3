import { defineConfig } from "vitest/config";
import { coveredTests } from "./test/covered-tests.js";

/** What decides must be tested through and through: every branch of the evaluators, the scoring, the guardrails, the replay and the errors. */
export default defineConfig({
  test: {
    include: coveredTests,
    globalSetup: "test/temporary-root.ts",
    testTimeout: 60_000,
    pool: "forks",
    maxWorkers: 2,
    reporters: ["dot"],
    coverage: {
      enabled: true,
      provider: "v8",
      reporter: ["text"],
      include: [
        "src/evaluate/{scored,policy,gate}/**/*.ts",
        "src/guard/**/*.ts",
        "src/expression/rule/**/*.ts",
        "src/replay/**/*.ts",
        "src/contract-errors.ts",
        "src/errors.ts",
      ],
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
    },
  },
});
