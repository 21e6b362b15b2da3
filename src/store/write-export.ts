import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { readCheckpointLines } from "./drivers/jsonl/checkpoints.js";
import { systemFiles, isNotFound, syncDirectory, writeAll } from "./drivers/jsonl/files.js";
import type { ExportedFile, Manifest, ManifestContent } from "./export-manifest.js";
import { filterNames, formatManifest, manifestName } from "./export-manifest.js";
import { makeDirectory } from "./files.js";
import { createSha256 } from "./signing.js";
import { systemClock } from "../clock.js";
import { DecisionError, fileErrorHint } from "../errors.js";
import type { Json } from "../model/json.js";
import type { Ledger, LogLine, Query, Store } from "../model/store.js";
import type { Signer } from "../record/chain.js";
import { csvHeader, csvLine } from "../record/csv.js";
import { countersInNote } from "../record/notes.js";
import { formatTimestamp } from "../record/timestamp.js";
import { version } from "../version.js";

export type RecordFormat = "jsonl" | "csv";

export interface ExportSource {
  readonly format: RecordFormat;
  readonly query: Query;
  readonly store: Store;
  readonly sign: Signer | undefined;
  /** The directory of the log. */
  readonly log: string;
}

interface ExportHooks {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

interface WrittenExport {
  readonly manifest: Manifest;
  /** The hash of the manifest. */
  readonly sha256: string;
  readonly warnings: readonly string[];
}

/** Exports the log as it is now; records that are appended meanwhile are not included. */
export async function writeExport(
  where: string,
  source: ExportSource,
  { signal, progress }: ExportHooks,
): Promise<WrittenExport> {
  const { format, query, store, sign } = source;
  const oldest = await findOldestSeq(store.log);
  const log = await store.log.state();
  const filters = toManifestFilters(query);
  const isUnfiltered = Object.keys(filters).length === 0;
  const contents = new ExportContents();
  const folder = new ExportFolder(where, signal);
  try {
    const lines = contents.collect(store.log.select({ ...query, unindexed: true }), {
      size: log.size,
      progress,
    });
    const main = await folder.add(`records.${format}`, formatRecords(lines, format));
    const files: ExportedFile[] = [
      { ...main, records: contents.records },
      await folder.add("definitions.jsonl", contents.documents(store, { all: isUnfiltered })),
    ];
    const checkpoints = readCheckpointLines(`${source.log}/checkpoints.jsonl`, log.size);
    if (checkpoints !== undefined) files.push(await folder.add("checkpoints.jsonl", checkpoints));
    const { records, first_seq, last_seq } = contents;
    const complete = records === log.size - (oldest ?? 1) + 1;
    const approvals = complete ? await readApprovals(store) : [];
    if (approvals.length > 0) files.push(await folder.add("approvals.jsonl", approvals));
    const origin = { format: 1, tool_version: version, created_at: systemClock() } as const;
    const content: ManifestContent = {
      ...origin,
      filters,
      complete,
      records,
      first_seq,
      last_seq,
      log,
      files,
    };
    const manifest = { ...content, ...sign?.(formatManifest(content)) };
    const { sha256 } = await folder.finish(formatManifest(manifest));
    return { manifest, sha256, warnings: contents.warnings(manifest) };
  } catch (error) {
    folder.undo();
    throw error;
  }
}

async function findOldestSeq(log: Pick<Ledger, "select">): Promise<number | undefined> {
  for await (const { record } of log.select({})) return record.seq;
  return undefined;
}

/** Returns the approval locks that were seen, one per line. A restored store needs them to refuse older ones. */
async function readApprovals(store: Store): Promise<readonly string[]> {
  const lines: string[] = [];
  for await (const { key, value } of store.shelf("approvals").entries())
    lines.push(`${JSON.stringify({ key, value })}\n`);
  return lines;
}

/** Writes times as timestamps, also those that the user gave as a duration. */
function toManifestFilters(query: Query): Manifest["filters"] {
  const filters: Record<string, string> = {};
  for (const name of filterNames) {
    const value = query[name];
    if (value !== undefined) filters[name] = typeof value === "number" ? formatTimestamp(value) : value;
  }
  return filters;
}

/** Counts the exported records and collects the definitions and environments that they refer to. */
class ExportContents {
  records = 0;
  first_seq: number | null = null;
  last_seq: number | null = null;
  #missing = 0;
  #hasCounters = false;
  readonly #definitions = new Set<string>();
  readonly #environments = new Set<string>();

  async *collect(
    lines: AsyncIterable<LogLine>,
    { size, progress }: { readonly size: number; readonly progress: ExportHooks["progress"] },
  ): AsyncGenerator<LogLine> {
    for await (const line of lines) {
      const { record } = line;
      if (record.seq > size) return;
      this.records++;
      this.first_seq ??= record.seq;
      this.last_seq = record.seq;
      if (record.kind === "note") this.#hasCounters ||= countersInNote(record) !== undefined;
      if (record.kind === "decision") {
        this.#definitions.add(record.definition_hash);
        this.#environments.add(record.environment_hash);
      }
      if (this.records % 1000 === 0) progress(record.seq, size);
      yield line;
    }
  }

