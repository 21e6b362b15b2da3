import type { KeyHash, KeyKind } from "./key-hash.js";
import { hashBytes, keyKinds, hashText } from "./key-hash.js";

/*
 * What a record is looked up by is found by its place on the line (see record-body.ts):
 * …"selected_labels":[…],"cached":true,"cache_key":"…","cached_from":"…","selected_targets":[…],…
 * "environment_hash":"…","session_id":"…","parent_record_id":"…","lineage":{"entities":[{"type":"…","id":"…"}],
 * "artifacts":["…"],"inputs":[…],"conditions":[…],"policies":[{"name":"…",…}],…
 * Quotes inside of a text are escaped, so that what is looked for cannot be part of one. Each function goes
 * on from where the cursor is and tells whether all was as it should be; a line of which it was not, or that
 * has escapes where it matters, is to be parsed.
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
const tool = bytesOf(`","tool":`);
const toolSucceeded = bytesOf(`,"ok":true`);
const toolFailed = bytesOf(`,"ok":false`);
const decisions = bytesOf(`,"decision_records":[`);
const comma = bytesOf(",");
const brace = bytesOf("}");
const bracket = bytesOf("]");

/** Who a record was made for, and which of it is asked for. */
const provenance: readonly { readonly name: Uint8Array; readonly kind?: KeyKind }[] = [
  { name: bytesOf(`,"workflow_id":`) },
  { name: bytesOf(`,"stage_id":`) },
  { name: bytesOf(`,"session_id":`), kind: keyKinds.session },
  { name: bytesOf(`,"correlation_id":`) },
  { name: bytesOf(`,"parent_record_id":`), kind: keyKinds.reference },
  { name: bytesOf(`,"check_id":`) },
];

/** From the end of the labels to the end of the environment's hash. */
export function scanCacheKeys(cursor: LineCursor, keys: KeyHash[]): boolean {
  if (!cursor.skip(wasCached) && !cursor.skip(wasNotCached)) return false;
  if (cursor.skip(cacheKey) && !cursor.skipText()) return false;
  if (cursor.skip(cachedFrom) && !scanKey(cursor, keyKinds.reference, keys)) return false;
  return cursor.seek(environment) && cursor.skip(environment) && cursor.skipPlainText();
}

/** From there to the lineage. */
export function scanProvenance(cursor: LineCursor, keys: KeyHash[]): boolean {
  for (const { name, kind } of provenance) {
    if (!cursor.skip(name)) continue;
    const isTaken = kind === undefined ? cursor.skipText() : scanKey(cursor, kind, keys);
    if (!isTaken) return false;
  }
  return true;
}

/** From the first entity to the end of the artifacts. */
export function scanLineage(cursor: LineCursor, seed: () => KeyHash, keys: KeyHash[]): boolean {
  while (cursor.skip(entityType)) {
    const from = cursor.at;
    if (!cursor.skipPlainText() || !cursor.skip(entityId) || !cursor.skipPlainText()) return false;
    keys.push(hashBytes(keyKinds.entity, cursor.line, from, cursor.at, seed()));
    if (!cursor.skip(brace)) return false;
    if (!cursor.skip(comma)) break;
  }
  return cursor.skip(artifacts) && scanList(cursor, keyKinds.artifact, keys);
}

/** Of the result of a call: from the end of its time on. */
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

/** Goes through the bytes of a line from left to right. */
export class LineCursor {
  readonly line: Buffer;
  at: number;
  readonly end: number;
  /** Where the text begins that was gone past last. */
  textStart = 0;

  constructor(line: Buffer, at: number, end: number) {
    this.line = line;
    this.at = at;
    this.end = end;
  }

  /** Whether these bytes stand here. */
  startsWith(bytes: Uint8Array): boolean {
    if (this.at + bytes.length > this.end) return false;
    for (let index = 0; index < bytes.length; index++)
      if (this.line[this.at + index] !== bytes[index]) return false;
    return true;
  }

  /** Goes past these bytes, if they stand here. */
  skip(bytes: Uint8Array): boolean {
    const isHere = this.startsWith(bytes);
    if (isHere) this.at += bytes.length;
    return isHere;
  }

  /** Goes past a text that could not be written in another way, if one stands here: one without escapes. */
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

  /** Goes past any text, if one stands here. */
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

