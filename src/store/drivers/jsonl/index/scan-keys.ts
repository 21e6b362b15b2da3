import type { KeyHash, KeyKind } from "./key-hash.js";
import { hashBytes, keyKinds, hashText, toolSeed } from "./key-hash.js";

/*
 * The keys of a record are found by their position on the line (see record-json.ts):
 * …"selected_labels":[…],"cached":true,"cache_key":"…","cached_from":"…","selected_targets":[…],…
 * "environment_hash":"…","session_id":"…","parent_record_id":"…","tool":"…",
 * "lineage":{"entities":[{"type":"…","id":"…"}],"artifacts":["…"],"param_names":["…"],
 * "inputs":[{"source":"…",…,"digest":"…"}],"conditions":[…],"policies":[{"name":"…",…}],…
 * Quotes inside a string are escaped, so a field name that is searched for cannot be part of one. Each function
 * continues at the cursor and returns whether the line had the expected form. If it had not, or if a key contains
 * escapes, the line must be parsed as JSON.
 */
const bytesOf = (text: string): Uint8Array => Buffer.from(text);
const wasCached = bytesOf(`],"cached":true`);
const wasNotCached = bytesOf(`],"cached":false`);
const cacheKey = bytesOf(`,"cache_key":`);
const cachedFrom = bytesOf(`,"cached_from":`);
const environment = bytesOf(`,"environment_hash":`);
const entityType = bytesOf(`{"type":`);
const entityId = bytesOf(`,"id":`);
const artifacts = bytesOf(`],"artifacts":[`);
const toolName = bytesOf(`,"tool":`);
const paramNames = bytesOf(`,"param_names":[`);
const inputs = bytesOf(`,"inputs":[`);
const inputSource = bytesOf(`{"source":`);
const inputDigest = bytesOf(`,"digest":`);
const tool = bytesOf(`","tool":`);
const toolSucceeded = bytesOf(`,"ok":true`);
const toolFailed = bytesOf(`,"ok":false`);
const decisions = bytesOf(`,"decision_records":[`);
const comma = bytesOf(",");
const brace = bytesOf("}");
const bracket = bytesOf("]");

/** The provenance fields in line order; those with a kind are keys. */
const provenance: readonly { readonly name: Uint8Array; readonly kind?: KeyKind }[] = [
  { name: bytesOf(`,"workflow_id":`) },
  { name: bytesOf(`,"stage_id":`) },
  { name: bytesOf(`,"session_id":`), kind: keyKinds.session },
  { name: bytesOf(`,"correlation_id":`) },
  { name: bytesOf(`,"parent_record_id":`), kind: keyKinds.reference },
  { name: bytesOf(`,"check_id":`) },
];

/** Scans from the end of the labels to the end of the environment hash. */
export function scanCacheKeys(cursor: LineCursor, keys: KeyHash[]): boolean {
  if (!cursor.skip(wasCached) && !cursor.skip(wasNotCached)) return false;
  if (cursor.skip(cacheKey) && !cursor.skipText()) return false;
  if (cursor.skip(cachedFrom) && !scanKey(cursor, keyKinds.reference, keys)) return false;
  return cursor.seek(environment) && cursor.skip(environment) && cursor.skipPlainText();
}

/** Scans from the end of the environment hash to the lineage. */
export function scanProvenance(cursor: LineCursor, keys: KeyHash[]): boolean {
  for (const { name, kind } of provenance) {
    if (!cursor.skip(name)) continue;
    const isScanned = kind === undefined ? cursor.skipText() : scanKey(cursor, kind, keys);
    if (!isScanned) return false;
  }
  return true;
}

/** The part of a line that contains the tool. */
export interface ToolSpan {
  readonly from: number;
  readonly to: number;
}

/** Scans the tool of a policy decision, which precedes the lineage; undefined if there is none. */
export function scanTool(cursor: LineCursor): ToolSpan | undefined {
  if (!cursor.skip(toolName) || !cursor.skipPlainText()) return undefined;
  return { from: cursor.textStart, to: cursor.at };
}

/** Scans from the first entity to the end of the artifacts. */
export function scanLineage(
  cursor: LineCursor,
  { seed, isPolicy, tool: span }: EntityOptions,
  keys: KeyHash[],
): boolean {
  const { line } = cursor;
  while (cursor.skip(entityType)) {
    // Older records have the tool elsewhere.
    if (isPolicy && span === undefined) return false;
    const from = cursor.at;
    if (!cursor.skipPlainText() || !cursor.skip(entityId) || !cursor.skipPlainText()) return false;
    keys.push(hashBytes(keyKinds.entity, line, from, cursor.at, seed()));
    if (span !== undefined) {
      const seedOfTool = toolSeed(seed(), line, span.from, span.to);
      keys.push(hashBytes(keyKinds.tool_entity, line, from, cursor.at, seedOfTool));
    }
    if (!cursor.skip(brace)) return false;
    if (!cursor.skip(comma)) break;
  }
  return cursor.skip(artifacts) && scanList(cursor, keyKinds.artifact, keys);
}

