import { binomialTail, chiSquareTail } from "./statistics.js";
import { defaultLabel, labelsOf, possibleOutcomes, casesOf } from "../definition/branches.js";
import { isRouting } from "../definition/decision-types.js";
import { isInputMasked } from "../definition/definition-reads.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { DefinitionTally, Tally } from "../model/store.js";

/** How often each branch of a decision was taken, as `distribution --format json` prints it. */
export interface Distribution {
  readonly decision_id: string;
  /** Records, whichever definition they were made with. */
  readonly total: number;
  /** Of the current definition, as `check` is; null where they are masked, and so all alike. */
  readonly distinct_inputs: number | null;
  /** Those of them that were made with the current definition. */
  readonly current_total: number;
  /** Every label that was taken; several labels of one record count each. */
  readonly counts: Readonly<Record<string, number>>;
  readonly branches: readonly BranchShare[];
  /** Null where there is nothing to expect, or nothing to tell inputs apart by. */
  readonly check: ShareCheck | null;
}

export interface BranchShare {
  readonly label: string;
  /** Where it leads today; null where the definition of today has no such label. */
  readonly target: string | null;
  readonly count: number;
  /** Of all records; where several branches are taken at once, the shares make more than 1. */
  readonly share: number;
  /** By weight; null where no weight, or a condition too, decides. */
  readonly expected_share: number | null;
}

/** A chi-square test of what the current definition chose: one trial per distinct input, as repeated ones are not independent. */
export interface ShareCheck {
  readonly definition_hash: string;
  /** The distinct inputs that were rolled for. */
  readonly sample: number;
  readonly statistic: number;
  readonly degrees_of_freedom: number;
  readonly p_value: number;
  /** Whether five or more were expected of every branch; below that, the p value says little. */
  readonly reliable: boolean;
  readonly mismatch: boolean;
}

/** As much of the definition of today as is needed, or of the last one there was; undefined where that is not kept. */
export type CurrentDefinition = Pick<LoadedDefinition, "definition" | "definition_hash"> | undefined;

export function computeDistribution(
  decisionId: string,
  tally: Tally,
  current: CurrentDefinition,
): Distribution {
  const { total, counts, definitions } = tally;
  const expected = current === undefined ? [] : expectedBranches(current.definition);
  const taken = new Set(Object.keys(counts));
  const known = [...expected, ...defaultBranch(current?.definition, expected, taken)];
  const shown = [...known, ...removedLabels(known, counts)];
  const made = current === undefined ? undefined : definitions[current.definition_hash];
  const isMasked = current !== undefined && isInputMasked(current.definition);
  return {
    decision_id: decisionId,
    total,
    distinct_inputs: isMasked ? null : (made?.distinct_inputs ?? 0),
    current_total: made?.total ?? 0,
    counts,
    branches: shown.map(({ label, target, share }) => {
      const count = countOf(counts, label);
      return { label, target, count, share: total === 0 ? 0 : count / total, expected_share: share };
    }),
    check: current === undefined || isMasked ? null : checkShares(current, expected, made),
  };
}

interface ExpectedBranch {
  readonly label: string;
  readonly target: string | null;
  readonly share: number | null;
}

/** What it may come to, in the order of the file, with the shares that weights promise. */
function expectedBranches(definition: Definition): readonly ExpectedBranch[] {
  if (!isRouting(definition)) return possibleOutcomes(definition).map((each) => ({ ...each, share: null }));
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  const weights = cases.map(({ weight }) => weight ?? 0);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const isUnconditional = cases.every(({ condition }) => (condition ?? "").trim() === "");
  const isPromised = definition.type === "weighted" && isUnconditional && sum > 0;
  return cases.map(({ target }, index) => ({
    label: labels[index] ?? target,
    target,
    share: isPromised ? (weights[index] ?? 0) / sum : null,
  }));
}

/** Where weights alone decide, only an input that cannot be evaluated takes it: not worth a line until one has. */
function defaultBranch(
  definition: Definition | undefined,
  cases: readonly ExpectedBranch[],
  taken: ReadonlySet<string>,
): readonly ExpectedBranch[] {
  if (definition === undefined || !isRouting(definition)) return [];
  const isOutcome = cases.some(({ share }) => share === null);
  if (!isOutcome && !taken.has(defaultLabel)) return [];
  return [{ label: defaultLabel, target: definition.default.target, share: null }];
}

