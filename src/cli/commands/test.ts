import type { Command } from "commander";
import { systemClock } from "../../clock.js";
import { DecisionError } from "../../errors.js";
import { present } from "../../present/format.js";
import { testAnnotations, testView } from "../../present/test-view.js";
import type { ReadyDefinition } from "../../decide/find.js";
import { find } from "../../decide/find.js";
import { measureCoverage } from "../../testing/coverage.js";
import type { MutationResult } from "../../testing/mutate.js";
import type {
  CaseResult,
  CoverageReport,
  LocatedMissed,
  LocatedSurvivor,
  MutationReport,
  TestReport,
} from "../../testing/run-tests.js";
import { reportOf, runTests } from "../../testing/run-tests.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, CommonFlags } from "../flags.js";
import { addAllowEmptyFlag, addCommonFlags, failUnlessAllowed, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import type { OpenedSuite } from "../open-tests.js";
import { DefinitionLines, openSuite, suitesOf } from "../open-tests.js";
import { percent, Progress } from "../progress.js";
import { note, warnAboutDefinitions } from "../world.js";

interface TestFlags extends CommonFlags, AllowEmptyFlag {
  readonly coverage?: boolean;
  readonly threshold?: string;
  readonly mutate?: boolean;
  readonly minScore?: string;
}

export function addTestCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent.command("test");
  addCommonFlags(addAllowEmptyFlag(command), ["junit", "github"])
    .option("--coverage", "show which branches were selected, and which conditions were true and false")
    .option(
      "--threshold <percent>",
      "fail if the coverage of branches or of conditions is lower; implies --coverage",
    )
    .option("--mutate", "change the definitions in many ways, and show the changes that no test notices")
    .option("--min-score <percent>", "fail if tests notice fewer of the changes; implies --mutate")
    .argument("[path...]", "files or directories (default: the directory of definitions)")
    .summary("run the tests of decisions")
    .description(
      "Run the tests in `tests` of definition files and in files named *.test.yaml. Nothing is fetched, recorded or " +
        "written. Exits with 6 if a test fails, or if there is none and --allow-empty is not given, and with 3 if a test " +
        "or a tested definition is invalid.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision test
  $ agent-33 decision test decisions/escalation.yaml --coverage
  $ agent-33 decision test --coverage --threshold 100 --format junit > tests.xml`,
    )
    .action(async (paths: readonly string[], flags: TestFlags) => done(await test(paths, flags, io)));
}

async function test(paths: readonly string[], flags: TestFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one", more: ["junit", "github"] });
  const threshold = parsePercent("--threshold", flags.threshold);
  const minScore = parsePercent("--min-score", flags.minScore);
  const suites = await openSuites(paths, flags, io);
  const results = await runSuites(suites, flags, io);
  if (results.length === 0) {
    failUnlessAllowed(flags, `no tests found in ${suites.map(({ directory }) => directory).join(", ")}`);
  }
  const lines = new DefinitionLines();
  const isMeasured = flags.coverage === true || threshold !== undefined;
  const isMutated = flags.mutate === true || minScore !== undefined;
  const report: TestReport = {
    ...reportOf(results),
    ...(isMeasured && { coverage: await coverageReport(suites, results, lines) }),
    ...(isMutated && { mutation: await mutationReport(suites, results, { lines, flags, io }) }),
  };
  io.out.write(await presentReport(report, format, flags, io));
  const isCovered = assertCovered(report, threshold, io);
  const isThorough = assertScore(report, minScore, io);
  return report.failed === 0 && isCovered && isThorough ? 0 : 6;
}

function parsePercent(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const percent = Number(text.replace(/ ?%$/, ""));
  if (/^\d/.test(text) && percent >= 0 && percent <= 100) return percent;
  throw new DecisionError("usage", `${flag} must be a number from 0 to 100 (got \`${text}\`)`, {
    hint: `for example ${flag} 90`,
  });
}

/** Says which coverage is too low. */
function assertCovered({ coverage }: TestReport, threshold: number | undefined, io: Io): boolean {
  if (coverage === undefined || threshold === undefined) return true;
  const low = (["branches", "conditions"] as const).filter(
    (what) => coverage[what].covered * 100 < threshold * coverage[what].total,
  );
  for (const what of low) {
    note(io, `error: ${coverage[what].percent} % of ${what} are covered, at least ${threshold} % must be`);
  }
  return low.length === 0;
}

function assertScore({ mutation }: TestReport, minScore: number | undefined, io: Io): boolean {
  if (mutation === undefined || minScore === undefined) return true;
  const { killed, total, score } = mutation;
  if (killed * 100 >= minScore * total) return true;
  note(io, `error: the tests notice ${score} % of the mutations, at least ${minScore} % must be noticed`);
  return false;
}

interface MutationOptions {
  readonly lines: DefinitionLines;
  readonly flags: TestFlags;
  readonly io: Io;
}

async function mutationReport(
  suites: readonly OpenedSuite[],
  results: readonly CaseResult[],
  { lines, flags, io }: MutationOptions,
): Promise<MutationReport> {
  const { runMutations } = await import("../../testing/mutate.js");
  const progress = new Progress(io, flags.quiet);
  const onProgress = (done: number, total: number): void =>
    progress.show(() => `running mutations, ${percent(done, total)}`);
  const found: MutationResult[] = [];
  for (const { definitions, tested } of suites) {
    const options = { definitions, startedAt: systemClock(), onProgress };
    found.push(await runMutations([...tested.values()], results, options));
  }
  progress.erase();
  const survivors: LocatedSurvivor[] = [];
  for (const { definition, mutation, path, example_input } of found.flatMap((each) => each.survivors)) {
    const line = await lines.find(definition, path);
    survivors.push({ decision: definition.loaded.definition.id, mutation, line, example_input });
  }
  const sum = (key: "killed" | "total" | "equivalent"): number =>
    found.reduce((all, each) => all + each[key], 0);
  const [killed, total] = [sum("killed"), sum("total")];
  const score = total === 0 ? 100 : Math.floor((killed / total) * 1000) / 10;
  return { killed, total, equivalent: sum("equivalent"), score, survivors };
}

async function coverageReport(
  suites: readonly OpenedSuite[],
  results: readonly CaseResult[],
  lines: DefinitionLines,
): Promise<CoverageReport> {
  const definitions: ReadyDefinition[] = [];
  for (const { definitions: library, decisions } of suites) {
    for (const id of decisions)
      if (library.ids.includes(id)) definitions.push(await find(id, { definitions: library }));
  }
  const coverage = measureCoverage(definitions, results);
  const located = new Map<string, CoverageReport["decisions"][string]>();
  for (const definition of definitions) {
    const { id } = definition.loaded.definition;
    const { missed = [], ...ratios } = coverage.decisions[id] ?? {};
    const withLines: LocatedMissed[] = [];
    for (const { path, ...each } of missed) {
      const line = await lines.find(definition, path);
      withLines.push({ ...each, file: definition.loaded.file, line });
    }
    located.set(id, { ...(ratios as CoverageReport["decisions"][string]), missed: withLines });
  }
  return { ...coverage, decisions: Object.fromEntries(located) };
}

async function presentReport(
  report: TestReport,
  format: ReturnType<typeof formatFor<"junit" | "github">>,
  flags: TestFlags,
  io: Io,
): Promise<string> {
  switch (format) {
    case "junit":
      return (await import("../../present/junit.js")).junitReport(report);
    case "github":
      return testAnnotations(report);
    case "table":
    case "plain":
    case "json":
    case "jsonl":
    case "yaml":
      return present(testView(report), format, await styleFor(flags, io));
  }
}

/** Opens the tests; throws if any of them is invalid. */
async function openSuites(
  paths: readonly string[],
  flags: TestFlags,
  io: Io,
): Promise<readonly OpenedSuite[]> {
  const suites: OpenedSuite[] = [];
  for (const each of suitesOf(paths, flags.decisions, io)) suites.push(await openSuite(each, io));
  const problems = suites.flatMap((suite) => suite.problems);
  const [first] = problems;
  if (first !== undefined) {
    const files = new Set(problems.map(({ file }) => file));
    const what = files.size === 1 ? `\`${first.file}\` is not valid` : `${files.size} files are not valid`;
    throw new DecisionError("definition_invalid", what, { details: { problems } });
  }
  for (const { ignored } of suites) warnAboutDefinitions(flags, io, ignored);
  return suites;
}

async function runSuites(
  suites: readonly OpenedSuite[],
  flags: TestFlags,
  io: Io,
): Promise<readonly CaseResult[]> {
  const startedAt = systemClock();
  const progress = new Progress(io, flags.quiet);
  const results: CaseResult[] = [];
  for (const { definitions, cases, tested } of suites) {
    const onProgress = (done: number, total: number): void =>
      progress.show(() => `running tests, ${percent(done, total)}`);
    results.push(...(await runTests(cases, tested, { definitions, startedAt, onProgress })));
  }
  progress.erase();
  return results;
}
