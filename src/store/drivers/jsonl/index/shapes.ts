import type { KeyHash } from "./key-hash.js";
import { entitySeed } from "./key-hash.js";
import type { LogRecord, DecisionRecord } from "../../../../model/record.js";

/** What many records have in common, and is asked for. */
export interface Shape {
  readonly kind: LogRecord["kind"] | "unreadable";
  readonly decision_id?: string;
  readonly definition_hash?: string;
  readonly labels?: readonly string[];
  readonly type?: string;
  /** What the cache had to say, where it was asked. */
  readonly cache?: "hit" | "miss";
}

export interface ShapesState {
  readonly shapes: readonly Shape[];
  readonly counts: readonly number[];
  readonly last: readonly (readonly [string, number])[];
  readonly sources: readonly (readonly [string, readonly string[]])[];
}

const emptyShapes: ShapesState = { shapes: [], counts: [], last: [], sources: [] };

/** The shapes that were seen, with how many records have each and where each decision was last. */
export class Shapes {
  readonly list: Shape[];
  readonly counts: number[];
  /** By decision: the number of its last row, plus one. */
  readonly lastRows: Map<string, number>;
  /** By definition: what its decisions read of their context. */
  readonly #sources: Map<string, readonly string[]>;
  readonly #byText = new Map<string, number>();
  readonly #seeds: KeyHash[] = [];

  constructor({ shapes, counts, last, sources }: ShapesState = emptyShapes) {
    this.list = [...shapes];
    this.counts = [...counts];
    this.lastRows = new Map(last);
    this.#sources = new Map(sources);
    for (const [index, shape] of this.list.entries()) this.#byText.set(JSON.stringify(shape), index);
  }

  get state(): ShapesState {
    return { shapes: this.list, counts: this.counts, last: [...this.lastRows], sources: [...this.#sources] };
  }

  /** What the hashes of the entities of its records begin with. */
  entitySeed(shape: number): KeyHash {
    return (this.#seeds[shape] ??= entitySeed(this.list[shape]?.decision_id ?? ""));
  }

  /** What records of a shape that have entities read of their context: the same for all of one definition. */
  sourcesOf(shape: number): readonly string[] {
    return this.#sources.get(this.list[shape]?.definition_hash ?? "") ?? [];
  }

  addSources(shape: number, find: () => readonly string[]): void {
    const hash = this.list[shape]?.definition_hash ?? "";
    if (!this.#sources.has(hash)) this.#sources.set(hash, find());
  }

  /** The number of a shape. */
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

  /** Counts a row of the shape; gives the row before it of the same decision, plus one. */
  count(shape: number, row: number): number {
    this.counts[shape] = (this.counts[shape] ?? 0) + 1;
    const id = this.list[shape]?.decision_id;
    if (id === undefined) return 0;
    const before = this.lastRows.get(id) ?? 0;
    this.lastRows.set(id, row + 1);
    return before;
  }
}

/** The shape of a record; of what is none, too. */
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

/** Undefined where the line is no record. */
export function parseRecordLine(text: string): LogRecord | undefined {
  try {
    const record = JSON.parse(text) as LogRecord | null;
    return typeof record === "object" && typeof record?.kind === "string" ? record : undefined;
  } catch {
    return undefined;
  }
}
