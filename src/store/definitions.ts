import {
  closeSync,
  openSync,
  readFileSync,
  readSync,
  readdirSync,
  lstatSync,
  rmSync,
  unlinkSync,
} from "node:fs";
import { resolve, dirname } from "node:path";
import type { FileKind, FoundFile } from "./definition-directory.js";
import { displayPath, isOfKind, isUnchanged } from "./definition-directory.js";
import { isOwn, readOwnCheckedJson, writeCheckedJson, makeDirectory, removeUnusedFolders } from "./files.js";
import { SettledFiles, settlingTime } from "./settle.js";
import type { TimeSource } from "../clock.js";
import type { FileBody, FileSummary, LocatedTest } from "../definition/definition-file.js";
import type { Library } from "../definition/library.js";
import { definitionHash } from "../definition/loaded-definition.js";
import { buildLibrary } from "../definition/library.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import { checksum, sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";

/** A file that changed more recently is not cached: a second change in the same clock tick would leave no trace. */
const cacheableAfterMs = 50;

export interface DefinitionOptions {
  readonly directory: string;
  /** A single file of the directory, with any extension. */
  readonly onlyFile?: string | undefined;
  readonly cacheHome: string | undefined;
  readonly version: string;
  /** Called with each valid definition and its source. Turns the cache off, which has no sources. */
  readonly inspect?: (located: LocatedDefinition) => void;
  /** By path in the directory: the content of files that are being edited, also of those not saved yet. */
  readonly unsaved?: ReadonlyMap<string, Uint8Array> | undefined;
  readonly time?: TimeSource;
}

export interface OpenedDefinitions extends Library {
  /** The files that were read, with errors or not. */
  readonly files: readonly FileSummary[];
  /** Returns the tests in a file. */
  testsIn(file: string): Promise<readonly LocatedTest[]>;
  /** The number of files that were parsed, and of those that came from the cache. */
  readonly filesRead: number;
  readonly filesCached: number;
}

type Entry = CachedFile & { readonly body?: FileBody };

/** What is read, and how. */
interface ReadOptions extends DefinitionOptions {
  readonly kind: FileKind;
}

/** Opens the current definitions of a directory. Unchanged files come from the cache. */
export async function openDefinitions(options: DefinitionOptions): Promise<OpenedDefinitions> {
  const cached = { ...options, kind: "definitions" } as const;
  const cache = openCache(cached);
  const entries = await readEntries(cached, cache);
  const filesRead = entries.filter((entry) => entry.body !== undefined).length;
  const files = entries.map((entry) => withDisplayPath(options, entry));
  return {
    ...toLibrary(cached, { entries, files }, cache),
    files,
    testsIn: testReader(cached, entries, cache),
    filesRead,
    filesCached: entries.length - filesRead,
  };
}

/** The test files of a directory, and the problems of those that are not valid. */
export type OpenedTests = Pick<OpenedDefinitions, "files" | "testsIn">;

/** Opens the files below a directory that contain tests only. Unchanged ones come from the cache. */
export async function openTests(options: Omit<DefinitionOptions, "inspect">): Promise<OpenedTests> {
  const cached = { ...options, kind: "tests" } as const;
  const cache = openCache(cached);
  const entries = await readEntries(cached, cache);
  const files = entries.map((entry) => withDisplayPath(options, entry));
  return { files, testsIn: testReader(cached, entries, cache) };
}

function testReader(
  options: ReadOptions,
  entries: readonly Entry[],
  cache: DefinitionCache | undefined,
): OpenedTests["testsIn"] {
  return async (file) => {
    const entry = entries.find(({ path }) => displayPath(options.directory, path) === file);
    if (entry === undefined || (entry.summary.tests ?? 0) === 0) return [];
    const { tests } = entry.body ?? cache?.body(entry) ?? (await rereadBody(options, entry, cache));
    return tests;
  };
}

