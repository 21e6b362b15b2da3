import { chiSquareTail, maxEValue, multinomialEValue } from "./statistics.js";
import { defaultLabel, labelsOf, possibleOutcomes, casesOf } from "../definition/branches.js";
import { isRouting } from "../definition/decision-types.js";
import { isInputMasked } from "../definition/definition-reads.js";
import { masksOf } from "../definition/loaded-definition.js";
import type { Definition, LoadedDefinition } from "../model/definition.js";
import type { DefinitionTally, HourTally, Tally } from "../model/store.js";

/** How often each branch of a decision was selected, as `distribution --format json` prints it. */
export interface Distribution extends DefinitionDistribution {
  readonly decision_id: string;
  /** Null where no definition of the decision is stored. */
  readonly current_definition_hash: string | null;
  /** Records made with the current definition. */
  readonly current_total: number;
  /** Records made with any version of the definition. */
  readonly all_total: number;
  /** The other definitions that have records, the newest first; only if they are asked for. */
  readonly other_definitions?: readonly DefinitionDistribution[];
  /** Only if they are asked for. */
  readonly periods?: readonly PeriodCounts[];
}

/** The records of one version of a definition. Counts, shares, expected shares and check all refer to it. */
export interface DefinitionDistribution {
  /** Null where no definition of the decision is stored: the records of all versions are counted together. */
  readonly definition_hash: string | null;
  readonly decision_version: string | null;
  readonly total: number;
  /** Null where inputs are masked and therefore all equal. */
  readonly distinct_inputs: number | null;
  /** Every label that was selected; each label of a record counts. */
  readonly counts: Readonly<Record<string, number>>;
  readonly branches: readonly BranchShare[];
  /** Null where no shares are expected, or inputs are masked. */
  readonly check: ShareCheck | null;
}

/** The records of one day or hour, in UTC. */
export interface PeriodCounts {
  /** Such as `2026-11-15` or `2026-11-15T10:00Z`. */
  readonly period: string;
  readonly total: number;
  readonly counts: Readonly<Record<string, number>>;
}

export interface BranchShare {
  readonly label: string;
  /** Null where the definition has no such label. */
  readonly target: string | null;
  readonly count: number;
  /** Of the records of the definition; the sum exceeds 1 where several branches are selected at once. */
  readonly share: number;
  /** From the weights; null unless weights alone decide. */
  readonly expected_share: number | null;
}

/**
 * Tests of the definition's selections: one trial per distinct input, as repeated inputs are not
 * independent. The e-value decides, because it may be looked at after every input; the chi-square test is shown.
 */
export interface ShareCheck {
  readonly definition_hash: string;
  /** The number of distinct inputs. */
  readonly sample: number;
  readonly statistic: number;
  readonly degrees_of_freedom: number;
  readonly p_value: number;
  /** The evidence against the expected shares; capped at 1e308. */
  readonly e_value: number;
  /** Whether at least five selections of every branch were expected; below that, the p value means little. */
  readonly reliable: boolean;
  /** Whether the e-value is at least 1,000: at most 1 of 1,000 correct splits ever gets there. */
  readonly mismatch: boolean;
}

/** A definition, from a file or from the store; undefined where there is none. */
export type CurrentDefinition =
  | (Pick<LoadedDefinition, "definition" | "definition_hash"> &
      Partial<Pick<LoadedDefinition, "environment">>)
  | undefined;

/** Computes the distribution of one definition: the current one, or `shown`. */
export function computeDistribution(
  decisionId: string,
  tally: Tally,
  current: CurrentDefinition,
  shown: CurrentDefinition = current,
): Distribution {
  return {
    decision_id: decisionId,
    ...distributionOf(shown, tally),
    current_definition_hash: current?.definition_hash ?? null,
    current_total: current === undefined ? 0 : (tally.definitions[current.definition_hash]?.total ?? 0),
    all_total: tally.total,
  };
}

/** Computes the distribution of one definition; of all together where there is none. */
export function distributionOf(shown: CurrentDefinition, tally: Tally): DefinitionDistribution {
  const made = shown === undefined ? undefined : tally.definitions[shown.definition_hash];
  const { total, counts } = shown === undefined ? tally : (made ?? { total: 0, counts: {} });
  const expected = shown === undefined ? [] : expectedBranches(shown.definition);
  const taken = new Set(Object.keys(counts));
  const branches = [...expected, ...defaultBranch(shown?.definition, expected, taken)];
  const all = [...branches, ...undefinedLabels(branches, counts)];
  const isMasked = shown !== undefined && isInputMasked(shown.definition, masksOf(shown));
  return {
    definition_hash: shown?.definition_hash ?? null,
    decision_version: shown?.definition.version ?? null,
    total,
    distinct_inputs: isMasked ? null : (made?.distinct_inputs ?? 0),
    counts,
    branches: all.map(({ label, target, share }) => {
      const count = countOf(counts, label);
      return { label, target, count, share: total === 0 ? 0 : count / total, expected_share: share };
    }),
    check: shown === undefined || isMasked ? null : checkShares(shown, expected, made),
  };
}

