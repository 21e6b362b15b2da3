import type { EvaluationDetails, RollDetails } from "../model/result.js";

/** Whether the details tell of a roll, as those of a weighted decision do. */
export const isRoll = (details: EvaluationDetails): details is RollDetails =>
  typeof (details as Partial<RollDetails>).total_weight === "number";
