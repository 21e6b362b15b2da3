import type { Command } from "commander";
import { present } from "../../present/format.js";
import { githubAnnotations, diagnosticsView } from "../../present/diagnostics-view.js";
import type { ExitCode } from "../exit-codes.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { warn } from "../world.js";

interface ValidateFlags extends CommonFlags {
  readonly requireApproval?: boolean;
}

export function addValidateCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("validate")
    .option("--require-approval", "report unapproved, changed and missing definitions as errors");
  addCommonFlags(command, ["github"])
    .alias("lint")
    .argument("[path...]", "files or directories (default: the directory of definitions)")
    .summary("check definitions and report problems")
    .description(
      "Check every definition and report all problems. Errors lead to exit code 3. Warnings and notes do not: " +
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
  $ agent-33 decision validate decisions/quality-gate.yaml --format json
  $ agent-33 decision validate --require-approval --format github`,
    )
    .action(async (paths: readonly string[], flags: ValidateFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["github"] });
      const { assertDirectories, validatePaths } = await import("../validate-paths.js");
      const checked = paths.length > 0 ? paths : [decisionsDirectory(flags.decisions, io).value];
      if (flags.requireApproval) assertDirectories(checked);
      const approval = approvalSettings(flags, io);
      const { problems, decisions, guardrails, isEmpty } = await validatePaths(checked, approval);
      if (format === "github") io.out.write(githubAnnotations(problems));
      else {
        const view = diagnosticsView(problems, { decisions, guardrails });
        io.out.write(await present(view, format, await styleFor(flags, io)));
      }
      if (isEmpty) warn(flags, io, `no definitions found in ${checked.join(", ")}`);
      done(problems.some((problem) => problem.severity === "error") ? 3 : 0);
    });
}
