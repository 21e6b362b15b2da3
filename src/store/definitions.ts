import { closeSync, openSync, readFileSync, readSync } from "node:fs";
import { resolve } from "node:path";
import type { Library } from "../definition/library.js";
import { buildLibrary } from "../definition/library.js";
import { tooLarge, unusable } from "../definition/broken-file.js";
import { largestFile } from "../definition/limits.js";
import type { FileBody, FileSummary } from "../definition/definition-file.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import { DecisionError } from "../errors.js";
import type { CachedFile, DefinitionCache } from "./definition-cache.js";
import { openDefinitionCache } from "./definition-cache.js";
import type { FoundFile } from "./definition-directory.js";
import { findDefinitionFiles } from "./definition-directory.js";

/** A file changed so recently that a second change could leave no trace in its times is not cached. */
const settledAfterMilliseconds = 50;

export interface DefinitionOptions {
  readonly directory: string;
  /** A single file of the directory, whatever its ending. */
  readonly only?: string | undefined;
  readonly cacheHome: string | undefined;
  readonly version: string;
  /** Sees each sound definition that is read while its source is at hand. */
  readonly inspect?: (file: string, located: LocatedDefinition) => void;
}

export interface OpenedDefinitions extends Library {
  /** How many files had to be read, and how many came from the cache. */
  readonly filesRead: number;
  readonly filesCached: number;
}

type Entry = CachedFile & { readonly body?: FileBody };

/** The definitions of a directory as they are at this moment. */
export async function openDefinitions(options: DefinitionOptions): Promise<OpenedDefinitions> {
  const startedAt = Date.now();
  const found = findDefinitionFiles(options.directory);
  const cache = openCache(options);
  const entries: Entry[] = [];
  const settled: Entry[] = [];
  for (const file of found) {
    const entry = fromCache(cache, file) ?? (await readEntry(options, file));
    entries.push(entry);
    if (startedAt - file.changedAt > settledAfterMilliseconds) settled.push(entry);
  }
  const filesRead = entries.filter((entry) => entry.body !== undefined).length;
  if (cache !== undefined && isNews(cache, settled)) cache.save(settled);
  const library = asLibrary(options, entries, cache);
  return { ...library, filesRead, filesCached: entries.length - filesRead };
}

function openCache({
  cacheHome,
  directory,
  version,
  inspect,
}: DefinitionOptions): DefinitionCache | undefined {
  if (cacheHome === undefined || inspect !== undefined) return undefined;
  return openDefinitionCache(cacheHome, resolve(directory), version);
}

function fromCache(cache: DefinitionCache | undefined, file: FoundFile): CachedFile | undefined {
  const cached = cache?.entries.get(file.path);
  return cached?.stamp === file.stamp ? cached : undefined;
}

function isNews(cache: DefinitionCache, settled: readonly Entry[]): boolean {
  return settled.length !== cache.entries.size || settled.some((entry) => entry.body !== undefined);
}

async function readEntry(options: DefinitionOptions, found: FoundFile): Promise<Entry> {
  const { path, stamp, size } = found;
  if (found.broken !== undefined) return { path, stamp, ...unusable(path, found.broken) };
  const { readDefinitions } = await import("../definition/read-definitions.js");
  if (size > largestFile) {
    return { path, stamp, ...unusable(path, tooLarge, beginningOf(options.directory, path)) };
  }
  const content = readContent(options.directory, path);
  if (content instanceof Error) {
    return { path, stamp: "", ...unusable(path, `it cannot be read: ${content.message}`) };
  }
  const { inspect } = options;
  const inspectIn = inspect && ((located: LocatedDefinition) => inspect(shown(options, path), located));
  return { path, stamp, ...readDefinitions(path, content, inspectIn) };
}

/** A file that has gone since it was found declares nothing. */
function readContent(directory: string, path: string): Uint8Array | Error {
  try {
    return readFileSync(`${directory}/${path}`);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "ENOENT" ? new Uint8Array(0) : (error as Error);
  }
}

/** As much of a file that is too large as is needed to see which ids it declares. */
function beginningOf(directory: string, path: string): string {
  const buffer = Buffer.alloc(64 * 1024);
  const fd = openSync(`${directory}/${path}`, "r");
  const length = readSync(fd, buffer);
  closeSync(fd);
  return buffer.toString("utf8", 0, length);
}

/** What the files of a directory declare, read anew. */
export async function readSummaries(options: DefinitionOptions): Promise<readonly FileSummary[]> {
  const found = findDefinitionFiles(options.directory, options.only);
  const entries: Entry[] = [];
  for (const file of found) entries.push(await readEntry(options, file));
  return entries.map((entry) => shownSummary(options, entry));
}

function asLibrary(
  options: DefinitionOptions,
  entries: readonly Entry[],
  cache: DefinitionCache | undefined,
): Library {
  const byFile = new Map(entries.map((entry) => [shown(options, entry.path), entry] as const));
  const summaries = entries.map((entry) => shownSummary(options, entry));
  return buildLibrary(summaries, async (file, position) => {
    const entry = byFile.get(file);
    const body = entry && (entry.body ?? cache?.body(entry) ?? (await readAgain(options, entry)));
    const definition = body?.definitions[position];
    if (definition === undefined) throw new Error(`${file} lost its definitions`);
    return definition;
  });
}

function shownSummary(options: DefinitionOptions, { path, summary }: Entry): FileSummary {
  const file = shown(options, path);
  return { ...summary, file, problems: summary.problems.map((problem) => ({ ...problem, file })) };
}

/** Another process may have swept the cache since its index was read. */
async function readAgain(options: DefinitionOptions, entry: Entry): Promise<FileBody | undefined> {
  const { summary, body } = await readEntry(options, { ...entry, changedAt: 0, size: 0 });
  const hashes = (file: FileSummary): string => file.definitions.map((each) => each.definition_hash).join();
  if (hashes(summary) === hashes(entry.summary)) return body;
  throw new DecisionError(
    "file_unreadable",
    `\`${shown(options, entry.path)}\` changed while it was being read`,
    {
      hint: "run the command again",
    },
  );
}

/** As the user would name the file. */
function shown({ directory }: DefinitionOptions, path: string): string {
  return directory === "." ? path : `${directory.replace(/\/$/, "")}/${path}`;
}
