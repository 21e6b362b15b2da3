import { mkdirSync, readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { sha256Hex } from "../digest/sha256.js";
import type { FileBody, FileSummary } from "../definition/read-definitions.js";
import { sweepOld } from "./sweep.js";

/** Changes when what is cached changes its shape. */
const format = 1;

/** Definition files as they were understood last time, so that YAML need not be read again. */
export interface DefinitionCache {
  readonly entries: ReadonlyMap<string, CachedFile>;
  /** The definitions of a cached file, or undefined where they are gone. */
  body(cached: CachedFile): FileBody | undefined;
  /** Keeps these and forgets all others. Does nothing where it cannot write. */
  save(files: readonly (CachedFile & { readonly body?: FileBody })[]): void;
}

export interface CachedFile {
  readonly path: string;
  readonly stamp: string;
  readonly summary: FileSummary;
}

export function openDefinitionCache(cacheHome: string, directory: string, version: string): DefinitionCache {
  const folder = `${cacheHome}/definitions/${sha256Hex(`${format}\n${version}\n${directory}`).slice(0, 32)}`;
  return {
    entries: readIndex(folder),
    body: (cached) => readJson(bodyPath(folder, cached)) as FileBody | undefined,
    save: (files) => save(folder, files),
  };
}

function readIndex(folder: string): ReadonlyMap<string, CachedFile> {
  const index = readJson(`${folder}/index.json`) as readonly CachedFile[] | undefined;
  return new Map((index ?? []).map((file) => [file.path, file]));
}

function bodyPath(folder: string, { path, stamp }: CachedFile): string {
  return `${folder}/${sha256Hex(`${path}\n${stamp}`).slice(0, 32)}.json`;
}

/** A cache that cannot be read is as good as none. */
function readJson(path: string): unknown {
  try {
    return JSON.parse(readFileSync(path, "utf8"));
  } catch {
    return undefined;
  }
}

function save(folder: string, files: readonly (CachedFile & { readonly body?: FileBody })[]): void {
  try {
    const isNew = mkdirSync(folder, { recursive: true, mode: 0o700 }) !== undefined;
    if (isNew) sweepOld(dirname(folder), Date.now());
    for (const file of files) {
      if (file.body !== undefined) writeWhole(bodyPath(folder, file), JSON.stringify(file.body));
    }
    const index = files.map(({ path, stamp, summary }) => ({ path, stamp, summary }));
    writeWhole(`${folder}/index.json`, JSON.stringify(index));
    sweep(folder, new Set(["index.json", ...files.map((file) => bodyPath("", file).slice(1))]));
  } catch {
    return;
  }
}

/** Other processes see the old file or the new one, never half of it. */
function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}

function sweep(folder: string, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    if (!kept.has(name) && !name.endsWith(".tmp")) unlinkSync(`${folder}/${name}`);
  }
}
