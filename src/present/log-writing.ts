import type { LogRecord } from "../model/record.js";
import type { LogLine } from "../model/store.js";
import { fetchedCell } from "./fetched-rows.js";
import type { Format, Style } from "./format.js";
import type { LogTable } from "./log-table.js";
import { logTable } from "./log-table.js";
import { oneLine } from "./one-line.js";
import { answerOf, reasonOf, subjectOf } from "./record-text.js";

/** Makes text of records as they come, so that none of them has to be held. */
export interface LogWriting {
  add(line: LogLine): string;
  /** What is held back is given out; from now on nothing is. */
  settle(): string;
  end(): string;
}

export async function logWriting(format: Format, style: Style): Promise<LogWriting> {
  switch (format) {
    case "jsonl":
      return { add: ({ text }) => `${text}\n`, settle: nothing, end: nothing };
    case "json":
      return jsonWriting();
    case "yaml": {
      const { toYaml } = await import("./yaml.js");
      return yamlWriting(toYaml);
    }
    case "plain":
      return { add: ({ record }) => `${plainLine(record)}\n`, settle: nothing, end: nothing };
    case "table":
      return tableWriting(style);
  }
}

const nothing = (): string => "";

/** The same text as for a list that is written at once. */
function jsonWriting(): LogWriting {
  let any = false;
  return {
    add({ record }) {
      const before = any ? "," : "[";
      any = true;
      return `${before}\n  ${JSON.stringify(record, null, 2).replaceAll("\n", "\n  ")}`;
    },
    settle: nothing,
    end: () => (any ? "\n]\n" : "[]\n"),
  };
}

function yamlWriting(toYaml: (value: unknown) => string): LogWriting {
  let any = false;
  return {
    add({ record }) {
      any = true;
      return toYaml([record]);
    },
    settle: nothing,
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
          record.kind === "decision" ? fetchedCell(record.facts["fetched"]) : "",
        ];
  const decision = record.kind === "note" ? "" : subjectOf(record);
  return [String(seq), timestamp, decision, ...cells].map(oneLine).join("\t");
}

/** So many records set the widths of the columns. */
const page = 500;

function tableWriting(style: Style): LogWriting {
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
      return held.length >= page ? release(true) : "";
    },
    settle: () => release(true),
    end: () => (held.length === 0 ? "" : release(false)),
  };
}
