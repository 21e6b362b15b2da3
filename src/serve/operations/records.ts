import type { Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";
import { selectOwnRecords, findOwnRecord, hideForeignReferences } from "./org-access.js";
import {
  flag,
  outputObject,
  listOf,
  objectField,
  inputObject,
  inputText,
  outputText,
} from "./shared-fields.js";
import { decisionTypes } from "../../definition/decision-types.js";
import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { LogRecord } from "../../model/record.js";
import type { LogLine, Query } from "../../model/store.js";
import { createExplainer } from "../../present/explain-records.js";
import { explainedDocument, noteView, toolResultView } from "../../present/explain-view.js";
import type { RecordFilter } from "../../record/record-query.js";
import { recordKinds, parseRecordFilter } from "../../record/record-query.js";

/** A record, marked where it is not what was written. */
type VisibleRecord = LogRecord & { readonly intact?: false };

const visibleRecord = ({ record, intact }: LogLine): VisibleRecord => markIfDamaged(record, intact);

/** Whatever else is told of a record, the mark is not lost on the way. */
const markIfDamaged = <T extends object>(told: T, intact: boolean): T & { readonly intact?: false } =>
  intact ? told : { ...told, intact: false };

const intactField = flag(
  "false: the record was changed since it was written, so do not rely on it; absent: it is what was written",
);

interface RecordsInput extends Omit<RecordFilter, "limit"> {
  readonly limit?: number;
  readonly after?: number;
  readonly reverse?: boolean;
}

interface RecordsAnswer {
  readonly records: readonly VisibleRecord[];
  /** Goes on behind the last of them; absent: there are no more. */
  readonly next_after?: number;
}

/** Held in memory and sent at once. */
const pageSize = { usual: 100, limit: 1000 };

const integer = (description: string, more: JsonObject): JsonObject => ({
  type: "integer",
  description,
  ...more,
});

const recordLine: JsonObject = { ...objectField("a line of the log"), properties: { intact: intactField } };

/** What was decided. */
export const findRecords = defineOperation<RecordsInput, RecordsAnswer>({
  name: "find_records",
  title: "Look at what was decided",
  description:
    "Lists records of the log, oldest first: the newest of those that fit, or with `after` those that follow.",
  scope: "audit",
  readOnly: true,
  input: inputObject({
    decision_id: inputText("only this decision"),
    workflow_id: inputText("only on behalf of this workflow"),
    stage_id: inputText("only on behalf of this stage"),
    session_id: inputText("only on behalf of this session"),
    correlation_id: inputText("only what is tied together by this"),
    label: inputText("only where this branch was taken; of a gate, its status"),
    target: inputText("only where this was the target"),
    type: { enum: [...decisionTypes], description: "only decisions of this type" },
    kind: { enum: [...recordKinds], description: "absent: decisions" },
    since: inputText("from this moment on: 2026-11-15T10:30:00Z, 2026-11-15, or 7d (that long ago)"),
    until: inputText("up to this moment"),
    limit: integer(`so many at the most (else ${pageSize.usual})`, { minimum: 1, maximum: pageSize.limit }),
    after: integer("only records with a greater number", { minimum: 0 }),
    reverse: flag("newest first"),
  }),
  output: outputObject(
    { records: listOf("the records that fit", recordLine) },
    { next_after: integer("goes on behind the last of them; absent: there are no more", {}) },
  ),
  async answer({ limit = pageSize.usual, after, reverse = false, ...asked }, asker) {
    const query = { ...parseRecordFilter(asked, asker.world.clock(), (field) => `\`${field}\``), reverse };
    if (after === undefined)
      return hideReferences({ records: await newestRecords(query, limit, asker) }, asker);
    if (reverse) throw new DecisionError("usage", "`after` and `reverse` exclude each other");
    return hideReferences(
      toPage(await takeFirst(limit + 1, selectOwnRecords({ ...query, after }, asker)), limit),
      asker,
    );
  },
});

async function hideReferences(answer: RecordsAnswer, asker: Invocation): Promise<RecordsAnswer> {
  return { ...answer, records: await Promise.all(answer.records.map(hideForeignReferences(asker))) };
}

/** Those that may not be seen do not count. */
async function newestRecords(
  query: Query,
  limit: number,
  asker: Invocation,
): Promise<readonly VisibleRecord[]> {
  const found = await takeFirst(limit, selectOwnRecords({ ...query, reverse: true }, asker));
  return query.reverse === true ? found : found.toReversed();
}

async function takeFirst(count: number, lines: AsyncIterable<LogLine>): Promise<readonly VisibleRecord[]> {
  const found: VisibleRecord[] = [];
  for await (const line of lines) {
    found.push(visibleRecord(line));
    if (found.length >= count) break;
  }
  return found;
}

/** One more than is wanted tells whether there are more. */
function toPage(found: readonly VisibleRecord[], limit: number): RecordsAnswer {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return { records, ...(found.length > limit && last !== undefined && { next_after: last.seq }) };
}

interface RecordInput {
  readonly record_id: string;
}

const recordIdInput = inputText("a record's id or the beginning of it, its number, or `latest`");

const recordFields = {
  kind: outputText("decision, tool_result or note"),
  record_id: outputText("the record's id"),
  seq: { type: "integer", description: "its number" },
  timestamp: outputText("when it was kept"),
};

const hiddenReferencesNote =
  " A token for one organisation is not told of precedents and cached answers that are another's.";

/** Why a decision went as it did. */
export const explainRecord = defineOperation<RecordInput, object>({
  name: "explain_record",
  title: "Say why a decision went as it did",
  description:
    "Explains a record: what was decided, for whom and why, which conditions failed, and what they read. `explanation` " +
    "says it in sentences." +
    hiddenReferencesNote,
  scope: "audit",
  readOnly: true,
  input: inputObject({ record_id: recordIdInput }, ["record_id"]),
  output: outputObject(
    { ...recordFields, explanation: objectField("what was decided and why, in sentences") },
    { intact: intactField },
  ),
  async answer({ record_id: id }, asker) {
    const line = await findOwnRecord(id, asker);
    return markIfDamaged(await explainLine(line, asker), line.intact);
  },
});

async function explainLine({ record, intact }: LogLine, asker: Invocation): Promise<object> {
  if (record.kind === "note") return noteView(record, intact).value as object;
  if (record.kind === "tool_result") return toolResultView(record, intact).value as object;
  const told = await hideForeignReferences(asker)(record);
  return explainedDocument(await createExplainer(asker.world.records.store, false)({ record: told, intact }));
}

/** One line of the log. */
export const showRecord = defineOperation<RecordInput, object>({
  name: "show_record",
  title: "Show a record",
  description: `Shows one line of the log; \`intact: false\` says that it is not as it was written.${hiddenReferencesNote}`,
  scope: "audit",
  readOnly: true,
  input: inputObject({ record_id: recordIdInput }, ["record_id"]),
  output: outputObject(recordFields, { intact: intactField }),
  answer: async ({ record_id: id }, asker) =>
    hideForeignReferences(asker)(visibleRecord(await findOwnRecord(id, asker))),
});
