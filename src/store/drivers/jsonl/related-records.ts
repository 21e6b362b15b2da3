import { entityKeys } from "./index/key-hash.js";
import type { LogIndex } from "./index/log-index.js";
import type { LineLocation } from "./index/matching-rows.js";
import { relatedRows, RowsWithKeys, locateLine } from "./index/matching-rows.js";
import type { LiveIndex } from "./index/open-index.js";
import { DamagedIndexError } from "./index/page-sum.js";
import type { LineReader } from "./line-reader.js";
import { throwReadError } from "./store-errors.js";
import type { Entity } from "../../../model/lineage.js";
import type { LogRecord } from "../../../model/record.js";
import type {
  LogLine,
  Neighbour,
  NeighbourBounds,
  NeighbourSubject,
  RecordKey,
  RelatedRange,
} from "../../../model/store.js";
import { matchesKey, isInRelatedRange } from "../../../record/record-keys.js";

interface RelatedOptions {
  readonly liveIndex: LiveIndex;
  readonly lines: LineReader;
  /** Reports damage of the log before it is read. */
  readonly inspect: () => Promise<void>;
}

/** Finds records by entity, artifact, policy, session or reference, with an index that stays open between queries. */
export class RelatedRecords {
  readonly #log: string;
  readonly #options: RelatedOptions;

  constructor(log: string, options: RelatedOptions) {
    this.#log = log;
    this.#options = options;
  }

  /** Returns the newest records first. The index gives candidates (hashes can collide), so each record is checked. */
  async *related(key: RecordKey, range: RelatedRange): AsyncGenerator<LogLine> {
    const { limit = Infinity } = range;
    if (limit <= 0) return;
    const { lines, inspect } = this.#options;
    await inspect();
    let taken = 0;
    let last = Infinity;
    for (const isRetry of [false, true]) {
      const index = await this.#acquire();
      try {
        for (const location of candidateLocations(index, key, range)) {
          const line = lines.read(location);
          if (line === undefined || !matchesKey(line.record, key) || !isInRelatedRange(line.record, range))
            continue;
          // Only after a damaged index: the lines that were returned before the damage was found.
          if (isRetry && line.record.seq >= last) continue;
          last = line.record.seq;
          yield line;
          if (++taken >= limit) return;
        }
        return;
      } catch (error) {
        await this.#rebuildIfDamaged(error, index, isRetry);
      } finally {
        this.#options.liveIndex.release(index);
      }
    }
  }

  async neighbours(query: NeighbourQuery): Promise<readonly Neighbour[]> {
    await this.#options.inspect();
    for (const isRetry of [false, true]) {
      const index = await this.#acquire();
      try {
        return findNeighbours(index, this.#options.lines, query);
      } catch (error) {
        await this.#rebuildIfDamaged(error, index, isRetry);
      } finally {
        this.#options.liveIndex.release(index);
      }
    }
    return [];
  }

  #acquire(): Promise<LogIndex> {
    return this.#options.liveIndex.acquire().catch(throwReadError(this.#log));
  }

  async #rebuildIfDamaged(error: unknown, index: LogIndex, isRetry: boolean): Promise<void> {
    if (isRetry || !(error instanceof DamagedIndexError)) throwReadError(this.#log)(error);
    await this.#options.liveIndex.rebuild(index).catch(throwReadError(this.#log));
  }
}

/** Yields the locations of records that may match, according to the index. */
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
  readonly subject: NeighbourSubject;
  readonly entities: readonly Entity[];
  readonly most: number;
  readonly bounds: NeighbourBounds;
}

/** Finds the newest records of a decision and tool that share an entity, from the index alone. */
function findNeighbours(
  index: LogIndex,
  lines: LineReader,
  { subject, entities, most, bounds: { before = Infinity, cannotMatch, stopAfter } }: NeighbourQuery,
): readonly Neighbour[] {
  const { postings, shapes, count } = index;
  const candidates = new RowsWithKeys(postings, entityKeys(subject, entities));
  const found: Neighbour[] = [];
  let examined = 0;
  while (examined < most && candidates.next()) {
    const { row: number, entry, shared } = candidates;
    if (number >= count || (!index.hasGaps && index.first + number >= before)) continue;
    const entityCount = postings.entityCount(entry);
    if (!index.hasGaps && cannotMatch?.(shared, entityCount)) {
      examined++;
      continue;
    }
    const { rows, row } = index.rows.at(number);
    const { labels = [], traits, type } = shapes.list[rows.shape(row)] ?? {};
    // The decision had another type before.
    if (subject.tool === undefined && type === "policy") continue;
    const readNow = (): LogRecord | undefined => lines.read(locateLine(index, rows, row, number))?.record;
    const read = (): Promise<LogRecord | undefined> => Promise.resolve(readNow());
    // In a damaged log the row number does not determine the sequence number.
    const seq = index.hasGaps ? readNow()?.seq : index.first + number;
    if (seq === undefined || seq >= before) continue;
    examined++;
    const neighbour = { seq, shared, entities: entityCount, traits, labels, read };
    found.push(neighbour);
    if (stopAfter?.(neighbour)) break;
  }
  return found;
}