interface EntityOptions {
  readonly seed: () => KeyHash;
  readonly isPolicy: boolean;
  readonly tool: ToolSpan | undefined;
}

/**
 * Scans from the end of the artifacts to the end of the inputs. Returns the names of the params and of the sources as
 * JSON; undefined if the line must be parsed.
 */
export function scanTraits({ line, at, end }: LineCursor, isPolicy: boolean): string | undefined {
  const cursor = new LineCursor(line, at, end);
  const names = cursor.skip(paramNames) ? scanTexts(cursor) : undefined;
  // Only tool calls have params; older records of them do not list their names.
  const params = isPolicy ? names : "";
  if (params === undefined || !cursor.skip(inputs)) return undefined;
  const sources: string[] = [];
  while (cursor.skip(inputSource)) {
    const from = cursor.at;
    if (!cursor.skipText()) return undefined;
    sources.push(line.toString("utf8", from, cursor.at));
    if (!cursor.seek(inputDigest) || !cursor.skip(inputDigest) || !cursor.skipText()) return undefined;
    if (!cursor.skip(brace)) return undefined;
    if (!cursor.skip(comma)) break;
  }
  return cursor.skip(bracket) ? `[[${params}],[${sources.join(",")}]]` : undefined;
}

/** Skips a list of strings after its opening bracket, and returns what is between the brackets. */
function scanTexts(cursor: LineCursor): string | undefined {
  const from = cursor.at;
  if (cursor.skip(bracket)) return "";
  do {
    if (!cursor.skipText()) return undefined;
  } while (cursor.skip(comma));
  return cursor.skip(bracket) ? cursor.line.toString("utf8", from, cursor.at - 1) : undefined;
}

/** Scans a tool result from the end of its timestamp. */
export function scanToolResult(cursor: LineCursor, keys: KeyHash[]): boolean {
  return (
    cursor.skip(tool) &&
    cursor.skipText() &&
    (cursor.skip(toolSucceeded) || cursor.skip(toolFailed)) &&
    cursor.skip(decisions) &&
    scanList(cursor, keyKinds.reference, keys) &&
    scanProvenance(cursor, keys)
  );
}

function scanList(cursor: LineCursor, kind: KeyKind, keys: KeyHash[]): boolean {
  if (cursor.skip(bracket)) return true;
  do {
    if (!scanKey(cursor, kind, keys)) return false;
  } while (cursor.skip(comma));
  return cursor.skip(bracket);
}

function scanKey(cursor: LineCursor, kind: KeyKind, keys: KeyHash[]): boolean {
  if (!cursor.skipPlainText()) return false;
  keys.push(hashBytes(kind, cursor.line, cursor.textStart, cursor.at));
  return true;
}

const quoteMark = 34;
const backslashMark = 92;
const closingBracket = 93;

/** Reads the bytes of a line from left to right. */
export class LineCursor {
  readonly line: Buffer;
  at: number;
  readonly end: number;
  /** The offset of the string that was skipped last. */
  textStart = 0;

  constructor(line: Buffer, at: number, end: number) {
    this.line = line;
    this.at = at;
    this.end = end;
  }

  /** Returns true if the line continues with these bytes. */
  startsWith(bytes: Uint8Array): boolean {
    if (this.at + bytes.length > this.end) return false;
    for (let index = 0; index < bytes.length; index++)
      if (this.line[this.at + index] !== bytes[index]) return false;
    return true;
  }

  /** Skips these bytes, if the line continues with them. */
  skip(bytes: Uint8Array): boolean {
    const isNext = this.startsWith(bytes);
    if (isNext) this.at += bytes.length;
    return isNext;
  }

  /** Skips a string without escapes, which has only one possible JSON form, so its bytes can be hashed. */
  skipPlainText(): boolean {
    if (this.line[this.at] !== quoteMark) return false;
    this.textStart = this.at;
    for (let place = this.at + 1; place < this.end; place++) {
      const byte = this.line[place];
      if (byte === backslashMark) return false;
      if (byte === quoteMark) {
        this.at = place + 1;
        return true;
      }
    }
    return false;
  }

