import { build } from "esbuild";
import { join, relative } from "node:path";

/**
 * Divides modules into layers. A module belongs to the first layer whose roots reach it by static imports; what is
 * reached by `import()` only belongs to the last layer, unless it is a root itself. Modules of bundles `apart` belong to none.
 */
export async function planLayers(roots, apart) {
  const isApart = (file) => apart.includes(file);
  const last = Object.keys(roots).at(-1);
  const layerOf = new Map();
  const loadedLazily = new Set();
  for (const [layer, entryPoints] of Object.entries(roots)) {
    const isLast = layer === last;
    const starts = isLast
      ? [...entryPoints, ...[...loadedLazily].filter((file) => !layerOf.has(file))]
      : entryPoints;
    const found = await reachable(starts, ({ file, kind }) => {
      if (isApart(file) || layerOf.has(file)) return false;
      if (kind !== "dynamic-import" || isLast || starts.includes(file)) return true;
      loadedLazily.add(file);
      return false;
    });
    for (const file of found) layerOf.set(file, layer);
  }
  return {
    isApart,
    layerOf,
    shared: await findShared(roots, layerOf, apart),
    exportsOf: await findExports(layerOf),
  };
}

/** The modules of each layer that files outside of it import. */
async function findShared(roots, layerOf, apart) {
  const [first] = Object.keys(roots);
  const shared = new Map(Object.keys(roots).map((layer) => [layer, new Set()]));
  await reachable([...layerOf.keys(), ...apart], ({ file, importer }) => {
    const [owner, layer] = [layerOf.get(file), layerOf.get(importer)];
    const isShared = layer === undefined ? owner === first : owner !== undefined && owner !== layer;
    if (isShared) shared.get(owner).add(file);
    // Bundles outside of the layers have copies of what is not in the first layer.
    return layer === undefined && !isShared;
  });
  return shared;
}

/** Returns the files that are reached from others through imports that `follow` accepts. */
async function reachable(entryPoints, follow) {
  const { metafile } = await build({
    ...inspection,
    entryPoints,
    plugins: [forEachImport((found) => (follow(found) ? undefined : { path: found.file, external: true }))],
  });
  return Object.keys(metafile.inputs).filter((file) => file.startsWith("src/"));
}

const inspection = {
  bundle: true,
  write: false,
  metafile: true,
  platform: "node",
  format: "esm",
  outdir: "inspection",
  logLevel: "error",
};

/** The names that each file exports at run time. */
async function findExports(layerOf) {
  const { metafile } = await build({
    ...inspection,
    entryPoints: [...layerOf.keys()],
    plugins: [forEachImport(() => ({ path: "other", external: true }))],
  });
  return new Map(Object.values(metafile.outputs).map(({ entryPoint, exports }) => [entryPoint, exports]));
}

/** Calls back for each import, with the file where it is one of ours. */
const forEachImport = (answer) => ({
  name: "for-each-import",
  setup({ onResolve }) {
    onResolve({ filter: /.*/ }, ({ path, kind, resolveDir, importer }) => {
      if (kind === "entry-point") return undefined;
      const file = fileOf(path, resolveDir);
      if (file === undefined) return { path, external: true };
      return answer({ file, kind, importer: relative(process.cwd(), importer) });
    });
  },
});

/** The file of `src/` that an import names; undefined for anything else. */
function fileOf(path, resolveDir) {
  if (!/^\.{1,2}\/.*\.js$/.test(path) || path.endsWith(".generated.js")) return undefined;
  const file = relative(process.cwd(), join(resolveDir, path)).replace(/\.js$/, ".ts");
  return file.startsWith("src/") ? file : undefined;
}

/** The source of the entry of a layer: `moduleOf(file)` returns the exports of one of its modules, initialised. */
export const layerEntry = (more = "") => `${more}
  export const moduleOf = (file) => require("exports:").table[file]();`;

/** Takes modules of other layers from their bundles. `layer` is undefined for bundles outside of the layers. */
export const acrossLayers = ({ isApart, layerOf, shared, exportsOf }, layer) => ({
  name: "across-layers",
  setup({ onResolve, onLoad }) {
    onResolve({ filter: /^\./ }, ({ path, resolveDir, kind }) => {
      const file = fileOf(path, resolveDir);
      const owner = file === undefined || isApart(file) ? undefined : layerOf.get(file);
      const isOther = layer === undefined ? owner === firstOf(shared) : owner !== layer;
      if (owner === undefined || !isOther || kind === "entry-point") return undefined;
      return { path: file, namespace: "other-layer" };
    });
    onLoad({ filter: /.*/, namespace: "other-layer" }, ({ path }) => ({
      contents: importedModule(path, layerOf.get(path), exportsOf.get(path)),
      resolveDir: process.cwd(),
    }));
    onResolve({ filter: /^exports:/ }, ({ path }) => ({
      path: path.slice(8) || "table",
      namespace: "exports",
    }));
    onLoad({ filter: /.*/, namespace: "exports" }, ({ path }) => ({
      contents: path === "table" ? exportTable(shared.get(layer)) : exportedModule(path, exportsOf.get(path)),
      resolveDir: process.cwd(),
    }));
  },
});

const firstOf = (shared) => shared.keys().next().value;

const importedModule = (file, owner, names) =>
  [
    `const all = require("./${owner}.cjs").moduleOf("${file}");`,
    ...names.map((name) => `export const ${name} = /* @__PURE__ */ (() => all.${name})();`),
  ].join("\n");

const exportTable = (files) =>
  `export const table = {${[...files].map((file) => `"${file}": () => require("exports:${file}").all`).join(",")}};`;

const exportedModule = (file, names) =>
  [`import { ${names.join(", ")} } from "./${file}";`, `export const all = { ${names.join(", ")} };`].join(
    "\n",
  );
