import type { Entity } from "../../../../model/lineage.js";
import type { LogRecord } from "../../../../model/record.js";
import type { Neighbour, NeighbourBounds } from "../../../../model/store.js";
import type { LineFiles } from "../line-files.js";
import { hashEntity, seedOf } from "./key-hash.js";
import type { LogIndex } from "./log-index.js";
import { RowsWith } from "./related-rows.js";
import { placeOf } from "./row-order.js";

export interface NeighboursAsked {
  readonly decisionId: string;
  readonly entities: readonly Entity[];
  readonly most: number;
  readonly bounds: NeighbourBounds;
}

/** The newest records of a decision that share an entity, without reading one of them. */
export function neighboursOf(
  index: LogIndex,
  lines: LineFiles,
  { decisionId, entities, most, bounds: { before = Infinity, isHopeless, isEnough } }: NeighboursAsked,
): readonly Neighbour[] {
  const seed = seedOf(decisionId);
  const { postings, shapes, count } = index;
  const candidates = new RowsWith(
    postings,
    entities.map((entity) => hashEntity(entity, seed)),
  );
  const found: Neighbour[] = [];
  let looked = 0;
  while (looked < most && candidates.next()) {
    const { row: number, entry, shared } = candidates;
    if (number >= count || (!index.gaps && index.first + number >= before)) continue;
    const entitiesThere = postings.entitiesBeside(entry);
    if (!index.gaps && isHopeless?.(shared, entitiesThere)) {
      looked++;
      continue;
    }
    const { rows, row } = index.rows.at(number);
    const readNow = (): LogRecord | undefined =>
      lines.readUnproven(placeOf(index, rows, row, number))?.record;
    const read = (): Promise<LogRecord | undefined> => Promise.resolve(readNow());
    // In a damaged log a record need not stand where its number says.
    const seq = index.gaps ? readNow()?.seq : index.first + number;
    if (seq === undefined || seq >= before) continue;
    looked++;
    const shape = rows.shape(row);
    const labels = shapes.list[shape]?.labels ?? [];
    const sources = shapes.sourcesOf(shape);
    const neighbour = { seq, shared, entities: entitiesThere, sources, labels, read };
    found.push(neighbour);
    if (isEnough?.(neighbour)) break;
  }
  return found;
}
