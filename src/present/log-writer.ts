import { oneLine } from "./text.js";
import type { Format, Style, Colour } from "./format.js";
import { fetchCell, answerColour } from "./result-rows.js";
import { answerOf, reasonOf, subjectOf, originIds, readableTime, targetOf } from "./record-text.js";
import { truncate, displayWidth } from "./text-width.js";
import type { LogRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";

/** Makes text of records as they come, so that none of them has to be held. */
export interface LogWriter {
  add(line: LogLine): string;
  /** What is held back is given out; from now on nothing is. */
  flush(): string;
  end(): string;
}

export async function createLogWriter(format: Format, style: Style): Promise<LogWriter> {
  switch (format) {
    case "jsonl":
      return { add: ({ text }) => `${text}\n`, flush: noText, end: noText };
    case "json":
      return jsonWriter();
    case "yaml": {
      const { toYaml } = await import("./yaml.js");
      return yamlWriter(toYaml);
    }
    case "plain":
      return { add: ({ record }) => `${plainLine(record)}\n`, flush: noText, end: noText };
    case "table":
      return tableWriter(style);
  }
}

const noText = (): string => "";

/** The same text as for a list that is written at once. */
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

/** So many records set the widths of the columns. */
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

/** One line a record, in columns whose widths the first records set: those after them need not be waited for. */
interface LogTable {
  readonly heading: string;
  readonly line: (record: LogRecord) => string;
}

interface Column {
  readonly title: string;
  readonly cell: (record: LogRecord) => string;
  readonly colour?: (record: LogRecord) => Colour | undefined;
  readonly alignsRight?: true;
  /** How wide it is before anything is known. */
  readonly defaultWidth: number;
  /** How far its cells may be cut; those of the other columns never are. */
  readonly minWidth?: number;
  /** Left out where it would be empty, whatever may come. */
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

/** Few decisions fetch anything, so it is only there where one does. */
const fetched: Column = {
  title: "fetched",
  cell: (record) => (record.kind === "decision" ? oneLine(fetchCell(record.facts["fetched"])) : ""),
  defaultWidth: 16,
  minWidth: 10,
  hideWhenEmpty: true,
};

const origin: Column = {
  title: "from",
  cell: (record) => (record.kind === "note" ? "" : oneLine(originIds(record).join(" / "))),
  defaultWidth: 16,
  minWidth: 10,
};

/** From a wide terminal to a narrow one. */
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
  if (record.escalated) return "yellow";
  const colour = answerColour(record);
  return colour === "green" ? undefined : colour;
}

interface SizedColumn {
  readonly column: Column;
  /** As much as all cells need. */
  readonly wanted: number;
  readonly width: number;
}

/** `more`: others will come, so no column is left out for being empty, and each has its usual width at least. */
export function logTable(
  records: readonly LogRecord[],
  { columns: most, paint }: Style,
  { more }: { readonly more: boolean },
): LogTable {
  const sizes = new Map(layouts.flat().map((column) => [column, sizeOf(column, records, more)]));
  const fitting = layouts.map((columns) => columns.flatMap((each) => sizes.get(each) ?? []));
  const chosen = fitting.find((sized) => totalWidth(sized) <= most) ?? fitting.at(-1) ?? [];
  const columns = distributeFreeSpace(chosen, most);
  const write = (cells: readonly (readonly [text: string, colour: Colour | undefined])[]): string =>
    columns
      .map(({ column, width }, index) => {
        const [text, colour] = cells[index] ?? ["", undefined];
        const shown = column.minWidth === undefined || most === Infinity ? text : truncate(text, width);
        const blank = " ".repeat(Math.max(0, width - displayWidth(shown)));
        const painted = colour === undefined || shown === "" ? shown : paint(colour, shown);
        return column.alignsRight ? blank + painted : painted + blank;
      })
      .join("  ")
      .trimEnd();
  return {
    heading: write(columns.map(({ column }) => [column.title.toUpperCase(), "bold"])),
    line: (record) => write(columns.map(({ column }) => [column.cell(record), column.colour?.(record)])),
  };
}

/** Undefined where there would be nothing to see. */
function sizeOf(column: Column, records: readonly LogRecord[], more: boolean): SizedColumn | undefined {
  const { title, cell, defaultWidth: usual, minWidth: least, hideWhenEmpty: isRare } = column;
  const widest = records.reduce((most, record) => Math.max(most, displayWidth(cell(record))), 0);
  if (widest === 0 && (!more || isRare)) return undefined;
  const wanted = Math.max(widest, title.length, more ? usual : 0);
  return { column, wanted, width: Math.min(wanted, least ?? Infinity) };
}

/** What is free goes to the columns that were cut. */
function distributeFreeSpace(sized: readonly SizedColumn[], most: number): readonly SizedColumn[] {
  let free = Math.max(0, most - totalWidth(sized));
  return sized.map(({ column, wanted, width }) => {
    const given = Math.min(free, wanted - width);
    free -= given;
    return { column, wanted, width: width + given };
  });
}

const totalWidth = (sized: readonly SizedColumn[]): number =>
  sized.reduce((sum, { width }) => sum + width + 2, -2);
