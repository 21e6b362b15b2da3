import type { KeyHash } from "./key-hash.js";
import { hasEntity, keysOfRecord, sourcesOfRecord } from "./key-hash.js";
import type { PrefixCache, KnownPrefix } from "./scan-keys.js";
import {
  matchesAt,
  LineCursor,
  scanToolResult,
  scanCacheKeys,
  scanLineage,
  scanProvenance,
  hasNoPolicies,
  scanPolicies,
} from "./scan-keys.js";
import type { Postings } from "./postings.js";
import type { Rows } from "./rows.js";
import { parseRecordLine, shapeOf } from "./shapes.js";
import type { Shape, Shapes } from "./shapes.js";
import type { LogRecord } from "../../../../model/record.js";
import { microsecondsOf, minuteStart } from "../../../../record/timestamp.js";

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
const decisionIdAt = definitionAt + 64 + `","decision_id":"`.length;
const seqAt = `{"seq":`.length;

const quote = 34;
const commaMark = 44;
const backslash = 92;
const bracketMark = 93;
const letterD = 100;
const letterT = 116;

/** How a call went begins like a decision, but for its longer name: {"seq":2,"kind":"tool_result","record_id":… */
const toolTimeAt = timeAt + "tool_result".length - "decision".length;
const toolResultStart = Buffer.from(`"kind":"tool_result","record_id":"`);
const toolResultShape: Shape = { kind: "tool_result" };
const timeLength = 27;

/** What rows are added to; `base` rows came before these. */
interface RowTarget {
  readonly rows: Rows;
  readonly shapes: Shapes;
  readonly postings: Pick<Postings, "add">;
  readonly beginnings: PrefixCache;
  readonly base: number;
}

/** Adds a row for the line at these bytes; gives its sequence number, or 0 where it has none. */
export function addRow(line: Buffer, from: number, end: number, into: RowTarget, offset: number): number {
  const { rows, shapes } = into;
  let at = from + seqAt;
  let seq = 0;
  for (; line[at] !== commaMark && at < end; at++) seq = seq * 10 + (line[at] ?? 0) - 48;
  at++;
  const row = rows.add();
  if (isToolResult(line, at, end)) {
    const time = at + toolTimeAt;
    rows.setPlace(row, parseTime(line, time), offset, end - from);
    setRowShape(row, shapes.add(toolResultShape), into);
    const keys: KeyHash[] = [];
    const isTaken = scanToolResult(new LineCursor(line, time + timeLength, end), keys);
    addRowKeys(row, isTaken ? keys : keysIfRecord(parseRecordLine(line.toString("utf8", from, end))), into);
    return seq;
  }
  if (!isDecision(line, at) || at + decisionIdAt > end) {
    addParsedRow(line.subarray(from, end), row, into, offset);
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
  }
  rows.setPlace(row, parseTime(line, at + timeAt), offset, end - from);
  rows.setDigest(row, parseHex(line, at + digestAt), parseHex(line, at + digestAt + 8));

  const decision = findPrefix(line, { from, start: at + definitionAt, end }, into);
  setRowShape(row, decision.prefix.shape, into);
  addRowKeys(row, findDecisionKeys(decision, shapes), into);
  return seq;
}

