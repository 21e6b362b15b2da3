import type { LogRecord } from "../model/record.js";
import type { Colour, Style } from "./format.js";
import { fetchedCell } from "./fetched-rows.js";
import { answerColour } from "./outcome-rows.js";
import { oneLine } from "./one-line.js";
import { answerOf, originOf, readableTime, reasonOf, subjectOf, targetOf } from "./record-text.js";
import { cut, widthOf } from "./text-width.js";

/** One line a record, in columns whose widths the first records set: those after them need not be waited for. */
export interface LogTable {
  readonly heading: string;
  readonly line: (record: LogRecord) => string;
}

interface Column {
  readonly title: string;
  readonly cell: (record: LogRecord) => string;
  readonly colour?: (record: LogRecord) => Colour | undefined;
  readonly alignsRight?: true;
  /** How wide it is before anything is known. */
  readonly usual: number;
  /** How far its cells may be cut; those of the other columns never are. */
  readonly least?: number;
  /** Left out where it would be empty, whatever may come. */
  readonly isRare?: true;
}

const seq: Column = { title: "seq", cell: (record) => String(record.seq), alignsRight: true, usual: 5 };

const time: Column = {
  title: "time (UTC)",
  cell: ({ timestamp }) => oneLine(readableTime(timestamp)).slice(0, 19),
  colour: () => "dim",
  usual: 19,
};

const shortTime: Column = { ...time, cell: (record) => time.cell(record).slice(5), usual: 14 };

const decision: Column = {
  title: "decision",
  cell: (record) => oneLine(subjectOf(record)),
  usual: 24,
};

const answer: Column = {
  title: "answer",
  cell: (record) => oneLine(answerOf(record)),
  colour: colourOf,
  usual: 28,
};

const target: Column = { ...answer, cell: (record) => oneLine(targetOf(record)), usual: 20 };

const because: Column = {
  title: "because",
  cell: (record) => oneLine(reasonOf(record)),
  usual: 24,
  least: 16,
};

const cached: Column = {
  title: "cached",
  cell: (record) => (record.kind === "decision" && record.cached ? "cached" : ""),
  colour: () => "dim",
  usual: 6,
};

/** Few decisions fetch anything, so it is only there where one does. */
const fetched: Column = {
  title: "fetched",
  cell: (record) => (record.kind === "decision" ? oneLine(fetchedCell(record.facts["fetched"])) : ""),
  usual: 16,
  least: 10,
  isRare: true,
};

const origin: Column = {
  title: "from",
  cell: (record) => (record.kind === "note" ? "" : oneLine(originOf(record).join(" / "))),
  usual: 16,
  least: 10,
};

/** From a wide terminal to a narrow one. */
const choices: readonly (readonly Column[])[] = [
  [seq, time, decision, answer, because, cached, fetched, origin],
  [seq, time, decision, answer, because, cached, fetched],
  [seq, time, decision, answer, because, fetched],
  [seq, time, decision, answer, because],
  [seq, time, decision, answer],
  [seq, time, decision, target],
  [seq, shortTime, decision, target],
];

function colourOf(record: LogRecord): Colour | undefined {
  if (record.kind === "note") return "cyan";
  if (record.kind === "tool_result") return record.ok ? undefined : "red";
  if (record.escalated) return "yellow";
  const colour = answerColour(record);
  return colour === "green" ? undefined : colour;
}

interface Sized {
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
  const sizes = new Map(choices.flat().map((column) => [column, sizeOf(column, records, more)]));
  const fitting = choices.map((columns) => columns.flatMap((each) => sizes.get(each) ?? []));
  const chosen = fitting.find((sized) => totalOf(sized) <= most) ?? fitting.at(-1) ?? [];
  const columns = widened(chosen, most);
  const write = (cells: readonly (readonly [text: string, colour: Colour | undefined])[]): string =>
    columns
      .map(({ column, width }, index) => {
        const [text, colour] = cells[index] ?? ["", undefined];
        const shown = column.least === undefined || most === Infinity ? text : cut(text, width);
        const blank = " ".repeat(Math.max(0, width - widthOf(shown)));
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
function sizeOf(column: Column, records: readonly LogRecord[], more: boolean): Sized | undefined {
  const { title, cell, usual, least, isRare } = column;
  const widest = records.reduce((most, record) => Math.max(most, widthOf(cell(record))), 0);
  if (widest === 0 && (!more || isRare)) return undefined;
  const wanted = Math.max(widest, title.length, more ? usual : 0);
  return { column, wanted, width: Math.min(wanted, least ?? Infinity) };
}

/** What is free goes to the columns that were cut. */
function widened(sized: readonly Sized[], most: number): readonly Sized[] {
  let free = Math.max(0, most - totalOf(sized));
  return sized.map(({ column, wanted, width }) => {
    const given = Math.min(free, wanted - width);
    free -= given;
    return { column, wanted, width: width + given };
  });
}

const totalOf = (sized: readonly Sized[]): number => sized.reduce((sum, { width }) => sum + width + 2, -2);
