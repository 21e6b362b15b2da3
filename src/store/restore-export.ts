import { closeSync } from "node:fs";
import type { Manifest } from "./export-manifest.js";
import { newline, openExportFile, readLines } from "./export-manifest.js";
import { createSha256 } from "./signing.js";
import { DecisionError } from "../errors.js";
import type { Json } from "../model/json.js";
import type { Store, StoreSnapshot } from "../model/store.js";
import { countersInNote, parseNote, serialsInNote } from "../record/notes.js";

/** Throws if the export does not have the exact lines of a whole log. */
export function assertRestorable({ complete, files, log, records }: Manifest, path: string): void {
  const hint = "export the whole log: `agent-33 decision export --out DIR`, without filters";
  if (!complete) {
    const message = `\`${path}\` has ${records} of the log's ${log.size} records, so it cannot be imported`;
    throw new DecisionError("usage", message, { hint });
  }
  if (files.some(({ name }) => name === "records.jsonl")) return;
  const message = `\`${path}\` is a CSV export, which does not have the lines of the log, so it cannot be imported`;
  throw new DecisionError("usage", message, { hint });
}

interface RestoreHooks {
  readonly progress: (done: number, total: number) => void;
}

/**
 * Restores a verified export into an empty store. Returns warnings about content that the export does not have. Throws
 * if a file is not the one that the manifest names, even if it has changed since it was verified.
 */
export async function restoreExport(
  directory: string,
  manifest: Manifest,
  { store, progress }: { readonly store: Store } & RestoreHooks,
): Promise<readonly string[]> {
  const { log, files, first_seq } = manifest;
  const hasFile = (name: string): boolean => files.some((file) => file.name === name);
  const read = (name: string, onLine?: (bytes: Buffer, end: number) => void): Iterable<string> =>
    readExportedLines(directory, { manifest, name, onLine });
  const total = files.find(({ name }) => name === "records.jsonl")?.bytes ?? 0;
  let count = 0;
  const noted = { counters: false, approvals: false };
  const onRecord = (line: Buffer, end: number): void => {
    const note = parseNote(line);
    if (note !== undefined) {
      noted.counters ||= countersInNote(note) !== undefined;
      noted.approvals ||= serialsInNote(note).length > 0;
    }
    if (++count % 5000 === 0) progress(end, total);
  };
  await store.restore({
    state: log,
    shelves: readShelves(read),
    checkpoints: read("checkpoints.jsonl"),
    lines: read("records.jsonl", onRecord),
  });
  return [
    ...((first_seq ?? 1) > 1 && !noted.counters ? [uncountedWarning] : []),
    ...(noted.approvals && !hasFile("approvals.jsonl") ? [approvalsWarning] : []),
  ];
}

const uncountedWarning =
  "an earlier version pruned records without noting what they counted: limits count only the imported records";
const approvalsWarning =
  "the export does not have the approval locks that were seen; copy the directory `approvals` of the old store";

function* readShelves(read: (name: string) => Iterable<string>): StoreSnapshot["shelves"] & Generator {
  for (const text of read("definitions.jsonl")) {
    const { hash, kind, document } = JSON.parse(text) as {
      readonly hash: string;
      readonly kind: "definition" | "environment";
      readonly document: Json;
    };
    yield { shelf: `${kind}s` as const, entry: { key: hash, value: document } };
  }
  for (const text of read("approvals.jsonl")) {
    const { key, value } = JSON.parse(text) as { readonly key: string; readonly value: Json };
    yield { shelf: "approvals" as const, entry: { key, value } };
  }
}

interface ExportedFileReader {
  readonly manifest: Manifest;
  readonly name: string;
  /** Called with each line and the offset of its end. */
  readonly onLine?: ((line: Buffer, end: number) => void) | undefined;
}

/** Yields the lines of a file without their newlines; none if the export does not have it. Checks the whole file. */
function* readExportedLines(
  directory: string,
  { manifest, name, onLine }: ExportedFileReader,
): Generator<string> {
  const listed = manifest.files.find((file) => file.name === name);
  if (listed === undefined) return;
  const fd = openExportFile(directory, name);
  if (typeof fd === "string") throw changedError(name);
  const hash = createSha256();
  let end = 0;
  try {
    for (const line of readLines(fd)) {
      hash.update(line);
      end += line.length;
      if (line.at(-1) !== newline) throw changedError(name);
      const bytes = line.subarray(0, -1);
      onLine?.(bytes, end);
      yield bytes.toString("utf8");
    }
  } finally {
    closeSync(fd);
  }
  if (hash.digest("hex") !== listed.sha256) throw changedError(name);
}

const changedError = (name: string): DecisionError =>
  new DecisionError("log_damaged", `\`${name}\` was changed while it was imported; nothing was imported`, {
    hint: "copy the export to a place where nothing changes it",
  });
