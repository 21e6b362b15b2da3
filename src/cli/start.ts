import {
  closeSync,
  constants,
  fstatSync,
  fsyncSync,
  lstatSync,
  openSync,
  readFileSync,
  readSync,
  renameSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";
import { cacheHome } from "./directories.js";
import { makeDirectory, removeUnusedFolders } from "../store/files.js";

declare const __BUNDLE_HASH__: string;
/** The commands of each bundle that stands alone. */
declare const __BUNDLES__: Readonly<Record<string, readonly string[]>>;
/** Flags for which commands of those bundles need all others. */
declare const __LAYERED_FLAGS__: readonly string[];
/** The bundles that contain all other commands; each loads those after it when it needs them. */
declare const __LAYERS__: readonly string[];

type Wrapper = (
  exports: object,
  require: (name: string) => unknown,
  module: { exports: object },
  directory: string,
) => void;

const home = cacheHome(process.env);
const folder =
  home === undefined ? undefined : `${home}/code/${__BUNDLE_HASH__}-${process.version}-${process.arch}`;

/** Runs a file of the bundle with the code that V8 compiled in earlier runs: compiling is half of a start. */
function load(file: string, cacheName: string): object {
  const path = `${__dirname}/${file}`;
  const found = folder === undefined ? undefined : readCachedCode(`${folder}/${cacheName}`);
  const cached = found?.trials === ofFirstRun ? undefined : found;
  const source = `(function(exports,require,module,__dirname){${readFileSync(path, "latin1")}\n})`;
  const script = new Script(source, { filename: path, ...(cached && { cachedData: cached.code }) });
  const usable = script.cachedDataRejected === true ? undefined : cached;
  if (folder !== undefined && (usable === undefined || usable.trials < maxTrials)) {
    const mayBeFirst = found?.trials !== ofFirstRun && isCommandCode(file);
    beforeExit.push(() => {
      const trials = mayBeFirst && loaded.has(reader) ? ofFirstRun : 0;
      saveCode(folder, cacheName, { script, trials, cached: usable });
    });
  }
  const module = { exports: {} };
  (script.runInThisContext() as Wrapper)(module.exports, requireWithin, module, __dirname);
  return module.exports;
}

const beforeExit: (() => void)[] = [];
// Nothing is pending now, so this only skips the disposal of V8's heap, which takes milliseconds.
process.once("exit", () => {
  for (const work of beforeExit) work();
  process.exit();
});

const loaded = new Map<string, object>();

function requireWithin(name: string): unknown {
  // eslint-disable-next-line @typescript-eslint/no-require-imports -- this file is built as CommonJS
  if (!name.startsWith("./")) return require(name);
  let exports = loaded.get(name);
  if (exports === undefined) {
    exports = load(name.slice(2), codeCacheName(name.slice(2)));
    loaded.set(name, exports);
  }
  return exports;
}

/** The code of a file, and how many runs in a row have found nothing to add to it. */
interface CachedCode {
  readonly code: Buffer;
  readonly trials: number;
}

/** Precedes the code in the file: the trials in its first byte. As long as V8 wants its data aligned. */
const headerLength = 16;
/** After this many runs without new functions, runs no longer look for any. */
const maxTrials = 3;
/** Reads definitions that are not in their cache. */
const reader = "./read-definitions.cjs";
/**
 * Marks the code of a run that read definitions. The next run starts without it and keeps only what it needs itself:
 * with all that a first run needs, every later start takes 3 % longer.
 */
const ofFirstRun = 255;

/** Reads cached code only if no other user could have written it. */
function readCachedCode(path: string): CachedCode | undefined {
  let fd: number;
  try {
    // Non-blocking: opening a pipe would wait forever.
    fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return undefined;
  }
  try {
    const { uid, mode, size } = fstatSync(fd);
    if (!isOwn(uid) || (mode & 0o022) !== 0 || size <= headerLength || !isPrivate(dirname(path)))
      return undefined;
    const bytes = Buffer.from(new ArrayBuffer(size));
    if (readSync(fd, bytes, 0, size, 0) !== size) return undefined;
    return { code: bytes.subarray(headerLength), trials: bytes[0] ?? 0 };
  } catch {
    return undefined;
  } finally {
    closeSync(fd);
  }
}

const isOwn = (uid: number): boolean => process.getuid === undefined || uid === process.getuid();

/**
 * Returns whether only this user and the administrator can replace files in a folder: all folders above it belong to
 * one of them, none is a link, and others can write only where they cannot remove what is not theirs (as in /tmp).
 */
function isPrivate(path: string): boolean {
  if (process.getuid === undefined) return true;
  const { uid, mode } = lstatSync(path);
  const isFolder = (mode & constants.S_IFMT) === constants.S_IFDIR;
  const isClosed = (mode & 0o022) === 0 || (mode & 0o1000) !== 0;
  if (!isFolder || !isClosed || (uid !== 0 && !isOwn(uid))) return false;
  return dirname(path) === path || isPrivate(dirname(path));
}

/**
 * Code of long runs starts slower: V8 discards functions that were not called for a while and adds others that a
 * short run never calls. On a busy machine, a short run may take seconds, so its CPU time counts.
 */
function isShortRun(): boolean {
  const { user, system } = process.cpuUsage();
  return user + system < 1_000_000 && process.uptime() < 10 && !process.argv.includes("--inputs");
}

interface CompiledFile {
  readonly script: Script;
  /** Written with new code. */
  readonly trials: number;
  /** The code that the run started with. */
  readonly cached: CachedCode | undefined;
}

/** The exit codes of commands that did what they are for; misspelt commands leave no file behind. */
const answers: readonly unknown[] = [0, 4, 5, 6];

/**
 * Saves the compiled functions if there are more than in the cache, so that no single run decides how fast later ones
 * start. The file is synced before it gets its name, because V8 does not notice code that a crash has damaged.
 */
function saveCode(into: string, cacheName: string, { script, trials, cached }: CompiledFile): void {
  if (!answers.includes(process.exitCode) || !isShortRun()) return;
  try {
    const isNew = makeDirectory(into, 0o700);
    if (!isPrivate(into)) return;
    if (isNew) removeUnusedFolders(dirname(into), Date.now());
    const path = `${into}/${cacheName}`;
    const code = script.createCachedData();
    if (cached !== undefined && code.length < cached.code.length * 1.005) {
      writeTrials(path, cached.trials + 1);
      return;
    }
    const temporary = `${path}.${process.pid}.tmp`;
    const fd = openSync(temporary, "wx", 0o600);
    const header = Buffer.alloc(headerLength);
    header[0] = trials;
    writeFileSync(fd, Buffer.concat([header, code]));
    fsyncSync(fd);
    closeSync(fd);
    renameSync(temporary, path);
  } catch {
    return;
  }
}

function writeTrials(path: string, trials: number): void {
  const fd = openSync(path, constants.O_WRONLY | constants.O_NOFOLLOW);
  writeSync(fd, Buffer.of(trials), 0, 1, 0);
  closeSync(fd);
}

const [group = "", verb = ""] = process.argv.slice(2);
(requireWithin(`./${bundleName()}.cjs`) as { run(): void }).run();

function bundleName(): string {
  const isProgramFlag = group.startsWith("-") && verb === "";
  const isCommand = group === "decision" && !verb.startsWith("-");
  const command = isCommand ? verb : isProgramFlag ? group : "";
  const own = Object.keys(__BUNDLES__).find((name) => __BUNDLES__[name]?.includes(command));
  const isLayered = (word: string): boolean => __LAYERED_FLAGS__.includes(word.replace(/=.*/s, ""));
  return own === undefined || process.argv.some(isLayered) ? "core" : own;
}

/**
 * The code cache holds the functions that its first run has called, so every command has its own for each bundle. Words
 * that are not command names share one. Libraries are the same for all commands.
 */
function codeCacheName(file: string): string {
  if (!isCommandCode(file)) return file;
  const bundle = bundleOf(file);
  const name = group === "decision" ? verb : group;
  const isName = /^-{0,2}[a-z]+(?:-[a-z]+)?$/.test(name) && name.length <= 16;
  return `${bundle}-${isName ? name : "other"}`;
}

/** Whether a file contains commands, rather than a library. */
function isCommandCode(file: string): boolean {
  return __LAYERS__.includes(bundleOf(file)) || Object.hasOwn(__BUNDLES__, bundleOf(file));
}

function bundleOf(file: string): string {
  return file.replace(/\.cjs$/, "");
}
