import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { LogLine, Query } from "../../model/store.js";
import { askedKinds, askedQuery } from "../../record/asked-query.js";
import type { AskedQuery } from "../../record/asked-query.js";
import { decisionTypes } from "../../definition/decision-types.js";
import type { Asker } from "../question.js";
import { question } from "../question.js";
import { answerWith, list } from "./answer-fields.js";
import { document, flag, objectWith, text } from "./fields.js";
import { ownRecords } from "./own-records.js";
import { ownReferences } from "./own-references.js";
import type { ToldRecord } from "./told-record.js";
import { intactSaid, toldRecord } from "./told-record.js";

interface RecordsInput extends Omit<AskedQuery, "limit"> {
  readonly limit?: number;
  readonly after?: number;
  readonly reverse?: boolean;
}

export interface RecordsAnswer {
  readonly records: readonly ToldRecord[];
  /** Goes on behind the last of them; absent: there are no more. */
  readonly next_after?: number;
}

/** Held in memory and sent at once. */
const most = { usual: 100, limit: 1000 };

const number = (description: string, more: JsonObject): JsonObject => ({
  type: "integer",
  description,
  ...more,
});

const aLine: JsonObject = { ...document("a line of the log"), properties: { intact: intactSaid } };

/** What was decided. */
export const findRecords = question<RecordsInput, RecordsAnswer>({
  name: "find_records",
  title: "Look at what was decided",
  description:
    "Lists records of the log, oldest first: the newest of those that fit, or with `after` those that follow.",
  scope: "audit",
  readOnly: true,
  input: objectWith({
    decision_id: text("only this decision"),
    workflow_id: text("only on behalf of this workflow"),
    stage_id: text("only on behalf of this stage"),
    session_id: text("only on behalf of this session"),
    correlation_id: text("only what is tied together by this"),
    label: text("only where this branch was taken; of a gate, its status"),
    target: text("only where this was the target"),
    type: { enum: [...decisionTypes], description: "only decisions of this type" },
    kind: { enum: [...askedKinds], description: "absent: decisions" },
    since: text("from this moment on: 2026-11-15T10:30:00Z, 2026-11-15, or 7d (that long ago)"),
    until: text("up to this moment"),
    limit: number(`so many at the most (else ${most.usual})`, { minimum: 1, maximum: most.limit }),
    after: number("only records with a greater number", { minimum: 0 }),
    reverse: flag("newest first"),
  }),
  output: answerWith(
    { records: list("the records that fit", aLine) },
    { next_after: number("goes on behind the last of them; absent: there are no more", {}) },
  ),
  async answer({ limit = most.usual, after, reverse = false, ...asked }, asker) {
    const query = { ...askedQuery(asked, asker.world.clock(), (field) => `\`${field}\``), reverse };
    if (after === undefined) return told({ records: await newest(query, limit, asker) }, asker);
    if (reverse) throw new DecisionError("usage", "`after` and `reverse` exclude each other");
    return told(page(await first(limit + 1, ownRecords({ ...query, after }, asker)), limit), asker);
  },
});

async function told(answer: RecordsAnswer, asker: Asker): Promise<RecordsAnswer> {
  return { ...answer, records: await Promise.all(answer.records.map(ownReferences(asker))) };
}

/** Those that may not be seen do not count. */
async function newest(query: Query, limit: number, asker: Asker): Promise<readonly ToldRecord[]> {
  const found = await first(limit, ownRecords({ ...query, reverse: true }, asker));
  return query.reverse === true ? found : found.toReversed();
}

async function first(count: number, lines: AsyncIterable<LogLine>): Promise<readonly ToldRecord[]> {
  const found: ToldRecord[] = [];
  for await (const line of lines) {
    found.push(toldRecord(line));
    if (found.length >= count) break;
  }
  return found;
}

/** One more than is wanted tells whether there are more. */
function page(found: readonly ToldRecord[], limit: number): RecordsAnswer {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return { records, ...(found.length > limit && last !== undefined && { next_after: last.seq }) };
}
