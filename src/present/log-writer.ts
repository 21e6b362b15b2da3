import type { LogRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import type { Colour, Format, Style } from "./format.js";
import { hangingText, loadYaml } from "./format.js";
import { answerOf, originIds, readableTime, reasonOf, subjectOf, targetOf } from "./record-text.js";
import { answerColour, fetchCell } from "./result-rows.js";
import { displayWidth, truncate } from "./text-width.js";
import { oneLine } from "../text.js";

/** Formats records as they arrive, without keeping them in memory. */
export interface LogWriter {
  /** The titles of columns that have no room on this terminal; known once rows were written. */
  readonly hidden: readonly string[];
  add(line: LogLine): string;
  /** Returns the text held back so far. Later records are not held back. */
  flush(): string;
  end(): string;
}

export async function createLogWriter(format: Format, style: Style): Promise<LogWriter> {
  switch (format) {
    case "jsonl":
      return { ...lineWriter, add: ({ text }) => `${text}\n` };
    case "json":
      return jsonWriter();
    case "yaml":
      return yamlWriter(await loadYaml());
    case "plain":
      return { ...lineWriter, add: ({ record }) => `${plainLine(record)}\n` };
    case "table":
      return tableWriter(style);
  }
}

const noText = (): string => "";

const lineWriter = { hidden: [], flush: noText, end: noText };

/** Produces the same text as one list written at once. */
function jsonWriter(): LogWriter {
  let any = false;
  return {
    ...lineWriter,
    add({ record }) {
      const before = any ? "," : "[";
      any = true;
      return `${before}\n  ${JSON.stringify(record, null, 2).replaceAll("\n", "\n  ")}`;
    },
    end: () => (any ? "\n]\n" : "[]\n"),
  };
}

function yamlWriter(toYaml: (value: unknown) => string): LogWriter {
  let any = false;
  return {
    ...lineWriter,
    add({ record }) {
      any = true;
      return toYaml([record]);
    },
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
    get hidden() {
      return table?.hidden ?? [];
    },
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
  /** The titles of the columns that have something to show, but no room. */
  readonly hidden: readonly string[];
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

/** Returns the titles that are missing among the shown columns; some columns have a narrow form of the same title. */
function titlesWithout(
  shown: readonly SizedColumn[],
  all: readonly (SizedColumn | undefined)[],
): readonly string[] {
  const titles = new Set(all.flatMap((each) => each?.column.title ?? []));
  for (const { column } of shown) titles.delete(column.title);
  return [...titles];
}

/** With `more` records to come, columns keep at least their default width, and empty ones stay. */
export function logTable(
  records: readonly LogRecord[],
  { columns: available, paint }: Style,
  { more }: { readonly more: boolean },
): LogTable {
  const sizes = new Map(layouts.flat().map((column) => [column, sizeOf(column, records, more)]));
  const fitting = layouts.map((columns) => columns.flatMap((each) => sizes.get(each) ?? []));
  const chosen =
    fitting.find((sized) => totalWidth(sized) <= available) ?? narrowed(fitting.at(-1) ?? [], available);
  const columns = distributeFreeSpace(chosen, available);
  const start = columns.findIndex(({ column }) => column === decision);
  const write = (cells: readonly (readonly [text: string, colour: Colour | undefined])[]): string => {
    const written = columns.map(({ column, width }, index) => {
      const [text, colour] = cells[index] ?? ["", undefined];
      const visible = column.minWidth === undefined || available === Infinity ? text : truncate(text, width);
      const padding = " ".repeat(Math.max(0, width - displayWidth(visible)));
      const painted = colour === undefined || visible === "" ? visible : paint(colour, visible);
      return { painted, padded: column.alignsRight ? padding + painted : painted + padding };
    });
    const aligned = written.map(({ padded }) => padded);
    const line = aligned.join("  ").trimEnd();
    if (displayWidth(line) <= available) return line;
    // Nothing is cut off: what does not fit continues on the next line.
    const [first, rest] = [aligned.slice(0, start).join("  "), written.slice(start)];
    const place = { start: displayWidth(first) + 2, indent: displayWidth(first) + 4 };
    const text = rest.flatMap(({ painted }) => (painted === "" ? [] : [painted])).join("  ");
    return `${first}  ${hangingText(text, { columns: available }, place)}`.replaceAll(/ +$/gm, "");
  };
  return {
    heading: write(columns.map(({ column }) => [column.title.toUpperCase(), "bold"])),
    line: (record) => write(columns.map(({ column }) => [column.cell(record), column.colour?.(record)])),
    hidden: titlesWithout(columns, [...sizes.values()]),
  };
}

/** Leaves as much room to the ids of decisions as the other columns do not need. */
function narrowed(sized: readonly SizedColumn[], available: number): readonly SizedColumn[] {
  const over = totalWidth(sized) - available;
  return sized.map((each) => {
    if (each.column !== decision) return each;
    const width = Math.min(each.width, Math.max(minDecisionWidth, each.width - over));
    return { ...each, fullWidth: width, width };
  });
}

/** The width of the ids of decisions where longer ones continue on a line of their own. */
const minDecisionWidth = 16;

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