/** From the hash of its definition to its labels, and to what the cache said. */
function findPrefix(
  line: Buffer,
  { from, start, end }: Pick<DecisionLine, "from" | "start" | "end">,
  { shapes, beginnings }: RowTarget,
): DecisionLine {
  let fingerprint = parseHex(line, start);
  let inText = true;
  let place = start + decisionIdAt - definitionAt;
  for (; place < end; place++) {
    const byte = line[place] ?? 0;
    fingerprint = Math.imul(fingerprint ^ byte, 0x01000193);
    if (byte === backslash) place++;
    else if (byte === quote) inText = !inText;
    else if (byte === bracketMark && !inText) break;
  }
  // `],"cached":true,"cache_key":"…` or `],"cached":false,"selected_targets":[…`: up to what tells them apart.
  const told = Math.min(end, place + `],"cached":false,"cache_`.length);
  fingerprint ^= (line[told - 1] ?? 0) + (fingerprint >>> 15);
  const known = beginnings.get(fingerprint);
  const knows = known && matchPrefix(line, known, { start, told, end });
  if (known !== undefined && knows !== undefined)
    return { line, from, end, prefix: known, start, matched: knows, labelsEnd: place };
  const found = shapeOf(parseRecordLine(line.toString("utf8", from, end)));
  const seen = { shape: shapes.add(found), bytes: Buffer.from(line.subarray(start, told)) };
  // The next one that begins like one that cannot be read may well be sound.
  const learned = found.kind === "unreadable" ? seen : beginnings.set(fingerprint, seen);
  return { line, from, end, prefix: learned, start, matched: "shape", labelsEnd: place };
}

/** How much of what is known stands there; undefined: nothing does. */
function matchPrefix(
  line: Buffer,
  { upToLineageEnd: bare, upToProvenance: longer, bytes }: KnownPrefix,
  { start, told, end }: { readonly start: number; readonly told: number; readonly end: number },
): DecisionLine["matched"] | undefined {
  if (bare !== undefined && matchesAt(line, bare, start, end)) return "bare";
  if (longer !== undefined && matchesAt(line, longer, start, end)) return "longer";
  return bytes.length === told - start && matchesAt(line, bytes, start, told) ? "shape" : undefined;
}

function setRowShape(row: number, shape: number, { rows, shapes, base }: RowTarget): void {
  rows.setShape(row, shape, shapes.count(shape, base + row));
}

function addRowKeys(row: number, keys: readonly KeyHash[], { postings, base }: RowTarget): void {
  postings.add(base + row, keys);
}

const keysIfRecord = (record: LogRecord | undefined): readonly KeyHash[] =>
  record === undefined ? [] : keysOfRecord(record);

const isDecision = (line: Uint8Array, at: number): boolean =>
  line[at + kindAt] === letterD &&
  line[at + timeAt - 1] === quote &&
  line[at + digestAt - 1] === quote &&
  line[at + definitionAt - 1] === quote &&
  line[at + decisionIdAt - 1] === quote;

function isToolResult(line: Buffer, at: number, end: number): boolean {
  if (line[at + kindAt] !== letterT || at + toolTimeAt + timeLength >= end) return false;
  return line.compare(toolResultStart, 0, toolResultStart.length, at, at + toolResultStart.length) === 0;
}

function addParsedRow(line: Buffer, row: number, into: RowTarget, offset: number): void {
  const record = parseRecordLine(line.toString("utf8"));
  into.rows.setPlace(row, microsecondsOf(record?.timestamp ?? "") || 0, offset, line.length);
  const shape = into.shapes.add(shapeOf(record));
  setRowShape(row, shape, into);
  const keys = keysIfRecord(record);
  addRowKeys(row, keys, into);
  if (record !== undefined && hasEntity(keys)) into.shapes.addSources(shape, () => sourcesOfRecord(record));
}

const hexValues = Uint8Array.from(
  { length: 256 },
  (_, code) => Number.parseInt(String.fromCharCode(code), 16) || 0,
);

function parseHex(line: Uint8Array, at: number): number {
  let number = 0;
  for (let place = at; place < at + 8; place++) number = (number << 4) | (hexValues[line[place] ?? 0] ?? 0);
  return number;
}

let lastMinute = Number.NaN;
let lastMinuteStart = 0;

/** The same as `microsecondsOf`, without making a text first. */
function parseTime(line: Buffer, at: number): number {
  const year = twoDigits(line, at) * 1e10 + twoDigits(line, at + 2) * 1e8;
  const day = twoDigits(line, at + 5) * 1e6 + twoDigits(line, at + 8) * 1e4;
  const minute = year + day + twoDigits(line, at + 11) * 100 + twoDigits(line, at + 14);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastMinuteStart = minuteStart(minute);
  }
  const millions = twoDigits(line, at + 17);
  return (
    lastMinuteStart +
    millions * 1e6 +
    twoDigits(line, at + 20) * 1e4 +
    twoDigits(line, at + 22) * 1e2 +
    twoDigits(line, at + 24)
  );
}

