import { logWriting } from "../present/log-writing.js";
import { warnOfDamage } from "./damaged-lines.js";
import type { ExitCode } from "./exit-codes.js";
import { formatFor, styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { refuseUnknown } from "./known-decision.js";
import type { About, AskedFlags, OfDecision } from "./precedents-question.js";
import { RecordPrinter } from "./record-printer.js";
import { whyDecisionHasNone } from "./why-no-precedents.js";
import { note, openRecords, warn } from "./world.js";

export async function showRelated(
  { id, key, range }: About<"related"> & OfDecision,
  flags: AskedFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "many" });
  const records = await openRecords(flags, io);
  await refuseUnknown(id, records, { flags, io });
  const printer = new RecordPrinter(io, await logWriting(format, await styleFor(flags, io)));
  const { limit, ...when } = range;
  let isMore = false;
  for await (const line of records.log.related(key, when)) {
    if (id !== undefined && (line.record.kind !== "decision" || line.record.decision_id !== id)) continue;
    isMore = printer.printed >= limit;
    if (isMore) break;
    printer.print(line);
  }
  printer.end();
  if (!flags.quiet && io.err.isTerminal) {
    if (isMore) note(io, `the newest ${limit} of more; --limit N shows the newest N`);
    if (printer.printed === 0) note(io, "no record fits");
  }
  if (printer.printed === 0 && id !== undefined && "entity" in key) {
    const why = await whyDecisionHasNone(id, records.store);
    if (why !== undefined) warn(flags, io, why);
  }
  warnOfDamage(printer, flags, io);
  return 0;
}
