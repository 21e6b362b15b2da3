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
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import Ajv from "ajv";
import standaloneCode from "ajv/dist/standalone/index.js";
import { acrossLayers, layerEntry, planLayers } from "./build-layers.mjs";

const require = createRequire(import.meta.url);
const { version } = JSON.parse(readFileSync("package.json", "utf8"));

/** Built next to `dist` and then renamed, so that a command that runs meanwhile finds the old or the new build. */
const out = `dist.${process.pid}`;

/** Libraries that are loaded when first called. */
const lazyFunctions = {
  filtrex:
    "export const compileExpression = (...given) => require('./filtrex.cjs').compileExpression(...given);",
  ajv: "export const Ajv = function (...given) { return new (require('./ajv.cjs').Ajv)(...given); };",
  "string-width": "export default (...given) => require('./string-width.cjs')(...given);",
  re2js: "export const RE2JS = { compile: (source) => require('./re2js.cjs').RE2JS.compile(source) };",
  // commander requires it at start-up, but uses it only for stand-alone subcommands, which we do not have.
  "node:child_process": "export const spawn = (...args) => require('child_process').spawn(...args);",
};
/** Those of them that are packages. */
const vendoredFunctions = Object.keys(lazyFunctions).filter((name) => !name.startsWith("node:"));
/** Libraries that are imported only by modules which are themselves loaded lazily. */
const lazyLibraries = [
  "yaml",
  "cli-table3",
  "chalk",
  "conf",
  "fastify",
  "@fastify/rate-limit",
  "jose",
  "csv-parse/sync",
  "dmn-moddle",
  "lezer-feel",
  "saxen",
  "read-excel-file/universal",
];
/** Modules that most runs do not need: even functions that are never called make a bundle slower to start. */
const lazyParts = {
  "read-definitions": "src/definition/read-definitions.ts",
  fetcher: "src/enrichment/fetcher.ts",
  "render-topic": "src/cli/topics/render-topic.ts",
};
/** The file name of a library. */
const fileOf = (library) => library.replace("@", "").replace("/", "-");
/**
 * What libraries need only for features that we do not use: schemas and migrations of settings; injected requests,
 * schemas of routes and the log of the server; conversion of rows to objects; checks of what a person answered to a
 * question of the MCP server.
 */
const unusedPackages = {
  mcp: ["\\./ajvProvider-.*"],
  conf: ["ajv", "ajv-formats", "semver"],
  "read-excel-file-universal": ["\\.\\./parseSheetData"],
  fastify: ["light-my-request", "@fastify/ajv-compiler", "@fastify/fast-json-stringify-compiler", "pino"],
};
/** Makes the default export of a CommonJS file the value that `require` returns. */
const defaultOnly = { js: "module.exports = module.exports.default;" };
const footers = { conf: defaultOnly, "string-width": defaultOnly };
/**
 * The bundles of the command, in layers: each contains what the layers before it do not, and takes the rest from them. A
 * run loads the first one, which makes decisions, and another one only if it needs it. A module belongs to the first layer
 * whose files import it, other than by `import()`.
 */
const layers = {
  core: [
    "src/cli/entry.ts",
    ...["evaluate", "dry-run", "check", "gate"].map((name) => `src/cli/commands/${name}.ts`),
    ...["scored/scored", "policy/policy", "gate/gate"].map((name) => `src/evaluate/${name}.ts`),
    "src/decide/check.ts",
    "src/decide/find-precedents.ts",
    "src/definition/gate-key.ts",
    "src/store/drivers/jsonl/log-reader.ts",
  ],
  inspect: [
    "src/cli/batch.ts",
    ...["precedents", "test"].map((name) => `src/cli/commands/${name}.ts`),
    "src/present/result-tables.ts",
    "src/store/drivers/jsonl/index/tally.ts",
  ],
  "agent-33": ["src/index.ts"],
};
/** What a layer exports in addition to its modules. */
const entries = {
  core: 'export const run = () => require("./src/cli/entry.ts").run();',
  "agent-33": 'export const library = () => require("./src/index.ts");',
};
/**
 * Bundles that stand alone, because these commands start faster so: those that look something up in the log, and the
 * program's own flags.
 */
