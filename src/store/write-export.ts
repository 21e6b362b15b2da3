import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { openIfExists, systemFiles, isNotFound, syncDirectory, writeAll } from "./drivers/jsonl/files.js";
import type { ExportedFile, Manifest, ManifestContent } from "./export-manifest.js";
import { readLines, filterNames, formatManifest, manifestName } from "./export-manifest.js";
import { makeDirectory } from "./files.js";
import { createSha256 } from "./signing.js";
import { systemClock } from "../clock.js";
import { DecisionError } from "../errors.js";
import type { Ledger, LogLine, Query, Store } from "../model/store.js";
import type { Signer } from "../record/chain.js";
import { csvHeader, csvLine } from "../record/csv.js";
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
  /** Of the manifest. */
  readonly sha256: string;
  readonly warnings: readonly string[];
}

/** The log as it is at this moment; what is added meanwhile is left for the next time. */
export async function writeExport(
  where: string,
  source: ExportSource,
  { signal, progress }: ExportHooks,
): Promise<WrittenExport> {
  const { format, query, store, sign } = source;
  const oldest = await findOldestSeq(store.log);
  const log = await store.log.state();
  const contents = new ExportContents();
  const folder = new ExportFolder(where, signal);
  try {
    const lines = contents.of(store.log.select(query), { size: log.size, progress });
    const main = await folder.add(`records.${format}`, formatRecords(lines, format));
    const files: ExportedFile[] = [
      { ...main, records: contents.records },
      await folder.add("definitions.jsonl", contents.named(store)),
    ];
    const pins = openIfExists(systemFiles, `${source.log}/checkpoints.jsonl`, "r");
    if (pins !== undefined)
      files.push(await folder.add("checkpoints.jsonl", readCheckpointLines(pins, log.size)));
    const filters = toManifestFilters(query);
    const { records, first_seq, last_seq } = contents;
    const complete = records === log.size - (oldest ?? 1) + 1;
    const made = { format: 1, tool_version: version, created_at: systemClock() } as const;
    const content: ManifestContent = { ...made, filters, complete, records, first_seq, last_seq, log, files };
    const manifest = { ...content, ...sign?.(formatManifest(content)) };
    const { sha256 } = await folder.finish(formatManifest(manifest));
    return { manifest, sha256, warnings: contents.troubles(manifest) };
  } catch (error) {
    folder.undo();
    throw error;
  }
}

async function findOldestSeq(log: Pick<Ledger, "select">): Promise<number | undefined> {
  for await (const { record } of log.select({})) return record.seq;
  return undefined;
}

/** With times as records have them, whatever they were counted back from. */
function toManifestFilters(query: Query): Manifest["filters"] {
  const filters: Record<string, string> = {};
  for (const name of filterNames) {
    const wanted = query[name];
    if (wanted !== undefined) filters[name] = typeof wanted === "number" ? formatTimestamp(wanted) : wanted;
  }
  return filters;
}

/** Neither half a line at the end, nor what was pinned after the moment of the export. */
function* readCheckpointLines(fd: number, size: number): Generator<string> {
  try {
    for (const line of readLines(fd)) {
      const text = line.toString("utf8");
      if (!text.endsWith("\n") || Number(/^\{"size":(\d+),/.exec(text)?.[1]) > size) return;
      yield text;
    }
  } finally {
    closeSync(fd);
  }
}

/** What went into an export, and what belongs to it. */
class ExportContents {
  records = 0;
  first_seq: number | null = null;
  last_seq: number | null = null;
  #lost = 0;
  readonly #definitions = new Set<string>();
  readonly #environments = new Set<string>();

  async *of(
    lines: AsyncIterable<LogLine>,
    { size, progress }: { readonly size: number; readonly progress: ExportHooks["progress"] },
  ): AsyncGenerator<LogLine> {
    for await (const line of lines) {
      const { record } = line;
      if (record.seq > size) return;
      this.records++;
      this.first_seq ??= record.seq;
      this.last_seq = record.seq;
      if (record.kind === "decision") {
        this.#definitions.add(record.definition_hash);
        this.#environments.add(record.environment_hash);
      }
      if (this.records % 1000 === 0) progress(record.seq, size);
      yield line;
    }
  }

  /** The definitions and environments that the records name. */
  async *named(store: Store): AsyncGenerator<string> {
    for (const [kind, shelf, hashes] of [
      ["definition", store.shelf("definitions"), this.#definitions],
      ["environment", store.shelf("environments"), this.#environments],
    ] as const) {
      for (const hash of hashes) {
        const kept = await shelf.get(hash);
        if (kept === undefined) this.#lost++;
        else yield `${JSON.stringify({ hash, kind, document: kept.value })}\n`;
      }
    }
  }

  troubles({ complete, filters }: Manifest): readonly string[] {
    const unread = !complete && Object.keys(filters).length === 0;
    return [
      ...(unread ? ["some records could not be read and were left out; see `agent-33 decision verify`"] : []),
      ...(this.#lost > 0 ? [`${this.#lost} definitions or environments are not in the store any more`] : []),
    ];
  }
}

/** Enough for one write to be worth it. */
const chunkLength = 64 * 1024;

export async function* formatRecords(
  lines: AsyncIterable<LogLine>,
  format: RecordFormat,
): AsyncGenerator<string> {
  let text = format === "csv" ? csvHeader : "";
  for await (const { text: line, record } of lines) {
    text += format === "csv" ? csvLine(record) : `${line}\n`;
    if (text.length < chunkLength) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/** Other errors of the system come from the log. */
export function toReadError(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof DecisionError || typeof code !== "string") return error;
  return new DecisionError("file_unreadable", `the log could not be read: ${message}`, {
    hint: "if it was pruned meanwhile, export again",
    cause: error,
  });
}

/** A directory that is whole once it has a manifest, and else is as it was before. */
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

  /** Resolves once the file is on the disk. */
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
        await this.#breathe();
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
      // What cannot be removed is no export: it has no manifest.
    }
  }

  /** Only between two turns of the event loop do we hear of Ctrl-C. */
  async #breathe(): Promise<void> {
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
  const message = `the export could not be written: ${(error as Error).message}`;
  const hint =
    "see that the directory can be written and that there is space; nothing of the export was kept";
  return new DecisionError("file_unwritable", message, { hint, cause: error });
}

export function assertEmptyTarget(where: string): void {
  try {
    if (readdirSync(where).length === 0) return;
  } catch (error) {
    if (isNotFound(error)) return;
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw unwritableExportError(error);
  }
  throw new DecisionError("file_exists", `\`${where}\` is there already and not an empty directory`, {
    hint: "name one that does not exist yet: an export never changes what is there",
  });
}