/** Labels that only older definitions had, those that were taken most often first. */
function removedLabels(known: readonly ExpectedBranch[], counts: Tally["counts"]): readonly ExpectedBranch[] {
  const labels = new Set(known.map(({ label }) => label));
  const gone = Object.entries(counts).filter(([label]) => !labels.has(label));
  const sorted = gone.toSorted(([a, count], [b, other]) => other - count || (a < b ? -1 : 1));
  return sorted.map(([label]) => ({ label, target: null, share: null }));
}

/** Labels are the user's words: `constructor` may be one. */
function countOf(counts: Readonly<Record<string, number>>, label: string): number {
  return Object.hasOwn(counts, label) ? (counts[label] ?? 0) : 0;
}

interface Cell {
  readonly observed: number;
  readonly expected: number;
}

const significanceLevel = 0.001;
const minExpectedCount = 5;

function checkShares(
  { definition_hash }: Pick<LoadedDefinition, "definition_hash">,
  branches: readonly ExpectedBranch[],
  tally: DefinitionTally | undefined,
): ShareCheck | null {
  if (branches.some(({ share }) => share === null)) return null;
  const observed = branches.map(({ label, share }) => ({
    share: share ?? 0,
    observed: countOf(tally?.distinct_counts ?? {}, label),
  }));
  const possible = observed.filter(({ share }) => share > 0);
  const sample = possible.reduce((sum, each) => sum + each.observed, 0);
  const cells = possible.map((each) => ({ observed: each.observed, expected: each.share * sample }));
  // No chance leads to a branch of weight 0, so one such input is proof enough.
  const isImpossible = observed.some((each) => each.share === 0 && each.observed > 0);
  const test = isImpossible ? { ...chiSquareTest(cells), p_value: 0 } : chiSquareTest(cells);
  return {
    definition_hash,
    sample,
    ...test,
    reliable: isImpossible || cells.every(({ expected }) => expected >= minExpectedCount),
    mismatch: isImpossible || isUnlikely(cells, sample),
  };
}

function chiSquareTest(
  cells: readonly Cell[],
): Pick<ShareCheck, "statistic" | "degrees_of_freedom" | "p_value"> {
  const sum = cells
    .filter(({ expected }) => expected > 0)
    .reduce((total, { observed, expected }) => total + (observed - expected) ** 2 / expected, 0);
  const degrees_of_freedom = Math.max(0, cells.length - 1);
  // With one branch the sum is 0 but for rounding.
  const statistic = degrees_of_freedom === 0 ? 0 : Math.min(sum, Number.MAX_VALUE);
  return { statistic, degrees_of_freedom, p_value: chiSquareTail(statistic, degrees_of_freedom) };
}

/** Of few inputs the chi-square test says nothing; then each branch is asked exactly whether it has too many. */
function isUnlikely(cells: readonly Cell[], sample: number): boolean {
  const groups = poolRareCells(cells);
  if (groups.length > 1) return chiSquareTest(groups).p_value < significanceLevel;
  return cells.some(
    ({ observed, expected }) =>
      binomialTail(observed, sample, expected / sample) * cells.length < significanceLevel,
  );
}

/**
 * The rarest branches together, until five are expected of each group: a test of few inputs cannot raise a
 * false alarm then, and one branch of tiny weight cannot keep the others from being watched.
 */
function poolRareCells(cells: readonly Cell[]): readonly Cell[] {
  const groups: Cell[] = [];
  let open: Cell = { observed: 0, expected: 0 };
  for (const cell of cells.toSorted((a, b) => a.expected - b.expected)) {
    open = addCells(open, cell);
    if (open.expected < minExpectedCount) continue;
    groups.push(open);
    open = { observed: 0, expected: 0 };
  }
  const last = groups.pop();
  return last === undefined ? [open] : [...groups, addCells(last, open)];
}

function addCells(a: Cell, b: Cell): Cell {
  return { observed: a.observed + b.observed, expected: a.expected + b.expected };
}
