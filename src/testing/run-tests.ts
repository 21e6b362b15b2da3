import type { ReadyDefinition } from "../decide/find.js";
import type { JsonObject } from "../model/json.js";
import type { Mismatch } from "./compare.js";
import { compareAnswer } from "./compare.js";
import type { Coverage, DecisionCoverage, Missed } from "./coverage.js";
import type { MutationResult, Survivor } from "./mutate.js";
import type { CaseAnswer } from "./run-case.js";
import { runCase } from "./run-case.js";
import type { TestCase } from "./test-cases.js";
import type { TestWorldOptions } from "./test-world.js";

/** A case that was run. */
export interface CaseResult {
  readonly test: TestCase;
  readonly definition: ReadyDefinition;
  readonly answer: CaseAnswer;
  readonly actual: JsonObject;
  /** Empty: the test passed. */
  readonly mismatches: readonly Mismatch[];
}

export interface RunOptions extends TestWorldOptions {
  readonly definitions: TestWorldOptions["definitions"];
  readonly onProgress?: (done: number, total: number) => void;
}

/** After as many cases there is a pause. */
const casesUntilPause = 256;

/** Runs the cases, one after the other. */
export async function runTests(
  cases: readonly TestCase[],
  ready: ReadonlyMap<string, ReadyDefinition>,
  { onProgress, pause, ...options }: RunOptions & { readonly pause?: () => Promise<void> },
): Promise<readonly CaseResult[]> {
  const results: CaseResult[] = [];
  for (const test of cases) {
    const definition = ready.get(test.decision);
    if (definition === undefined) throw new Error(`the definition of \`${test.decision}\` was not found`);
    const answer = await runCase(test, definition, options);
    results.push({ test, definition, answer, ...compareAnswer(test.expect, answer) });
    onProgress?.(results.length, cases.length);
    if (results.length % casesUntilPause === 0) await pause?.();
  }
  return results;
}

/** A report of a run. */
export interface TestReport {
  readonly passed: number;
  readonly failed: number;
  readonly cases: readonly CaseReport[];
  /** Only if it is asked for. */
  readonly coverage?: CoverageReport;
  /** Only if it is asked for. */
  readonly mutation?: MutationReport;
}

export interface MutationReport extends Omit<MutationResult, "survivors"> {
  readonly survivors: readonly LocatedSurvivor[];
}

/** A mutation that no test notices, with its place. */
export interface LocatedSurvivor extends Omit<Survivor, "definition" | "path"> {
  readonly decision: string;
  readonly file: string;
  readonly line: number;
}

/** Coverage with the places of what was missed. */
export interface CoverageReport extends Omit<Coverage, "decisions"> {
  readonly decisions: Readonly<
    Record<string, Omit<DecisionCoverage, "missed"> & { readonly missed: readonly LocatedMissed[] }>
  >;
}

export interface LocatedMissed extends Omit<Missed, "path"> {
  readonly file: string;
  readonly line: number;
}

export interface CaseReport extends CaseDocument {
  readonly input: JsonObject;
  /** Empty: the test passed. */
  readonly mismatches: readonly Mismatch[];
}

/** A case, as `decision test --format json` prints it. */
export interface CaseDocument {
  readonly name: string;
  readonly decision: string;
  readonly file: string;
  readonly line: number;
  readonly passed: boolean;
  readonly expected: JsonObject;
  /** The values of the expected fields; of a failed test also its labels and the reasons for them. */
  readonly actual: JsonObject;
}

export function reportOf(results: readonly CaseResult[]): TestReport {
  const cases = results.map(reportCase);
  const failed = cases.filter(({ passed }) => !passed).length;
  return { passed: cases.length - failed, failed, cases };
}

function reportCase({ test, answer, actual, mismatches }: CaseResult): CaseReport {
  const { name, decision, file, line, expect: expected, context: input } = test;
  const passed = mismatches.length === 0;
  const all = passed ? actual : { ...explanationOf(answer), ...actual };
  return { name, decision, file, line, passed, expected, actual: all, input, mismatches };
}

/** The answer as a whole, so that a failed test needs no second look. */
function explanationOf({ decision }: CaseAnswer): JsonObject {
  if (decision === undefined) return {};
  const { selected_labels: labels, because, failed_conditions, warnings } = decision.result;
  return { labels, because, failed_conditions, ...(warnings.length > 0 && { warnings }) };
}
