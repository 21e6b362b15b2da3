import type { Entity } from "../../../../model/lineage.js";
import type { LogRecord, Provenance } from "../../../../model/record.js";
import type { NeighbourSubject, RecordKey } from "../../../../model/store.js";
import { entitiesOf, policiesOf, referencesOf, toolOf } from "../../../../record/record-keys.js";

/**
 * The 64-bit hash of a key by which records are found. The lowest three bits of `high` are the kind of the key; the
 * five bits above them are free for a count (see `packCount`).
 */
export interface KeyHash {
  readonly low: number;
  /** Never 0. */
  readonly high: number;
}

/** An entity of a tool call has two keys: `entity` finds it by its decision, `tool_entity` by decision and tool. */
export const keyKinds = {
  entity: 1,
  artifact: 2,
  policy: 3,
  session: 4,
  reference: 5,
  tool_entity: 6,
} as const;

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

/** Hashes the tool in its JSON form. */
export const toolSeed = (seed: KeyHash, line: Uint8Array, from = 0, to = line.length): KeyHash =>
  hashBytes(keyKinds.tool_entity, line, from, to, seed);

/** Hashes an entity in the form that a line has between `{"type":` and the closing brace. */
function hashEntity(kind: KeyKind, { type, id }: Entity, seed: KeyHash): KeyHash {
  const bytes = Buffer.from(`${JSON.stringify(type)},"id":${JSON.stringify(id)}`);
  return hashBytes(kind, bytes, 0, bytes.length, seed);
}

/** Returns the keys by which the entities of a decision, and of its tool, are found. */
export function entityKeys(
  { decision_id, tool }: NeighbourSubject,
  entities: readonly Entity[],
): readonly KeyHash[] {
  const seed = entitySeed(decision_id);
  if (tool === undefined) return entities.map((each) => hashEntity(keyKinds.entity, each, seed));
  const seedOfTool = toolSeed(seed, Buffer.from(JSON.stringify(tool)));
  return entities.map((each) => hashEntity(keyKinds.tool_entity, each, seedOfTool));
}

/** Returns the hashes that a key can have, given the existing decisions. */
export function hashesForKey(key: RecordKey, decisionIds: Iterable<string>): readonly KeyHash[] {
  if ("entity" in key)
    return Array.from(decisionIds).flatMap((decision_id) => entityKeys({ decision_id }, [key.entity]));
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
    ...orEmpty(() => entityKeysOf(record)),
    ...orEmpty(() => artifactsOf(record).map((artifact) => hashText(keyKinds.artifact, artifact))),
    ...orEmpty(() => policiesOf(record).map((name) => hashText(keyKinds.policy, name))),
  ];
}

function orEmpty<T>(find: () => readonly T[]): readonly T[] {
  try {
    return find();
  } catch {
    return [];
  }
}

const sessionsOf = ({ session_id: id }: Provenance): readonly string[] => (id === undefined ? [] : [id]);

function entityKeysOf(record: LogRecord): readonly KeyHash[] {
  if (record.kind !== "decision") return [];
  const { decision_id } = record;
  const tool = toolOf(record);
  return entitiesOf(record).flatMap((entity) => [
    ...entityKeys({ decision_id }, [entity]),
    ...(tool === undefined ? [] : entityKeys({ decision_id, tool }, [entity])),
  ]);
}

const artifactsOf = (record: LogRecord): readonly string[] =>
  record.kind === "decision" ? (record.lineage?.artifacts ?? []) : [];
