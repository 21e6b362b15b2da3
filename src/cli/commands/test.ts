import type { Command } from "commander";
import { systemClock } from "../../clock.js";
import { nodeCrypto } from "../../digest/sha256.js";
import { DecisionError } from "../../errors.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { githubAnnotations } from "../../present/diagnostics-view.js";
import { present } from "../../present/format.js";
import type { MissedBound } from "../../present/test-view.js";
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
import type { OpenedSuite, SuitePaths } from "../open-tests.js";
import { DefinitionLines } from "../definition-files.js";
import { openSuite, suitesOf } from "../open-tests.js";
import { percent, Progress } from "../progress.js";
import type { TestHooks } from "../watch-tests.js";
import { note, warn, warnAboutDefinitions } from "../world.js";

interface TestFlags extends CommonFlags, AllowEmptyFlag {
  readonly coverage?: boolean;
  readonly threshold?: string;
  readonly mutate?: boolean;
  readonly minScore?: string;
  readonly watch?: boolean;
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
    .option("--watch", "run again when a file changes, until Ctrl-C; show which tests fail or pass now")
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
  $ agent-33 decision test decisions/expense-approval.yaml --coverage
  $ agent-33 decision test --coverage --threshold 100 --format junit > tests.xml`,
    )
    .action(async (paths: readonly string[], flags: TestFlags) => done(await test(paths, flags, io)));
}

async function test(paths: readonly string[], flags: TestFlags, io: Io): Promise<ExitCode> {
  const bounds = {
    threshold: parsePercent("--threshold", flags.threshold),
    minScore: parsePercent("--min-score", flags.minScore),
  };
  if (flags.watch) return watch(paths, bounds, flags, io);
  const format = formatFor(flags, io, { answer: "one", more: ["junit", "github"] });
  const suites = suitesOf(paths, flags.decisions, io);
  const report = await makeReport(suites, bounds, { flags, io }).catch((error: unknown) => {
    if (format === "github") io.out.write(githubAnnotations(problemsOf(error), io.cwd));
    throw error;
  });
  const tooLow = findTooLow(report, bounds);
  io.out.write(
    format === "github"
      ? testAnnotations(report, tooLow, io.cwd)
      : format === "junit"
        ? (await import("../../present/junit.js")).junitReport(report, tooLow)
        : await present(testView(report), format, await styleFor(flags, io)),
  );
  for (const { message } of tooLow) note(io, `error: ${message}`);
  return report.failed === 0 && tooLow.length === 0 ? 0 : 6;
}

const problemsOf = (error: unknown): readonly Diagnostic[] =>
  error instanceof DecisionError
    ? ((error.details as { readonly problems?: readonly Diagnostic[] } | undefined)?.problems ?? [])
    : [];

async function watch(paths: readonly string[], bounds: Bounds, flags: TestFlags, io: Io): Promise<ExitCode> {
  const isMutated = flags.mutate === true || bounds.minScore !== undefined;
  // In a pipe, too, because what changed is for people to read.
  const given = { ...flags, format: flags.format ?? (flags.json ? "json" : "table") };
  const format = formatFor(given, io, { answer: "one", more: ["junit", "github"] });
  if (format !== "table" || isMutated) {
    const other = format === "table" ? "--mutate" : `--format ${format}`;
    throw new DecisionError("usage", `--watch and ${other} cannot be combined`, {
      hint: "remove one of them",
    });
  }
  const suites = suitesOf(paths, flags.decisions, io);
  const { watchTests } = await import("../watch-tests.js");
  return watchTests(
    {
      suites,
      run: (hooks) => makeReport(suites, bounds, { flags, io, hooks }),
      assertBounds: (report) => {
        for (const { message } of findTooLow(report, bounds)) note(io, `error: ${message}`);
      },
    },
    flags,
    io,
  );
}

/** The percentages that a run must reach. */
interface Bounds {
  readonly threshold: number | undefined;
  readonly minScore: number | undefined;
}

interface RunContext {
  readonly flags: TestFlags;
  readonly io: Io;
  readonly hooks?: TestHooks;
}

async function makeReport(
  paths: readonly SuitePaths[],
  { threshold, minScore }: Bounds,
  context: RunContext,
): Promise<TestReport> {
  const { flags, io } = context;
  nodeCrypto(); // Every definition and answer is hashed: with the portable SHA-256 the samples take 4 ms longer.
  const suites = await openSuites(paths, context);
  const results = await runSuites(suites, context);
  if (results.length === 0) {
    failUnlessAllowed(flags, `no tests found in ${suites.map(({ directory }) => directory).join(", ")}`);
  }
  const lines = new DefinitionLines();
  const isMeasured = flags.coverage === true || threshold !== undefined;
  const isMutated = flags.mutate === true || minScore !== undefined;
  return {
    ...reportOf(results),
    ...(isMeasured && { coverage: await coverageReport(suites, results, lines) }),
    ...(isMutated && { mutation: await mutationReport(suites, results, { lines, flags, io }) }),
  };
}

function parsePercent(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const percent = Number(text.replace(/ ?%$/, ""));
  if (/^\d/.test(text) && percent >= 0 && percent <= 100) return percent;
  throw new DecisionError("usage", `${flag} must be a number from 0 to 100 (got \`${text}\`)`, {
    hint: `for example ${flag} 90`,
  });
}

