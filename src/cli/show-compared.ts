import { compareWithEarlier } from "../decide/compare.js";
import { DecisionError } from "../errors.js";
import type { Compared } from "../lineage/compared.js";
import { compareRecord } from "../lineage/compared.js";
import { comparedView } from "../present/compared-view.js";
import type { Format } from "../present/format.js";
import { present } from "../present/format.js";
import type { ExitCode } from "./exit-codes.js";
import { formatFor, styleFor } from "./flags.js";
import { readContext } from "./input.js";
import type { Io } from "./io.js";
import type { About, AskedFlags, OfDecision } from "./precedents-question.js";
import { findRecord } from "../record/record-reference.js";
import { undeclared, whyRecordHasNone } from "./why-no-precedents.js";
import { note, openRecords, openWorld, warn, warnOfMissingStore, warnOfProblems } from "./world.js";

export async function showOfInput(question: About<"input">, flags: AskedFlags, io: Io): Promise<ExitCode> {
  const { id, wanted } = question;
  const { workflowId, sessionId } = flags;
  const format = formatFor(flags, io, { answer: "one" });
  const context = readContext(question.input, io);
  warnOfMissingStore(flags, io);
  const world = await openWorld(flags, io);
  const request = {
    decision_id: id,
    context,
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
  };
  const compared = await compareWithEarlier(request, world, wanted);
  await show(compared, format, { flags, io });
  if (compared.entities.length === 0) {
    const { definition } = await world.definitions.find(id);
    warn(flags, io, undeclared(definition) ?? `this input tells none of the entities of \`${id}\``);
  }
  warnOfProblems(flags, io, world.definitions.problems);
  return 0;
}

async function show(
  compared: Compared,
  format: Format,
  { flags, io }: { readonly flags: AskedFlags; readonly io: Io },
): Promise<void> {
  io.out.write(await present(comparedView(compared), format, await styleFor(flags, io)));
  const isNone = compared.precedents.length === 0 && compared.entities.length > 0;
  if (isNone && !flags.quiet && io.err.isTerminal) note(io, "no earlier decision is similar enough");
}

export async function showOfRecord(
  { id, record: reference, wanted }: About<"record"> & OfDecision,
  flags: AskedFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const records = await openRecords(flags, io);
  const { record } = await findRecord(reference, records);
  if (record.kind !== "decision") {
    throw new DecisionError("usage", `record ${record.seq} is no decision, so it has no precedents`);
  }
  if (id !== undefined && id !== record.decision_id) {
    throw new DecisionError(
      "usage",
      `record ${record.seq} is one of \`${record.decision_id}\`, not of \`${id}\``,
      {
        hint: "leave out the decision's id: the record tells it",
      },
    );
  }
  const compared = await compareRecord(record, records.log, wanted);
  await show(compared, format, { flags, io });
  if (compared.entities.length === 0) warn(flags, io, await whyRecordHasNone(record, records.store));
  return 0;
}
