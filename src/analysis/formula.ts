import type { Box } from "./box.js";
import { addBox, boxOf, everything, intersectBoxes } from "./box.js";
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

/** Counts steps, not time, so that an analysis gives the same answer on every machine. */
export class WorkLimit {
  readonly most: number;
  #left: number;

  constructor(most: number) {
    this.most = most;
    this.#left = most;
  }

  spend(steps: number): void {
    this.#left -= steps;
    if (this.#left < 0) throw new WorkLimitReached();
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
  const region = (part: Formula, result: Truth): readonly Box[] => regionOf(part, result, space, limit);
  switch (formula.type) {
    case "constant":
      return formula.truth === truth ? [everything] : [];
    case "test": {
      const dimension = space.dimensions[formula.dimension];
      if (dimension?.type !== "path") return [];
      const set = dimension.setOf(formula.test, truth);
      return isEmptySet(set) ? [] : [boxOf(formula.dimension, set)];
    }
    case "opaque":
      return [boxOf(formula.dimension, opaqueSet(truth))];
    case "not":
      return region(formula.part, truth === "errored" ? truth : truth === "true" ? "false" : "true");
    case "and":
    case "or": {
      // The result with which the next part is evaluated; all parts must have it for the whole to have it.
      const passing = formula.type === "and" ? "true" : "false";
      let passed: readonly Box[] = [everything];
      const ended: Box[] = [];
      for (const part of formula.parts) {
        if (truth !== passing)
          for (const box of product(passed, region(part, truth), limit)) addBox(ended, box);
        limit.spend(ended.length);
        passed = product(passed, region(part, passing), limit);
        if (passed.length === 0) break;
      }
      return truth === passing ? passed : ended;
    }
    case "choice": {
      const union: Box[] = truth === "errored" ? [...region(formula.condition, truth)] : [];
      const branches = [
        product(region(formula.condition, "true"), region(formula.then, truth), limit),
        product(region(formula.condition, "false"), region(formula.otherwise, truth), limit),
      ];
      for (const box of branches.flat()) addBox(union, box);
      return union;
    }
  }
}

/** Returns the common part of two regions. */
export function product(a: readonly Box[], b: readonly Box[], limit: WorkLimit): readonly Box[] {
  const [only] = a;
  if (a.length === 1 && only?.dimensions.length === 0) return b;
  limit.spend(a.length * b.length);
  const union: Box[] = [];
  for (const one of a) {
    for (const other of b) {
      const box = intersectBoxes(one, other);
      if (box !== undefined) addBox(union, box);
    }
  }
  return union;
}
