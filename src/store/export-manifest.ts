import { constants, readSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import type { LedgerState } from "../model/store.js";
import { genesisHash } from "../record/chain.js";
import { isNotRegular, openRegularFile } from "./regular-file.js";

/** The content of `manifest.json`. */
export interface Manifest extends ManifestContent {
  /** The fingerprint of the key that signed the content. */
  readonly key?: string;
  readonly signature?: string;
}

export interface ManifestContent {
  readonly format: 1;
  readonly tool_version: string;
  readonly created_at: string;
  readonly filters: Readonly<Record<string, string>>;
  /** True if the export contains every record of the log. */
  readonly complete: boolean;
  readonly records: number;
  readonly first_seq: number | null;
  readonly last_seq: number | null;
  readonly log: LedgerState;
  readonly files: readonly ExportedFile[];
}

export interface ExportedFile {
  readonly name: string;
  readonly bytes: number;
  readonly sha256: string;
  /** Present for the file of records. */
  readonly records?: number;
}

export const manifestName = "manifest.json";

/** Formats the manifest file; without key and signature, the text that is signed. */
export const formatManifest = (manifest: ManifestContent): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Parses a manifest, or returns the problem. Accepts only the exact bytes that `formatManifest` writes. */
export function parseManifest(text: string): Manifest | string {
  let manifest: Manifest;
  try {
    manifest = normalizeManifest(JSON.parse(text) as UncheckedObject);
  } catch {
    return "the manifest is not valid";
  }
  if (formatManifest(manifest) !== text) return "the manifest was changed";
  return findContradiction(manifest) ?? manifest;
}

type UncheckedObject = Partial<Record<string, unknown>>;

/**
 * Builds a manifest from parsed JSON. Wrong values are replaced, so the text differs afterwards. Throws if parts are
 * missing.
 */
function normalizeManifest(parsed: UncheckedObject): Manifest {
  const { tool_version, created_at, complete, records, first_seq, last_seq, key, signature } = parsed;
  const filters = parsed["filters"] as UncheckedObject;
  const log = parsed["log"] as UncheckedObject;
  return {
    format: 1,
    tool_version: asString(tool_version),
    created_at: asString(created_at),
    filters: Object.fromEntries(
      filterNames.flatMap((name) => (filters[name] === undefined ? [] : [[name, asString(filters[name])]])),
    ),
    complete: complete === true,
    records: Number(records),
    first_seq: first_seq === null ? null : Number(first_seq),
    last_seq: last_seq === null ? null : Number(last_seq),
    log: { size: Number(log["size"]), head: asString(log["head"]) },
    files: (parsed["files"] as readonly UncheckedObject[]).map((file) => ({
      name: asString(file["name"]),
      bytes: Number(file["bytes"]),
      sha256: asString(file["sha256"]),
      ...(file["records"] !== undefined && { records: Number(file["records"]) }),
    })),
    ...(key !== undefined && { key: asString(key) }),
    ...(signature !== undefined && { signature: asString(signature) }),
  };
}

export const asString = (value: unknown): string => (typeof value === "string" ? value : "");

/** In the order of the manifest. */
export const filterNames = [
  "decision_id",
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "caller",
  "since",
  "until",
  "label",
  "target",
  "type",
  "kind",
] as const;

const recordFiles: readonly string[] = ["records.jsonl", "records.csv"];
const otherFiles: readonly string[] = ["definitions.jsonl", "checkpoints.jsonl", "approvals.jsonl"];

/** The files that an export can have. */
export const exportFileNames: readonly string[] = [manifestName, ...recordFiles, ...otherFiles];

/** Returns a problem of a manifest that could not have been written by an export. */
function findContradiction(manifest: Manifest): string | undefined {
  const { records, first_seq: first, last_seq: last, complete, log, files } = manifest;
  const names = files.map(({ name }) => name);
  const unknown = names.find((name) => !recordFiles.includes(name) && !otherFiles.includes(name));
  if (unknown !== undefined)
    return `the manifest lists ${JSON.stringify(unknown)}, which is not a file of an export`;
  const [main, another] = files.filter(({ name }) => recordFiles.includes(name));
  const isComplete = main !== undefined && another === undefined && names.includes("definitions.jsonl");
  if (!isComplete || new Set(names).size < names.length)
    return "the manifest does not list the files of an export";
  if (!isHash(log.head) || !isHash(manifest.key ?? genesisHash))
    return "the manifest contains an invalid hash";
  const span = first === null || last === null ? 0 : last - first + 1;
  const isConsistent =
    main.records === records &&
    (first === null) === (records === 0) &&
    (last === null) === (records === 0) &&
    records <= span &&
    (last ?? 0) <= log.size &&
    (log.size > 0 || log.head === genesisHash) &&
    (!complete || (records === span && (last ?? 0) === log.size));
  return isConsistent ? undefined : "the numbers in the manifest contradict each other";
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** Opens a file of an export, or returns the problem. Does not follow links, whose target is not part of the export. */
export function openExportFile(directory: string, name: string): number | string {
  try {
    return openRegularFile(join(directory, name), constants.O_RDONLY | constants.O_NOFOLLOW);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `\`${name}\` is missing`;
    if (code === "ELOOP") return `\`${name}\` is a symbolic link`;
    if (isNotRegular(error)) return `\`${name}\` is not a file`;
    throw unreadableExportError(error);
  }
}

export function unreadableExportError(error: unknown): DecisionError {
  const message = `cannot read the export: ${(error as Error).message}`;
  return new DecisionError("file_unreadable", message, { cause: error });
}

const chunkSize = 64 * 1024;
const maxLineLength = 4096 * chunkSize;
export const newline = 10;

/**
 * Yields each line with its newline. A piece without one is the rest of the file, or part of a line that is too long.
 */
export function* readLines(fd: number): Generator<Buffer> {
  let buffer = Buffer.allocUnsafe(chunkSize);
  let filled = 0;
  for (;;) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, null);
    filled += count;
    const read = buffer.subarray(0, filled);
    let start = 0;
    for (let end = read.indexOf(newline); end !== -1; end = read.indexOf(newline, start)) {
      yield read.subarray(start, end + 1);
      start = end + 1;
    }
    if (count === 0 || filled - start === maxLineLength) {
      if (filled > start) yield read.subarray(start);
      if (count === 0) return;
      start = filled;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}
