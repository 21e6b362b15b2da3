import type { Box } from "./box.js";
import { everything } from "./box.js";
import type { OwnedBox } from "./cover-index.js";
import { BoxIndex, CoveredCells } from "./cover-index.js";
import type { Domains } from "./cover.js";
import { domainsOf, findUncovered, isVoid } from "./cover.js";
import type { WorkLimit } from "./formula.js";
import type { Space } from "./space.js";

/** A rule that never decides, because earlier ones always do. */
export interface MaskedRule {
  readonly rule: number;
  /** The rules that together match whenever it does: one of them if that is enough. */
  readonly by: readonly number[];
  /** A part of its region; where possible, one of `by` decides there. */
  readonly part: Domains;
}

export interface MaskingOptions {
  readonly space: Space;
  readonly limit: WorkLimit;
  /** Regions in which the decision ends before the rule at a position can decide. */
  readonly without: (position: number) => readonly Box[];
}

/**
 * Finds the rules that never decide: each input that they match is matched by an earlier one. `regions` are the regions
 * of the rules, in the order in which they decide; rules without a region are left out.
 */
export function findMasked(
  regions: readonly (readonly Box[])[],
  options: MaskingOptions,
): readonly MaskedRule[] {
  const { space } = options;
  const earlier = new EarlierRules(regions.length, options);
  const masked: MaskedRule[] = [];
  for (const [rule, boxes] of regions.entries()) {
    if (boxes.length === 0) continue;
    if (boxes.some((box) => earlier.uncovered(box, rule) !== undefined)) {
      earlier.add(rule, boxes);
      continue;
    }
    const masking = { rule, boxes, candidates: earlier.ownersMeeting(boxes), regions, options };
    const by = coveringRules(masking);
    masked.push({ rule, by, part: decidingPart(by, masking) ?? domainsOf(boxes[0] ?? everything, space) });
  }
  return masked;
}

/** The regions of earlier rules, so that a later one is compared only with those that it meets. */
class EarlierRules {
  readonly #options: MaskingOptions;
  readonly #index: BoxIndex;
  readonly #covered = new Map<number, CoveredCells>();
  /** The first rule that always matches. */
  #always: number | undefined;

  constructor(count: number, options: MaskingOptions) {
    this.#options = options;
    this.#index = new BoxIndex(options.space, options.limit, count);
  }

  add(rule: number, boxes: readonly Box[]): void {
    for (const box of boxes) {
      const [dimension] = box.dimensions;
      if (dimension === undefined) this.#always ??= rule;
      else if (box.dimensions.length === 1) this.#cellsOf(dimension).cover(box.sets[0] ?? [], rule);
      else this.#index.add(rule, box);
    }
  }

  #cellsOf(dimension: number): CoveredCells {
    const size = this.#options.space.dimensions[dimension]?.size ?? 0;
    const cells = this.#covered.get(dimension) ?? new CoveredCells(size);
    this.#covered.set(dimension, cells);
    return cells;
  }

  /** Returns a part of a box in which no earlier rule matches, so that the rule at a position decides. */
  uncovered(box: Box, position: number): Domains | undefined {
    if (this.#always !== undefined) return undefined;
    const { space, limit, without } = this.#options;
    const domains = domainsOf(box, space).map((set, dimension) => {
      const covered = this.#covered.get(dimension);
      return covered === undefined ? set : covered.uncovered(set, limit);
    });
    if (isVoid(domains)) return undefined;
    const meeting = this.#index.meeting(box).map((each: OwnedBox) => each.box);
    return findUncovered(domains, [...meeting, ...space.impossible, ...without(position)], limit);
  }

  ownersMeeting(boxes: readonly Box[]): readonly number[] {
    const { space, limit } = this.#options;
    const owners = new Set<number>(this.#always === undefined ? [] : [this.#always]);
    for (const box of boxes) {
      const domains = domainsOf(box, space);
      for (const [dimension, cells] of this.#covered)
        for (const owner of cells.owners(domains[dimension] ?? [], limit)) owners.add(owner);
      for (const { owner } of this.#index.meeting(box)) owners.add(owner);
    }
    return [...owners].sort((a, b) => a - b);
  }
}

/** A masked rule, and the earlier rules that meet its region. */
interface Masking {
  readonly rule: number;
  readonly boxes: readonly Box[];
  readonly candidates: readonly number[];
  readonly regions: readonly (readonly Box[])[];
  readonly options: MaskingOptions;
}

/** With more candidates than this, the covering rules are not reduced to those that are needed. */
const maxReduced = 40;

/** Returns one rule that covers the boxes and decides somewhere in them, or a few that do so together. */
function coveringRules(masking: Masking): readonly number[] {
  const { boxes, candidates, regions } = masking;
  const covers = (rules: readonly number[]): boolean => {
    const covering = rules.flatMap((rule) => regions[rule] ?? []);
    return boxes.every((box) => uncoveredPart(box, covering, masking) === undefined);
  };
  for (const rule of candidates.slice(0, maxReduced)) {
    if (covers([rule]) && decidingPart([rule], masking) !== undefined) return [rule];
  }
  if (candidates.length > maxReduced) return candidates;
  return candidates.reduceRight<readonly number[]>((needed, rule) => {
    const others = needed.filter((each) => each !== rule);
    return covers(others) ? others : needed;
  }, candidates);
}

function uncoveredPart(
  box: Box,
  covering: readonly Box[],
  { rule, options: { space, limit, without } }: Masking,
): Domains | undefined {
  return findUncovered(domainsOf(box, space), [...covering, ...space.impossible, ...without(rule)], limit);
}

/** Returns a part of the region of a masked rule in which one of some other rules decides. */
function decidingPart(by: readonly number[], masking: Masking): Domains | undefined {
  const { boxes, candidates, regions } = masking;
  const last = by.at(-1) ?? 0;
  const others = candidates.flatMap((rule) =>
    rule < last && !by.includes(rule) ? (regions[rule] ?? []) : [],
  );
  for (const box of boxes) {
    const part = uncoveredPart(box, others, masking);
    if (part !== undefined) return part;
  }
  return undefined;
}
