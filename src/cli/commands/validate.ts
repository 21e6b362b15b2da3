import type { Command } from "commander";
import { present } from "../../present/format.js";
import { githubAnnotations, problemsView } from "../../present/problems-view.js";
import type { ExitCode } from "../exit-codes.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { approvalSettings, decisionsDirectory } from "../settings.js";
import { warn } from "../world.js";

export function addValidateCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  addCommonFlags(parent.command("validate"), ["github"])
    .alias("lint")
    .argument("[path...]", "files or directories; else the directory of definitions")
    .summary("check definitions, and say what a reviewer would ask")
    .description(
      "Checks every definition and reports all problems at once. Errors end in exit code 3; warnings and notes " +
        "(unreachable cases, overlaps, weights that do not sum to 100, shared buckets, ways to disabled targets, " +
        "decisions that lead round in a circle, guardrails that fail whatever the input, what changed since it was " +
        "approved) do not.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision validate
  $ agent-33 decision validate decisions/quality-gate.yaml --format json
  $ agent-33 decision validate --format github`,
    )
    .action(async (paths: readonly string[], flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["github"] });
      const { validatePaths } = await import("../validate-paths.js");
      const checked = paths.length > 0 ? paths : [decisionsDirectory(flags.decisions, io).value];
      const { trustedKeys } = approvalSettings({}, io);
      const { problems, decisions, guardrails, isEmpty } = await validatePaths(checked, trustedKeys);
      if (format === "github") io.out.write(githubAnnotations(problems));
      else {
        const view = problemsView(problems, { decisions, guardrails });
        io.out.write(await present(view, format, await styleFor(flags, io)));
      }
      if (isEmpty) warn(flags, io, `no definition was found in ${checked.join(", ")}`);
      done(problems.some((problem) => problem.severity === "error") ? 3 : 0);
    });
}
