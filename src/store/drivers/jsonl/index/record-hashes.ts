import type { LogRecord, Provenance } from "../../../../model/record.js";
import { entitiesOf, policiesOf, referencesOf, sourcesOf } from "../../../../record/record-keys.js";
import type { KeyHash } from "./key-hash.js";
import { hashEntity, hashText, kinds, seedOf } from "./key-hash.js";

/** All that a record is looked up by; of a damaged one, as much as can be found. */
export function keysOf(record: LogRecord): readonly KeyHash[] {
  return [
    ...orNone(() => referencesOf(record).map((id) => hashText(kinds.reference, id))),
    ...orNone(() => sessionsOf(record as Provenance).map((id) => hashText(kinds.session, id))),
    ...orNone(() => entityKeys(record)),
    ...orNone(() => artifactsOf(record).map((artifact) => hashText(kinds.artifact, artifact))),
    ...orNone(() => policiesOf(record).map((name) => hashText(kinds.policy, name))),
  ];
}

/** What a record read of its context, as far as that can be found. */
export const sourcesIn = (record: LogRecord): readonly string[] => orNone(() => sourcesOf(record));

function orNone<T>(find: () => readonly T[]): readonly T[] {
  try {
    return find();
  } catch {
    return [];
  }
}

const sessionsOf = ({ session_id: id }: Provenance): readonly string[] => (id === undefined ? [] : [id]);

function entityKeys(record: LogRecord): readonly KeyHash[] {
  if (record.kind !== "decision") return [];
  const seed = seedOf(record.decision_id);
  return entitiesOf(record).map((entity) => hashEntity(entity, seed));
}

const artifactsOf = (record: LogRecord): readonly string[] =>
  record.kind === "decision" ? (record.lineage?.artifacts ?? []) : [];
