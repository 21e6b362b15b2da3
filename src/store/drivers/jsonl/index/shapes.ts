import type { KeyHash } from "./key-hash.js";
import { entitySeed } from "./key-hash.js";
import type { LogRecord, DecisionRecord } from "../../../../model/record.js";
import type { NeighbourTraits } from "../../../../model/store.js";

/** The properties that queries filter by and that many records share. A row stores the number of its shape. */
export interface Shape {
  readonly kind: LogRecord["kind"] | "unreadable";
  readonly decision_id?: string;
  readonly definition_hash?: string;
  readonly labels?: readonly string[];
  readonly type?: string;
  /** The result of the cache lookup, if there was one. */
  readonly cache?: "hit" | "miss";
  /** Of records with entities only, and not of all of them. */
  readonly traits?: NeighbourTraits;
}

/** Callers choose the names of params, so a log may have any number of traits. Others are read from the record. */
const maxShapesWithTraits = 4096;

export interface ShapesState {
  readonly shapes: readonly Shape[];
  readonly counts: readonly number[];
  readonly last: readonly (readonly [string, number])[];
}

const emptyShapes: ShapesState = { shapes: [], counts: [], last: [] };

/** All shapes of a log, with the number of records of each and the last row of each decision. */
export class Shapes {
  readonly list: Shape[];
  readonly counts: number[];
  /** The number of the last row of each decision, plus one. */
  readonly lastRows: Map<string, number>;
  /** The shapes with traits, by the shape without them and the traits as JSON. */
  readonly #withTraits = new Map<string, number>();
  readonly #byText = new Map<string, number>();
  readonly #seeds: KeyHash[] = [];

  constructor({ shapes, counts, last }: ShapesState = emptyShapes) {
    this.list = [...shapes];
    this.counts = [...counts];
    this.lastRows = new Map(last);
    for (const [index, shape] of this.list.entries()) this.#byText.set(JSON.stringify(shape), index);
  }

  get state(): ShapesState {
    return { shapes: this.list, counts: this.counts, last: [...this.lastRows] };
  }

  /** Returns the seed for the entity hashes of a shape's records. */
  entitySeed(shape: number): KeyHash {
    return (this.#seeds[shape] ??= entitySeed(this.list[shape]?.decision_id ?? ""));
  }

  /** Returns the number of a shape with traits, which are given as JSON: the names of params and those of sources. */
  withTraits(shape: number, json: string): number {
    const key = `${shape} ${json}`;
    let found = this.#withTraits.get(key);
    if (found === undefined) {
      found = this.#addTraits(shape, json);
      this.#withTraits.set(key, found);
    }
    return found;
  }

  #addTraits(shape: number, json: string): number {
    const base = this.list[shape];
    if (base === undefined) return shape;
    const [params, sources] = JSON.parse(json) as readonly [readonly string[], readonly string[]];
    const full = { ...base, traits: { sources, params } };
    return this.#byText.has(JSON.stringify(full)) || this.list.length < maxShapesWithTraits
      ? this.add(full)
      : shape;
  }

  /** Returns the number of a shape, and adds it if it is new. */
  add(shape: Shape): number {
    const text = JSON.stringify(shape);
    let index = this.#byText.get(text);
    if (index === undefined) {
      index = this.list.push(shape) - 1;
      this.counts.push(0);
      this.#byText.set(text, index);
    }
    return index;
  }

  /** Counts a row of the shape. Returns the previous row of the same decision, plus one. */
  count(shape: number, row: number): number {
    this.counts[shape] = (this.counts[shape] ?? 0) + 1;
    const id = this.list[shape]?.decision_id;
    if (id === undefined) return 0;
    const before = this.lastRows.get(id) ?? 0;
    this.lastRows.set(id, row + 1);
    return before;
  }
}

/** Returns the shape of a record, or that of an unreadable line. */
export function shapeOf(record: LogRecord | undefined): Shape {
  if (record === undefined) return { kind: "unreadable" };
  return record.kind === "decision" ? decisionShape(record) : { kind: record.kind };
}

function decisionShape({
  decision_id,
  definition_hash,
  selected_labels,
  type,
  cached,
  cache_key,
}: DecisionRecord): Shape {
  const shape = { kind: "decision", decision_id, definition_hash, labels: selected_labels, type } as const;
  return cache_key === undefined ? shape : { ...shape, cache: cached ? "hit" : "miss" };
}

/** Returns undefined if the line is not a record. */
export function parseRecordLine(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
