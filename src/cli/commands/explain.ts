import type { Command } from "commander";
import type { LogRecord } from "../../model/record.js";
import { explainView, noteView, toolResultView } from "../../present/explain-view.js";
import type { View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { explain, explainConditions } from "../../record/explain.js";
import { explainCall } from "../../record/explain-call.js";
import { keptDefinition } from "../../record/kept-definition.js";
import { isLineIntact } from "../../record/line-intact.js";
import type { Records } from "../../record/records.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { findRecord } from "../record-reference.js";
import { openRecords, warn } from "../world.js";

export function addExplainCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("explain")
    .argument("<record>", "a record's id or the beginning of it, its number in the log, or latest");
  addCommonFlags(addStoreFlags(command))
    .summary("say why a decision went as it did")
    .description(
      "Tells of a record what was decided, for whom and why, which conditions failed, and what they read. " +
        "Needs the store alone: the definition is the one that the decision was made with. " +
        "With --verbose, every condition, the context and all hashes.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision explain latest
  $ agent-33 decision explain 12 --verbose
  $ agent-33 decision explain 0199a3f2-1c44 --json`,
    )
    .action(async (reference: string, flags: StoreFlags) => {
      const format = formatFor(flags, io, { answer: "one" });
      const records = await openRecords(flags, io);
      const { record, text } = await findRecord(reference, records);
      const intact = isLineIntact(text);
      const view = await viewOf(record, records, { intact, verbose: flags.verbose ?? false });
      io.out.write(await present(view, format, await styleFor(flags, io)));
      if (!intact) {
        warn(
          flags,
          io,
          `record ${record.seq} was changed since it was written; see \`agent-33 decision verify\``,
        );
      }
      done(0);
    });
}

async function viewOf(
  record: LogRecord,
  { store }: Records,
  { intact, verbose }: { readonly intact: boolean; readonly verbose: boolean },
): Promise<View> {
  if (record.kind === "note") return noteView(record, intact);
  if (record.kind === "tool_result") return toolResultView(record, intact);
  const definition = await keptDefinition(record.definition_hash, store);
  const all = verbose ? explainConditions(record, definition) : undefined;
  const call = explainCall(record, definition);
  return explainView({ record, explanation: explain(record, definition), intact, all, call });
}
