import type { Entity } from "../../../../model/lineage.js";
import type { LogLine, Neighbour } from "../../../../model/store.js";
import type { LineFiles } from "../line-files.js";
import { hashEntity, seedOf } from "./key-hash.js";
import type { LogIndex } from "./log-index.js";
import { rowsWith } from "./related-rows.js";
import type { Place } from "./row-order.js";
import { placeOf } from "./row-order.js";

export interface NeighboursAsked {
  readonly decisionId: string;
  readonly entities: readonly Entity[];
  readonly most: number;
}

/** The newest records of a decision that share an entity, without reading one of them. */
export function neighboursOf(
  index: LogIndex,
  lines: LineFiles,
  { decisionId, entities, most }: NeighboursAsked,
): readonly Neighbour[] {
  const found: Neighbour[] = [];
  if (most <= 0) return found;
  const seed = seedOf(decisionId);
  const hashes = entities.map((entity) => hashEntity(entity, seed));
  for (const { row: number, entry, shared } of rowsWith(index, hashes)) {
    const { rows, row } = index.rows.at(number);
    const shape = index.shapes.list[rows.shape(row)];
    const place = placeOf(index, rows, row, number);
    const seq = index.gaps ? lines.read(place)?.record.seq : index.first + number;
    if (seq === undefined || shape === undefined) continue;
    const about = {
      shared,
      entities: index.postings.entitiesBeside(entry),
      sources: index.shapes.sourcesOf(shape),
      labels: shape.labels ?? [],
    };
    if (found.push(new Found(seq, about, place, lines)) >= most) break;
  }
  return found;
}

class Found implements Neighbour {
  readonly seq: number;
  readonly shared: number;
  readonly entities: number;
  readonly sources: readonly string[];
  readonly labels: readonly string[];
  readonly #place: Place;
  readonly #lines: LineFiles;

  constructor(
    seq: number,
    about: Pick<Neighbour, "shared" | "entities" | "sources" | "labels">,
    place: Place,
    lines: LineFiles,
  ) {
    this.seq = seq;
    this.shared = about.shared;
    this.entities = about.entities;
    this.sources = about.sources;
    this.labels = about.labels;
    this.#place = place;
    this.#lines = lines;
  }

  read(): Promise<LogLine | undefined> {
    return Promise.resolve(this.#lines.read(this.#place));
  }
}