  /** Yields the definitions and environments that the records refer to or, with `all`, all that are kept. */
  async *documents(store: Store, { all }: { readonly all: boolean }): AsyncGenerator<string> {
    for (const [kind, shelf, hashes] of [
      ["definition", store.shelf("definitions"), this.#definitions],
      ["environment", store.shelf("environments"), this.#environments],
    ] as const) {
      const line = (hash: string, document: Json): string => `${JSON.stringify({ hash, kind, document })}\n`;
      for (const hash of hashes) {
        const entry = await shelf.get(hash);
        if (entry === undefined) this.#missing++;
        else yield line(hash, entry.value);
      }
      if (!all) continue;
      for await (const { key, value } of shelf.entries()) if (!hashes.has(key)) yield line(key, value);
    }
  }

  warnings({ complete, filters }: Manifest): readonly string[] {
    const hasUnreadable = !complete && Object.keys(filters).length === 0;
    const isCounted = this.#hasCounters || (this.first_seq ?? 1) === 1;
    return [
      ...(complete && !isCounted ? [uncountedMessage] : []),
      ...(hasUnreadable ? ["unreadable records were left out; run `agent-33 decision verify`"] : []),
      ...(this.#missing > 0 ? [`${this.#missing} definitions or environments are missing in the store`] : []),
    ];
  }
}

const uncountedMessage =
  "an earlier version pruned records without noting what they counted: an import would reset the limits that they used; " +
  "make a decision with a limit before you export";

/** Records are written in chunks of at least this length. */
const chunkLength = 64 * 1024;

/** Formats records; `escape` changes the text of each cell of CSV. */
export async function* formatRecords(
  lines: AsyncIterable<LogLine>,
  format: RecordFormat,
  escape?: (cell: string) => string,
): AsyncGenerator<string> {
  let text = format === "csv" ? csvHeader : "";
  for await (const { text: line, record } of lines) {
    text += format === "csv" ? csvLine(record, escape) : `${line}\n`;
    if (text.length < chunkLength) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/**
 * Turns file system errors into errors of reading the log; errors of writing the export are already `DecisionError`s.
 */
export function toReadError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof DecisionError || typeof code !== "string") return error;
  return new DecisionError("file_unreadable", `the log could not be read: ${message}`, {
    hint: "if the log was pruned during the export, run the command again",
    cause: error,
  });
}

/**
 * The target directory. The manifest is written last, so an export with a manifest is complete; `undo` restores the
 * old state.
 */
class ExportFolder {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #isNew: boolean;
  readonly #added: string[] = [];

  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
    this.#isNew = wrapWriteErrors(() => makeDirectory(path, 0o700));
  }

  /** Writes a file and syncs it to the disk. */
  async add(name: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<ExportedFile> {
    const path = join(this.#path, name);
    const fd = wrapWriteErrors(() => openSync(path, "wx", 0o600));
    this.#added.push(path);
    const hash = createSha256();
    let length = 0;
    try {
      for await (const piece of pieces) {
        const bytes = Buffer.from(piece);
        hash.update(bytes);
        length += bytes.length;
        wrapWriteErrors(() => writeAll(systemFiles, fd, bytes));
        await this.#checkForAbort();
      }
      wrapWriteErrors(() => fsyncSync(fd));
    } finally {
      closeSync(fd);
    }
    return { name, bytes: length, sha256: hash.digest("hex") };
  }

  async finish(manifest: string): Promise<ExportedFile> {
    const temporary = `${manifestName}.tmp`;
    const file = await this.add(temporary, [manifest]);
    const path = join(this.#path, manifestName);
    this.#added.push(path);
    wrapWriteErrors(() => {
      renameSync(join(this.#path, temporary), path);
      syncDirectory(systemFiles, this.#path);
    });
    return file;
  }

  undo(): void {
    try {
      for (const path of this.#added.reverse()) rmSync(path, { force: true });
      if (this.#isNew) rmdirSync(this.#path);
    } catch {
      // Files that cannot be removed do no harm: without a manifest they are not an export.
    }
  }

  /** Yields to the event loop, because Ctrl-C is only noticed there. */
  async #checkForAbort(): Promise<void> {
    await new Promise((resolve) => setImmediate(resolve));
    this.#signal.throwIfAborted();
  }
}

function wrapWriteErrors<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unwritableExportError(error);
  }
}

function unwritableExportError(error: unknown): DecisionError {
  const message = `cannot write the export: ${(error as Error).message}`;
  const hint = `${fileErrorHint(error) ?? "check the disk"}; the incomplete export was removed`;
  return new DecisionError("file_unwritable", message, { hint, cause: error });
}

export function assertEmptyTarget(where: string): void {
  try {
    if (readdirSync(where).length === 0) return;
  } catch (error) {
    if (isNotFound(error)) return;
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw unwritableExportError(error);
  }
  throw new DecisionError("file_exists", `\`${where}\` already exists and is not an empty directory`, {
    hint: "choose a directory that does not exist yet; an export never overwrites files",
  });
}
