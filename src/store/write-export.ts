import { closeSync } from "node:fs";
import { systemClock } from "../clock.js";
import { DecisionError } from "../errors.js";
import type { Ledger, LogLine, Query, Store } from "../model/store.js";
import type { Sign } from "../record/checkpoint.js";
import { csvHeader, csvLine } from "../record/csv.js";
import { timestampOf } from "../record/moment.js";
import { version } from "../version.js";
import { openExisting, systemFiles } from "./drivers/jsonl/files.js";
import { linesOf } from "./export-files.js";
import { ExportFolder } from "./export-folder.js";
import type { ExportedFile, Manifest, ManifestContent } from "./export-manifest.js";
import { filterNames, manifestText } from "./export-manifest.js";

export type RecordFormat = "jsonl" | "csv";

export interface Source {
  readonly format: RecordFormat;
  readonly query: Query;
  readonly store: Store;
  readonly sign: Sign | undefined;
  /** The directory of the log. */
  readonly log: string;
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
export async function writeExport(
  where: string,
  source: Source,
  { signal, progress }: Watched,
): Promise<Written> {
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

/** Enough for one write to be worth it. */
const pieceLength = 64 * 1024;

export async function* textOf(lines: AsyncIterable<LogLine>, format: RecordFormat): AsyncGenerator<string> {
  let text = format === "csv" ? csvHeader : "";
  for await (const { text: line, record } of lines) {
    text += format === "csv" ? csvLine(record) : `${line}\n`;
    if (text.length < pieceLength) continue;
    yield text;
    text = "";
  }
  if (text !== "") yield text;
}

/** Other errors of the system come from the log. */
export function readable(error: unknown): unknown {
  const { code, message } = error as NodeJS.ErrnoException;
  if (error instanceof DecisionError || typeof code !== "string") return error;
  return new DecisionError("file_unreadable", `the log could not be read: ${message}`, {
    hint: "if it was pruned meanwhile, export again",
    cause: error,
  });
}
