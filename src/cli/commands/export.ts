/* eslint-disable max-lines -- writing the directory is the second idea, and may move to a file of its own */
import { closeSync, fsyncSync, openSync, readdirSync, renameSync, rmdirSync, rmSync } from "node:fs";
import { join, resolve } from "node:path";
import type { Command } from "commander";
import { systemClock } from "../../clock.js";
import { composeRecords } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { Ledger, LogLine, Query, Store } from "../../model/store.js";
import { byteCount, count } from "../../present/amounts.js";
import type { Style } from "../../present/format.js";
import { printable } from "../../printable.js";
import type { Sign } from "../../record/checkpoint.js";
import { csvHeader, csvLine } from "../../record/csv.js";
import { timestampOf } from "../../record/moment.js";
import {
  isMissing,
  openExisting,
  syncDirectory,
  systemFiles,
  writeAll,
} from "../../store/drivers/jsonl/files.js";
import { makeDirectory } from "../../store/make-directory.js";
import { sha256Stream } from "../../store/signing.js";
import type { ExportedFile, Manifest, ManifestContent } from "../../store/verify-export.js";
import { filterNames, linesOf, manifestName, manifestText } from "../../store/verify-export.js";
import { version } from "../../version.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addStoreFlags, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import type { QueryFlags } from "../log-query.js";
import { queryFor } from "../log-query.js";
import { percent, Progress } from "../progress.js";
import { addTimeRangeFlags } from "../time-range.js";
import { note, storeConfiguration, warn } from "../world.js";

interface ExportFlags extends StoreFlags, QueryFlags {
  readonly out?: string;
}

export function addExportCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("export")
    .option("--out <dir>", "make a directory of it that can be checked anywhere; it must be new or empty")
    .option("--format <format>", "how to write the records: jsonl, csv")
    .option("--json", "with --out: tell what was exported as JSON")
    .option("--decision-id <id>", "only this decision")
    .option("--workflow-id <id>", "only on behalf of this workflow")
    .option("--stage-id <id>", "only on behalf of this stage")
    .option("--session-id <id>", "only on behalf of this session");
  addTimeRangeFlags(command)
    .option("--label <label>", "only where this branch was taken")
    .option("--target <target>", "only where this was the target")
    .option("--type <type>", "only decisions of this type")
    .option("--kind <kind>", "decision, note (what happened to the log itself) or all (the default)");
  addStoreFlags(command)
    .option("--no-color", "no colours")
    .option("-q, --quiet", "only the answer and errors")
    .option("-v, --verbose", "where settings came from")
    .summary("give the records away, so that others can check them")
    .description(
      "Writes records as JSON lines, byte for byte as they stand in the log, or as CSV. With --out they come " +
        "with all that is needed to check them without the store: the definitions and environments that they " +
        "name, the checkpoints of the log, and a manifest with the SHA-256 of every file, which is signed " +
        "where there is a signing_key. The manifest comes last: an export that was broken off has none.",
    )
    .addHelpText("after", details)
    .action(async (flags: ExportFlags) => done(await exportRecords(flags, io)));
}

const details = `
CSV has one line for each record; several labels, targets, reasons or warnings stand in one cell, with "; "
between them, and input_value is JSON. A text that begins with = + - @, a tab or a carriage return gets an
apostrophe in front of it, because a spreadsheet would run it as a formula.

Examples:
  $ agent-33 decision export --out audit-2026
  $ agent-33 decision verify audit-2026
  $ agent-33 decision export --decision-id decision-quality-gate --since 7d > last-week.jsonl
  $ agent-33 decision export --format csv --kind decision > decisions.csv`;

type RecordFormat = "jsonl" | "csv";

async function exportRecords(flags: ExportFlags, io: Io): Promise<ExitCode> {
  const format = recordFormat(flags);
  const query = queryFor({ ...flags, kind: flags.kind ?? "all" });
  const configuration = storeConfiguration(flags, io);
  const { store } = await composeRecords(configuration, (message) => warn(flags, io, message));
  const source = { format, query, store, sign: configuration.sign, log: `${configuration.directory}/log` };
  try {
    if (flags.out !== undefined) return await exportTo(resolve(io.cwd, flags.out), source, { flags, io });
    for await (const piece of textOf(store.log.select(query), format)) io.out.write(piece);
    return 0;
  } catch (error) {
    throw readable(error);
  }
}

