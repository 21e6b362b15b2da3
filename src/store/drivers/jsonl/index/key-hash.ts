import type { Entity } from "../../../../model/lineage.js";
import type { LogRecord, Provenance } from "../../../../model/record.js";
import type { RecordKey } from "../../../../model/store.js";
import { entitiesOf, policiesOf, referencesOf, inputSourcesOf } from "../../../../record/record-keys.js";

/**
 * The 64-bit hash of a key by which records are found. The lowest three bits of `high` are the kind of the key; the
 * five bits above them are free for a count (see `packCount`).
 */
export interface KeyHash {
  readonly low: number;
  /** Never 0. */
  readonly high: number;
}

export const keyKinds = { entity: 1, artifact: 2, policy: 3, session: 4, reference: 5 } as const;

export type KeyKind = (typeof keyKinds)[keyof typeof keyKinds];

const kindBits = 0b111;
const reservedBits = 0xff;

export const isEntity = (high: number): boolean => (high & kindBits) === keyKinds.entity;

export const hasEntity = (keys: readonly KeyHash[]): boolean => keys.some(({ high }) => isEntity(high));

/** Stores a count in the free bits of a hash. Larger counts are stored as the maximum. */
export const packCount = (high: number, number: number): number =>
  (high | (Math.min(number, maxPackedCount) << 3)) >>> 0;

export const unpackCount = (high: number): number => (high >>> 3) & maxPackedCount;

export const clearCount = (high: number): number => (high & ~(maxPackedCount << 3)) >>> 0;

export const maxPackedCount = 0b11111;

const noSeed: KeyHash = { low: 0, high: 0 };

/** Hashes bytes as they are in a line: JSON as `JSON.stringify` writes it. */
export function hashBytes(
  kind: KeyKind,
  bytes: Uint8Array,
  from = 0,
  to = bytes.length,
  seed = noSeed,
): KeyHash {
  let one = 0xdeadbeef ^ seed.low;
  let two = 0x41c6ce57 ^ seed.high;
  for (let at = from; at < to; at++) {
    const byte = bytes[at] ?? 0;
    one = Math.imul(one ^ byte, 0x9e3779b1);
    two = Math.imul(two ^ byte, 0x5f356495);
  }
  one = Math.imul(one ^ (one >>> 16), 0x85ebca6b) ^ Math.imul(two ^ (two >>> 13), 0xc2b2ae35);
  two = Math.imul(two ^ (two >>> 16), 0x85ebca6b) ^ Math.imul(one ^ (one >>> 13), 0xc2b2ae35);
  return { low: one >>> 0, high: ((two & ~reservedBits) | kind) >>> 0 };
}

export const hashText = (kind: KeyKind, text: string): KeyHash =>
  hashBytes(kind, Buffer.from(JSON.stringify(text)));

/** The hash of an entity includes its decision, because entities are looked up per decision. */
export const entitySeed = (decisionId: string): KeyHash => hashText(keyKinds.entity, decisionId);

/** Hashes an entity in the form that a line has between `{"type":` and the closing brace. */
export function hashEntity({ type, id }: Entity, seed: KeyHash): KeyHash {
  const bytes = Buffer.from(`${JSON.stringify(type)},"id":${JSON.stringify(id)}`);
  return hashBytes(keyKinds.entity, bytes, 0, bytes.length, seed);
}

/** Returns the hashes that a key can have, given the existing decisions. */
export function hashesForKey(key: RecordKey, decisionIds: Iterable<string>): readonly KeyHash[] {
  if ("entity" in key) return Array.from(decisionIds, (id) => hashEntity(key.entity, entitySeed(id)));
  if ("artifact" in key) return [hashText(keyKinds.artifact, key.artifact)];
  if ("policy" in key) return [hashText(keyKinds.policy, key.policy)];
  if ("session_id" in key) return [hashText(keyKinds.session, key.session_id)];
  return [hashText(keyKinds.reference, key.refers_to)];
}

/** Returns the keys of a parsed record. A damaged record yields the keys that can be read. */
export function keysOfRecord(record: LogRecord): readonly KeyHash[] {
  return [
    ...orEmpty(() => referencesOf(record).map((id) => hashText(keyKinds.reference, id))),
    ...orEmpty(() => sessionsOf(record as Provenance).map((id) => hashText(keyKinds.session, id))),
    ...orEmpty(() => entityKeys(record)),
    ...orEmpty(() => artifactsOf(record).map((artifact) => hashText(keyKinds.artifact, artifact))),
    ...orEmpty(() => policiesOf(record).map((name) => hashText(keyKinds.policy, name))),
  ];
}

/** Returns the context values that a record read, as far as they can be found. */
export const sourcesOfRecord = (record: LogRecord): readonly string[] =>
  orEmpty(() => inputSourcesOf(record));

function orEmpty<T>(find: () => readonly T[]): readonly T[] {
  try {
    return find();
  } catch {
    return [];
  }
}

const sessionsOf = ({ session_id: id }: Provenance): readonly string[] => (id === undefined ? [] : [id]);

function entityKeys(record: LogRecord): readonly KeyHash[] {
  if (record.kind !== "decision") return [];
  const seed = entitySeed(record.decision_id);
  return entitiesOf(record).map((entity) => hashEntity(entity, seed));
}

const artifactsOf = (record: LogRecord): readonly string[] =>
  record.kind === "decision" ? (record.lineage?.artifacts ?? []) : [];
