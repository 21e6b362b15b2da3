import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** Libraries that a warm run does not need: kept out of the main bundle, loaded when first called. */
const lazyFunctions = {
  re2js: "export const RE2JS = { compile: (source) => require('./vendor/re2js.cjs').RE2JS.compile(source) };",
  // commander asks for it at start-up, but only uses it to spawn stand-alone subcommands, which we have none of.
  "node:child_process": "export const spawn = (...args) => require('child_process').spawn(...args);",
};
/** Libraries that only lazily imported files of ours import. */
const lazyLibraries = ["yaml", "cli-table3", "chalk"];

async function main() {
  rmSync("dist", { recursive: true, force: true });
  mkdirSync("dist/vendor", { recursive: true });
  await generateValidator();
  const common = {
    bundle: true,
    platform: "node",
    target: "node20",
    legalComments: "none",
    define: { __VERSION__: JSON.stringify(version) },
  };
  const metafiles = [];
  const run = async (options) =>
    metafiles.push((await build({ ...common, metafile: true, ...options })).metafile);
  await run({
    entryPoints: ["src/cli/entry.ts"],
    outfile: "dist/agent-33.cjs",
    format: "cjs",
    minify: true,
    supported: { "dynamic-import": false },
    plugins: [lazyVendor],
  });
  for (const name of ["re2js", ...lazyLibraries]) {
    await run({
      entryPoints: [require.resolve(name)],
      outfile: `dist/vendor/${name}.cjs`,
      format: "cjs",
      minify: true,
    });
  }
  const validator = "src/definition/validate-schema.generated.js";
  await run({
    entryPoints: [validator],
    outfile: "dist/vendor/validate-schema.cjs",
    format: "cjs",
    minify: true,
  });
  await run({
    entryPoints: ["src/index.ts"],
    outfile: "dist/index.js",
    format: "esm",
    splitting: false,
    banner: { js: requireBanner },
  });
  const hash = createHash("sha256");
  for (const file of ["agent-33.cjs", ...readdirSync("dist/vendor").map((name) => `vendor/${name}`)]) {
    hash.update(readFileSync(`dist/${file}`));
  }
  await run({
    entryPoints: ["src/cli/start.ts"],
    outfile: "dist/start.cjs",
    format: "cjs",
    minify: true,
    define: { __BUNDLE_HASH__: JSON.stringify(hash.digest("hex").slice(0, 16)) },
  });
  writeFileSync("dist/THIRD-PARTY-LICENSES.txt", licences(metafiles));
  execFileSync(process.execPath, [require.resolve("typescript/bin/tsc"), "-p", "tsconfig.types.json"], {
    stdio: "inherit",
  });
}

/** Bundled CommonJS libraries call `require` for Node's own modules. */
const requireBanner =
  'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);';

/** Compiles the JSON Schema ahead of time, so that neither ajv nor its compile step is part of a run. */
async function generateValidator() {
  const bundled = await build({
    entryPoints: ["src/definition/schema.ts"],
    bundle: true,
    write: false,
    format: "esm",
  });
  const { schema } = await import(
    `data:text/javascript;base64,${Buffer.from(bundled.outputFiles[0].contents).toString("base64")}`
  );
  const ajv = new Ajv({
    allErrors: true,
    discriminator: true,
    strictRequired: false,
    code: { source: true, esm: true, lines: true },
  });
  const stdin = { contents: standaloneCode(ajv, ajv.compile(schema)), resolveDir: process.cwd() };
  await build({ stdin, bundle: true, format: "esm", outfile: "src/definition/validate-schema.generated.js" });
}

const lazyVendor = {
  name: "lazy-vendor",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/vendor\// }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^[a-z@]|generated\.js$/ }, ({ path }) => {
      if (path in lazyFunctions) return { path, namespace: "lazy" };
      if (path.endsWith(".generated.js")) return { path: "./vendor/validate-schema.cjs", external: true };
      if (lazyLibraries.includes(path)) return { path: `./vendor/${path}.cjs`, external: true };
      return undefined;
    });
    onLoad({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({
      contents: lazyFunctions[path],
      resolveDir: "dist",
    }));
  },
};

/** The licences of all that was bundled, as they ask for. */
function licences(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = new Set(
    inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return [...names].sort().map(licenceOf).join("\n\n");
}

function licenceOf(name) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(`${folder}/${file}`, "utf8").trim();
  return `## ${name} ${version}\n\n${text}`;
}

await main();
