import { build } from "esbuild";
import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import {
  existsSync,
  mkdirSync,
  readFileSync,
  readdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { createRequire } from "node:module";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** Made beside `dist` and then put in its place, so that a command that runs meanwhile finds one or the other. */
const out = `dist.${process.pid}`;

/** Kept out of the main bundle and loaded when first called. */
const lazyFunctions = {
  filtrex:
    "export const compileExpression = (...given) => require('./vendor/filtrex.cjs').compileExpression(...given);",
  ajv: "export const Ajv = function (...given) { return new (require('./vendor/ajv.cjs').Ajv)(...given); };",
  re2js: "export const RE2JS = { compile: (source) => require('./vendor/re2js.cjs').RE2JS.compile(source) };",
  // commander asks for it at start-up, but only uses it to spawn stand-alone subcommands, which we have none of.
  "node:child_process": "export const spawn = (...args) => require('child_process').spawn(...args);",
};
/** Libraries that only lazily imported files of ours import. */
const lazyLibraries = [
  "yaml",
  "cli-table3",
  "string-width",
  "chalk",
  "conf",
  "fastify",
  "@fastify/rate-limit",
  "jose",
];
/** Of our own, what most runs do without: even a function that is never called makes a bundle slower to start. */
const lazyParts = {
  "read-definitions": "src/definition/read-definitions.ts",
  fetcher: "src/enrichment/fetcher.ts",
  "render-topic": "src/cli/topics/render-topic.ts",
};
/** The text of `agent-33 help TOPIC`. */
const pages = Object.fromEntries(
  readdirSync("docs").map((file) => [file.replace(".md", ""), readFileSync(`docs/${file}`, "utf8")]),
);
/** What a library is called among the files. */
const fileOf = (library) => library.replace("@", "").replace("/", "-");
/** An `import` finds the default export of a CommonJS file as what `require` gives. */
const defaultOnly = { js: "module.exports = module.exports.default;" };
const footers = { conf: defaultOnly, "string-width": defaultOnly };
/** The commands of `decision`: one file each, named after it. */
const commands = readdirSync("src/cli/commands")
  .map((file) => file.replace(".ts", ""))
  .filter((name) => !["completion", "help"].includes(name));
const validator = "src/definition/validate-schema.generated.js";
/** All that is used of a library of many parts. */
const sdk = "src/serve/mcp/sdk.ts";

const common = {
  bundle: true,
  platform: "node",
  target: "node20",
  legalComments: "none",
  metafile: true,
  define: { __VERSION__: JSON.stringify(version) },
};
const commonjs = { ...common, format: "cjs", minify: true, supported: { "dynamic-import": false } };

async function main() {
  mkdirSync(`${out}/vendor`, { recursive: true });
  await generateValidator();
  const vendored = ["re2js", "filtrex", "ajv", ...lazyLibraries].map((name) => [
    fileOf(name),
    fileURLToPath(import.meta.resolve(name)),
  ]);
  const built = await Promise.all([
    ...[undefined, "front", ...commands].map((command) =>
      build({
        ...commonjs,
        entryPoints: ["src/cli/entry.ts"],
        outfile: command === undefined ? `${out}/agent-33.cjs` : `${out}/commands/${command}.cjs`,
        plugins: command === undefined ? [lazyVendor] : [lazyVendor, onlyCommand(command)],
      }),
    ),
    ...[...vendored, ["validate-schema", validator], ["mcp", sdk]].map(([name, file]) =>
      build({
        ...commonjs,
        entryPoints: [file],
        outfile: `${out}/vendor/${name}.cjs`,
        footer: footers[name],
      }),
    ),
    ...Object.entries(lazyParts).map(([name, file]) =>
      build({
        ...commonjs,
        entryPoints: [file],
        outfile: `${out}/vendor/${name}.cjs`,
        plugins: [lazyVendor],
        define: { ...common.define, __PAGES__: JSON.stringify(pages), "import.meta.url": "undefined" },
      }),
    ),
    build({
      ...common,
      entryPoints: ["src/index.ts"],
      outfile: `${out}/index.js`,
      format: "esm",
      minify: true,
      banner,
    }),
  ]);
  const __BUNDLE_HASH__ = JSON.stringify(bundleHash());
  const define = { ...common.define, __BUNDLE_HASH__, __COMMANDS__: JSON.stringify(commands) };
  await build({ ...commonjs, entryPoints: ["src/cli/start.ts"], outfile: `${out}/start.cjs`, define });
  writeFileSync(`${out}/THIRD-PARTY-LICENSES.txt`, licences(built.map(({ metafile }) => metafile)));
  const tsc = [
    require.resolve("typescript/bin/tsc"),
    "-p",
    "tsconfig.types.json",
    "--outDir",
    `${out}/types`,
  ];
  execFileSync(process.execPath, tsc, { stdio: "inherit" });
  putInPlace();
  linkCommand();
}

/** Bundled CommonJS libraries call `require` for Node's own modules. */
const banner = {
  js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
};

/** Compiles the JSON Schema ahead of time, so that neither ajv nor its compile step is part of a run. */
async function generateValidator() {
  const entryPoints = ["src/definition/schema.ts"];
  const options = { entryPoints, bundle: true, write: false, format: "esm", platform: "node" };
  const [{ contents }] = (await build(options)).outputFiles;
  const { schema } = await import(`data:text/javascript;base64,${Buffer.from(contents).toString("base64")}`);
  const code = { source: true, esm: true, lines: true };
  const ajv = new Ajv({ allErrors: true, discriminator: true, allowUnionTypes: true, code });
  const stdin = { contents: standaloneCode(ajv, ajv.compile(schema)), resolveDir: process.cwd() };
  await build({ stdin, bundle: true, format: "esm", outfile: `${out}/validator.js` });
  renameSync(`${out}/validator.js`, validator);
}

const lazyVendor = {
  name: "lazy-vendor",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/vendor\// }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => {
      const name = /([^/]+)\.js$/.exec(path)?.[1] ?? "";
      if (name === "sdk") return { path: "./vendor/mcp.cjs", external: true };
      const isApart = kind === "dynamic-import" && Object.hasOwn(lazyParts, name);
      return isApart ? { path: `./vendor/${name}.cjs`, external: true } : undefined;
    });
    onResolve({ filter: /^[a-z@]|generated\.js$/ }, ({ path }) => {
      if (path in lazyFunctions) return { path, namespace: "lazy" };
      if (path.endsWith(".generated.js")) return { path: "./vendor/validate-schema.cjs", external: true };
      return lazyLibraries.includes(path)
        ? { path: `./vendor/${fileOf(path)}.cjs`, external: true }
        : undefined;
    });
    onLoad({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({
      contents: lazyFunctions[path],
      resolveDir: out,
    }));
  },
};

