import { DecisionError } from "../../errors.js";

/** A log can only be restored into an empty store. */
export const storeNotEmptyError = (where: string): DecisionError =>
  new DecisionError("usage", `the store \`${where}\` is not empty`, {
    hint: "specify a new directory with --store DIR; a restore never changes existing records",
  });
