import { assessConsistency, hasOtherOutcome } from "../lineage/deviations.js";
import type { DecisionRecord } from "../model/record.js";
import type { LogLine, Query } from "../model/store.js";
import { assessmentView } from "../present/assessment-view.js";
import { present } from "../present/format.js";
import { entitiesOf } from "../record/record-keys.js";
import { isWholeRecord } from "../record/whole-record.js";
import { warnOfDamage } from "./damaged-lines.js";
import type { ExitCode } from "./exit-codes.js";
import { formatFor, styleFor } from "./flags.js";
import type { Io } from "./io.js";
import { refuseUnknown } from "./known-decision.js";
import type { About, AskedFlags, OfDecision } from "./precedents-question.js";
import { whyDecisionHasNone } from "./why-no-precedents.js";
import { openRecords, warn } from "./world.js";

export async function showDeviations(
  { id, last }: About<"deviations"> & OfDecision,
  flags: AskedFlags,
  io: Io,
): Promise<ExitCode> {
  const format = formatFor(flags, io, { answer: "one" });
  const records = await openRecords(flags, io);
  await refuseUnknown(id, records, { flags, io });
  const seen = { damaged: 0, entities: 0 };
  const newest = decisionsOf(records.log.select(queryFor(id, last)), seen);
  const assessment = await assessConsistency(newest, records.log);
  io.out.write(await present(assessmentView(assessment), format, await styleFor(flags, io)));
  if (assessment.decisions > 0 && seen.entities === 0) {
    const why = id === undefined ? undefined : await whyDecisionHasNone(id, records.store);
    warn(flags, io, why ?? "none of these decisions is about an entity, so none has precedents");
  }
  warnOfDamage(seen, flags, io);
  return flags.check && hasOtherOutcome(assessment) ? 6 : 0;
}

const queryFor = (id: string | undefined, limit: number): Query => ({
  kind: "decision",
  ...(id !== undefined && { decision_id: id }),
  limit,
  reverse: true,
});

async function* decisionsOf(
  lines: AsyncIterable<LogLine>,
  seen: { damaged: number; entities: number },
): AsyncGenerator<DecisionRecord> {
  for await (const { record } of lines) {
    if (record.kind !== "decision") continue;
    if (!isWholeRecord(record)) {
      seen.damaged++;
      continue;
    }
    seen.entities += entitiesOf(record).length;
    yield record;
  }
}
