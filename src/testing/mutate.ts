import { planFetches } from "../decide/enrich.js";
import type { ReadyDefinition } from "../decide/find.js";
import { toolsOf } from "../definition/tool-match.js";
import type { Path } from "../definition/yaml-source.js";
import { DecisionError } from "../errors.js";
import { compareLoaded } from "../analysis/compare-loaded.js";
import { prepareLoaded } from "../evaluate/prepare-lazily.js";
import { isObject } from "../expression/equal.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import { compareAnswer } from "./compare.js";
import type { Mutation } from "./mutations.js";
import { mutationsOf } from "./mutations.js";
import type { CaseAnswer } from "./run-case.js";
import { runCase } from "./run-case.js";
import type { CaseResult, RunOptions } from "./run-tests.js";
import type { TestCase } from "./test-cases.js";

/** A mutation that no test notices. */
export interface Survivor {
  readonly definition: ReadyDefinition;
  readonly mutation: string;
  readonly path: Path;
  /** A context to which the mutated definition answers differently; null: none was found. */
  readonly example_input: JsonObject | null;
}

export interface MutationResult {
  readonly killed: number;
  /** Without the equivalent ones. */
  readonly total: number;
  readonly equivalent: number;
  readonly score: number;
  readonly survivors: readonly Survivor[];
}

/** Runs the tests of each definition against its mutations. A mutation is killed if a test that passes then fails. */
export async function runMutations(
  definitions: readonly ReadyDefinition[],
  results: readonly CaseResult[],
  options: RunOptions,
): Promise<MutationResult> {
  const plans = definitions.map((definition) => ({
    definition,
    tests: results.filter((each) => each.definition === definition && each.mismatches.length === 0),
    mutations: mutationsOf(definition.loaded),
  }));
  const count = plans.reduce((sum, { mutations }) => sum + mutations.length, 0);
  const survivors: Survivor[] = [];
  let [killed, equivalent, done] = [0, 0, 0];
  for (const { definition, tests, mutations } of plans) {
    for (const mutation of mutations) {
      options.onProgress?.(done++, count);
      const mutant = await prepareMutant(definition, mutation);
      if (mutant === undefined) continue;
      if (await isKilled(mutant, tests, options)) {
        killed++;
        continue;
      }
      const input = mutation.isEquivalent
        ? "equivalent"
        : await findKillingInput({ definition, mutant, tests, options });
      if (input === "equivalent") equivalent++;
      else survivors.push({ definition, mutation: mutation.text, path: mutation.path, example_input: input });
    }
  }
  const total = killed + survivors.length;
  const score = total === 0 ? 100 : Math.floor((killed / total) * 1000) / 10;
  return { killed, total, equivalent, score, survivors };
}

/** A definition, and the same with a change that no test notices. */
interface Pair {
  readonly definition: ReadyDefinition;
  readonly mutant: ReadyDefinition;
  readonly tests: readonly CaseResult[];
  readonly options: RunOptions;
}

/** Fewer steps than `decision compare` takes, because there are many mutations. */
const compareLimits = { most: 3, steps: 300_000, hasReasons: true };

/** Undefined: the mutated definition is not valid. */
async function prepareMutant(
  { loaded }: ReadyDefinition,
  { definition }: Mutation,
): Promise<ReadyDefinition | undefined> {
  const mutated = { ...loaded, definition };
  try {
    return { loaded: mutated, prepared: await prepareLoaded(mutated), fetchRounds: planFetches(mutated) };
  } catch (error) {
    if (error instanceof DecisionError) return undefined;
    throw error;
  }
}

async function isKilled(
  mutant: ReadyDefinition,
  tests: readonly CaseResult[],
  options: RunOptions,
): Promise<boolean> {
  for (const { test } of tests) {
    const answer = await runCase(test, mutant, options);
    if (compareAnswer(test.expect, answer).mismatches.length > 0) return true;
  }
  return false;
}

/** How many inputs are tried for one mutation, and how many of them before the definitions are compared, which is slower. */
const maxTrials = 1000;
const quickTrials = 300;
/** How many tests are changed to make inputs. */
const maxBases = 5;

/**
 * Returns an input to which both definitions answer differently, null if none is found, or that there is none. Tries the
 * inputs of the tests, their changes to the literals of the definition and their neighbours, and the inputs that a
 * comparison of the definitions finds.
 */