/** Reads what the files contain, and caches it. */
async function readEntries(
  options: ReadOptions,
  cache: DefinitionCache | undefined,
): Promise<readonly Entry[]> {
  const { time = settlingTime } = options;
  const startedAt = time.now();
  const read = await readFiles(options, cache);
  const entries = read.map(({ entry }) => entry);
  // The earlier entry of a file that is not cached yet stays: it knows what the file contained.
  const cacheable = read.flatMap(({ file, entry }) =>
    startedAt - file.changedAt > cacheableAfterMs ? entry : (cache?.entries.get(file.path) ?? []),
  );
  if (cache !== undefined && hasChanges(cache, cacheable)) cache.save(cacheable);
  return entries;
}

/** A definition file as it was found, and what it declares. */
interface ReadFile {
  readonly file: FoundFile;
  readonly entry: Entry;
}

/** Reads all files in one state: if one changes meanwhile, reads all again once they are settled. */
async function readFiles(
  options: ReadOptions,
  cache: DefinitionCache | undefined,
): Promise<readonly ReadFile[]> {
  const { kind, directory, onlyFile, inspect, time = settlingTime } = options;
  const settled = new SettledFiles({ kind, directory, onlyFile, time });
  for (;;) {
    const located: LocatedDefinition[] = [];
    const collecting = inspect && { ...options, inspect: (each: LocatedDefinition) => located.push(each) };
    const readNew = async (file: FoundFile): Promise<Entry> =>
      withRememberedGuardrails(await readEntry(collecting ?? options, file), cache?.entries.get(file.path));
    const read: ReadFile[] = [];
    for (const file of withUnsaved(await settled.find(), options))
      read.push({ file, entry: findCached(cache, file) ?? (await readNew(file)) });
    const changed = read.find(
      ({ file, entry }) =>
        entry.body !== undefined &&
        file.unusableBecause === undefined &&
        options.unsaved?.has(file.path) !== true &&
        !isUnchanged(directory, file),
    );
    if (changed === undefined) {
      for (const each of located) inspect?.(each);
      return read;
    }
    settled.assertInTime(changed.file.path);
  }
}

/** Puts the files that are being edited in the place of the saved ones. */
function withUnsaved(
  files: readonly FoundFile[],
  { kind, unsaved = new Map<string, Uint8Array>() }: ReadOptions,
): readonly FoundFile[] {
  if (unsaved.size === 0) return files;
  const edited = [...unsaved]
    .filter(([path]) => isOfKind(kind, path))
    .map(([path, { length: size }]) => ({ path, stamp: "unsaved", changedAt: 0, modifiedAt: 0, size }));
  const saved = files.filter(({ path }) => !unsaved.has(path));
  return [...saved, ...edited].sort((a, b) => (a.path < b.path ? -1 : 1));
}

function openCache({
  kind,
  cacheHome,
  directory,
  version,
  inspect,
}: ReadOptions): DefinitionCache | undefined {
  if (cacheHome === undefined || inspect !== undefined) return undefined;
  const place = kind === "tests" ? `tests in ${resolve(directory)}` : resolve(directory);
  return openDefinitionCache(cacheHome, place, version);
}

function findCached(cache: DefinitionCache | undefined, file: FoundFile): CachedFile | undefined {
  const cached = cache?.entries.get(file.path);
  return cached?.stamp === file.stamp ? cached : undefined;
}

/**
 * Remembers that a broken file contained guardrails or masks for every decision, or disabled targets, when it was valid:
 * it may have lost them. The cache is only used to refuse more, never less.
 */
function withRememberedGuardrails(entry: Entry, earlier: CachedFile | undefined): Entry {
  if (entry.summary.diagnostics.length === 0 || earlier === undefined) return entry;
  const { guardrails, masks, targets = [], heldGuardrails } = earlier.summary;
  const isRemembered = [guardrails, masks, heldGuardrails].some((each) => each !== undefined);
  if (!isRemembered && !targets.some(({ target }) => target.disabled)) return entry;
  return { ...entry, summary: { ...entry.summary, hidesGuardrails: true, heldGuardrails: true } };
}

function hasChanges(cache: DefinitionCache, cacheable: readonly Entry[]): boolean {
  return cacheable.length !== cache.entries.size || cacheable.some((entry) => entry.body !== undefined);
}

