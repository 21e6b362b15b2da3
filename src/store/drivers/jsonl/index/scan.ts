import type { DecisionRecord, LogRecord } from "../../../../model/record.js";
import { microsecondsOf, startOf } from "../../../../record/moment.js";
import type { Rows } from "./rows.js";
import type { Shape, Shapes } from "./shapes.js";

/*
 * A decision's line begins with fields of fixed length (see record-body.ts):
 * {"seq":1,"kind":"decision","record_id":"…","timestamp":"…","deterministic_hash":"…","definition_hash":"…",
 * "decision_id":"…","selected_labels":[…],"cached":false,…
 * so what the index needs is found by counting bytes. A million lines are read in about the time that
 * parsing twenty thousand takes.
 */
const kindAt = `"kind":"`.length;
const timeAt = `"kind":"decision","record_id":"`.length + 36 + `","timestamp":"`.length;
const digestAt = timeAt + 27 + `","deterministic_hash":"`.length;
const definitionAt = digestAt + 64 + `","definition_hash":"`.length;
const nameAt = definitionAt + 64 + `","decision_id":"`.length;
const seqAt = `{"seq":`.length;

const quote = 34;
const comma = 44;
const backslash = 92;
const closing = 93;
const letterD = 100;
const letterT = 116;

/** How a call went begins like a decision, but for its longer name: {"seq":2,"kind":"tool_result","record_id":… */
const toolTimeAt = timeAt + "tool_result".length - "decision".length;
const toolBeginning = Buffer.from(`"kind":"tool_result","record_id":"`);
const toolResult: Shape = { kind: "tool_result" };
const timeLength = 27;

/** What rows are added to; `base` rows came before these. */
export interface Into {
  readonly rows: Rows;
  readonly shapes: Shapes;
  readonly base: number;
}

/** Adds a row for the line at these bytes; gives its sequence number, or 0 where it has none. */
export function addRow(line: Buffer, from: number, end: number, into: Into, offset: number): number {
  const { rows, shapes, base } = into;
  let at = from + seqAt;
  let seq = 0;
  for (; line[at] !== comma && at < end; at++) seq = seq * 10 + (line[at] ?? 0) - 48;
  at++;
  const row = rows.add();
  if (isToolResult(line, at, end)) {
    rows.setPlace(row, timeOf(line, at + toolTimeAt), offset, end - from);
    const shape = shapes.learn(toolResult);
    rows.setShape(row, shape, shapes.count(shape, base + row));
    return seq;
  }
  if (!isDecision(line, at) || at + nameAt > end) {
    addOther(line.subarray(from, end), row, into, offset);
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
  }
  rows.setPlace(row, timeOf(line, at + timeAt), offset, end - from);
  rows.setDigest(row, hexNumber(line, at + digestAt), hexNumber(line, at + digestAt + 8));

  const start = at + definitionAt;
  let fingerprint = hexNumber(line, start);
  let inText = true;
  let place = at + nameAt;
  for (; place < end; place++) {
    const byte = line[place] ?? 0;
    fingerprint = Math.imul(fingerprint ^ byte, 0x01000193);
    if (byte === backslash) place++;
    else if (byte === quote) inText = !inText;
    else if (byte === closing && !inText) break;
  }
  // `],"cached":true,"cache_key":"…` or `],"cached":false,"selected_targets":[…`: up to what tells them apart.
  const told = Math.min(end, place + `],"cached":false,"cache_`.length);
  fingerprint ^= (line[told - 1] ?? 0) + (fingerprint >>> 15);
  let shape = shapes.at(fingerprint, line, start, told);
  if (shape === -1) {
    const found = shapeOf(line.toString("utf8", from, end));
    shape = shapes.learn(found);
    // The next one that begins like this may well be sound.
    if (found.kind !== "unreadable") {
      shapes.remember(shape, fingerprint, Buffer.from(line.subarray(start, told)));
    }
  }
  rows.setShape(row, shape, shapes.count(shape, base + row));
  return seq;
}

const isDecision = (line: Uint8Array, at: number): boolean =>
  line[at + kindAt] === letterD &&
  line[at + timeAt - 1] === quote &&
  line[at + digestAt - 1] === quote &&
  line[at + definitionAt - 1] === quote &&
  line[at + nameAt - 1] === quote;

function isToolResult(line: Buffer, at: number, end: number): boolean {
  if (line[at + kindAt] !== letterT || at + toolTimeAt + timeLength >= end) return false;
  return line.compare(toolBeginning, 0, toolBeginning.length, at, at + toolBeginning.length) === 0;
}

function addOther(line: Buffer, row: number, { rows, shapes, base }: Into, offset: number): void {
  const text = line.toString("utf8");
  rows.setPlace(row, microsecondsOf(parse(text)?.timestamp ?? "") || 0, offset, line.length);
  const shape = shapes.learn(shapeOf(text));
  rows.setShape(row, shape, shapes.count(shape, base + row));
}

function shapeOf(text: string): Shape {
  const record = parse(text);
  if (record === undefined) return { kind: "unreadable" };
  return record.kind === "decision" ? decisionShape(record) : { kind: record.kind };
}

function decisionShape({
  decision_id,
  definition_hash,
  selected_labels,
  type,
  cached,
  cache_key,
}: DecisionRecord): Shape {
  const shape = { kind: "decision", decision_id, definition_hash, labels: selected_labels, type } as const;
  return cache_key === undefined ? shape : { ...shape, cache: cached ? "hit" : "miss" };
}

function parse(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}

const hexValues = Uint8Array.from(
  { length: 256 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);

function hexNumber(line: Uint8Array, at: number): number {
  let number = 0;
  for (let place = at; place < at + 8; place++) number = (number << 4) | (hexValues[line[place] ?? 0] ?? 0);
  return number;
}

let knownMinute = Number.NaN;
let knownStart = 0;

/** The same as `microsecondsOf`, without making a text first. */
function timeOf(line: Buffer, at: number): number {
  const year = twoDigits(line, at) * 1e10 + twoDigits(line, at + 2) * 1e8;
  const day = twoDigits(line, at + 5) * 1e6 + twoDigits(line, at + 8) * 1e4;
  const minute = year + day + twoDigits(line, at + 11) * 100 + twoDigits(line, at + 14);
  if (minute !== knownMinute) {
    knownMinute = minute;
    knownStart = startOf(minute);
  }
  const millions = twoDigits(line, at + 17);
  return (
    knownStart +
    millions * 1e6 +
    twoDigits(line, at + 20) * 1e4 +
    twoDigits(line, at + 22) * 1e2 +
    twoDigits(line, at + 24)
  );
}

function twoDigits(line: Uint8Array, at: number): number {
  return ((line[at] ?? 0) - 48) * 10 + (line[at + 1] ?? 0) - 48;
}
