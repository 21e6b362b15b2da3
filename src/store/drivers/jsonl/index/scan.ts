import type { LogRecord } from "../../../../model/record.js";
import { microsecondsOf, startOf } from "../../../../record/moment.js";
import type { Beginnings, KnownBeginning } from "./beginnings.js";
import { standsAt } from "./beginnings.js";
import type { DecisionLine } from "./decision-keys.js";
import { decisionKeys } from "./decision-keys.js";
import type { KeyHash } from "./key-hash.js";
import { hasEntity } from "./key-hash.js";
import { LineCursor } from "./line-cursor.js";
import { takeResult } from "./line-keys.js";
import type { Postings } from "./postings.js";
import { keysOf, sourcesIn } from "./record-hashes.js";
import type { Rows } from "./rows.js";
import { parseLine, shapeOf } from "./shape-of.js";
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
  readonly postings: Pick<Postings, "add">;
  readonly beginnings: Beginnings;
  readonly base: number;
}

/** Adds a row for the line at these bytes; gives its sequence number, or 0 where it has none. */
export function addRow(line: Buffer, from: number, end: number, into: Into, offset: number): number {
  const { rows, shapes } = into;
  let at = from + seqAt;
  let seq = 0;
  for (; line[at] !== comma && at < end; at++) seq = seq * 10 + (line[at] ?? 0) - 48;
  at++;
  const row = rows.add();
  if (isToolResult(line, at, end)) {
    const time = at + toolTimeAt;
    rows.setPlace(row, timeOf(line, time), offset, end - from);
    setShape(row, shapes.learn(toolResult), into);
    const keys: KeyHash[] = [];
    const isTaken = takeResult(new LineCursor(line, time + timeLength, end), keys);
    addKeys(row, isTaken ? keys : keysIn(parseLine(line.toString("utf8", from, end))), into);
    return seq;
  }
  if (!isDecision(line, at) || at + nameAt > end) {
    addOther(line.subarray(from, end), row, into, offset);
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
  }
  rows.setPlace(row, timeOf(line, at + timeAt), offset, end - from);
  rows.setDigest(row, hexNumber(line, at + digestAt), hexNumber(line, at + digestAt + 8));

  const decision = recognise(line, { from, start: at + definitionAt, end }, into);
  setShape(row, decision.known.shape, into);
  addKeys(row, decisionKeys(decision, shapes), into);
  return seq;
}

/** From the hash of its definition to its labels, and to what the cache said. */
function recognise(
  line: Buffer,
  { from, start, end }: Pick<DecisionLine, "from" | "start" | "end">,
  { shapes, beginnings }: Into,
): DecisionLine {
  let fingerprint = hexNumber(line, start);
  let inText = true;
  let place = start + nameAt - definitionAt;
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
  const known = beginnings.at(fingerprint);
  const knows = known && knownAt(line, known, { start, told, end });
  if (known !== undefined && knows !== undefined)
    return { line, from, end, known, start, knows, labelsEnd: place };
  const found = shapeOf(parseLine(line.toString("utf8", from, end)));
  const seen = { shape: shapes.learn(found), bytes: Buffer.from(line.subarray(start, told)) };
  // The next one that begins like one that cannot be read may well be sound.
  const learned = found.kind === "unreadable" ? seen : beginnings.remember(fingerprint, seen);
  return { line, from, end, known: learned, start, knows: "shape", labelsEnd: place };
}

/** How much of what is known stands there; undefined: nothing does. */
function knownAt(
  line: Buffer,
  { bare, longer, bytes }: KnownBeginning,
  { start, told, end }: { readonly start: number; readonly told: number; readonly end: number },
): DecisionLine["knows"] | undefined {
  if (bare !== undefined && standsAt(line, bare, start, end)) return "bare";
  if (longer !== undefined && standsAt(line, longer, start, end)) return "longer";
  return bytes.length === told - start && standsAt(line, bytes, start, told) ? "shape" : undefined;
}

function setShape(row: number, shape: number, { rows, shapes, base }: Into): void {
  rows.setShape(row, shape, shapes.count(shape, base + row));
}

function addKeys(row: number, keys: readonly KeyHash[], { postings, base }: Into): void {
  postings.add(base + row, keys);
}

const keysIn = (record: LogRecord | undefined): readonly KeyHash[] =>
  record === undefined ? [] : keysOf(record);

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

function addOther(line: Buffer, row: number, into: Into, offset: number): void {
  const record = parseLine(line.toString("utf8"));
  into.rows.setPlace(row, microsecondsOf(record?.timestamp ?? "") || 0, offset, line.length);
  const shape = into.shapes.learn(shapeOf(record));
  setShape(row, shape, into);
  const keys = keysIn(record);
  addKeys(row, keys, into);
  if (record !== undefined && hasEntity(keys)) into.shapes.learnSources(shape, () => sourcesIn(record));
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
