import type { Command } from "commander";
import { definitionView, storedDefinitionView } from "../../present/definition-views.js";
import { present } from "../../present/format.js";
import { findDefinitionByHash } from "../../record/stored-definition.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { openApprovals, openRecords, openReadableWorld, warnAboutDefinitions } from "../world.js";

interface ShowFlags extends StoreFlags {
  readonly hash?: string;
}

export function addShowCommand(parent: Command, io: Io): void {
  const command = parent
    .command("show")
    .argument("<id>", "id of the decision")
    .option("--hash <hash>", "show a recorded version: its hash or a unique prefix");
  addCommonFlags(addStoreFlags(command))
    .summary("show one decision")
    .description(
      "Show a decision with its cases, file and definition hash. With --hash, show a version that decisions were made " +
        "with, even if its file has changed or no longer exists.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision show expense-approval
  $ agent-33 decision show expense-approval --format yaml
  $ agent-33 decision show expense-approval --hash 5d41402a`,
    )
    .action((id: string, flags: ShowFlags) =>
      flags.hash === undefined ? showCurrent(id, flags, io) : showStored(id, flags.hash, flags, io),
    );
}

async function showCurrent(id: string, flags: ShowFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "one" });
  const { definitions, records } = await openReadableWorld(flags, io);
  const loaded = await definitions.findForInspection(id);
  const approvalOf = await openApprovals(records, flags, io);
  const view = definitionView(loaded, approvalOf?.(loaded));
  io.out.write(await present(view, format, await styleFor(flags, io)));
  warnAboutDefinitions(flags, io, definitions.diagnostics);
}

async function showStored(id: string, hash: string, flags: ShowFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "one" });
  const { store } = await openRecords(flags, io);
  const view = storedDefinitionView(await findDefinitionByHash(id, hash, store));
  io.out.write(await present(view, format, await styleFor(flags, io)));
}