function recordFormat({ format = "jsonl", json, out }: ExportFlags): RecordFormat {
  const wanted = json && out === undefined ? "json" : format;
  if (wanted === "jsonl" || wanted === "csv") return wanted;
  throw new DecisionError("usage", `records are not exported as \`${wanted}\``, {
    hint: "choose jsonl or csv; with --out, --json is how the summary is written",
  });
}

/** Enough for one write to be worth it. */
const pieceLength = 64 * 1024;

async function* textOf(lines: AsyncIterable<LogLine>, format: RecordFormat): AsyncGenerator<string> {
  let text = format === "csv" ? csvHeader : "";
  for await (const { text: line, record } of lines) {
    text += format === "csv" ? csvLine(record) : `${line}\n`;
    if (text.length < pieceLength) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

interface Source {
  readonly format: RecordFormat;
  readonly query: Query;
  readonly store: Store;
  readonly sign: Sign | undefined;
  /** The directory of the log. */
  readonly log: string;
}

async function exportTo(
  where: string,
  source: Source,
  { flags, io }: { readonly flags: ExportFlags; readonly io: Io },
): Promise<ExitCode> {
  refuseOccupied(where);
  // A key that cannot be used is better found out now than after a million records.
  source.sign?.("");
  const progress = new Progress(io, flags.quiet);
  const interrupt = new AbortController();
  const stop = (): void => interrupt.abort();
  process.once("SIGINT", stop);
  try {
    const { manifest, sha256, troubles } = await writeExport(where, source, {
      signal: interrupt.signal,
      progress: (done, total) => progress.show(() => `exporting, ${percent(done, total)}`),
    });
    progress.erase();
    for (const trouble of troubles) warn(flags, io, trouble);
    const isTable = io.out.isTerminal && !flags.json;
    const style = await styleFor(flags, io);
    const document = `${JSON.stringify({ ...manifest, where }, null, 2)}\n`;
    io.out.write(isTable ? summary(manifest, { where, sha256 }, style) : document);
    return 0;
  } catch (error) {
    progress.erase();
    if (!interrupt.signal.aborted) throw error;
    note(io, "interrupted: nothing of the export was kept");
    return 130;
  } finally {
    process.removeListener("SIGINT", stop);
  }
}

function refuseOccupied(where: string): void {
  try {
    if (readdirSync(where).length === 0) return;
  } catch (error) {
    if (isMissing(error)) return;
    if ((error as NodeJS.ErrnoException).code !== "ENOTDIR") throw unwritable(error);
  }
  throw new DecisionError("file_exists", `\`${where}\` is there already and not an empty directory`, {
    hint: "name one that does not exist yet: an export never changes what is there",
  });
}

interface Watched {
  readonly signal: AbortSignal;
  readonly progress: (done: number, total: number) => void;
}

interface Written {
  readonly manifest: Manifest;
  /** Of the manifest. */
  readonly sha256: string;
  readonly troubles: readonly string[];
}

/** The log as it is at this moment; what is added meanwhile is left for the next time. */
async function writeExport(where: string, source: Source, { signal, progress }: Watched): Promise<Written> {
  const { format, query, store, sign } = source;
  const oldest = await oldestIn(store.log);
  const log = await store.log.state();
  const contents = new Contents();
  const folder = new ExportFolder(where, signal);
  try {
    const lines = contents.of(store.log.select(query), { size: log.size, progress });
    const main = await folder.add(`records.${format}`, textOf(lines, format));
    const files: ExportedFile[] = [
      { ...main, records: contents.records },
      await folder.add("definitions.jsonl", contents.named(store)),
    ];
    const pins = openExisting(systemFiles, `${source.log}/checkpoints.jsonl`, "r");
    if (pins !== undefined) files.push(await folder.add("checkpoints.jsonl", checkpointsIn(pins, log.size)));
    const filters = filtersOf(query);
    const { records, first_seq, last_seq } = contents;
    const complete = records === log.size - (oldest ?? 1) + 1;
    const made = { format: 1, tool_version: version, created_at: systemClock() } as const;
    const content: ManifestContent = { ...made, filters, complete, records, first_seq, last_seq, log, files };
    const manifest = { ...content, ...sign?.(manifestText(content)) };
    const { sha256 } = await folder.finish(manifestText(manifest));
    return { manifest, sha256, troubles: contents.troubles(manifest) };
  } catch (error) {
    folder.undo();
    throw error;
  }
}

async function oldestIn(log: Pick<Ledger, "select">): Promise<number | undefined> {
  for await (const { record } of log.select({})) return record.seq;
  return undefined;
}

/** With times as records have them, whatever they were counted back from. */
function filtersOf(query: Query): Manifest["filters"] {
  const filters: Record<string, string> = {};
  for (const name of filterNames) {
    const wanted = query[name];
    if (wanted !== undefined) filters[name] = typeof wanted === "number" ? timestampOf(wanted) : wanted;
  }
  return filters;
}

/** Neither half a line at the end, nor what was pinned after the moment of the export. */
function* checkpointsIn(fd: number, size: number): Generator<string> {
  try {
    for (const line of linesOf(fd)) {
      const text = line.toString("utf8");
      if (!text.endsWith("\n") || Number(/^\{"size":(\d+),/.exec(text)?.[1]) > size) return;
      yield text;
    }
  } finally {
    closeSync(fd);
  }
}

/** What went into an export, and what belongs to it. */
class Contents {
  records = 0;
  first_seq: number | null = null;
  last_seq: number | null = null;
  #lost = 0;
  readonly #definitions = new Set<string>();
  readonly #environments = new Set<string>();

  async *of(
    lines: AsyncIterable<LogLine>,
    { size, progress }: { readonly size: number; readonly progress: Watched["progress"] },
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

/** A directory that is whole once it has a manifest, and else is as it was before. */
class ExportFolder {
  readonly #path: string;
  readonly #signal: AbortSignal;
  readonly #isNew: boolean;
  readonly #added: string[] = [];

  constructor(path: string, signal: AbortSignal) {
    this.#path = path;
    this.#signal = signal;
    this.#isNew = writing(() => makeDirectory(path, 0o700));
  }

  /** Resolves once the file is on the disk. */
  async add(name: string, pieces: AsyncIterable<string> | Iterable<string>): Promise<ExportedFile> {
    const path = join(this.#path, name);
    const fd = writing(() => openSync(path, "wx", 0o600));
    this.#added.push(path);
    const hash = sha256Stream();
    let length = 0;
    try {
      for await (const piece of pieces) {
        const bytes = Buffer.from(piece);
        hash.update(bytes);
        length += bytes.length;
        writing(() => writeAll(systemFiles, fd, bytes));
        await this.#breathe();
      }
      writing(() => fsyncSync(fd));
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
    writing(() => {
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

function writing<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    throw unwritable(error);
  }
}

function unwritable(error: unknown): DecisionError {
  const message = `the export could not be written: ${(error as Error).message}`;
  const hint =
    "see that the directory can be written and that there is space; nothing of the export was kept";
  return new DecisionError("file_unwritable", message, { hint, cause: error });
}

/** Other errors of the system come from the log. */
function readable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof DecisionError || typeof code !== "string") return error;
  return new DecisionError("file_unreadable", `the log could not be read: ${message}`, {
    hint: "if it was pruned meanwhile, export again",
    cause: error,
  });
}

function summary(
  { records, complete, log, files, key }: Manifest,
  { where, sha256 }: { readonly where: string; readonly sha256: string },
  { paint }: Style,
): string {
  const field = (name: string, value: string): string => `  ${paint("dim", name.padEnd(8))} ${value}\n`;
  const bytes = files.reduce((sum, file) => sum + file.bytes, 0);
  const share = complete ? "all that the log holds" : `of ${count(log.size)} in all`;
  return (
    `${paint("bold", `${count(records)} record${records === 1 ? "" : "s"} exported`)}, ${share}\n\n` +
    field("where", printable(where)) +
    field("size", byteCount(bytes)) +
    field("manifest", sha256) +
    field("signed", key === undefined ? "no" : `with the key ${key}`)
  );
}