function twoDigits(line: Uint8Array, at: number): number {
  return ((line[at] ?? 0) - 48) * 10 + (line[at + 1] ?? 0) - 48;
}

/** The line of a decision, and what is known of it. */
interface DecisionLine {
  readonly line: Buffer;
  readonly from: number;
  readonly end: number;
  readonly prefix: KnownPrefix;
  /** Where the known beginning begins. */
  readonly start: number;
  /** Which of the known beginnings it begins with. */
  readonly matched: "shape" | "longer" | "bare";
  /** Where its labels end. */
  readonly labelsEnd: number;
}

/** What a decision is looked up by; learns on the way what its definition reads. */
function findDecisionKeys(decision: DecisionLine, shapes: Shapes): readonly KeyHash[] {
  if (hasNoKeys(decision, shapes)) return noKeys;
  const found: KeyHash[] = [];
  const keys = scanKeys(decision, shapes, found) ? found : keysByParsing(decision);
  if (hasEntity(keys))
    shapes.addSources(decision.prefix.shape, () => {
      const record = parseRecordLine(lineText(decision));
      return record === undefined ? [] : sourcesOfRecord(record);
    });
  return keys;
}

const noKeys: readonly KeyHash[] = [];

/** Most have nothing that they are looked up by, and are quickly told. */
function hasNoKeys(
  { line, end, prefix: known, start, matched: knows }: DecisionLine,
  shapes: Shapes,
): boolean {
  const { upToLineageEnd: bare, policiesAt, shape } = known;
  if (knows !== "bare" || bare === undefined || policiesAt === undefined) return false;
  if (shapes.list[shape]?.type === "policy") return false;
  return hasNoPolicies(line, start + bare.length + policiesAt, end);
}

const lineText = ({ line, from, end }: DecisionLine): string => line.toString("utf8", from, end);

/** By taking all of the line apart. */
function keysByParsing(decision: DecisionLine): readonly KeyHash[] {
  const record = parseRecordLine(lineText(decision));
  return record === undefined ? noKeys : keysOfRecord(record);
}

const lineageField = Buffer.from(`,"lineage":{"entities":[`);
const lineageAnywhere = Buffer.from(`"lineage":`);

/** False where the line is to be parsed. */
function scanKeys(decision: DecisionLine, shapes: Shapes, keys: KeyHash[]): boolean {
  const { prefix: known } = decision;
  const cursor = cursorAtProvenance(decision, keys);
  if (cursor === undefined) return false;
  const isPolicy = shapes.list[known.shape]?.type === "policy";
  const isPlain = keys.length === 0 && cursor.startsWith(lineageField);
  if (!scanProvenance(cursor, keys)) return false;
  // Older records had no lineage, but for those of policies, which had it at the end.
  if (!cursor.skip(lineageField)) return !isPolicy && !cursor.seek(lineageAnywhere);
  if (!scanLineage(cursor, () => shapes.entitySeed(known.shape), keys)) return false;
  if (isPlain && keys.length === 0)
    known.upToLineageEnd = Buffer.from(decision.line.subarray(decision.start, cursor.at));
  return scanPolicies(cursor, known, { isPolicy, keys });
}

function cursorAtProvenance(
  { line, start, end, labelsEnd, prefix: known, matched: knows }: DecisionLine,
  keys: KeyHash[],
): LineCursor | undefined {
  if (knows !== "shape") return new LineCursor(line, start + (known.upToProvenance?.length ?? 0), end);
  const cursor = new LineCursor(line, labelsEnd, end);
  if (!scanCacheKeys(cursor, keys)) return undefined;
  if (keys.length === 0) {
    known.upToProvenance = Buffer.from(line.subarray(start, cursor.at));
    known.upToLineageEnd = undefined;
  }
  return cursor;
}
