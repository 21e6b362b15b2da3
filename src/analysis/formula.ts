import type { Box } from "./box.js";
import { addBox, boxOf, boxSize, everything, intersectBoxes } from "./box.js";
import { isEmptySet } from "./cell-set.js";
import type { Truth } from "./dimension.js";
import { opaqueSet } from "./dimension.js";
import type { Test } from "./dimension.js";
import type { Space } from "./space.js";

/** A condition as a function of the dimensions of a space. */
export type Formula =
  | { readonly type: "constant"; readonly truth: Truth }
  | { readonly type: "test"; readonly dimension: number; readonly test: Test }
  /** A part that is not analysed, and why. */
  | { readonly type: "opaque"; readonly dimension: number; readonly reason: string }
  | { readonly type: "not"; readonly part: Formula }
  /** Evaluated from left to right, up to the first part that decides or is errored. */
  | { readonly type: "and" | "or"; readonly parts: readonly Formula[] }
  | {
      readonly type: "choice";
      readonly condition: Formula;
      readonly then: Formula;
      readonly otherwise: Formula;
    };

export const constant = (truth: Truth): Formula => ({ type: "constant", truth });

/** Returns why parts of a condition are not analysed, each reason once. */
export function opaqueReasons(formula: Formula): readonly string[] {
  switch (formula.type) {
    case "constant":
    case "test":
      return [];
    case "opaque":
      return [formula.reason];
    case "not":
      return opaqueReasons(formula.part);
    case "and":
    case "or":
      return [...new Set(formula.parts.flatMap(opaqueReasons))];
    case "choice":
      return [
        ...new Set(
          [formula.condition, formula.then, formula.otherwise].flatMap((part) => opaqueReasons(part)),
        ),
      ];
  }
}

/** Thrown where an analysis needs more steps than its limit. */
export class WorkLimitReached extends Error {}

/** After this many steps, the work is reported. */
const reportedSteps = 5_000;

/** Counts steps, not time, so that an analysis gives the same answer on every machine. */
export class WorkLimit {
  readonly #whole: WorkLimit | undefined;
  readonly #onWork: (() => void) | undefined;
  #left: number;
  #unreported = 0;

  /** `whole` is the limit of several searches, of which this is one. `onWork` is called every few milliseconds. */
  constructor(
    most: number,
    { whole, onWork }: { readonly whole?: WorkLimit; readonly onWork?: (() => void) | undefined } = {},
  ) {
    this.#whole = whole;
    this.#onWork = onWork;
    this.#left = most;
  }

  spend(steps: number): void {
    this.#whole?.spend(steps);
    this.#left -= steps;
    if (this.#left < 0) throw new WorkLimitReached();
    this.#unreported += steps;
    if (this.#unreported < reportedSteps) return;
    this.#unreported = 0;
    this.#onWork?.();
  }

  get left(): number {
    return this.#left;
  }

  /** Runs `report` after `run`, even if the limit is reached on the way. */
  finish(run: () => void, report: () => void): void {
    try {
      run();
    } catch (error) {
      if (error instanceof WorkLimitReached) report();
      throw error;
    }
    report();
  }

  /** Returns what `run` returns; undefined if the limit is reached on the way. */
  within<T>(run: () => T): T | undefined {
    try {
      return run();
    } catch (error) {
      if (error instanceof WorkLimitReached) return undefined;
      throw error;
    }
  }
}

/** Returns the region in which a formula has a result, as a union of boxes. */
export function regionOf(formula: Formula, truth: Truth, space: Space, limit: WorkLimit): readonly Box[] {
  return new Regions(space, limit).of(formula, truth);
}

/** Computes the regions of a formula and its parts, each once: nested `and` and `or` need those of a part repeatedly. */
class Regions {
  readonly #space: Space;
  readonly #limit: WorkLimit;
  readonly #known = new Map<Formula, Map<Truth, readonly Box[]>>();

  constructor(space: Space, limit: WorkLimit) {
    this.#space = space;
    this.#limit = limit;
  }

  of(formula: Formula, truth: Truth): readonly Box[] {
    const known = this.#known.get(formula) ?? new Map<Truth, readonly Box[]>();
    this.#known.set(formula, known);
    const region = known.get(truth) ?? this.#compute(formula, truth);
    known.set(truth, region);
    return region;
  }

  #compute(formula: Formula, truth: Truth): readonly Box[] {
    this.#limit.spend(1);
    switch (formula.type) {
      case "constant":
        return formula.truth === truth ? [everything] : [];
      case "test": {
        const dimension = this.#space.dimensions[formula.dimension];
        if (dimension?.type !== "path") return [];
        const set = dimension.setOf(formula.test, truth);
        return isEmptySet(set) ? [] : [boxOf(formula.dimension, set)];
      }
      case "opaque":
        return [boxOf(formula.dimension, opaqueSet(truth))];
      case "not":
        return this.of(formula.part, truth === "errored" ? truth : truth === "true" ? "false" : "true");
      case "and":
      case "or":
        return this.#inOrder(formula, truth);
      case "choice": {
        const { condition, then, otherwise } = formula;
        const union: Box[] = truth === "errored" ? [...this.of(condition, truth)] : [];
        const branches = [
          product(this.of(condition, "true"), this.of(then, truth), this.#limit),
          product(this.of(condition, "false"), this.of(otherwise, truth), this.#limit),
        ];
        for (const box of branches.flat()) addBox(union, box);
        return union;
      }
    }
  }

  #inOrder({ type, parts }: Extract<Formula, { readonly type: "and" | "or" }>, truth: Truth): readonly Box[] {
    // The result with which the next part is evaluated; all parts must have it for the whole to have it.
    const passing = type === "and" ? "true" : "false";
    let passed: readonly Box[] = [everything];
    const ended: Box[] = [];
    for (const part of parts) {
      if (truth !== passing)
        for (const box of product(passed, this.of(part, truth), this.#limit)) addBox(ended, box);
      this.#limit.spend(ended.length);
      passed = product(passed, this.of(part, passing), this.#limit);
      if (passed.length === 0) break;
    }
    return truth === passing ? passed : ended;
  }
}

/** Returns the common part of two regions. */
export function product(a: readonly Box[], b: readonly Box[], limit: WorkLimit): readonly Box[] {
  const [only] = a;
  if (a.length === 1 && only?.dimensions.length === 0) return b;
  const union: Box[] = [];
  for (const one of a) {
    limit.spend(b.length * (1 + (boxSize(one) >> 2)));
    for (const other of b) {
      const box = intersectBoxes(one, other);
      if (box === undefined) continue;
      limit.spend(boxSize(box));
      addBox(union, box);
    }
  }
  return union;
}
