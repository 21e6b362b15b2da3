import type { Command } from "commander";
import { definitionView } from "../../present/definition-views.js";
import { present } from "../../present/format.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { openWorld, warnOfProblems } from "../world.js";

export function addShowCommand(parent: Command, io: Io): void {
  addCommonFlags(parent.command("show"))
    .argument("<id>", "the decision's id")
    .summary("show one decision")
    .description(
      "Shows a decision with its cases, its file and the hash that stands for exactly this definition.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision show decision-escalation-rules
  $ agent-33 decision show decision-escalation-rules --format yaml`,
    )
    .action(async (id: string, flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const { definitions } = await openWorld(flags, io);
      const view = definitionView(await definitions.find(id));
      io.out.write(await present(view, format, await styleFor(flags, io)));
      warnOfProblems(flags, io, definitions.problems);
    });
}
