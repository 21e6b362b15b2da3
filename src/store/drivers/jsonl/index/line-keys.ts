import { hashBytes, kinds } from "./key-hash.js";
import type { KeyHash, KeyKind } from "./key-hash.js";
import type { LineCursor } from "./line-cursor.js";

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
const wentWell = bytesOf(`,"ok":true`);
const wentWrong = bytesOf(`,"ok":false`);
const decisions = bytesOf(`,"decision_records":[`);
const comma = bytesOf(",");
const brace = bytesOf("}");
const bracket = bytesOf("]");

/** Who a record was made for, and which of it is asked for. */
const provenance: readonly { readonly name: Uint8Array; readonly kind?: KeyKind }[] = [
  { name: bytesOf(`,"workflow_id":`) },
  { name: bytesOf(`,"stage_id":`) },
  { name: bytesOf(`,"session_id":`), kind: kinds.session },
  { name: bytesOf(`,"correlation_id":`) },
  { name: bytesOf(`,"parent_record_id":`), kind: kinds.reference },
  { name: bytesOf(`,"check_id":`) },
];

/** From the end of the labels to the end of the environment's hash. */
export function takeCacheKeys(cursor: LineCursor, keys: KeyHash[]): boolean {
  if (!cursor.takes(wasCached) && !cursor.takes(wasNotCached)) return false;
  if (cursor.takes(cacheKey) && !cursor.skipsText()) return false;
  if (cursor.takes(cachedFrom) && !takeKey(cursor, kinds.reference, keys)) return false;
  return cursor.seeks(environment) && cursor.takes(environment) && cursor.takesText();
}

/** From there to the lineage. */
export function takeProvenance(cursor: LineCursor, keys: KeyHash[]): boolean {
  for (const { name, kind } of provenance) {
    if (!cursor.takes(name)) continue;
    const isTaken = kind === undefined ? cursor.skipsText() : takeKey(cursor, kind, keys);
    if (!isTaken) return false;
  }
  return true;
}

/** From the first entity to the end of the artifacts. */
export function takeLineage(cursor: LineCursor, seed: () => KeyHash, keys: KeyHash[]): boolean {
  while (cursor.takes(entityType)) {
    const from = cursor.at;
    if (!cursor.takesText() || !cursor.takes(entityId) || !cursor.takesText()) return false;
    keys.push(hashBytes(kinds.entity, cursor.line, from, cursor.at, seed()));
    if (!cursor.takes(brace)) return false;
    if (!cursor.takes(comma)) break;
  }
  return cursor.takes(artifacts) && takeList(cursor, kinds.artifact, keys);
}

/** Of the result of a call: from the end of its time on. */
export function takeResult(cursor: LineCursor, keys: KeyHash[]): boolean {
  return (
    cursor.takes(tool) &&
    cursor.skipsText() &&
    (cursor.takes(wentWell) || cursor.takes(wentWrong)) &&
    cursor.takes(decisions) &&
    takeList(cursor, kinds.reference, keys) &&
    takeProvenance(cursor, keys)
  );
}

function takeList(cursor: LineCursor, kind: KeyKind, keys: KeyHash[]): boolean {
  if (cursor.takes(bracket)) return true;
  do {
    if (!takeKey(cursor, kind, keys)) return false;
  } while (cursor.takes(comma));
  return cursor.takes(bracket);
}

function takeKey(cursor: LineCursor, kind: KeyKind, keys: KeyHash[]): boolean {
  if (!cursor.takesText()) return false;
  keys.push(hashBytes(kind, cursor.line, cursor.textAt, cursor.at));
  return true;
}
