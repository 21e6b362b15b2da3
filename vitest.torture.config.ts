import { defineConfig } from "vitest/config";

// Node 20 reads the file that this names at every start, which takes longer than a whole command.
delete process.env["NODE_EXTRA_CA_CERTS"];

/** The long runs; `AGENT33_TORTURE=full` takes their full length, anything else a short one. */
export default defineConfig({
  test: {
    include: [
      "test/torture/**/*.test.ts",
      // `npm test` takes samples of them: fewer random runs, and commands without a process of their own.
      "test/properties/*.test.ts",
      "test/{conformance/replay,present/drawing,replay/mixed-log,serve/auth/hostile-tokens}.test.ts",
      "test/tables/malformed.test.ts",
      "test/hostile/{damaged-explanations,expressions,folders,input,inputs,names,odd-files}.test.ts",
    ],
    globalSetup: "test/temporary-root.ts",
    setupFiles: "test/end-each-file.ts",
    testTimeout: 1_800_000,
    pool: "forks",
    maxWorkers: 1,
  },
});