  /** Skips any string. */
  skipText(): boolean {
    if (this.line[this.at] !== quoteMark) return false;
    for (let place = this.at + 1; place < this.end; place++) {
      const byte = this.line[place];
      if (byte === backslashMark) place++;
      else if (byte === quoteMark) {
        this.at = place + 1;
        return true;
      }
    }
    return false;
  }

  /** Moves to the next occurrence of these bytes. */
  seek(bytes: Uint8Array): boolean {
    const found = this.line.subarray(this.at, this.end).indexOf(bytes);
    if (found !== -1) this.at += found;
    return found !== -1;
  }
}

const policiesField = Buffer.from(`,"policies":[`);
const noPolicies = Buffer.from(`,"policies":[]`);

/** Returns true if an empty list of policies is at this offset. */
export function hasNoPolicies(line: Buffer, at: number, end: number): boolean {
  if (at + noPolicies.length > end) return false;
  for (let index = 0; index < noPolicies.length; index++)
    if (line[at + index] !== noPolicies[index]) return false;
  return true;
}

/** Scans from the end of the artifacts. Returns false if the line must be parsed. */
export function scanPolicies(
  cursor: LineCursor,
  prefix: KnownPrefix,
  { isPolicy, keys }: { readonly isPolicy: boolean; readonly keys: KeyHash[] },
): boolean {
  const { line, at: start, end } = cursor;
  // Only policy decisions have policies. For others it is enough that the list is empty where it was empty before.
  if (!isPolicy && prefix.policiesAt !== undefined && hasNoPolicies(line, start + prefix.policiesAt, end))
    return true;
  if (!cursor.seek(policiesField)) return false;
  prefix.policiesAt = cursor.at - start;
  if (cursor.startsWith(noPolicies)) return true;
  if (prefix.policies === undefined || !matchesAt(line, prefix.policies.bytes, cursor.at, end)) {
    const bytes = copyPoliciesField(cursor);
    const names = bytes && policyNames(bytes.toString("utf8", policiesField.length - 1));
    if (bytes === undefined || names === undefined) return false;
    prefix.policies = { bytes, keys: names.map((name) => hashText(keyKinds.policy, name)) };
  }
  keys.push(...prefix.policies.keys);
  return true;
}

/** Copies the field up to its closing bracket. A policy contains no lists, so the first bracket ends the field. */
function copyPoliciesField({ line, at, end }: LineCursor): Buffer | undefined {
  let inText = false;
  for (let place = at + policiesField.length; place < end; place++) {
    const byte = line[place];
    if (byte === quoteMark) inText = !inText;
    else if (inText && byte === backslashMark) place++;
    else if (!inText && byte === closingBracket) return Buffer.from(line.subarray(at, place + 1));
  }
  return undefined;
}

/** Returns undefined if the JSON is not a list of policies. */
function policyNames(json: string): readonly string[] | undefined {
  try {
    const policies = JSON.parse(json) as readonly {
      readonly name: string;
      readonly override: string | null;
    }[];
    return policies.flatMap(({ name, override }) => (override === null ? [name] : [name, override]));
  } catch {
    return undefined;
  }
}

/** The start of an earlier decision's line. Later lines that start alike need not be parsed. */
export interface KnownPrefix {
  readonly shape: number;
  /** The bytes that determine the shape. */
  readonly bytes: Buffer;
  /** `bytes` and everything after it up to the provenance; set only if that part contains no keys. */
  upToProvenance?: Buffer;
  /** `bytes` and everything after it up to the end of the artifacts; set only if that part contains no keys. */
  upToLineageEnd?: Buffer | undefined;
  /** The distance from the end of the artifacts to the policies. */
  policiesAt?: number;
  /** The last policies and their keys. */
  policies?: { readonly bytes: Buffer; readonly keys: readonly KeyHash[] };
}

const prefixSlots = 4096;

/** Known prefixes by fingerprint. Prefixes whose fingerprints share a slot replace each other. */
export class PrefixCache {
  readonly #slots = new Array<KnownPrefix | undefined>(prefixSlots).fill(undefined);

  /** Returns the last prefix in the slot of the fingerprint; the caller compares its bytes. */
  get(fingerprint: number): KnownPrefix | undefined {
    return this.#slots[fingerprint & (prefixSlots - 1)];
  }

  set(fingerprint: number, prefix: KnownPrefix): void {
    this.#slots[fingerprint & (prefixSlots - 1)] = prefix;
  }
}

/** Returns true if the line has these bytes at the offset. */
export function matchesAt(line: Buffer, bytes: Buffer, from: number, end: number): boolean {
  const to = from + bytes.length;
  return to <= end && line.compare(bytes, 0, bytes.length, from, to) === 0;
}
