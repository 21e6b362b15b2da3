import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/torture/**"],
    globalSetup: "test/temporary-root-in-memory.ts",
    testTimeout: 60_000,
    pool: "forks",
    // One more than there are cores at least: many tests wait for processes and servers.
    maxWorkers: 3,
    // Modules keep nothing that one test could leave to another, and loading them anew for each file takes a minute.
    isolate: false,
    // With `--coverage`: what decides must be tested through and through, every branch of it.
    coverage: {
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
