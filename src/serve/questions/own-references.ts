import type { Precedent } from "../../model/lineage.js";
import { isMapping, isText, itemsOf, shaped } from "../../record/shape.js";
import type { Asker } from "../question.js";
import { recordsSeenBy } from "./own-records.js";

/** Leaves out of records and answers which other records they name, where whoever asks may not see those. */
export function ownReferences(asker: Asker): <Told extends object>(told: Told) => Promise<Told> {
  const maySee = recordsSeenBy(asker);
  if (maySee === undefined) return (told) => Promise.resolve(told);
  const { log } = asker.world.records;
  const look = async (id: string): Promise<boolean> => {
    const found = await log.find({ beginning: id });
    // One that is no longer there may have been anybody's.
    return "record" in found && found.record.record_id === id && (await maySee(found.record));
  };
  const known = new Map<string, Promise<boolean>>();
  const isSeen = (id: string): Promise<boolean> => {
    const looking = known.get(id) ?? look(id);
    known.set(id, looking);
    return looking;
  };
  return async (told) => withoutPrecedents(await withoutOrigin(told, isSeen), isSeen);
}

type IsSeen = (id: string) => Promise<boolean>;

/** The record whose answer was taken from the cache. */
async function withoutOrigin<Told extends { readonly cached_from?: unknown }>(
  told: Told,
  isSeen: IsSeen,
): Promise<Told> {
  const { cached_from: origin, ...rest } = told;
  if (origin === undefined || (isText(origin) && (await isSeen(origin)))) return told;
  return rest as Told;
}

async function withoutPrecedents<Told extends { readonly lineage?: unknown }>(
  told: Told,
  isSeen: IsSeen,
): Promise<Told> {
  const { lineage } = told;
  if (!isMapping(lineage)) return told;
  const precedents: Precedent[] = [];
  for (const each of itemsOf(lineage["precedents"], isPrecedent))
    if (await isSeen(each.record_id)) precedents.push(each);
  return { ...told, lineage: { ...lineage, precedents } };
}

/** A damaged record may hold anything. */
const isPrecedent = shaped<Precedent>({ record_id: isText });