/** Returns the bounds that a run did not reach. */
function findTooLow(
  { coverage, mutation }: TestReport,
  { threshold, minScore }: Bounds,
): readonly MissedBound[] {
  const tooLow: MissedBound[] = [];
  for (const measure of ["branches", "conditions"] as const) {
    const ratio = coverage?.[measure];
    if (ratio === undefined || threshold === undefined || ratio.covered * 100 >= threshold * ratio.total)
      continue;
    const message = `${ratio.percent} % of ${measure} are covered, at least ${threshold} % must be`;
    tooLow.push({ measure, bound: threshold, message });
  }
  if (mutation !== undefined && minScore !== undefined && mutation.killed * 100 < minScore * mutation.total) {
    const { score } = mutation;
    const message = `the tests notice ${score} % of the mutations, at least ${minScore} % must be noticed`;
    tooLow.push({ measure: "mutations", bound: minScore, message });
  }
  return tooLow;
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
    const line = (await lines.of(definition.loaded))(path);
    const { file } = definition.loaded;
    survivors.push({ decision: definition.loaded.definition.id, mutation, file, line, example_input });
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
    const { file } = definition.loaded;
    const withLines: LocatedMissed[] = [];
    for (const { path, ...each } of missed) {
      const lineOf = await lines.of(definition.loaded);
      withLines.push({ ...each, file, line: lineOf(path) });
    }
    located.set(id, { ...(ratios as CoverageReport["decisions"][string]), missed: withLines });
  }
  return { ...coverage, decisions: Object.fromEntries(located) };
}

/** Opens the tests; throws if any of them is invalid. */
async function openSuites(
  paths: readonly SuitePaths[],
  { flags, io, hooks }: RunContext,
): Promise<readonly OpenedSuite[]> {
  const suites: OpenedSuite[] = [];
  for (const each of paths) suites.push(await openSuite(each, io, hooks?.onData));
  const problems = suites.flatMap((suite) => suite.problems);
  const [first] = problems;
  if (first !== undefined) {
    const files = new Set(problems.map(({ file }) => file));
    const what = files.size === 1 ? `\`${first.file}\` is not valid` : `${files.size} files are not valid`;
    throw new DecisionError("definition_invalid", what, { details: { problems } });
  }
  for (const { ignored, warnings } of suites) {
    warnAboutDefinitions(flags, io, ignored);
    for (const { file, line, column, message, hint } of warnings) {
      const text = hint === undefined ? message : `${message}; ${hint}`;
      warn(flags, io, `${file}:${line}:${column} ${text}`);
    }
  }
  return suites;
}

async function runSuites(
  suites: readonly OpenedSuite[],
  { flags, io, hooks }: RunContext,
): Promise<readonly CaseResult[]> {
  const startedAt = systemClock();
  const progress = new Progress(io, flags.quiet);
  const results: CaseResult[] = [];
  for (const { definitions, cases, tested } of suites) {
    const onProgress = (done: number, total: number): void =>
      progress.show(() => `running tests, ${percent(done, total)}`);
    const options = { definitions, startedAt, onProgress, ...(hooks && { pause: hooks.pause }) };
    results.push(...(await runTests(cases, tested, options)));
  }
  progress.erase();
  return results;
}
