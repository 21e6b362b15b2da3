import type { KeyHash } from "./key-hash.js";
import { hasEntity, keysOfRecord } from "./key-hash.js";
import type { PrefixCache, KnownPrefix } from "./scan-keys.js";
import {
  matchesAt,
  LineCursor,
  scanToolResult,
  scanCacheKeys,
  scanLineage,
  scanTool,
  scanTraits,
  scanProvenance,
  hasNoPolicies,
  scanPolicies,
} from "./scan-keys.js";
import type { Postings } from "./postings.js";
import type { Rows } from "./rows.js";
import { parseRecordLine, shapeOf } from "./shapes.js";
import type { Shape, Shapes } from "./shapes.js";
import type { LogRecord } from "../../../../model/record.js";
import { leadingFieldOffset, leadingFields } from "../../../../record/record-json.js";
import { traitsOf } from "../../../../record/record-keys.js";
import { microsecondsOf, minuteStart } from "../../../../record/timestamp.js";

/*
 * A decision's line starts with fields of fixed length (see record-json.ts):
 * {"seq":1,"kind":"decision","record_id":"…","timestamp":"…","deterministic_hash":"…","definition_hash":"…",
 * "decision_id":"…","selected_labels":[…],"cached":false,…
 * so the index finds what it needs by byte offset. Scanning a million lines takes about as long as parsing
 * twenty thousand as JSON.
 */
const kindAt = leadingFieldOffset("kind");
const timeAt = leadingFieldOffset("timestamp");
const digestAt = leadingFieldOffset("deterministic_hash");
const definitionAt = leadingFieldOffset("definition_hash");
const decisionIdAt = leadingFieldOffset("decision_id");
const seqAt = `{"seq":`.length;

const quote = 34;
const commaMark = 44;
const backslash = 92;
const bracketMark = 93;
const letterD = 100;
const letterT = 116;

/** A tool result starts like a decision, but its kind is longer: {"seq":2,"kind":"tool_result","record_id":… */
const toolTimeAt = timeAt + "tool_result".length - "decision".length;
const toolResultStart = Buffer.from(`"kind":"tool_result","record_id":"`);
const toolResultShape: Shape = { kind: "tool_result" };
const timeLength = leadingFields.timestamp;

/** The parts of an index that a new row changes. */
interface RowTarget {
  readonly rows: Rows;
  readonly shapes: Shapes;
  readonly postings: Pick<Postings, "add">;
  readonly prefixes: PrefixCache;
  /** The number of saved rows, which precede `rows`. */
  readonly base: number;
}

/** Adds a row for a line. Returns its sequence number, 0 if it has none. */
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
    const isScanned = scanToolResult(new LineCursor(line, time + timeLength, end), keys);
    addRowKeys(row, isScanned ? keys : keysIfRecord(parseRecordLine(line.toString("utf8", from, end))), into);
    return seq;
  }
  if (!isDecision(line, at) || at + decisionIdAt > end) {
    addParsedRow(line.subarray(from, end), row, into, offset);
    return Number.isSafeInteger(seq) && seq > 0 ? seq : 0;
  }
  rows.setPlace(row, parseTime(line, at + timeAt), offset, end - from);
  rows.setDigest(row, parseHex(line, at + digestAt), parseHex(line, at + digestAt + 8));

  const decision = findPrefix(line, { from, start: at + definitionAt, end }, into);
  const { keys, traits } = findDecisionKeys(decision, shapes);
  const { shape } = decision.prefix;
  setRowShape(row, traits === undefined ? shape : shapes.withTraits(shape, traits), into);
  addRowKeys(row, keys, into);
  return seq;
}

/**
 * Finds the shape of a decision by its prefix: from the definition hash to the labels and the cache state. Lines with
 * the same prefix have the same shape, so most lines are recognised by comparing bytes, without parsing.
 */
function findPrefix(
  line: Buffer,
  { from, start, end }: Pick<DecisionLine, "from" | "start" | "end">,
  { shapes, prefixes }: RowTarget,
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
  // Ends where `],"cached":true,"cache_key":"…` and `],"cached":false,"selected_targets":[…` differ.
  const prefixEnd = Math.min(end, place + `],"cached":false,"cache_`.length);
  fingerprint ^= (line[prefixEnd - 1] ?? 0) + (fingerprint >>> 15);
  const cached = prefixes.get(fingerprint);
  const matched = cached && matchPrefix(line, cached, { start, prefixEnd, end });
  if (cached !== undefined && matched !== undefined)
    return { line, from, end, prefix: cached, start, matched, labelsEnd: place };
  const shape = shapeOf(parseRecordLine(line.toString("utf8", from, end)));
  const prefix = { shape: shapes.add(shape), bytes: Buffer.from(line.subarray(start, prefixEnd)) };
  // Not cached for an unreadable line: the next line with the same prefix may be readable.
  if (shape.kind !== "unreadable") prefixes.set(fingerprint, prefix);
  return { line, from, end, prefix, start, matched: "shape", labelsEnd: place };
}