  /** Goes to these bytes, wherever they come next. */
  seek(bytes: Uint8Array): boolean {
    const found = this.line.subarray(this.at, this.end).indexOf(bytes);
    if (found !== -1) this.at += found;
    return found !== -1;
  }
}

const policiesField = Buffer.from(`,"policies":[`);
const noPolicies = Buffer.from(`,"policies":[]`);
const quoteByte = 34;
const closingBracket = 93;

/** Whether there are none at that place, where there were none before. */
export function hasNoPolicies(line: Buffer, at: number, end: number): boolean {
  if (at + noPolicies.length > end) return false;
  for (let index = 0; index < noPolicies.length; index++)
    if (line[at + index] !== noPolicies[index]) return false;
  return true;
}

/** From the end of the artifacts on; false: the line is to be parsed. */
export function scanPolicies(
  cursor: LineCursor,
  known: KnownPrefix,
  { isPolicy, keys }: { readonly isPolicy: boolean; readonly keys: KeyHash[] },
): boolean {
  const { line, at: start, end } = cursor;
  // Only decisions about calls consult any: of others, it is enough to see that there are none where there were none.
  if (!isPolicy && known.policiesAt !== undefined && hasNoPolicies(line, start + known.policiesAt, end))
    return true;
  if (!cursor.seek(policiesField)) return false;
  known.policiesAt = cursor.at - start;
  if (cursor.startsWith(noPolicies)) return true;
  if (known.policies === undefined || !matchesAt(cursor.line, known.policies.bytes, cursor.at, cursor.end)) {
    const bytes = copyPoliciesField(cursor);
    const names = bytes && policyNames(bytes.toString("utf8", policiesField.length - 1));
    if (bytes === undefined || names === undefined) return false;
    known.policies = { bytes, keys: names.map((name) => hashText(keyKinds.policy, name)) };
  }
  keys.push(...known.policies.keys);
  return true;
}

/** A copy of the field, to its closing bracket: a policy has no lists in it. */
function copyPoliciesField({ line, at, end }: LineCursor): Buffer | undefined {
  let inText = false;
  for (let place = at + policiesField.length; place < end; place++) {
    const byte = line[place];
    if (byte === quoteByte) inText = !inText;
    else if (inText && byte === backslashByte) place++;
    else if (!inText && byte === closingBracket) return Buffer.from(line.subarray(at, place + 1));
  }
  return undefined;
}

const backslashByte = 92;

/** Undefined where they are not what they should be. */
function policyNames(json: string): readonly string[] | undefined {
  try {
    const found = JSON.parse(json) as readonly { readonly name: string; readonly override: string | null }[];
    return found.flatMap(({ name, override }) => (override === null ? [name] : [name, override]));
  } catch {
    return undefined;
  }
}

/** The beginning of a decision's line that was seen before. */
export interface KnownPrefix {
  readonly shape: number;
  /** What tells the shape. */
  readonly bytes: Buffer;
  /** The same, and all up to who it was made for; where there is nothing in it that records are looked up by. */
  upToProvenance?: Buffer;
  /** The longer one, and all up to the end of the artifacts; where there are none, and no entities. */
  upToLineageEnd?: Buffer | undefined;
  /** How far behind the artifacts the policies were. */
  policiesAt?: number;
  /** The policies as they were last. */
  policies?: { readonly bytes: Buffer; readonly keys: readonly KeyHash[] };
}

const prefixSlots = 4096;

/** Beginnings by their fingerprints, so that lines that begin alike need not be taken apart. */
export class PrefixCache {
  readonly #known = new Array<KnownPrefix | undefined>(prefixSlots).fill(undefined);

  /** What was last seen with the fingerprint. */
  get(fingerprint: number): KnownPrefix | undefined {
    return this.#known[fingerprint & (prefixSlots - 1)];
  }

  set(fingerprint: number, known: KnownPrefix): KnownPrefix {
    this.#known[fingerprint & (prefixSlots - 1)] = known;
    return known;
  }
}

/** Whether these bytes stand on a line, from a place on. */
export function matchesAt(line: Buffer, bytes: Buffer, from: number, end: number): boolean {
  const to = from + bytes.length;
  return to <= end && line.compare(bytes, 0, bytes.length, from, to) === 0;
}
