import { describe, expect, it } from "vitest";
import { findNearestChange } from "../../src/analysis/nearest-change.js";
import type { TrialAnswer } from "../../src/analysis/trial.js";
import { Trial } from "../../src/analysis/trial.js";
import { labelsOf, casesOf } from "../../src/definition/branches.js";
import { equal, isObject } from "../../src/expression/equal.js";
import type { Definition } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import { randomCase, randomOtherPair } from "../analysis/random-definitions.js";
import { Random } from "../hostile/fuzz/random.js";
import { isThorough } from "../thoroughness.js";

const seeds = (thorough: number, quick: number): readonly number[] =>
  Array.from({ length: isThorough ? thorough : quick }, (_, index) => index);

/** Counts the values of a context that differ from those of another one. */
function countChanges(before: Json | undefined, after: Json | undefined): number {
  if (before === undefined || after === undefined) return before === after ? 0 : 1;
  if (!isObject(before) || !isObject(after)) return equal(before, after) ? 0 : 1;
  const keys = new Set([...Object.keys(before), ...Object.keys(after)]);
  return [...keys].reduce((sum, key) => sum + countChanges(before[key], after[key]), 0);
}

const labelsIn = ({ evaluated }: TrialAnswer): readonly string[] => evaluated?.selected_labels ?? [];

interface Search {
  readonly definition: Definition;
  readonly contexts: readonly JsonObject[];
  readonly labels: readonly string[];
}

/** Compares the changes that are found for some contexts with those of all contexts. */
function compareWithAll({ definition, contexts, labels }: Search, seed: number): void {
  const trial = new Trial(definition);
  const random = new Random(seed);
  const isNested = contexts.some((context) => Object.hasOwn(context, "o"));
  const selected = contexts.map((context) => labelsIn(trial.run(context)));
  for (const label of labels) {
    const selecting = contexts.filter((_, index) => selected[index]?.includes(label));
    for (let count = 0; count < 4; count++) {
      const at = random.below(contexts.length);
      const context = contexts[at] ?? {};
      if (selected[at]?.includes(label)) continue;
      const selects = (changed: JsonObject): boolean => labelsIn(trial.run(changed)).includes(label);
      const found = findNearestChange({ definition, context, label, selects });
      const fewest = Math.min(...selecting.map((each) => countChanges(context, each)));
      const shown = JSON.stringify({ definition, context, label, found, fewest }, null, 1);
      if ("because" in found) {
        expect(found.because, shown).not.toBe("limit");
        expect(selecting.length, shown).toBe(0);
        continue;
      }
      expect(selects(found.context), shown).toBe(true);
      expect(found.isSmallest, shown).toBe(true);
      expect(found.paths.length, shown).toBeGreaterThan(0);
      expect(found.paths.length, shown).toBeLessThanOrEqual(fewest);
      // An object may be replaced as a whole, which changes one path and several values.
      if (!isNested) expect(found.paths.length, shown).toBe(fewest);
    }
  }
}

describe("the smallest change, against every context", () => {
  it.each(seeds(2000, 50))("routing %i", (seed) => {
    const { definition, contexts } = randomCase(seed);
    const labels = [...labelsOf(casesOf(definition).map(({ each }) => each)), "default"];
    compareWithAll({ definition, contexts, labels }, seed);
  });

  it.each(seeds(1000, 30))("others %i", (seed) => {
    const { definition, contexts } = randomOtherPair(seed);
    const labels =
      {
        gate: ["GREEN", "GREEN-SKIP", "YELLOW", "RED"],
        scored: ["yes", "no", "hold"],
        policy: ["allowed", "denied", "allowed_by_exception"],
        rule_table: ["l0", "l1", "l2", "default"],
      }[definition.type as string] ?? [];
    compareWithAll({ definition, contexts, labels }, seed);
  });
});
