import { readdirSync, unlinkSync } from "node:fs";
import { dirname } from "node:path";
import { checksum } from "../digest/checksum.js";
import { sha256Hex } from "../digest/sha256.js";
import type { FileBody, FileSummary } from "../definition/definition-file.js";
import { readDoubled, writeDoubled } from "./doubled-file.js";
import { makeDirectory } from "./make-directory.js";
import { sweepOld } from "./sweep.js";

/** Changes when what is cached changes its shape. */
const format = 7;

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
  /** The checksum of its cached definitions, which is part of the name they are under. */
  readonly bodyChecksum?: string;
}

export function openDefinitionCache(cacheHome: string, directory: string, version: string): DefinitionCache {
  const folder = `${cacheHome}/definitions/${folderName(`${format} ${version} ${directory}`)}`;
  return {
    entries: readIndex(`${folder}/index.json`),
    body: (cached) => readDoubled(`${folder}/${bodyName(cached)}`) as FileBody | undefined,
    save: (files) => save(folder, files),
  };
}

/** The name itself where it can be one of a folder: two directories must never share a cache. */
function folderName(name: string): string {
  const encoded = encodeURIComponent(name);
  return encoded.length < 200 ? encoded : sha256Hex(name);
}

const bodyName = ({ path, bodyChecksum = "" }: CachedFile): string =>
  `${checksum(path)}-${bodyChecksum}.json`;

function readIndex(path: string): ReadonlyMap<string, CachedFile> {
  const kept = readDoubled(path) as readonly CachedFile[] | undefined;
  return new Map(kept?.map((file) => [file.path, file]));
}

function save(folder: string, files: readonly (CachedFile & { readonly body?: FileBody })[]): void {
  try {
    const isNew = makeDirectory(folder, 0o700);
    if (isNew) sweepOld(dirname(folder), Date.now());
    const kept = files.map((file) => keepBody(folder, file));
    writeDoubled(`${folder}/index.json`, kept);
    sweep(folder, new Set(["index.json", ...kept.map(bodyName)]));
  } catch {
    return;
  }
}

function keepBody(
  folder: string,
  { body, ...cached }: CachedFile & { readonly body?: FileBody },
): CachedFile {
  if (body === undefined) return cached;
  const kept = { ...cached, bodyChecksum: checksum(JSON.stringify(body)) };
  writeDoubled(`${folder}/${bodyName(kept)}`, body);
  return kept;
}

function sweep(folder: string, kept: ReadonlySet<string>): void {
  for (const name of readdirSync(folder)) {
    if (!kept.has(name) && !name.endsWith(".tmp")) unlinkSync(`${folder}/${name}`);
  }
}
