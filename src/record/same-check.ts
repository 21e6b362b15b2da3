import type { DecisionRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";

/** The records of all decisions that were asked about one call, in their order; those of one check stand together. */
export async function sameCheck(
  record: DecisionRecord,
  log: Pick<Ledger, "find">,
  most = Infinity,
): Promise<readonly DecisionRecord[]> {
  if (record.check_id === undefined) return [record];
  const before = await neighbours(record, log, { step: -1, most });
  const after = await neighbours(record, log, { step: 1, most });
  return [...before.reverse(), record, ...after];
}

async function neighbours(
  { seq: start, check_id }: DecisionRecord,
  log: Pick<Ledger, "find">,
  { step, most }: { readonly step: 1 | -1; readonly most: number },
): Promise<DecisionRecord[]> {
  const found: DecisionRecord[] = [];
  for (let seq = start + step; seq > 0 && found.length < most; seq += step) {
    const line = await log.find({ seq });
    if (!("record" in line) || line.record.kind !== "decision") break;
    if (line.record.check_id !== check_id) break;
    found.push(line.record);
  }
  return found;
}
