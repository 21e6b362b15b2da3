import type { ReadyDefinition } from "../decide/find.js";
import type { Path } from "../definition/yaml-source.js";
import { DecisionError } from "../errors.js";
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
    mutations: mutationsOf(definition.loaded.definition),
  }));
  const count = plans.reduce((sum, { mutations }) => sum + mutations.length, 0);
  const survivors: Survivor[] = [];
  let [killed, equivalent, done] = [0, 0, 0];
  for (const { definition, tests, mutations } of plans) {
    for (const mutation of mutations) {
      options.onProgress?.(done++, count);
      const mutant = await prepareMutant(definition, mutation);
      if (mutant === undefined) continue;
      if (mutation.isEquivalent) equivalent++;
      else if (await isKilled(mutant, tests, options)) killed++;
      else {
        const example_input = await findKillingInput(definition, mutant, { tests, options });
        survivors.push({ definition, mutation: mutation.text, path: mutation.path, example_input });
      }
    }
  }
  const total = killed + survivors.length;
  const score = total === 0 ? 100 : Math.floor((killed / total) * 1000) / 10;
  return { killed, total, equivalent, score, survivors };
}

/** Undefined: the mutated definition is not valid. */
async function prepareMutant(
  { loaded, fetchRounds }: ReadyDefinition,
  { definition }: Mutation,
): Promise<ReadyDefinition | undefined> {
  const mutated = { ...loaded, definition };
  try {
    return { loaded: mutated, prepared: await prepareLoaded(mutated), fetchRounds };
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

interface Search {
  readonly tests: readonly CaseResult[];
  readonly options: RunOptions;
}

/** How many inputs are tried for one mutation. */
const maxTrials = 1000;

/** Tries the inputs of the tests, and changes of them to the literals of the definition and their neighbours. */
async function findKillingInput(
  definition: ReadyDefinition,
  mutant: ReadyDefinition,
  { tests, options }: Search,
): Promise<JsonObject | null> {
  const literals = literalsOf([definition.loaded.definition, mutant.loaded.definition]);
  let trials = 0;
  for (const test of candidates(
    tests.map((each) => each.test),
    literals,
  )) {
    if (trials++ >= maxTrials) return null;
    const before = answerKey(await runCase(test, definition, options));
    if (before !== answerKey(await runCase(test, mutant, options))) return test.context;
  }
  return null;
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

function* candidates(tests: readonly TestCase[], literals: readonly Json[]): Generator<TestCase> {
  yield* tests;
  const bases = tests.slice(0, 5);
  for (const test of bases) {
    for (const path of leavesOf(test.context, [])) {
      for (const value of literals)
        yield { ...test, context: withValue(test.context, path, value) as JsonObject };
    }
  }
}

function leavesOf(value: Json, path: readonly string[]): readonly (readonly string[])[] {
  if (!isObject(value)) return path.length === 0 ? [] : [path];
  return Object.entries(value).flatMap(([key, each]) => leavesOf(each, [...path, key]));
}

const withValue = (part: Json, [step, ...rest]: readonly string[], value: Json): Json =>
  step === undefined || !isObject(part)
    ? value
    : { ...part, [step]: withValue(part[step] ?? null, rest, value) };

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
  return [...new Set<Json>([...numbers, ...texts, true, false])].slice(0, 200);
}
