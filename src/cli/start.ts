import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { cacheHome } from "./directories.js";
import { makeDirectory, removeUnusedFolders } from "../store/files.js";

declare const __BUNDLE_HASH__: string;
/** The commands of each smaller bundle, which starts faster. */
declare const __BUNDLES__: Readonly<Record<string, readonly string[]>>;

type Wrapper = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: object },
  directory: string,
) => void;

const home = cacheHome(process.env);
const folder =
  home === undefined ? undefined : `${home}/code/${__BUNDLE_HASH__}-${process.version}-${process.arch}`;

/** Runs a file of the bundle with the code that V8 compiled in an earlier run: compiling is half of a start. */
function load(file: string, cacheName: string): object {
  const path = `${__dirname}/${file}`;
  const cachedData = folder === undefined ? undefined : readOwnedFile(`${folder}/${cacheName}`);
  const source = `(function(exports,require,module,__dirname){${readFileSync(path, "latin1")}\n})`;
  const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
  if (folder !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    process.once("exit", () => saveCode(folder, cacheName, script));
  }
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, requireWithin, module, __dirname);
  return module.exports;
}

const loaded = new Map<string, object>();

function requireWithin(name: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- this file is built as CommonJS
  if (!name.startsWith("./")) return require(name);
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = load(name.slice(2), name.slice(2));
    loaded.set(name, exports);
  }
  return exports;
}

/** Reads a cache file only if no other user could have written it. */
function readOwnedFile(path: string): Buffer | undefined {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch {
    return undefined;
  }
  try {
    const { uid, mode } = fstatSync(fd);
    const ours = process.getuid === undefined || (uid === process.getuid() && (mode & 0o022) === 0);
    return ours ? readFileSync(fd) : undefined;
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

/**
 * Writes the code cache. The file is synced before it gets its name, because V8 does not notice code that a crash
 * has damaged. Only a successful run writes one, so misspelt commands leave no file behind.
 */
function saveCode(into: string, cacheName: string, script: Script): void {
  if (process.exitCode !== 0) return;
  try {
    const isNew = makeDirectory(into, 0o700);
    if (isNew) removeUnusedFolders(dirname(into), Date.now());
    const temporary = `${into}/${cacheName}.${process.pid}.tmp`;
    const fd = openSync(temporary, "w", 0o600);
    writeFileSync(fd, script.createCachedData());
    fsyncSync(fd);
    closeSync(fd);
    renameSync(temporary, `${into}/${cacheName}`);
  } catch {
    return;
  }
}

const [group = "", verb = ""] = process.argv.slice(2);
load(`${bundleName()}.cjs`, codeCacheName());

function bundleName(): string {
  const isProgramFlag = group.startsWith("-") && verb === "";
  const command = group === "decision" ? verb : isProgramFlag ? group : "";
  return Object.keys(__BUNDLES__).find((name) => __BUNDLES__[name]?.includes(command)) ?? "agent-33";
}

/**
 * The code cache holds the functions that its first run has called, so every command has its own. Words that are
 * not command names share one.
 */
function codeCacheName(): string {
  const name = group === "decision" ? verb : group;
  return /^-{0,2}[a-z]+(?:-[a-z]+)?$/.test(name) && name.length <= 16 ? `run-${name}` : "run-other";
}
