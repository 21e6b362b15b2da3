import { explainer } from "../../present/explain-records.js";
import { explainedValue, noteView, toolResultView } from "../../present/explain-view.js";
import type { LogLine } from "../../model/store.js";
import type { Asker } from "../question.js";
import { question } from "../question.js";
import { answerWith, said } from "./answer-fields.js";
import { document, objectWith, text } from "./fields.js";
import { ownRecord } from "./own-records.js";
import { ownReferences } from "./own-references.js";
import { intactSaid, marked, toldRecord } from "./told-record.js";

interface RecordInput {
  readonly record_id: string;
}

const recordId = text("a record's id or the beginning of it, its number, or `latest`");

const recordFields = {
  kind: said("decision, tool_result or note"),
  record_id: said("the record's id"),
  seq: { type: "integer", description: "its number" },
  timestamp: said("when it was kept"),
};

const unnamed =
  " A token for one organisation is not told of precedents and cached answers that are another's.";

/** Why a decision went as it did. */
export const explainRecord = question<RecordInput, object>({
  name: "explain_record",
  title: "Say why a decision went as it did",
  description:
    "Explains a record: what was decided, for whom and why, which conditions failed, and what they read. `explanation` " +
    "says it in sentences." +
    unnamed,
  scope: "audit",
  readOnly: true,
  input: objectWith({ record_id: recordId }, ["record_id"]),
  output: answerWith(
    { ...recordFields, explanation: document("what was decided and why, in sentences") },
    { intact: intactSaid },
  ),
  async answer({ record_id: id }, asker) {
    const line = await ownRecord(id, asker);
    return marked(await explainedLine(line, asker), line.intact);
  },
});

async function explainedLine({ record, intact }: LogLine, asker: Asker): Promise<object> {
  if (record.kind === "note") return noteView(record, intact).value as object;
  if (record.kind === "tool_result") return toolResultView(record, intact).value as object;
  const told = await ownReferences(asker)(record);
  return explainedValue(await explainer(asker.world.records.store, false)({ record: told, intact }));
}

/** One line of the log. */
export const showRecord = question<RecordInput, object>({
  name: "show_record",
  title: "Show a record",
  description: `Shows one line of the log; \`intact: false\` says that it is not as it was written.${unnamed}`,
  scope: "audit",
  readOnly: true,
  input: objectWith({ record_id: recordId }, ["record_id"]),
  output: answerWith(recordFields, { intact: intactSaid }),
  answer: async ({ record_id: id }, asker) => ownReferences(asker)(toldRecord(await ownRecord(id, asker))),
});
