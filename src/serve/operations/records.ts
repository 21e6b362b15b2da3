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
import {
  assessmentRecordView,
  explainedDocument,
  noteView,
  toolResultView,
} from "../../present/explain-view.js";
import type { RecordFilter } from "../../record/record-query.js";
import { recordKinds, parseRecordFilter } from "../../record/record-query.js";

/** A record as shown to clients; `intact: false` if it was changed after it was written. */
type VisibleRecord = LogRecord & { readonly intact?: false };

const visibleRecord = ({ record, intact }: LogLine): VisibleRecord => markIfDamaged(record, intact);

const markIfDamaged = <T extends object>(shown: T, intact: boolean): T & { readonly intact?: false } =>
  intact ? shown : { ...shown, intact: false };

const intactField = flag(
  "false: the record was changed after it was written, so do not rely on it; absent: it is unchanged",
);

interface RecordsInput extends Omit<RecordFilter, "limit"> {
  readonly limit?: number;
  readonly after?: number;
  readonly reverse?: boolean;
}

interface RecordsAnswer {
  readonly records: readonly VisibleRecord[];
  /** The value of `after` for the next page; absent on the last page. */
  readonly next_after?: number;
}

/** A page is held in memory and sent at once. */
const pageSize = { default: 100, max: 1000 };

const integer = (description: string, more: JsonObject): JsonObject => ({
  type: "integer",
  description,
  ...more,
});

const recordLine: JsonObject = { ...objectField("a record of the log"), properties: { intact: intactField } };

export const findRecords = defineOperation<RecordsInput, RecordsAnswer>({
  name: "find_records",
  title: "Find records",
  description:
    "Lists the newest matching records, oldest first; with `after`, the records that follow. `intact: false`: changed " +
    "after it was written.",
  scope: "audit",
  readOnly: true,
  input: inputObject({
    decision_id: inputText("only this decision"),
    workflow_id: inputText("only this workflow"),
    stage_id: inputText("only this stage"),
    session_id: inputText("only this session"),
    correlation_id: inputText("only this correlation id"),
    caller: inputText("only this caller: the subject of the token, or one who acts for it"),
    label: inputText("only with this selected label; for gates, the status"),
    target: inputText("only with this selected target"),
    type: { enum: [...decisionTypes], description: "only decisions of this type" },
    kind: { enum: [...recordKinds], description: "only records of this kind; default: decisions" },
    since: inputText("from this time on: 2026-11-15T10:30:00Z, 2026-11-15, or an age such as 7d"),
    until: inputText("up to this time"),
    limit: integer(`the maximum number of records; default: ${pageSize.default}`, {
      minimum: 1,
      maximum: pageSize.max,
    }),
    after: integer("only records with a greater `seq`", { minimum: 0 }),
    reverse: flag("newest first"),
  }),
  output: outputObject(
    { records: listOf("the matching records", recordLine) },
    { next_after: integer("the value of `after` for the next page; absent on the last page", {}) },
  ),
  async run({ limit = pageSize.default, after, reverse = false, ...filter }, invocation) {
    const query = {
      ...parseRecordFilter(filter, invocation.world.clock(), (field) => `\`${field}\``),
      reverse,
    };
    if (after === undefined)
      return hideReferences({ records: await newestRecords(query, limit, invocation) }, invocation);
    if (reverse) throw new DecisionError("usage", "`after` and `reverse` cannot be combined");
    return hideReferences(
      toPage(await takeFirst(limit + 1, selectOwnRecords({ ...query, after }, invocation)), limit),
      invocation,
    );
  },
});

async function hideReferences(answer: RecordsAnswer, invocation: Invocation): Promise<RecordsAnswer> {
  return { ...answer, records: await Promise.all(answer.records.map(hideForeignReferences(invocation))) };
}

/** Returns the newest records that the caller may see. */
async function newestRecords(
  query: Query,
  limit: number,
  invocation: Invocation,
): Promise<readonly VisibleRecord[]> {
  const found = await takeFirst(limit, selectOwnRecords({ ...query, reverse: true }, invocation));
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

/** Expects one record more than `limit` if there is another page. */
function toPage(found: readonly VisibleRecord[], limit: number): RecordsAnswer {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return { records, ...(found.length > limit && last !== undefined && { next_after: last.seq }) };
}

interface RecordInput {
  readonly record_id: string;
}

const recordIdInput = inputText("the id of a record or a prefix of it, its number, or `latest`");

const recordFields = {
  kind: outputText("decision, tool_result, assessment or note"),
  record_id: outputText("the id of the record"),
  seq: { type: "integer", description: "the number of the record" },
  timestamp: outputText("the time of the record"),
};

export const explainRecord = defineOperation<RecordInput, object>({
  name: "explain_record",
  title: "Explain a record",
  description:
    "Explains a record: what was decided, for whom and why, which conditions failed, and which values they read. " +
    "`explanation` contains the explanation as sentences. `intact: false`: it was changed after it was written.",
  scope: "audit",
  readOnly: true,
  input: inputObject({ record_id: recordIdInput }, ["record_id"]),
  output: outputObject(
    { ...recordFields, explanation: objectField("the explanation as sentences") },
    { intact: intactField },
  ),
  async run({ record_id: id }, invocation) {
    const line = await findOwnRecord(id, invocation);
    return markIfDamaged(await explainLine(line, invocation), line.intact);
  },
});

async function explainLine({ record, intact }: LogLine, invocation: Invocation): Promise<object> {
  if (record.kind === "note") return noteView(record, intact).value as object;
  if (record.kind === "tool_result") return toolResultView(record, intact).value as object;
  if (record.kind === "assessment") return assessmentRecordView(record, intact).value as object;
  const visible = await hideForeignReferences(invocation)(record);
  return explainedDocument(
    await createExplainer(invocation.world.records.store, false)({ record: visible, intact }),
  );
}

export const showRecord = defineOperation<RecordInput, object>({
  name: "show_record",
  title: "Show a record",
  description: "Shows one record of the log. `intact: false`: it was changed after it was written.",
  scope: "audit",
  readOnly: true,
  input: inputObject({ record_id: recordIdInput }, ["record_id"]),
  output: outputObject(recordFields, { intact: intactField }),
  run: async ({ record_id: id }, invocation) =>
    hideForeignReferences(invocation)(visibleRecord(await findOwnRecord(id, invocation))),
});