async function findKillingInput(pair: Pair): Promise<JsonObject | "equivalent" | null> {
  const { definition, mutant, tests } = pair;
  const cases = tests.map(({ test }) => test);
  const likely = candidates(cases, literalsOf([definition.loaded.definition, mutant.loaded.definition]));
  const quick = await findKillingCase(firstOf(likely, quickTrials), pair);
  if (quick !== undefined) return quick.context;
  const comparison = compareLoaded(definition.loaded, mutant.loaded, compareLimits);
  if (comparison.result === "equivalent") return "equivalent";
  const found = comparison.result === "different" ? comparison.differences : [];
  const bases = [...cases.slice(0, maxBases), emptyCase(definition)];
  const compared = found.flatMap(({ input }) => bases.flatMap((base) => casesWith(input, base)));
  const killing =
    (await findKillingCase(compared, pair)) ??
    (await findKillingCase(firstOf(likely, maxTrials - quickTrials), pair));
  return killing?.context ?? null;
}

/** Returns the first case to which the definitions answer differently. */
async function findKillingCase(
  cases: Iterable<TestCase>,
  { definition, mutant, options }: Pair,
): Promise<TestCase | undefined> {
  for (const test of cases) {
    const before = answerKey(await runCase(test, definition, options));
    if (before !== answerKey(await runCase(test, mutant, options))) return test;
  }
  return undefined;
}

/** Returns the next items of an iterator, which can be continued. */
function* firstOf<Item>(items: Iterator<Item, undefined>, most: number): Generator<Item> {
  for (let left = most; left > 0; left--) {
    const { value } = items.next();
    if (value === undefined) return;
    yield value;
  }
}

/** A case with a found context and the facts of another one; and the same with what else is in the context of that. */
function casesWith(input: JsonObject, base: TestCase): readonly TestCase[] {
  const { tool } = base.context;
  const call = tool === undefined ? input : { tool, ...input };
  return [call, merged(base.context, call)].map((context) => ({ ...base, context }));
}

const merged = (outer: JsonObject, inner: JsonObject): JsonObject => ({
  ...outer,
  ...Object.fromEntries(
    Object.entries(inner).map(([key, value]) => {
      const other = Object.hasOwn(outer, key) ? outer[key] : undefined;
      return [key, isObject(value) && isObject(other) ? merged(other, value) : value];
    }),
  ),
});

/** A case without facts, of the tool of a policy. */
function emptyCase({ loaded: { definition, file } }: ReadyDefinition): TestCase {
  const [tool] = definition.type === "policy" ? toolsOf(definition) : [];
  const place = { document: 0, index: 0 };
  const context = tool === undefined ? {} : { tool, params: {} };
  return {
    name: "",
    decision: definition.id,
    file,
    line: 1,
    place,
    context,
    expect: {},
    facts: {},
    strict: false,
  };
}

function answerKey({ decision, error }: CaseAnswer): string {
  if (decision === undefined) return `error ${error.code}`;
  const { result } = decision;
  const common = [
    result.selected_labels,
    result.selected_targets,
    result.outputs,
    result.blocked,
    result.escalated,
  ];
  switch (result.type) {
    case "scored":
      return JSON.stringify([...common, result.confidence]);
    case "policy":
      return JSON.stringify([...common, result.reason, result.params, result.warnings]);
    case "gate":
      return JSON.stringify([...common, result.work_frame]);
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return JSON.stringify(common);
  }
}

function* candidates(tests: readonly TestCase[], literals: readonly Json[]): Generator<TestCase, undefined> {
  yield* tests;
  const bases = tests.slice(0, maxBases);
  for (const test of bases) {
    for (const path of leavesOf(test.context, [])) {
      for (const value of literals)
        yield { ...test, context: withValue(test.context, path, value) as JsonObject };
    }
  }
  return undefined;
}

function leavesOf(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (!isObject(value)) return path.length === 0 ? [] : [path];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...path, key]));
}

const withValue = (part: Json, [step, ...rest]: readonly string[], value: Json): Json =>
  step === undefined || !isObject(part)
    ? value
    : { ...part, [step]: withValue(part[step] ?? null, rest, value) };

/** A number that rounding changes in every decimal place. */
const oddNumber = 1234.56789;

/** The literals in the texts and values of definitions, with the numbers next to them. */
function literalsOf(definitions: readonly Definition[]): readonly Json[] {
  const text = JSON.stringify(definitions);
  const numbers = [...text.matchAll(/-?\d+(?:\.(\d+))?/g)].flatMap(([written, decimals = ""]) => {
    const step = 10 ** -decimals.length;
    return [Number(written), Number(written) + step, Number(written) - step].map((each) =>
      Number(each.toPrecision(12)),
    );
  });
  const texts = [...text.matchAll(/'([^'"\\]{1,64})'/g)].map(([, each = ""]) => each);
  return [...new Set<Json>([...numbers, ...texts, true, false])].slice(0, 200).concat(oddNumber);
}
