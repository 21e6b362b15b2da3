import { defineConfig } from "vitest/config";
import { coveredTests } from "./test/covered-tests.js";

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    // Unless they are asked for by name, `npm run coverage` runs the covered ones.
    exclude: ["test/torture/**", ...(process.env["npm_lifecycle_event"] === "test" ? coveredTests : [])],
    globalSetup: "test/temporary-root.ts",
    testTimeout: 30_000,
    pool: "forks",
    maxWorkers: 2,
  },
});
