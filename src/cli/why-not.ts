import type { DecisionRecord } from "../model/record.js";
import type { LogLine, Store } from "../model/store.js";
import type { View } from "../present/format.js";
import { whyNotView } from "../present/why-not-view.js";
import { explainWhyNot } from "../record/why-not.js";
import { ReplayableDefinitions } from "../replay/replayable-definitions.js";

/** Explains why the decision of a record did not choose a label. */
export async function whyNotOf(
  line: LogLine & { readonly record: DecisionRecord },
  label: string,
  store: Store,
): Promise<View> {
  const definition = await new ReplayableDefinitions(store).get(line.record);
  return whyNotView(explainWhyNot(line, definition, label), line.record, line.intact);
}
