import type { Command } from "commander";
import { definitionView } from "../../present/definition-views.js";
import { present } from "../../present/format.js";
import { keptDefinitionView } from "../../present/kept-definition-view.js";
import { findKeptDefinition } from "../../record/kept-definition.js";
import { approvalsKnown } from "../known-approvals.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { openRecords, openKnown, warnOfProblems } from "../world.js";

interface ShowFlags extends StoreFlags {
  readonly hash?: string;
}

export function addShowCommand(parent: Command, io: Io): void {
  const command = parent
    .command("show")
    .argument("<id>", "the decision's id")
    .option("--hash <hash>", "as it was when a record named it by this hash, or a unique beginning of it");
  addCommonFlags(addStoreFlags(command))
    .summary("show one decision")
    .description(
      "Shows a decision with its cases, its file and the hash that stands for exactly this definition. " +
        "With --hash, a definition that decisions were made with, whatever has become of its file.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision show decision-escalation-rules
  $ agent-33 decision show decision-escalation-rules --format yaml
  $ agent-33 decision show decision-escalation-rules --hash 5d41402a`,
    )
    .action((id: string, flags: ShowFlags) =>
      flags.hash === undefined ? showCurrent(id, flags, io) : showKept(id, flags.hash, flags, io),
    );
}

async function showCurrent(id: string, flags: ShowFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "one" });
  const { definitions, records } = await openKnown(flags, io);
  const loaded = await definitions.lookUp(id);
  const approvalOf = await approvalsKnown(records, flags, io);
  const view = definitionView(loaded, approvalOf?.(loaded));
  io.out.write(await present(view, format, await styleFor(flags, io)));
  warnOfProblems(flags, io, definitions.problems);
}

async function showKept(id: string, hash: string, flags: ShowFlags, io: Io): Promise<void> {
  const format = formatFor(flags, io, { answer: "one" });
  const { store } = await openRecords(flags, io);
  const view = keptDefinitionView(await findKeptDefinition(id, hash, store));
  io.out.write(await present(view, format, await styleFor(flags, io)));
}
