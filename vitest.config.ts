import { defineConfig } from "vitest/config";
import { measuredPaths } from "./test/measured-paths.js";

// Node 20 reads the file that this names at every start, which takes longer than a whole command.
delete process.env["NODE_EXTRA_CA_CERTS"];

export default defineConfig({
  test: {
    include: ["test/**/*.test.ts"],
    exclude: ["test/torture/**"],
    globalSetup: "test/temporary-root-in-memory.ts",
    setupFiles: "test/end-each-file.ts",
    testTimeout: 60_000,
    pool: "forks",
    // One more than there are cores at least: many tests wait for processes and servers.
    maxWorkers: 3,
    // Modules keep nothing that one test could leave to another, and loading them anew for each file takes a minute.
    isolate: false,
    coverage: {
      provider: "custom",
      customProviderModule: "test/measured-coverage.ts",
      reporter: ["text"],
      include: measuredPaths.map((path) => (path.endsWith("/") ? `${path}**/*.ts` : path)),
      thresholds: { branches: 100, functions: 100, lines: 100, statements: 100 },
    },
  },
});
