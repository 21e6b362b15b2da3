import { readFileSync, readdirSync, renameSync, unlinkSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { sha256Hex } from "../digest/sha256.js";
import { definitionHash } from "../definition/definition-hash.js";
import type { FileBody, FileSummary } from "../definition/read-definitions.js";
import { makeDirectory } from "./make-directory.js";
import { sweepOld } from "./sweep.js";

/** Changes when what is cached changes its shape. */
const format = 1;

/** Definition files as they were understood last time, so that YAML need not be read again. */
export interface DefinitionCache {
  readonly entries: ReadonlyMap<string, CachedFile>;
  /** The definitions of a cached file, or undefined where they are gone or no longer what they were. */
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
    body: (cached) => readBody(bodyPath(folder, cached), cached),
    save: (files) => save(folder, files),
  };
}

function readIndex(folder: string): ReadonlyMap<string, CachedFile> {
  const text = readText(`${folder}/index.json`);
  const end = text.indexOf("\n");
  const json = text.slice(end + 1);
  if (end === -1 || text.slice(0, end) !== sha256Hex(json)) return new Map();
  return new Map((JSON.parse(json) as readonly CachedFile[]).map((file) => [file.path, file]));
}

/** What is evaluated is what the hash stands for, also where the cache was damaged. */
function readBody(path: string, { summary }: CachedFile): FileBody | undefined {
  try {
    const body = JSON.parse(readText(path)) as FileBody;
    const intact = summary.definitions.every(({ definition_hash }, position) => {
      const definition = body.definitions[position];
      return definition !== undefined && definitionHash(definition) === definition_hash;
    });
    return intact ? body : undefined;
  } catch {
    return undefined;
  }
}

function bodyPath(folder: string, { path, stamp }: CachedFile): string {
  return `${folder}/${sha256Hex(`${path}\n${stamp}`).slice(0, 32)}.json`;
}

/** A cache that cannot be read is as good as none. */
function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return "";
  }
}

function save(folder: string, files: readonly (CachedFile & { readonly body?: FileBody })[]): void {
  try {
    const isNew = makeDirectory(folder, 0o700);
    if (isNew) sweepOld(dirname(folder), Date.now());
    for (const file of files) {
      if (file.body !== undefined) writeWhole(bodyPath(folder, file), JSON.stringify(file.body));
    }
    const index = JSON.stringify(files.map(({ path, stamp, summary }) => ({ path, stamp, summary })));
    writeWhole(`${folder}/index.json`, `${sha256Hex(index)}\n${index}`);
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
