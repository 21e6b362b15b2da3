import { isVisibleTo } from "../definition/organisation.js";
import type { Entity } from "../model/lineage.js";
import type { LogRecord } from "../model/record.js";
import type { Ledger, Neighbour, NeighbourBounds, NeighbourSubject } from "../model/store.js";
import type { MaySee } from "./find-records.js";
import { orgOfCaller } from "./record-keys.js";
import type { Records } from "./records.js";
import { findStoredDefinition } from "./stored-definition.js";
import { isWellFormedRecord } from "./well-formed.js";

/** Returns a function that checks whether a caller of this organisation may see a record; undefined: it may see all. */
export function recordVisibility(org: string | undefined, records: Records): MaySee | undefined {
  if (org === undefined) return undefined;
  const gateOrgs = new Map<string, Promise<string>>();
  const orgOfGate = (hash: string): Promise<string> => {
    const found = gateOrgs.get(hash) ?? findOrgOfGate(hash, records);
    gateOrgs.set(hash, found);
    return found;
  };
  return async (record) => isVisibleTo(org, await orgOfRecord(record, records, orgOfGate));
}

/** Matches the organisation of no caller. */
const noOrg = "";

/**
 * Returns the organisation of a record: of a gate from the definition it was made with, of other decisions from the
 * caller, of a tool result or an assessment from its session. Undefined: it belongs to no organisation. Only callers
 * without an organisation see notes about the whole log, damaged records, results that no decision allowed, and
 * assessments of sessions without one, whose decisions may belong to any.
 */
async function orgOfRecord(
  record: LogRecord,
  records: Records,
  orgOfGate: (hash: string) => Promise<string>,
): Promise<string | undefined> {
  if (!isWellFormedRecord(record)) return noOrg;
  switch (record.kind) {
    case "decision":
      return record.type === "gate" ? orgOfGate(record.definition_hash) : orgOfCaller(record);
    case "tool_result": {
      if (record.org_id !== undefined) return record.org_id;
      const call = await findById(record.parent_record_id, records);
      return call?.kind === "decision" ? orgOfRecord(call, records, orgOfGate) : noOrg;
    }
    case "assessment":
      return record.org_id ?? noOrg;
    case "note":
      return noOrg;
  }
}

async function findOrgOfGate(hash: string, { store }: Records): Promise<string> {
  const definition = await findStoredDefinition(hash, store);
  return definition?.type === "gate" ? definition.action.org : noOrg;
}

/** Finds a record by its complete id. */
export async function findById(id: string | undefined, { log }: Records): Promise<LogRecord | undefined> {
  if (id === undefined) return undefined;
  const found = await log.find({ beginning: id });
  return "record" in found && found.record.record_id === id ? found.record : undefined;
}

export interface NeighbourQuery extends NeighbourBounds {
  readonly subject: NeighbourSubject;
  readonly entities: readonly Entity[];
  readonly most: number;
}

/** Records are read to know whose they are, so this many are examined: 10,000 in all. */
const pageSize = 200;
const maxPages = 50;

/** Returns the newest neighbours that a caller may see: those of others do not count towards `most`. */
export async function visibleNeighbours(
  log: Pick<Ledger, "neighbours">,
  { subject, entities, most, cannotMatch, stopAfter, before = Infinity }: NeighbourQuery,
  maySee: MaySee,
): Promise<readonly Neighbour[]> {
  const found: Neighbour[] = [];
  let end = before;
  for (let page = 0; page < maxPages; page++) {
    const neighbours = await log.neighbours(subject, entities, pageSize, { before: end });
    for (const neighbour of neighbours) {
      if (found.length >= most) return found;
      end = neighbour.seq;
      if (cannotMatch?.(neighbour.shared, neighbour.entities)) continue;
      const record = await neighbour.read();
      if (record === undefined || !(await maySee(record))) continue;
      found.push(neighbour);
      if (stopAfter?.(neighbour)) return found;
    }
    if (neighbours.length < pageSize) break;
  }
  return found;
}
