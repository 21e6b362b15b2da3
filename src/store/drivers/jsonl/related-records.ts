import { hashEntity, entitySeed } from "./index/key-hash.js";
import type { LogIndex } from "./index/log-index.js";
import type { LineLocation } from "./index/matching-rows.js";
import { relatedRows, RowsWithKeys, locateLine } from "./index/matching-rows.js";
import type { LiveIndex } from "./index/open-index.js";
import type { LineReader } from "./line-reader.js";
import { wrapReadErrors } from "./store-errors.js";
import type { Entity } from "../../../model/lineage.js";
import type { LogRecord } from "../../../model/record.js";
import type { LogLine, Neighbour, RecordKey, RelatedRange, NeighbourBounds } from "../../../model/store.js";
import { matchesKey, isInRelatedRange } from "../../../record/record-keys.js";

/** Finds the records that have to do with something, in a log that is asked again and again. */
export class RelatedRecords {
  readonly #log: string;
  readonly #living: LiveIndex;
  readonly #lines: LineReader;

  constructor(log: string, living: LiveIndex, lines: LineReader) {
    this.#log = log;
    this.#living = living;
    this.#lines = lines;
  }

  /** Newest first. What the index says is only a hint: the records themselves are asked. */
  // eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
  async *related(key: RecordKey, range: RelatedRange): AsyncGenerator<LogLine> {
    const { limit = Infinity } = range;
    if (limit <= 0) return;
    const index = wrapReadErrors(this.#log, () => this.#living.acquire());
    try {
      let taken = 0;
      for (const place of candidateLocations(index, key, range)) {
        const line = this.#lines.readUnverified(place);
        if (line === undefined || !matchesKey(line.record, key) || !isInRelatedRange(line.record, range))
          continue;
        yield line;
        if (++taken >= limit) return;
      }
    } finally {
      this.#living.release(index);
    }
  }

  neighbours(asked: NeighbourQuery): Promise<readonly Neighbour[]> {
    return new Promise((resolve) => resolve(this.#neighbours(asked)));
  }

  #neighbours(asked: NeighbourQuery): readonly Neighbour[] {
    const index = wrapReadErrors(this.#log, () => this.#living.acquire());
    try {
      return findNeighbours(index, this.#lines, asked);
    } finally {
      this.#living.release(index);
    }
  }
}

/** Where the records are that may be meant, as far as the index can tell. */
function* candidateLocations(index: LogIndex, key: RecordKey, range: RelatedRange): Generator<LineLocation> {
  const { since = -Infinity, until = Infinity, label } = range;
  for (const number of relatedRows(index, key)) {
    const { rows, row } = index.rows.at(number);
    const time = rows.time(row);
    if (time < since || time > until) continue;
    if (label !== undefined && index.shapes.list[rows.shape(row)]?.labels?.includes(label) !== true) continue;
    yield locateLine(index, rows, row, number);
  }
}

interface NeighbourQuery {
  readonly decisionId: string;
  readonly entities: readonly Entity[];
  readonly most: number;
  readonly bounds: NeighbourBounds;
}

/** The newest records of a decision that share an entity, without reading one of them. */
function findNeighbours(
  index: LogIndex,
  lines: LineReader,
  { decisionId, entities, most, bounds: { before = Infinity, isHopeless, isEnough } }: NeighbourQuery,
): readonly Neighbour[] {
  const seed = entitySeed(decisionId);
  const { postings, shapes, count } = index;
  const candidates = new RowsWithKeys(
    postings,
    entities.map((entity) => hashEntity(entity, seed)),
  );
  const found: Neighbour[] = [];
  let looked = 0;
  while (looked < most && candidates.next()) {
    const { row: number, entry, shared } = candidates;
    if (number >= count || (!index.hasGaps && index.first + number >= before)) continue;
    const entitiesThere = postings.entityCount(entry);
    if (!index.hasGaps && isHopeless?.(shared, entitiesThere)) {
      looked++;
      continue;
    }
    const { rows, row } = index.rows.at(number);
    const readNow = (): LogRecord | undefined =>
      lines.readUnverified(locateLine(index, rows, row, number))?.record;
    const read = (): Promise<LogRecord | undefined> => Promise.resolve(readNow());
    // In a damaged log a record need not stand where its number says.
    const seq = index.hasGaps ? readNow()?.seq : index.first + number;
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
