import type { Tally } from "../model/store.js";

/** Counts how often labels were selected. */
export class TallyBuilder {
  #total = 0;
  readonly #counts = new Map<string, number>();
  readonly #definitions = new Map<string, DefinitionCounts>();

  add(
    definitionHash: string,
    labels: readonly string[],
    { count, distinct }: { count: number; distinct: number },
  ): void {
    this.#total += count;
    let counted = this.#definitions.get(definitionHash);
    if (counted === undefined) {
      counted = { total: 0, distinct: 0, counts: new Map(), distinctCounts: new Map() };
      this.#definitions.set(definitionHash, counted);
    }
    counted.total += count;
    counted.distinct += distinct;
    for (const label of labels) {
      addCount(this.#counts, label, count);
      addCount(counted.counts, label, count);
      addCount(counted.distinctCounts, label, distinct);
    }
  }

  tally(): Tally {
    const definitions = [...this.#definitions].map(([hash, { total, distinct, counts, distinctCounts }]) => [
      hash,
      {
        total,
        counts: Object.fromEntries(counts),
        distinct_inputs: distinct,
        distinct_counts: Object.fromEntries(distinctCounts),
      },
    ]);
    return {
      total: this.#total,
      counts: Object.fromEntries(this.#counts),
      definitions: Object.fromEntries(definitions) as Tally["definitions"],
    };
  }
}

interface DefinitionCounts {
  total: number;
  distinct: number;
  readonly counts: Map<string, number>;
  readonly distinctCounts: Map<string, number>;
}

function addCount(counts: Map<string, number>, label: string, by: number): void {
  counts.set(label, (counts.get(label) ?? 0) + by);
}
