import type { Command } from "commander";
import { areComparable } from "../../analysis/compare.js";
import { compareLoaded } from "../../analysis/compare-loaded.js";
import { composeDefinitions } from "../../compose.js";
import { DecisionError } from "../../errors.js";
import type { LoadedDefinition } from "../../model/definition.js";
import { comparisonMarkdown, comparisonView } from "../../present/comparison-view.js";
import { present } from "../../present/format.js";
import { cacheHome } from "../directories.js";
import { draftLibrary } from "../draft-definitions.js";
import type { ExitCode } from "../exit-codes.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { Progress } from "../progress.js";
import { decisionsDirectory } from "../settings.js";
import { warnAboutDefinitions } from "../world.js";

interface CompareFlags extends CommonFlags {
  readonly against?: string;
  readonly check?: boolean;
}

export function addCompareCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("compare")
    .argument("<id>", "id of the decision")
    .requiredOption("--against <path>", "definition file or directory to compare with")
    .option("--check", "exit with code 6 unless both are proven to give the same answers");
  addCommonFlags(command, ["markdown"])
    .summary("find the inputs that another definition answers differently")
    .description(
      "Compare the answers of a decision with those of another definition of it, for all inputs. Every difference was " +
        "confirmed by evaluating its input with both. What cannot be compared is listed; then the definitions are not " +
        "proven equivalent.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision compare expense-approval --against draft.yaml
  $ agent-33 decision compare expense-approval --against ../main/decisions \\
      --check --format markdown

See also: agent-33 help analysis`,
    )
    .action(async (id: string, flags: CompareFlags) => done(await compare(id, flags, io)));
}

async function compare(id: string, flags: CompareFlags, io: Io): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one", more: ["markdown"] });
  const { against = "" } = flags;
  const { value: directory } = decisionsDirectory(flags.decisions, io);
  const current = await composeDefinitions({ decisions: directory, cacheHome: cacheHome(io.env) });
  const before = await current.findForInspection(id);
  const other = await draftLibrary(against, { id, directory, mayBeShared: false });
  const after = await other.findForInspection(id);
  warnAboutDefinitions(flags, io, [...current.diagnostics, ...other.diagnostics]);
  assertComparable(before, after);
  const progress = new Progress(io, flags.quiet);
  const comparison = compareLoaded(before, after, {
    onWork: () => progress.show(() => `comparing ${id}`),
  });
  progress.erase();
  const compared = { id, against, comparison };
  io.out.write(
    format === "markdown"
      ? comparisonMarkdown(compared)
      : await present(comparisonView(compared), format, await styleFor(flags, io)),
  );
  return flags.check && comparison.result !== "equivalent" ? 6 : 0;
}

function assertComparable(before: LoadedDefinition, after: LoadedDefinition): void {
  const [a, b] = [before.definition, after.definition];
  if (areComparable(a, b)) return;
  throw new DecisionError(
    "usage",
    `\`${a.id}\` is a \`${a.type}\` decision, but a \`${b.type}\` decision in \`${after.file}\``,
    {
      hint: `compare their answers to recorded inputs with \`agent-33 decision backtest ${a.id} --against PATH\``,
    },
  );
}