const bundles = {
  lookup: ["log", "explain", "lineage", "distribution"],
  front: ["--help", "-h", "--version", "-V"],
};
/** Flags of those commands that need more than their bundle contains, and the modules that it lacks. */
const layeredFlags = { "--why-not": "../why-not.js" };
const validator = "src/definition/validate-schema.generated.js";
/** Files with the parts of a protocol's library that are used, by the name of their bundle. */
const protocols = { mcp: "src/serve/mcp/sdk.ts", lsp: "src/lsp/protocol-library.ts" };

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
  mkdirSync(out);
  await generateValidator();
  const vendored = [...vendoredFunctions, ...lazyLibraries].map((name) => [
    fileOf(name),
    fileURLToPath(import.meta.resolve(name)),
  ]);
  const plan = await planLayers(layers, [...Object.values(lazyParts), ...Object.values(protocols)]);
  const built = await Promise.all([
    ...Object.keys(layers).map((layer) =>
      build({
        ...commonjs,
        stdin: { contents: layerEntry(entries[layer]), resolveDir: process.cwd() },
        outfile: `${out}/${layer}.cjs`,
        plugins: [acrossLayers(plan, layer), lazyVendor],
      }),
    ),
    ...Object.keys(bundles).map((name) =>
      build({
        ...commonjs,
        entryPoints: ["src/cli/entry.ts"],
        outfile: `${out}/${name}.cjs`,
        plugins: [onlyCommands(name), lazyVendor],
      }),
    ),
    ...[...vendored, ["validate-schema", validator], ...Object.entries(protocols)].map(([name, file]) =>
      build({
        ...commonjs,
        entryPoints: [file],
        outfile: `${out}/${name}.cjs`,
        footer: footers[name],
        plugins: name in unusedPackages ? [without(unusedPackages[name])] : [],
      }),
    ),
    ...Object.entries(lazyParts).map(([name, file]) =>
      build({
        ...commonjs,
        entryPoints: [file],
        outfile: `${out}/${name}.cjs`,
        plugins: [acrossLayers(plan, undefined), lazyVendor],
        define: { ...common.define, __BUNDLE_DIRECTORY__: "__dirname", "import.meta.url": "undefined" },
      }),
    ),
  ]);
  escapeNonAscii();
  await writeLibrary();
  const __BUNDLE_HASH__ = JSON.stringify(bundleHash());
  const __LAYERS__ = JSON.stringify(Object.keys(layers));
  const define = {
    ...common.define,
    __BUNDLE_HASH__,
    __BUNDLES__: JSON.stringify(bundles),
    __LAYERED_FLAGS__: JSON.stringify(Object.keys(layeredFlags)),
    __LAYERS__,
  };
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
  removeInternalTypes(`${out}/types`);
  putInPlace();
  linkCommand();
}

/**
 * Escapes what is not ASCII: files are read as Latin-1, which is faster. esbuild does the same, except in regular
 * expressions.
 */
function escapeNonAscii() {
  for (const name of readdirSync(out).filter((each) => each.endsWith(".cjs"))) {
    const text = readFileSync(`${out}/${name}`, "utf8");
    const escaped = text.replace(
      /[^\0-\x7f]/g,
      (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
    );
    if (escaped !== text) writeFileSync(`${out}/${name}`, escaped);
  }
}

/** Writes the ES module that exports the library by name. The code is CommonJS, so that it can load libraries lazily. */
async function writeLibrary() {
  const names = Object.keys(require(`${process.cwd()}/${out}/agent-33.cjs`).library()).sort();
  const lines = [
    'import { library } from "./agent-33.cjs";',
    `export const { ${names.join(", ")} } = library();`,
  ];
  writeFileSync(`${out}/index.js`, `${lines.join("\n")}\n`);
}

/** Compiles the JSON Schema ahead of time, so that neither ajv nor its compile step is part of a run. */
async function generateValidator() {
  const entryPoints = ["src/definition/schema.ts"];
  const options = { entryPoints, bundle: true, write: false, format: "esm", platform: "node" };
  const [file] = (await build(options)).outputFiles;
  const { schema } = await import(
    `data:text/javascript;base64,${Buffer.from(file.contents).toString("base64")}`
  );
  const code = { source: true, esm: true, lines: true };
  const ajv = new Ajv({
    allErrors: true,
    discriminator: true,
    allowUnionTypes: true,
    inlineRefs: false,
    messages: false,
    code,
  });
  const contents = withSharedErrorPath(standaloneCode(ajv, ajv.compile(withoutDescriptions(schema))));
  const stdin = { contents, resolveDir: process.cwd() };
  await build({ stdin, bundle: true, format: "esm", outfile: `${out}/validator.js` });
  renameSync(`${out}/validator.js`, validator);
}

/** The schema without what only people read, which the validator would contain once for each use. */
function withoutDescriptions(schema) {
  const isText = (key, value) => key === "description" && typeof value === "string";
  return JSON.parse(JSON.stringify(schema, (key, value) => (isText(key, value) ? undefined : value)));
}

/** Adds errors with one function: the generated code repeats the same statements more than a thousand times. */
function withSharedErrorPath(code) {
  const statement =
    /const (err\d+) = (\{.*\});\nif\(vErrors === null\)\{\nvErrors = \[\1\];\n\}\nelse \{\nvErrors\.push\(\1\);\n\}\n/g;
  const shared = code.replace(statement, "vErrors = withError(vErrors, $2);\n");
  if (shared === code) throw new Error("ajv generates other code for errors now");
  return `${shared}\nfunction withError(all, error) { return all === null ? [error] : (all.push(error), all); }\n`;
}

const lazyVendor = {
  name: "lazy-vendor",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\.\/[\w-]+\.cjs$/ }, ({ path }) => ({ path, external: true }));
    onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => {
      const name = /([^/]+)\.js$/.exec(path)?.[1] ?? "";
      const protocol = Object.keys(protocols).find((each) => protocols[each].endsWith(`/${name}.ts`));
      if (protocol !== undefined) return { path: `./${protocol}.cjs`, external: true };
      const isApart = kind === "dynamic-import" && Object.hasOwn(lazyParts, name);
      return isApart ? { path: `./${name}.cjs`, external: true } : undefined;
    });
    onResolve({ filter: /^[a-z@]|generated\.js$/ }, ({ path }) => {
      if (path in lazyFunctions) return { path, namespace: "lazy" };
      if (path.endsWith(".generated.js")) return { path: "./validate-schema.cjs", external: true };
      return lazyLibraries.includes(path) ? { path: `./${fileOf(path)}.cjs`, external: true } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "lazy" }, ({ path }) => ({
      contents: lazyFunctions[path],
      resolveDir: out,
    }));
  },
};

