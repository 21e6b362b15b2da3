import { closeSync, fstatSync, fsyncSync, openSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { cacheHome } from "./directories.js";
import { programFlags } from "./flags.js";
import { makeDirectory, removeUnusedFolders } from "../store/files.js";

declare const __BUNDLE_HASH__: string;
/** The commands of `decision`; each has a bundle of its own, as what it does not need would cost it time. */
declare const __COMMANDS__: readonly string[];

type Wrapper = (exports: object, require: (name: string) => unknown, module: { exports: object }) => void;

const home = cacheHome(process.env);
const folder =
  home === undefined ? undefined : `${home}/code/${__BUNDLE_HASH__}-${process.version}-${process.arch}`;

/** Runs a file of the bundle with the machine code that V8 made of it last time; compiling is half of a start. */
function load(file: string, cacheName: string): object {
  const path = `${__dirname}/${file}`;
  const cachedData = folder === undefined ? undefined : readOwnedFile(`${folder}/${cacheName}`);
  const source = `(function(exports,require,module){${readFileSync(path, "latin1")}\n})`;
  const script = new Script(source, { filename: path, ...(cachedData && { cachedData }) });
  if (folder !== undefined && (cachedData === undefined || script.cachedDataRejected)) {
    process.once("exit", () => saveCode(folder, cacheName, script));
  }
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, requireWithin, module);
  return module.exports;
}

const loaded = new Map<string, object>();

function requireWithin(name: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- this file is built as CommonJS
  if (!name.startsWith("./")) return require(name);
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = load(name.slice(2), name.slice(2).replace("/", "-"));
    loaded.set(name, exports);
  }
  return exports;
}

/** Code is only taken from a file that nobody else could have written. */
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
 * On disk before it has its name, as V8 does not notice code that a crash has damaged; and only after a
 * run that went well, so that misspelt commands leave nothing behind.
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

/** What stands for one of the commands of `decision` in full, or for the program itself; everything else finds its way in the whole bundle. */
function bundleName(): string | undefined {
  const [group = "", verb = ""] = process.argv.slice(2);
  if (process.argv.length === 3 && programFlags.includes(group)) return "front";
  return group === "decision" && __COMMANDS__.includes(verb) ? verb : undefined;
}

const command = bundleName();
if (command === undefined) load("agent-33.cjs", "agent-33");
else load(`commands/${command}.cjs`, command);
