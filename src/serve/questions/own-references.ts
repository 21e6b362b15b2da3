import type { Precedent } from "../../model/lineage.js";
import type { IsSeen } from "../../record/record-reference.js";
import { isMapping, isText, itemsOf, shaped } from "../../record/shape.js";
import type { Asker } from "../question.js";
import { idsSeenBy } from "./own-records.js";

/** Leaves out of records and answers which other records they name, where whoever asks may not see those. */
export function ownReferences(asker: Asker): <Told extends object>(told: Told) => Promise<Told> {
  const isSeen = idsSeenBy(asker);
  if (isSeen === undefined) return (told) => Promise.resolve(told);
  return async (told) => withoutPrecedents(await withoutOrigin(told, isSeen), isSeen);
}

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
