import type { Command } from "commander";
import { DecisionError } from "../../errors.js";
import { buildMethodology } from "../../lineage/methodology.js";
import type { LogLine } from "../../model/store.js";
import { createExplainer, explainSession } from "../../present/explain-records.js";
import { assessmentRecordView, explainView, noteView, toolResultView } from "../../present/explain-view.js";
import type { Format, View } from "../../present/format.js";
import { present } from "../../present/format.js";
import { recordMethodology, sessionMethodology, sessionView } from "../../present/session-view.js";
import { isLineIntact } from "../../record/chain.js";
import { recordsOfSession, toolResultsOf, findRecord } from "../../record/find-records.js";
import type { Records } from "../../record/records.js";
import type { ExitCode } from "../exit-codes.js";
import type { StoreFlags } from "../flags.js";
import { addCommonFlags, addStoreFlags, formatFor, styleFor } from "../flags.js";
import type { Io } from "../io.js";
import { warnAboutDamage, warnAboutModifiedRecord } from "../output.js";
import { note, openRecords } from "../world.js";

interface ExplainFlags extends StoreFlags {
  readonly sessionId?: string;
  readonly whyNot?: string;
}

export function addExplainCommand(parent: Command, io: Io, done: (code: ExitCode) => void): void {
  const command = parent
    .command("explain")
    .argument("[record]", "record id or a unique prefix, number in the log, or latest")
    .option("--session-id <id>", "explain every decision of a session, oldest first")
    .option(
      "--why-not <label>",
      "explain why this label was not chosen, and which smallest change of the input would choose it",
    );
  addCommonFlags(addStoreFlags(command), ["methodology"])
    .summary("explain a recorded decision")
    .description(
      "Explain a recorded decision: the result, the caller, the reason, the failed conditions and the values they read; " +
        "for a tool call, a tree with the result of each policy. Needs only the store, which keeps the definition that the " +
        "decision was made with. --verbose shows every condition, the context and all hashes. --session-id explains all " +
        "decisions of a session and shows what observers found. --format methodology prints a block of text for a report. " +
        "--why-not names a branch, `default`, a decision of a vote, the status or a rule of a gate, or the outcome of a " +
        "tool call.",
    )
    .addHelpText(
      "after",
      `
Examples:
  $ agent-33 decision explain latest
  $ agent-33 decision explain 12 --verbose
  $ agent-33 decision explain 0199a3f2-1c44 --json
  $ agent-33 decision explain latest --why-not default
  $ agent-33 decision explain --session-id s-1
  $ agent-33 decision explain --session-id s-1 --format methodology`,
    )
    .action(async (reference: string | undefined, flags: ExplainFlags) => {
      const format = formatFor(flags, io, { answer: "one", more: ["methodology"] });
      const question = parseQuestion(reference, flags);
      const call: ExplainCall = { flags, io, format, records: await openRecords(flags, io) };
      await ("session" in question ? showSession(question.session, call) : showRecord(question.record, call));
      done(0);
    });
}

interface ExplainCall {
  readonly flags: ExplainFlags;
  readonly io: Io;
  readonly format: Format | "methodology";
  readonly records: Records;
}

function parseQuestion(
  record: string | undefined,
  { sessionId: session, whyNot, format }: ExplainFlags,
): { readonly record: string } | { readonly session: string } {
  if (record !== undefined && session !== undefined) {
    throw new DecisionError("usage", "a record and --session-id cannot be combined", {
      hint: "remove one of them",
    });
  }
  if (whyNot !== undefined && (session !== undefined || format === "methodology")) {
    const other = session !== undefined ? "--session-id" : "--format methodology";
    throw new DecisionError("usage", `--why-not and ${other} cannot be combined`, {
      hint: "--why-not needs one record, for example `agent-33 decision explain latest --why-not LABEL`",
    });
  }
  if (session !== undefined) return { session };
  if (record !== undefined) return { record };
  throw new DecisionError("usage", "specify a record to explain", {
    hint: "for example `agent-33 decision explain latest`, or a session with --session-id ID",
  });
}

async function showRecord(reference: string, call: ExplainCall): Promise<void> {
  const { flags, io, format, records } = call;
  const line = await findRecord(reference, records);
  const intact = isLineIntact(line.text);
  const text =
    format === "methodology"
      ? await methodologyOf(reference, { ...line, intact }, records)
      : await present(await viewOf(reference, { ...line, intact }, call), format, await styleFor(flags, io));
  io.out.write(text);
  if (!intact) {
    warnAboutModifiedRecord(line.record, flags, io);
  }
}

async function viewOf(reference: string, line: LogLine, { records, flags }: ExplainCall): Promise<View> {
  const { record, intact } = line;
  if (flags.whyNot !== undefined) {
    if (record.kind !== "decision") throw notDecision(reference, "specify a decision");
    // In a bundle of its own, so that other explanations start as fast as without it.
    const { whyNotOf } = await import("../why-not.js");
    return whyNotOf({ ...line, record }, flags.whyNot, records.store);
  }
  if (record.kind === "note") return noteView(record, intact);
  if (record.kind === "tool_result") return toolResultView(record, intact);
  if (record.kind === "assessment") return assessmentRecordView(record, intact);
  return explainView(await createExplainer(records.store, flags.verbose ?? false)({ record, intact }));
}

const notDecision = (reference: string, hint: string): DecisionError =>
  new DecisionError("usage", `record \`${reference}\` is not a decision`, { hint });

async function methodologyOf(
  reference: string,
  { record, intact }: LogLine,
  records: Records,
): Promise<string> {
  if (record.kind !== "decision") {
    throw notDecision(reference, "specify a decision, or a session with --session-id ID");
  }
  const results = await toolResultsOf(record.record_id, records.log);
  return recordMethodology({ record, intact }, buildMethodology({ decisions: [record], results }));
}

async function showSession(session: string, { flags, io, format, records }: ExplainCall): Promise<void> {
  const found = await recordsOfSession(session, records.log);
  const explained = await explainSession(
    session,
    found,
    createExplainer(records.store, flags.verbose ?? false),
  );
  const text =
    format === "methodology"
      ? sessionMethodology(explained)
      : await present(sessionView(explained), format, await styleFor(flags, io));
  io.out.write(text);
  if (found.decisions.length + found.results.length === 0 && !flags.quiet) {
    note(io, `no records of session \`${session}\``);
  }
  warnAboutDamage(found, flags, io);
  const changed = [...found.decisions, ...found.results, ...found.assessments].filter(
    ({ intact }) => !intact,
  );
  for (const { record } of changed) {
    warnAboutModifiedRecord(record, flags, io);
  }
}
