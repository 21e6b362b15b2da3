import type { Command } from "commander";
import { listView } from "../../present/definition-views.js";
import { present } from "../../present/format.js";
import type { CommonFlags } from "../flags.js";
import { addCommonFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { noteNoDecisions, openApprovals, openReadableWorld, warnAboutDefinitions } from "../world.js";

export function addListCommand(parent: Command, io: Io): void {
  addCommonFlags(parent.command("list"))
    .summary("list decisions")
    .description(
      "List every decision with its type, version and name. All formats but `table` include its file.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision list
  $ agent-33 decision list --format json`,
    )
    .action(async (flags: CommonFlags) => {
      const format = formatFor(flags, io, { answer: "many" });
      const { definitions, records } = await openReadableWorld(flags, io);
      const loaded = await Promise.all(definitions.ids.map((id) => definitions.findForInspection(id)));
      if (loaded.length === 0) noteNoDecisions(flags, io);
      const approvalOf = await openApprovals(records, flags, io);
      io.out.write(await present(listView(loaded, approvalOf), format, await styleFor(flags, io)));
      warnAboutDefinitions(flags, io, definitions.diagnostics);
    });
}
