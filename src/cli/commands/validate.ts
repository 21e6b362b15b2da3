import type { Command } from "commander";
import type { Diagnostic } from "../../model/diagnostic.js";
import { present } from "../../present/format.js";
import { githubAnnotations, diagnosticsView } from "../../present/diagnostics-view.js";
import type { ExitCode } from "../exit-codes.js";
import type { AllowEmptyFlag, CommonFlags } from "../flags.js";
import { addAllowEmptyFlag, addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { warn } from "../world.js";

interface ValidateFlags extends CommonFlags, AllowEmptyFlag {
  readonly requireApproval?: boolean;
  readonly strict?: boolean;
}

export function addValidateCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("validate")
    .option("--require-approval", "report unapproved, changed and missing definitions as errors")
    .option("--strict", "exit with code 3 for warnings, too");
  addCommonFlags(addAllowEmptyFlag(command), ["github"])
    .alias("lint")
    .argument("[path...]", "files or directories (default: the directory of definitions)")
    .summary("check definitions and report problems")
    .description(
      "Check every definition and report all problems. Errors lead to exit code 3, with --strict warnings, too. Notes do " +
        "not. An empty directory is an error, unless --allow-empty is given. Warnings and notes are for " +
        "unreachable cases, overlaps, weights that do not sum to 100, shared buckets, disabled targets, cycles of " +
        "decisions, guardrails that always fail, and definitions that differ from their approved version. With " +
        "--require-approval, or the setting require_approval, definitions that are unapproved, changed, retired or " +
        "missing are errors too.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision validate
  $ agent-33 decision validate decisions/expense-approval.yaml --format json
  $ agent-33 decision validate --require-approval --format github`,
    )
    .action(async (paths: readonly string[], flags: ValidateFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["github"] });
      const { assertDirectories, validatePaths } = await import("../validate-paths.js");
      const checked = paths.length > 0 ? paths : [decisionsDirectory(flags.decisions, io).value];
      if (flags.requireApproval) assertDirectories(checked);
      const approval = approvalSettings(flags, io);
      const report = await validatePaths(checked, approval);
      const empty = report.isEmpty && !flags.allowEmpty ? checked.map(noDefinitions) : [];
      const problems = [...report.problems, ...empty];
      const failing = flags.strict ? ["error", "warning"] : ["error"];
      const valid = !problems.some(({ severity }) => failing.includes(severity));
      if (format === "github") io.out.write(githubAnnotations(problems, io.cwd));
      else {
        const view = diagnosticsView(problems, { ...report, valid });
        io.out.write(await present(view, format, await styleFor(flags, io)));
      }
      if (report.isEmpty && flags.allowEmpty)
        warn(flags, io, `no definitions found in ${checked.join(", ")}`);
      done(valid ? 0 : 3);
    });
}

const noDefinitions = (path: string): Diagnostic => ({
  file: path,
  line: 1,
  column: 1,
  severity: "error",
  message: "no definitions found",
  hint: "specify the directory of your definitions, create one with `agent-33 decision new TYPE ID`, or add --allow-empty",
});
