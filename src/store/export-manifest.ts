import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { DecisionError } from "../errors.js";
import type { LedgerState } from "../model/store.js";
import { genesisHash } from "../record/chain.js";

/** What an export says about itself in `manifest.json`. */
export interface Manifest extends ManifestContent {
  /** Which key signed the rest, as the SHA-256 of its public half. */
  readonly key?: string;
  readonly signature?: string;
}

export interface ManifestContent {
  readonly format: 1;
  readonly tool_version: string;
  readonly created_at: string;
  readonly filters: Readonly<Record<string, string>>;
  /** Whether every record that was in the log is in the export. */
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
  /** Only the file of the records has it. */
  readonly records?: number;
}

export const manifestName = "manifest.json";

/** The bytes of the file; of the content alone, what is signed. */
export const formatManifest = (manifest: ManifestContent): string => `${JSON.stringify(manifest, null, 2)}\n`;

/** Only what is written back byte for byte is a manifest; else what is wrong with it. */
export function parseManifest(text: string): Manifest | string {
  let manifest: Manifest;
  try {
    manifest = normalizeManifest(JSON.parse(text) as UncheckedObject);
  } catch {
    return "the manifest cannot be read";
  }
  if (formatManifest(manifest) !== text) return "the manifest is not as it was written";
  return findContradiction(manifest) ?? manifest;
}

type UncheckedObject = Partial<Record<string, unknown>>;

/** Throws where it is nothing like a manifest; else what is not as it should be becomes something else. */
function normalizeManifest(found: UncheckedObject): Manifest {
  const { tool_version, created_at, complete, records, first_seq, last_seq, key, signature } = found;
  const filters = found["filters"] as UncheckedObject;
  const log = found["log"] as UncheckedObject;
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
    files: (found["files"] as readonly UncheckedObject[]).map((file) => ({
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

/** In the order in which they are written. */
export const filterNames = [
  "decision_id",
  "workflow_id",
  "stage_id",
  "session_id",
  "correlation_id",
  "since",
  "until",
  "label",
  "target",
  "type",
  "kind",
] as const;

const recordFiles: readonly string[] = ["records.jsonl", "records.csv"];
const otherFiles: readonly string[] = ["definitions.jsonl", "checkpoints.jsonl"];

function findContradiction(manifest: Manifest): string | undefined {
  const { records, first_seq: first, last_seq: last, complete, log, files } = manifest;
  const names = files.map(({ name }) => name);
  const strange = names.find((name) => !recordFiles.includes(name) && !otherFiles.includes(name));
  if (strange !== undefined)
    return `the manifest names ${JSON.stringify(strange)}, which is no file of an export`;
  const [main, another] = files.filter(({ name }) => recordFiles.includes(name));
  const isWhole = main !== undefined && another === undefined && names.includes("definitions.jsonl");
  if (!isWhole || new Set(names).size < names.length)
    return "the manifest does not list the files of an export";
  if (!isHash(log.head) || !isHash(manifest.key ?? genesisHash))
    return "the manifest names something that is no hash";
  const span = first === null || last === null ? 0 : last - first + 1;
  const isPossible =
    main.records === records &&
    (first === null) === (records === 0) &&
    (last === null) === (records === 0) &&
    records <= span &&
    (last ?? 0) <= log.size &&
    (log.size > 0 || log.head === genesisHash) &&
    (!complete || (records === span && (last ?? 0) === log.size));
  return isPossible ? undefined : "the numbers of the manifest contradict each other";
}

const isHash = (text: string): boolean => /^[0-9a-f]{64}$/.test(text);

/** A file of the directory itself, or why it is none: whatever a link leads to is no part of the export. */
export function openRegularFile(directory: string, name: string): number | string {
  // Without waiting: a pipe in the place of a file would have us wait for ever.
  const flags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK;
  let fd: number;
  try {
    fd = openSync(join(directory, name), flags);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return `\`${name}\` is missing`;
    if (code === "ELOOP") return `\`${name}\` is a link, which could lead anywhere`;
    throw unreadableExportError(error);
  }
  if (fstatSync(fd).isFile()) return fd;
  closeSync(fd);
  return `\`${name}\` is not a file`;
}

export function unreadableExportError(error: unknown): DecisionError {
  const message = `the export cannot be read: ${(error as Error).message}`;
  return new DecisionError("file_unreadable", message, { cause: error });
}

const chunkSize = 64 * 1024;
const maxLineLength = 4096 * chunkSize;
export const newline = 10;

/** Each line with its newline. One without it is the rest of the file, or a part of a line beyond all measure. */
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
