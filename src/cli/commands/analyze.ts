import type { Command } from "commander";
import { analyzeDefinition } from "../../analysis/analyze.js";
import type { DecisionAnalysis } from "../../analysis/findings.js";
import { countFailures } from "../../analysis/findings.js";
import { composeDefinitions } from "../../compose.js";
import { foreignOverridesOf } from "../../definition/loaded-definition.js";
import { DecisionError } from "../../errors.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { analysisAnnotations, analysisMarkdown, analysisView } from "../../present/analysis-view.js";
import type { LocatedAnalysis } from "../../present/analysis-view.js";
import { githubAnnotations } from "../../present/diagnostics-view.js";
import { present } from "../../present/format.js";
import type { OpenedDefinitions } from "../../store/definitions.js";
import { DefinitionLines } from "../definition-files.js";
import { cacheHome } from "../directories.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, CommonFlags } from "../flags.js";
import { addAllowEmptyFlag, addCommonFlags, failUnlessAllowed, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { percent, Progress } from "../progress.js";
import { decisionsDirectory } from "../settings.js";
import { warnAboutDefinitions } from "../world.js";

interface AnalyzeFlags extends CommonFlags, AllowEmptyFlag {
  readonly check?: boolean;
}

export function addAnalyzeCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("analyze")
    .argument("[id...]", "ids of decisions (default: all decisions with conditions)")
    .option("--check", "exit with code 6 if anything was found");
  addCommonFlags(addAllowEmptyFlag(command), ["markdown", "github"])
    .summary("find gaps, overlaps and rules that never decide")
    .description(
      "Find inputs that no rule matches, rules that match together although the hit policy forbids it, and rules that " +
        "never decide. Every finding with an input was confirmed by evaluating that input. Conditions that cannot be " +
        "analysed are listed. With --check, inputs without a rule count as findings only if the default is declared " +
        "as `unexpected`, or with the hit policy unique.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision analyze
  $ agent-33 decision analyze expense-approval
  $ agent-33 decision analyze --check --format markdown
  $ agent-33 decision analyze --check --format github

See also: agent-33 help analysis`,
    )
    .action(async (ids: readonly string[], flags: AnalyzeFlags) => done(await analyze(ids, flags, io)));
}

async function analyze(ids: readonly string[], flags: AnalyzeFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one", more: ["markdown", "github"] });
  const { value: directory } = decisionsDirectory(flags.decisions, io);
  const definitions = await composeDefinitions({ decisions: directory, cacheHome: cacheHome(io.env) });
  if (ids.length === 0) {
    if (format === "github") io.out.write(githubAnnotations(definitions.diagnostics, io.cwd));
    assertReadable(definitions, flags, io);
  }
  const loaded: LoadedDefinition[] = [];
  for (const id of new Set(ids.length === 0 ? definitions.ids : ids))
    loaded.push(await definitions.findForInspection(id));
  const analyses = analyzeAll(loaded, flags, io).filter(({ conditions }) => ids.length > 0 || conditions > 0);
  if (flags.check && analyses.every(({ conditions }) => conditions === 0))
    failUnlessAllowed(flags, `no decisions with conditions in ${directory}`);
  const isLocated = ["table", "plain", "markdown", "github"].includes(format);
  const located = await locateAll(analyses, loaded, isLocated);
  if (format === "markdown") io.out.write(analysisMarkdown(located));
  else if (format === "github") io.out.write(analysisAnnotations(located, io.cwd));
  else io.out.write(await present(analysisView(located), format, await styleFor(flags, io)));
  return flags.check && analyses.some((each) => countFailures(each) > 0) ? 6 : 0;
}

/** A check of all decisions fails if some of them cannot be read. */
function assertReadable({ diagnostics }: OpenedDefinitions, flags: AnalyzeFlags, io: Io): void {
  if (diagnostics.length > 0 && flags.check) {
    throw new DecisionError("definition_invalid", "not all definitions are valid", {
      details: { problems: diagnostics },
    });
  }
  warnAboutDefinitions(flags, io, diagnostics);
}

function analyzeAll(
  loaded: readonly LoadedDefinition[],
  flags: AnalyzeFlags,
  io: Io,
): readonly DecisionAnalysis[] {
  const progress = new Progress(io, flags.quiet);
  const analyses = loaded.map((each, index) =>
    analyzeDefinition(each.definition, {
      overridden: foreignOverridesOf(each).flatMap(({ policies }) => policies),
      onWork: () => progress.show(() => `analysing ${each.definition.id}, ${percent(index, loaded.length)}`),
    }),
  );
  progress.erase();
  return analyses;
}

/** Adds the places of findings. Files are read again only for formats that show lines. */
async function locateAll(
  analyses: readonly DecisionAnalysis[],
  loaded: readonly LoadedDefinition[],
  isLocated: boolean,
): Promise<readonly LocatedAnalysis[]> {
  const lines = new DefinitionLines();
  const located: LocatedAnalysis[] = [];
  for (const each of loaded) {
    const { definition, file, line } = each;
    const analysis = analyses.find(({ decision_id }) => decision_id === definition.id);
    if (analysis === undefined) continue;
    const { gaps, overlaps, masked, unreachable } = analysis;
    const hasFindings = [gaps, overlaps, masked, unreachable].some(({ length }) => length > 0);
    const lineOf = isLocated && hasFindings ? await lines.of(each) : () => line;
    located.push({ analysis, definition, file, line, lineOf });
  }
  return located;
}