async function readEntry(options: ReadOptions, found: FoundFile): Promise<Entry> {
  const { path, stamp, size } = found;
  const { maxFileBytes, readDefinitions, readTests, tooLargeMessage, unreadableFile } =
    await import("../definition/read-definitions.js");
  if (found.unusableBecause !== undefined)
    return { path, stamp, ...unreadableFile(path, found.unusableBecause) };
  const unsaved = options.unsaved?.get(path);
  if (size > maxFileBytes) {
    const start = unsaved === undefined ? readStart(options.directory, path) : startOf(unsaved);
    return { path, stamp, ...unreadableFile(path, tooLargeMessage, start) };
  }
  const content = unsaved ?? readContent(options.directory, path);
  if (content instanceof Error) {
    return { path, stamp: "", ...unreadableFile(path, `it cannot be read: ${content.message}`) };
  }
  const { kind, inspect } = options;
  if (kind === "tests") return { path, stamp, ...readTests(path, content) };
  const inspectIn =
    inspect &&
    ((located: LocatedDefinition) => inspect({ ...located, file: displayPath(options.directory, path) }));
  return { path, stamp, ...readDefinitions(path, content, inspectIn) };
}

/** Returns no bytes for a file that was deleted since it was found. */
function readContent(directory: string, path: string): Uint8Array | Error {
  try {
    return readFileSync(`${directory}/${path}`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? new Uint8Array(0) : (error as Error);
  }
}

/** How much is read of a file that is too large, to find the ids that it declares. */
const startLength = 64 * 1024;

function readStart(directory: string, path: string): string {
  const buffer = Buffer.alloc(startLength);
  const fd = openSync(`${directory}/${path}`, "r");
  const length = readSync(fd, buffer);
  closeSync(fd);
  return buffer.toString("utf8", 0, length);
}

const startOf = (content: Uint8Array): string => new TextDecoder().decode(content.subarray(0, startLength));

/** What a file declares, and its tests. */
export interface ReadSummary {
  readonly summary: FileSummary;
  readonly tests: readonly LocatedTest[];
}

/** Reads what the files of a directory declare, without the cache. */
export async function readSummaries(
  options: DefinitionOptions,
  kind: FileKind = "definitions",
): Promise<readonly ReadSummary[]> {
  const read = await readFiles({ ...options, kind }, undefined);
  return read.map(({ entry }) => ({
    summary: withDisplayPath(options, entry),
    tests: entry.body?.tests ?? [],
  }));
}

function toLibrary(
  options: ReadOptions,
  { entries, files }: { readonly entries: readonly Entry[]; readonly files: readonly FileSummary[] },
  cache: DefinitionCache | undefined,
): Library {
  const byFile = new Map(
    entries.map((entry) => [displayPath(options.directory, entry.path), entry] as const),
  );
  return buildLibrary(files, async (file, position) => {
    const entry = byFile.get(file);
    if (entry === undefined) throw new Error(`${file} was not read`);
    const body =
      entry.body ?? cachedBody(entry, position, cache) ?? (await rereadBody(options, entry, cache));
    const definition = body.definitions[position];
    if (definition === undefined) throw new Error(`${file} lost its definitions`);
    return definition;
  });
}

/** Returns the cached definitions of a file, unless the one at the position does not have the hash it is known by. */
function cachedBody(
  entry: Entry,
  position: number,
  cache: DefinitionCache | undefined,
): FileBody | undefined {
  const body = cache?.body(entry);
  const definition = body?.definitions[position];
  const summary = entry.summary.definitions[position];
  if (definition === undefined || definition.id !== summary?.id) return undefined;
  return definitionHash(definition) === summary.definition_hash ? body : undefined;
}

function withDisplayPath(options: DefinitionOptions, { path, summary }: Entry): FileSummary {
  const file = displayPath(options.directory, path);
  const { diagnostics, testDiagnostics } = summary;
  return {
    ...summary,
    file,
    diagnostics: diagnostics.map((problem) => ({ ...problem, file })),
    ...(testDiagnostics && { testDiagnostics: testDiagnostics.map((problem) => ({ ...problem, file })) }),
  };
}

/** Parses a file again whose cached definitions were removed after the cache index was read, or are damaged. */
async function rereadBody(
  options: ReadOptions,
  entry: Entry,
  cache: DefinitionCache | undefined,
): Promise<FileBody> {
  const { summary, body } = await readEntry(options, { ...entry, changedAt: 0, modifiedAt: 0, size: 0 });
  const hashes = (file: FileSummary): string => file.definitions.map((each) => each.definition_hash).join();
  if (body !== undefined && hashes(summary) === hashes(entry.summary)) return body;
  // If the file did not change, the index of the cache did.
  cache?.remove();
  throw new DecisionError(
    "definition_invalid",
    `\`${displayPath(options.directory, entry.path)}\` changed while it was being read`,
    { hint: "run the command again" },
  );
}

/** Increase it when the format of the cached data changes. */
const cacheFormat = 12;

/** Parsed definition files of earlier runs, so that YAML need not be parsed again. */
interface DefinitionCache {
  readonly entries: ReadonlyMap<string, CachedFile>;
  /** Returns the definitions of a cached file, or undefined if they are missing or damaged. */
  body(cached: CachedFile): FileBody | undefined;
  remove(): void;
  /** Replaces the content of the cache. Ignores errors. */
  save(files: readonly (CachedFile & { readonly body?: FileBody })[]): void;
}

interface CachedFile {
  readonly path: string;
  readonly stamp: string;
  readonly summary: FileSummary;
  /** The checksum of its cached definitions, which is part of their file name. */
  readonly bodyChecksum?: string;
}

/** Returns undefined if another user could have written to the folder of the cache. */
function openDefinitionCache(
  cacheHome: string,
  directory: string,
  version: string,
): DefinitionCache | undefined {
  const folder = `${cacheHome}/definitions/${folderName(`${cacheFormat} ${version} ${directory}`)}`;
  if (!isPrivateFolder(folder)) return undefined;
  const bodies = new Map<string, FileBody | undefined>();
  return {
    entries: readCacheIndex(`${folder}/index.json`),
    body(cached) {
      const name = bodyFileName(cached);
      if (!bodies.has(name))
        bodies.set(name, readOwnCheckedJson(`${folder}/${name}`) as FileBody | undefined);
      return bodies.get(name);
    },
    remove: () => rmSync(`${folder}/index.json`, { force: true }),
    save: (files) => saveCache(folder, files),
  };
}

function isPrivateFolder(folder: string): boolean {
  try {
    const stats = lstatSync(folder, { throwIfNoEntry: false });
    return stats === undefined || (stats.isDirectory() && isOwn(stats));
  } catch {
    return false;
  }
}

/** Uses the whole name while it is short enough for a folder, because two directories must never share a cache. */
function folderName(name: string): string {
  const encoded = encodeURIComponent(name);
  return encoded.length < 200 ? encoded : sha256Hex(name);
}

const bodyFileName = ({ path, bodyChecksum = "" }: CachedFile): string =>
  `${checksum(path)}-${bodyChecksum}.json`;

function readCacheIndex(path: string): ReadonlyMap<string, CachedFile> {
  const files = readOwnCheckedJson(path) as readonly CachedFile[] | undefined;
  return new Map(files?.map((file) => [file.path, file]));
}

function saveCache(folder: string, files: readonly (CachedFile & { readonly body?: FileBody })[]): void {
  try {
    const isNew = makeDirectory(folder, 0o700);
    if (isNew) removeUnusedFolders(dirname(folder), Date.now());
    const saved = files.map((file) => saveBody(folder, file));
    writeCheckedJson(`${folder}/index.json`, saved);
    removeOtherFiles(folder, new Set(["index.json", ...saved.map(bodyFileName)]));
  } catch {
    return;
  }
}

function saveBody(
  folder: string,
  { body, ...cached }: CachedFile & { readonly body?: FileBody },
): CachedFile {
  if (body === undefined) return cached;
  const saved = { ...cached, bodyChecksum: checksum(JSON.stringify(body)) };
  writeCheckedJson(`${folder}/${bodyFileName(saved)}`, body);
  return saved;
}

function removeOtherFiles(folder: string, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    if (!kept.has(name) && !name.endsWith(".tmp")) unlinkSync(`${folder}/${name}`);
  }
}
