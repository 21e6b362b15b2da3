import type { Precedent } from "../model/lineage.js";
import type { Result } from "../model/result.js";
import type { OutcomeRow } from "./outcome-rows.js";

/** One row for each precedent, where a result tells of any: only those of policies do. */
export function precedentRows(result: Result): readonly OutcomeRow[] {
  if (result.type !== "policy") return [];
  return result.lineage.precedents.map((each) => ({ name: "precedent", text: precedentText(each) }));
}

const precedentText = ({ record_id, similarity, outcome_matched }: Precedent): string =>
  `${record_id}  similarity ${similarity}, ${outcome_matched ? "matched" : "deviated"}`;
