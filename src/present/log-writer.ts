import type { LogRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import type { Colour, Format, Style } from "./format.js";
import { loadYaml } from "./format.js";
import { answerOf, originIds, readableTime, reasonOf, subjectOf, targetOf } from "./record-text.js";
import { answerColour, fetchCell } from "./result-rows.js";
import { displayWidth, truncate } from "./text-width.js";
import { oneLine } from "../text.js";

/** Formats records as they arrive, without keeping them in memory. */
export interface LogWriter {
  add(line: LogLine): string;
  /** Returns the text held back so far. Later records are not held back. */
  flush(): string;
  end(): string;
}

export async function createLogWriter(format: Format, style: Style): Promise<LogWriter> {
  switch (format) {
    case "jsonl":
      return { add: ({ text }) => `${text}\n`, flush: noText, end: noText };
    case "json":
      return jsonWriter();
    case "yaml":
      return yamlWriter(await loadYaml());
    case "plain":
      return { add: ({ record }) => `${plainLine(record)}\n`, flush: noText, end: noText };
    case "table":
      return tableWriter(style);
  }
}

const noText = (): string => "";

/** Produces the same text as one list written at once. */
function jsonWriter(): LogWriter {
  let any = false;
  return {
    add({ record }) {
      const before = any ? "," : "[";
      any = true;
      return `${before}\n  ${JSON.stringify(record, null, 2).replaceAll("\n", "\n  ")}`;
    },
    flush: noText,
    end: () => (any ? "\n]\n" : "[]\n"),
  };
}

function yamlWriter(toYaml: (value: unknown) => string): LogWriter {
  let any = false;
  return {
    add({ record }) {
      any = true;
      return toYaml([record]);
    },
    flush: noText,
    end: () => (any ? "" : "[]\n"),
  };
}

/** Sequence number, time, decision, labels, targets, workflow, stage, record, session, correlation, cached, reasons, fetched. */
function plainLine(record: LogRecord): string {
  const { seq, timestamp, record_id } = record;
  const cells =
    record.kind === "note"
      ? [record.note, "", "", "", record_id, "", "", "", reasonOf(record), ""]
      : [
          record.kind === "decision" ? record.selected_labels.join(", ") : answerOf(record),
          record.kind === "decision" ? record.selected_targets.join(" ") : "",
          record.workflow_id ?? "",
          record.stage_id ?? "",
          record_id,
          record.session_id ?? "",
          record.correlation_id ?? "",
          record.kind === "decision" && record.cached ? "cached" : "",
          reasonOf(record),
          record.kind === "decision" ? fetchCell(record.facts["fetched"]) : "",
        ];
  const decision = record.kind === "note" ? "" : subjectOf(record);
  return [String(seq), timestamp, decision, ...cells].map(oneLine).join("\t");
}

/** The number of records that determine the column widths. */
const sampleSize = 500;

function tableWriter(style: Style): LogWriter {
  let held: LogRecord[] = [];
  let table: LogTable | undefined;
  const release = (more: boolean): string => {
    if (table !== undefined) return "";
    const { heading, line } = (table = logTable(held, style, { more }));
    const text = [heading, ...held.map(line)].map((line) => `${line}\n`).join("");
    held = [];
    return text;
  };
  return {
    add({ record }) {
      if (table !== undefined) return `${table.line(record)}\n`;
      held.push(record);
      return held.length >= sampleSize ? release(true) : "";
    },
    flush: () => release(true),
    end: () => (held.length === 0 ? "" : release(false)),
  };
}

/** Formats one line per record. The first records determine the column widths, so later ones stream. */
interface LogTable {
  readonly heading: string;
  readonly line: (record: LogRecord) => string;
}

interface Column {
  readonly title: string;
  readonly cell: (record: LogRecord) => string;
  readonly colour?: (record: LogRecord) => Colour | undefined;
  readonly alignsRight?: true;
  /** The width where more records follow than are known. */
  readonly defaultWidth: number;
  /** The width to which cells may be truncated. Absent: they never are. */
  readonly minWidth?: number;
  /** Drops the column where it is empty, even if more records follow. */
  readonly hideWhenEmpty?: true;
}

const seq: Column = {
  title: "seq",
  cell: (record) => String(record.seq),
  alignsRight: true,
  defaultWidth: 5,
};

const time: Column = {
  title: "time (UTC)",
  cell: ({ timestamp }) => oneLine(readableTime(timestamp)).slice(0, 19),
  colour: () => "dim",
  defaultWidth: 19,
};

const shortTime: Column = { ...time, cell: (record) => time.cell(record).slice(5), defaultWidth: 14 };

const decision: Column = {
  title: "decision",
  cell: (record) => oneLine(subjectOf(record)),
  defaultWidth: 24,
};

const answer: Column = {
  title: "answer",
  cell: (record) => oneLine(answerOf(record)),
  colour: recordColour,
  defaultWidth: 28,
};

const target: Column = { ...answer, cell: (record) => oneLine(targetOf(record)), defaultWidth: 20 };

const because: Column = {
  title: "because",
  cell: (record) => oneLine(reasonOf(record)),
  defaultWidth: 24,
  minWidth: 16,
};

const cached: Column = {
  title: "cached",
  cell: (record) => (record.kind === "decision" && record.cached ? "cached" : ""),
  colour: () => "dim",
  defaultWidth: 6,
};

const fetched: Column = {
  title: "fetched",
  cell: (record) => (record.kind === "decision" ? oneLine(fetchCell(record.facts["fetched"])) : ""),
  defaultWidth: 16,
  minWidth: 10,
  hideWhenEmpty: true,
};

const origin: Column = {
  title: "origin",
  cell: (record) => (record.kind === "note" ? "" : oneLine(originIds(record).join(" / "))),
  defaultWidth: 16,
  minWidth: 10,
};

/** From wide terminals to narrow ones. */
const layouts: readonly (readonly Column[])[] = [
  [seq, time, decision, answer, because, cached, fetched, origin],
  [seq, time, decision, answer, because, cached, fetched],
  [seq, time, decision, answer, because, fetched],
  [seq, time, decision, answer, because],
  [seq, time, decision, answer],
  [seq, time, decision, target],
  [seq, shortTime, decision, target],
];

function recordColour(record: LogRecord): Colour | undefined {
  if (record.kind === "note") return "cyan";
  if (record.kind === "tool_result") return record.ok ? undefined : "red";
  if (record.kind === "assessment") return record.severity === "caution" ? "yellow" : "green";
  if (record.escalated) return "yellow";
  const colour = answerColour(record);
  return colour === "green" ? undefined : colour;
}

interface SizedColumn {
  readonly column: Column;
  /** The width that fits all cells. */
  readonly fullWidth: number;
  readonly width: number;
}

/** With `more` records to come, columns keep at least their default width, and empty ones stay. */
export function logTable(
  records: readonly LogRecord[],
  { columns: available, paint }: Style,
  { more }: { readonly more: boolean },
): LogTable {
  const sizes = new Map(layouts.flat().map((column) => [column, sizeOf(column, records, more)]));
  const fitting = layouts.map((columns) => columns.flatMap((each) => sizes.get(each) ?? []));
  const chosen = fitting.find((sized) => totalWidth(sized) <= available) ?? fitting.at(-1) ?? [];
  const columns = distributeFreeSpace(chosen, available);
  const write = (cells: readonly (readonly [text: string, colour: Colour | undefined])[]): string =>
    columns
      .map(({ column, width }, index) => {
        const [text, colour] = cells[index] ?? ["", undefined];
        const visible =
          column.minWidth === undefined || available === Infinity ? text : truncate(text, width);
        const padding = " ".repeat(Math.max(0, width - displayWidth(visible)));
        const painted = colour === undefined || visible === "" ? visible : paint(colour, visible);
        return column.alignsRight ? padding + painted : painted + padding;
      })
      .join("  ")
      .trimEnd();
  return {
    heading: write(columns.map(({ column }) => [column.title.toUpperCase(), "bold"])),
    line: (record) => write(columns.map(({ column }) => [column.cell(record), column.colour?.(record)])),
  };
}

/** Returns undefined for a column that is not shown. */
function sizeOf(column: Column, records: readonly LogRecord[], more: boolean): SizedColumn | undefined {
  const { title, cell, defaultWidth, minWidth = Infinity, hideWhenEmpty } = column;
  const widest = records.reduce((most, record) => Math.max(most, displayWidth(cell(record))), 0);
  if (widest === 0 && (!more || hideWhenEmpty)) return undefined;
  const fullWidth = Math.max(widest, title.length, more ? defaultWidth : 0);
  return { column, fullWidth, width: Math.min(fullWidth, minWidth) };
}

/** Gives free space to truncated columns. */
function distributeFreeSpace(sized: readonly SizedColumn[], available: number): readonly SizedColumn[] {
  let free = Math.max(0, available - totalWidth(sized));
  return sized.map(({ column, fullWidth, width }) => {
    const added = Math.min(free, fullWidth - width);
    free -= added;
    return { column, fullWidth, width: width + added };
  });
}

const totalWidth = (sized: readonly SizedColumn[]): number =>
  sized.reduce((sum, { width }) => sum + width + 2, -2);