/** Leaves packages out of a bundle. */
const without = (packages) => ({
  name: "without",
  setup({ onResolve, onLoad }) {
    const filter = new RegExp(`^(${packages.join("|")})(/|$)`);
    onResolve({ filter }, ({ path }) => ({
      path: path.replace(/\.mjs$/, ""),
      namespace: "unused",
    }));
    onLoad({ filter: /.*/, namespace: "unused" }, () => ({ contents: "module.exports = {};" }));
  },
});

/** Leaves all other commands out of a bundle. The help of the program lists `help`, `completion` and `init`. */
const onlyCommands = (bundle) => ({
  name: "only-commands",
  setup({ onResolve, onLoad }) {
    const isFront = bundle === "front";
    const commands = isFront ? ["help", "completion", "init", "lsp"] : bundles[bundle];
    const kept = commands.map((command) => `./commands/${command}.js`);
    const lacking = Object.values(layeredFlags);
    // The front only describes its commands, so it does not contain what they import when they run.
    onResolve({ filter: /^\.{1,2}\// }, ({ path, kind }) => {
      if (kind !== "dynamic-import" || kept.includes(path)) return undefined;
      const isLeftOut = isFront || path.startsWith("./commands/") || lacking.includes(path);
      return isLeftOut ? { path, namespace: "left-out" } : undefined;
    });
    onLoad({ filter: /.*/, namespace: "left-out" }, () => ({ contents: "module.exports = {};" }));
  },
});

/** Removes the declarations that those of the library do not refer to. */
function removeInternalTypes(folder) {
  const kept = new Set();
  const keep = (file) => {
    if (kept.has(file)) return;
    kept.add(file);
    for (const [, path] of readFileSync(file, "utf8").matchAll(/["'](\.[^"']+)\.js["']/g)) {
      keep(join(dirname(file), `${path}.d.ts`));
    }
  };
  keep(join(folder, "index.d.ts"));
  for (const name of readdirSync(folder, { recursive: true })) {
    const file = join(folder, name);
    if (name.endsWith(".d.ts") && !kept.has(file)) rmSync(file);
  }
}

/** Names the code cache of this build: code cached by another build must never be used. */
function bundleHash() {
  const hash = createHash("sha256");
  const files = readdirSync(out).filter((name) => name.endsWith(".cjs"));
  for (const file of files.sort()) hash.update(readFileSync(`${out}/${file}`));
  return hash.digest("hex").slice(0, 16);
}

/** The licences of all bundled packages. */
function licences(metafiles) {
  const inputs = metafiles.flatMap((metafile) => Object.keys(metafile.inputs));
  const names = new Set(
    inputs.flatMap((input) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(input)?.[1] ?? []),
  );
  const headings = new Map();
  for (const { heading, terms } of [...names].sort().map(licenceOf)) {
    headings.set(terms, [...(headings.get(terms) ?? []), heading]);
  }
  const sections = Array.from(headings, ([terms, all]) => [...all, terms].join("\n\n"));
  return `${sections.join("\n\n")}\n`;
}

/** The name and copyright of a package, and its terms; packages with the same terms share them. */
function licenceOf(name) {
  const folder = `node_modules/${name}`;
  const { version, license } = JSON.parse(readFileSync(`${folder}/package.json`, "utf8"));
  const file = readdirSync(folder).find((each) => /^licen[cs]e/i.test(each));
  const text = file === undefined ? `Licence: ${license}` : readFileSync(`${folder}/${file}`, "utf8").trim();
  const start = text.search(/^Permission (is hereby granted|to use)/m);
  if (start <= 0) return { heading: `## ${name} ${version}`, terms: text };
  const terms = text.slice(start).replace(/\s+/g, " ");
  return { heading: `## ${name} ${version}\n\n${text.slice(0, start).trim()}`, terms };
}

function putInPlace() {
  const old = `${out}.old`;
  if (existsSync("dist")) renameSync("dist", old);
  renameSync(out, "dist");
  rmSync(old, { recursive: true, force: true });
}

/** Links the command for `npx`, which would otherwise install the package elsewhere first. */
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
