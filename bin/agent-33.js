#!/usr/bin/env node
const start = "../dist/start.cjs";
try {
  require.resolve(start);
} catch {
  process.stderr.write("error: agent-33 is not built\nhint: run `npm install` in its folder\n");
  process.exit(1);
}
require(start);