/** Returns the longest part of a known prefix that the line starts with; undefined if none does. */
function matchPrefix(
  line: Buffer,
  { upToLineageEnd, upToProvenance, bytes }: KnownPrefix,
  { start, prefixEnd, end }: { readonly start: number; readonly prefixEnd: number; readonly end: number },
): DecisionLine["matched"] | undefined {
  if (upToLineageEnd !== undefined && matchesAt(line, upToLineageEnd, start, end)) return "lineage";
  if (upToProvenance !== undefined && matchesAt(line, upToProvenance, start, end)) return "provenance";
  return bytes.length === prefixEnd - start && matchesAt(line, bytes, start, prefixEnd) ? "shape" : undefined;
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
  const keys = keysIfRecord(record);
  const traits = record !== undefined && hasEntity(keys) ? traitsJson(record) : undefined;
  setRowShape(row, traits === undefined ? shape : into.shapes.withTraits(shape, traits), into);
  addRowKeys(row, keys, into);
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

/**
 * The last minute and its start, for the whole module: consecutive records mostly share the minute, and converting it
 * is the slowest part of `parseTime`, which runs once per line of the log.
 */
let lastMinute = Number.NaN;
let lastMinuteStart = 0;

/** Like `microsecondsOf`, without creating a string. */
function parseTime(line: Buffer, at: number): number {
  const year = twoDigits(line, at) * 1e10 + twoDigits(line, at + 2) * 1e8;
  const day = twoDigits(line, at + 5) * 1e6 + twoDigits(line, at + 8) * 1e4;
  const minute = year + day + twoDigits(line, at + 11) * 100 + twoDigits(line, at + 14);
  if (minute !== lastMinute) {
    lastMinute = minute;
    lastMinuteStart = minuteStart(minute);
  }
  return (
    lastMinuteStart +
    twoDigits(line, at + 17) * 1e6 +
    twoDigits(line, at + 20) * 1e4 +
    twoDigits(line, at + 22) * 1e2 +
    twoDigits(line, at + 24)
  );
}

function twoDigits(line: Uint8Array, at: number): number {
  return ((line[at] ?? 0) - 48) * 10 + (line[at + 1] ?? 0) - 48;
}

/** The line of a decision, and the known prefix that it starts with. */
interface DecisionLine {
  readonly line: Buffer;
  readonly from: number;
  readonly end: number;
  readonly prefix: KnownPrefix;
  /** The offset of the prefix. */
  readonly start: number;
  /** How much of the prefix the line matches. */
  readonly matched: "shape" | "provenance" | "lineage";
  /** The offset after the labels. */
  readonly labelsEnd: number;
}

/** The keys of a decision and, if it has entities, its traits as JSON. */
interface DecisionKeys {
  readonly keys: readonly KeyHash[];
  readonly traits?: string | undefined;
}

const findDecisionKeys = (decision: DecisionLine, shapes: Shapes): DecisionKeys =>
  hasNoKeys(decision, shapes) ? noKeys : (scanKeys(decision, shapes) ?? keysByParsing(decision));

const noKeys: DecisionKeys = { keys: [] };

/** Recognises quickly that a decision has no keys, which is the most frequent case. */
function hasNoKeys({ line, end, prefix, start, matched }: DecisionLine, shapes: Shapes): boolean {
  const { upToLineageEnd, policiesAt, shape } = prefix;
  if (matched !== "lineage" || upToLineageEnd === undefined || policiesAt === undefined) return false;
  if (shapes.list[shape]?.type === "policy") return false;
  return hasNoPolicies(line, start + upToLineageEnd.length + policiesAt, end);
}

const lineText = ({ line, from, end }: DecisionLine): string => line.toString("utf8", from, end);

/** The slow way, for lines that cannot be scanned. */
function keysByParsing(decision: DecisionLine): DecisionKeys {
  const record = parseRecordLine(lineText(decision));
  if (record === undefined) return noKeys;
  const keys = keysOfRecord(record);
  return { keys, traits: hasEntity(keys) ? traitsJson(record) : undefined };
}

/** A damaged record may contain anything. */
function traitsJson(record: LogRecord): string | undefined {
  try {
    const { params, sources } = traitsOf(record);
    return JSON.stringify([params, sources]);
  } catch {
    return undefined;
  }
}

const lineageField = Buffer.from(`,"lineage":{"entities":[`);
const lineageAnywhere = Buffer.from(`"lineage":`);

/** Scans the keys of a line without parsing it. Returns undefined if the line must be parsed. */
function scanKeys(decision: DecisionLine, shapes: Shapes): DecisionKeys | undefined {
  const { prefix } = decision;
  const keys: KeyHash[] = [];
  const cursor = cursorAtProvenance(decision, keys);
  if (cursor === undefined) return undefined;
  const isPolicy = shapes.list[prefix.shape]?.type === "policy";
  const isPlain = keys.length === 0 && cursor.startsWith(lineageField);
  if (!scanProvenance(cursor, keys)) return undefined;
  const tool = isPolicy ? scanTool(cursor) : undefined;
  // Older records have no lineage, except policy decisions, which have it at the end.
  if (!cursor.skip(lineageField)) return isPolicy || cursor.seek(lineageAnywhere) ? undefined : { keys };
  const seed = (): KeyHash => shapes.entitySeed(prefix.shape);
  if (!scanLineage(cursor, { seed, isPolicy, tool }, keys)) return undefined;
  if (isPlain && keys.length === 0)
    prefix.upToLineageEnd = Buffer.from(decision.line.subarray(decision.start, cursor.at));
  const traits = hasEntity(keys) ? (scanTraits(cursor, isPolicy) ?? null) : undefined;
  if (traits === null || !scanPolicies(cursor, prefix, { isPolicy, keys })) return undefined;
  return { keys, traits };
}

/** Returns a cursor after the environment hash; undefined if the line must be parsed. */
function cursorAtProvenance(
  { line, start, end, labelsEnd, prefix, matched }: DecisionLine,
  keys: KeyHash[],
): LineCursor | undefined {
  if (matched !== "shape") return new LineCursor(line, start + (prefix.upToProvenance?.length ?? 0), end);
  const cursor = new LineCursor(line, labelsEnd, end);
  if (!scanCacheKeys(cursor, keys)) return undefined;
  if (keys.length === 0) {
    prefix.upToProvenance = Buffer.from(line.subarray(start, cursor.at));
    prefix.upToLineageEnd = undefined;
  }
  return cursor;
}
