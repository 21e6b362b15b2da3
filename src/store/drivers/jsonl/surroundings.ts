import type { LogLine, Neighbour, RecordKey, RelatedRange } from "../../../model/store.js";
import { hasKey, isWithin } from "../../../record/record-keys.js";
import { reading } from "./damage.js";
import type { LivingIndex } from "./index/living-index.js";
import type { LogIndex } from "./index/log-index.js";
import type { NeighboursAsked } from "./index/neighbours.js";
import { neighboursOf } from "./index/neighbours.js";
import { relatedRows } from "./index/related-rows.js";
import type { Place } from "./index/row-order.js";
import { placeOf } from "./index/row-order.js";
import type { LineFiles } from "./line-files.js";

/** Finds the records that have to do with something, in a log that is asked again and again. */
export class Surroundings {
  readonly #log: string;
  readonly #living: LivingIndex;
  readonly #lines: LineFiles;

  constructor(log: string, living: LivingIndex, lines: LineFiles) {
    this.#log = log;
    this.#living = living;
    this.#lines = lines;
  }

  /** Newest first. What the index says is only a hint: the records themselves are asked. */
  // eslint-disable-next-line @typescript-eslint/require-await -- other drivers do wait
  async *related(key: RecordKey, range: RelatedRange): AsyncGenerator<LogLine> {
    const { limit = Infinity } = range;
    if (limit <= 0) return;
    const index = reading(this.#log, () => this.#living.take());
    try {
      let taken = 0;
      for (const place of placesOf(index, key, range)) {
        const line = this.#lines.readUnproven(place);
        if (line === undefined || !hasKey(line.record, key) || !isWithin(line.record, range)) continue;
        yield line;
        if (++taken >= limit) return;
      }
    } finally {
      this.#living.giveBack(index);
    }
  }

  neighbours(asked: NeighboursAsked): Promise<readonly Neighbour[]> {
    return new Promise((resolve) => resolve(this.#neighbours(asked)));
  }

  #neighbours(asked: NeighboursAsked): readonly Neighbour[] {
    const index = reading(this.#log, () => this.#living.take());
    try {
      return neighboursOf(index, this.#lines, asked);
    } finally {
      this.#living.giveBack(index);
    }
  }
}

/** Where the records are that may be meant, as far as the index can tell. */
function* placesOf(index: LogIndex, key: RecordKey, range: RelatedRange): Generator<Place> {
  const { since = -Infinity, until = Infinity, label } = range;
  for (const number of relatedRows(index, key)) {
    const { rows, row } = index.rows.at(number);
    const time = rows.time(row);
    if (time < since || time > until) continue;
    if (label !== undefined && index.shapes.list[rows.shape(row)]?.labels?.includes(label) !== true) continue;
    yield placeOf(index, rows, row, number);
  }
}
