import type { Lineage } from "../../src/model/lineage.js";
import type { Ledger } from "../../src/model/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Decided } from "../store/entries.js";
import { called, decided } from "../store/entries.js";

/** An id that tells its number. */
export const idOf = (number: number): string => `0199a3f2-1c44-7000-8000-${String(number).padStart(12, "0")}`;

type Given = Omit<Decided, "lineage"> & { readonly lineage?: Partial<Lineage> };

/** A log whose records have the ids `idOf(1)`, `idOf(2)` and so on; a list stands for the result of calls that these allowed. */
export async function logOf(...records: readonly (Given | readonly number[])[]): Promise<Ledger> {
  const { log } = openMemoryStore();
  for (const [index, record] of records.entries()) {
    const record_id = idOf(index + 1);
    const body = isList(record)
      ? called({ decision_records: record.map(idOf) }).replace(
          /"record_id":"[^"]+"/,
          `"record_id":"${record_id}"`,
        )
      : decided({ record_id, decision_id: `d${index + 1}`, ...(record as Decided) });
    await log.append({ body });
  }
  return log;
}

const isList = (value: Given | readonly number[]): value is readonly number[] => Array.isArray(value);

export const child = (of: number): Given => ({ parent_record_id: idOf(of) });

export const using = (...artifacts: readonly string[]): Given => ({ lineage: { artifacts } });
