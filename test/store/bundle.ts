import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { storeDirectory } from "./jsonl-log.js";

/** Bundles a child together with our source, so that plain node runs it. */
export async function bundled(name: string, beside = import.meta.url): Promise<string> {
  const outfile = join(storeDirectory(), `${name}.cjs`);
  await build({
    entryPoints: [fileURLToPath(new URL(`children/${name}.ts`, beside))],
    outfile,
    bundle: true,
    platform: "node",
    format: "cjs",
    define: { __VERSION__: '"0.0.0"' },
    logLevel: "error",
  });
  return outfile;
}