/** Leaves the other commands out of a bundle; out of the one for the program itself, all of `decision`. */
const onlyCommand = (command) => ({
  name: "only-command",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/commands\// }, ({ path }) =>
      isWithin(path, command) ? undefined : { path, namespace: "left-out" },
    );
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "module.exports = {};" }));
  },
});

const isWithin = (path, command) =>
  path === `./commands/${command}.js` || (command === "front" && /\/(?:completion|help)\.js$/.test(path));

/** Machine code kept from another build must never be taken for this one's. */
function bundleHash() {
  const hash = createHash("sha256");
  const within = (folder) => readdirSync(`${out}/${folder}`).map((name) => `${folder}/${name}`);
  const files = ["agent-33.cjs", ...within("commands"), ...within("vendor")];
  for (const file of files) hash.update(readFileSync(`${out}/${file}`));
  return hash.digest("hex").slice(0, 16);
}

/** The licences of all that was bundled, as they ask for. */
function licences(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = new Set(
    inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  return `${[...names].sort().map(licenceOf).join("\n\n")}\n`;
}

function licenceOf(name) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(`${folder}/${file}`, "utf8").trim();
  return `## ${name} ${version}\n\n${text}`;
}

function putInPlace() {
  const old = `${out}.old`;
  if (existsSync("dist")) renameSync("dist", old);
  renameSync(out, "dist");
  rmSync(old, { recursive: true, force: true });
}

/** npx finds the command here as it finds those of other packages; else it installs this one elsewhere first. */
function linkCommand() {
  const link = "node_modules/.bin/agent-33";
  if (process.platform === "win32" || !existsSync("node_modules/.bin")) return;
  rmSync(link, { force: true });
  symlinkSync("../../bin/agent-33.js", link);
}

try {
  await main();
} finally {
  rmSync(out, { recursive: true, force: true });
}