/** Sums up the hours of a definition, or of all where the hash is null, to periods. */
export function countPeriods(
  hours: readonly HourTally[],
  definitionHash: string | null,
  by: "day" | "hour",
): readonly PeriodCounts[] {
  const periods = new Map<string, { total: number; readonly counts: Map<string, number> }>();
  for (const { hour, definition_hash, labels, count } of hours) {
    if (definitionHash !== null && definition_hash !== definitionHash) continue;
    const time = new Date(hour * 3_600_000).toISOString();
    const name = by === "day" ? time.slice(0, 10) : `${time.slice(0, 16)}Z`;
    const period = periods.get(name) ?? { total: 0, counts: new Map<string, number>() };
    periods.set(name, period);
    period.total += count;
    for (const label of labels) period.counts.set(label, (period.counts.get(label) ?? 0) + count);
  }
  return [...periods].map(([period, { total, counts }]) => ({
    period,
    total,
    counts: Object.fromEntries(counts),
  }));
}

interface ExpectedBranch {
  readonly label: string;
  readonly target: string | null;
  readonly share: number | null;
}

/** Returns the possible outcomes in the order of the file, with the shares that the weights promise. */
function expectedBranches(definition: Definition): readonly ExpectedBranch[] {
  if (!isRouting(definition)) return possibleOutcomes(definition).map((each) => ({ ...each, share: null }));
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  const weights = cases.map(({ weight }) => weight ?? 0);
  const sum = weights.reduce((total, weight) => total + weight, 0);
  const isUnconditional = cases.every(({ condition }) => (condition ?? "").trim() === "");
  const isPromised = definition.type === "weighted" && isUnconditional && sum > 0;
  return cases.map(({ target = null }, index) => ({
    label: labels[index] ?? "",
    target,
    share: isPromised ? (weights[index] ?? 0) / sum : null,
  }));
}

/** Where weights alone decide, only an input that cannot be evaluated selects the default, so it is listed only once that happened. */
function defaultBranch(
  definition: Definition | undefined,
  cases: readonly ExpectedBranch[],
  taken: ReadonlySet<string>,
): readonly ExpectedBranch[] {
  if (definition === undefined || !isRouting(definition)) return [];
  const isOutcome = cases.some(({ share }) => share === null);
  if (!isOutcome && !taken.has(defaultLabel)) return [];
  return [{ label: defaultLabel, target: definition.default.target ?? null, share: null }];
}

/** Returns labels that the definition does not have, such as those of a missing definition; the most frequent first. */
function undefinedLabels(
  branches: readonly ExpectedBranch[],
  counts: Tally["counts"],
): readonly ExpectedBranch[] {
  const labels = new Set(branches.map(({ label }) => label));
  const others = Object.entries(counts).filter(([label]) => !labels.has(label));
  const sorted = others.toSorted(([a, count], [b, other]) => other - count || (a < b ? -1 : 1));
  return sorted.map(([label]) => ({ label, target: null, share: null }));
}

/** Looks up own properties only: a label may be called `constructor`. */
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
  if (branches.length === 0 || branches.some(({ share }) => share === null)) return null;
  const observed = branches.map(({ label, share }) => ({
    share: share ?? 0,
    observed: countOf(tally?.distinct_counts ?? {}, label),
  }));
  const possible = observed.filter(({ share }) => share > 0);
  const sample = possible.reduce((sum, each) => sum + each.observed, 0);
  const cells = possible.map((each) => ({ observed: each.observed, expected: each.share * sample }));
  // A branch of weight 0 is never selected by chance, so one such input proves a mismatch.
  const isImpossible = observed.some((each) => each.share === 0 && each.observed > 0);
  const test = isImpossible ? { ...chiSquareTest(cells), p_value: 0 } : chiSquareTest(cells);
  const e_value = isImpossible
    ? maxEValue
    : multinomialEValue(
        possible.map((each) => each.observed),
        possible.map(({ share }) => share),
      );
  return {
    definition_hash,
    sample,
    ...test,
    e_value,
    reliable: isImpossible || cells.every(({ expected }) => expected >= minExpectedCount),
    mismatch: e_value >= 1 / significanceLevel,
  };
}

function chiSquareTest(
  cells: readonly Cell[],
): Pick<ShareCheck, "statistic" | "degrees_of_freedom" | "p_value"> {
  const sum = cells
    .filter(({ expected }) => expected > 0)
    .reduce((total, { observed, expected }) => total + (observed - expected) ** 2 / expected, 0);
  const degrees_of_freedom = Math.max(0, cells.length - 1);
  // With one branch the sum is 0, except for rounding.
  const statistic = degrees_of_freedom === 0 ? 0 : Math.min(sum, Number.MAX_VALUE);
  return { statistic, degrees_of_freedom, p_value: chiSquareTail(statistic, degrees_of_freedom) };
}
