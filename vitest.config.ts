import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/torture/**"],
    globalSetup: "test/temporary-root.ts",
    testTimeout: 30_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
