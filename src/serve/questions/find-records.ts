import { DecisionError } from "../../errors.js";
import type { JsonObject } from "../../model/json.js";
import type { LogRecord } from "../../model/record.js";
import { askedKinds, askedQuery } from "../../record/asked-query.js";
import type { AskedQuery } from "../../record/asked-query.js";
import { decisionTypes } from "../../definition/decision-types.js";
import type { Asker } from "../question.js";
import { question } from "../question.js";
import { flag, objectWith, text } from "./fields.js";
import { isOwn, orgOfRecord } from "./own-org.js";

interface RecordsInput extends Omit<AskedQuery, "limit"> {
  readonly limit?: number;
  readonly after?: number;
  readonly reverse?: boolean;
}

export interface RecordsAnswer {
  readonly records: readonly LogRecord[];
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
  async answer({ limit = most.usual, after, reverse = false, ...asked }, asker) {
    const { clock, records } = asker.world;
    const query = { ...askedQuery(asked, clock(), (field) => `\`${field}\``), reverse };
    if (after === undefined) return { records: await own(records.log.select({ ...query, limit }), asker) };
    if (reverse) throw new DecisionError("usage", "`after` and `reverse` exclude each other");
    return page(await own(records.log.select({ ...query, after }), asker, limit + 1), limit);
  },
});

/** One more than is wanted tells whether there are more. */
function page(found: readonly LogRecord[], limit: number): RecordsAnswer {
  const records = found.slice(0, limit);
  const last = records.at(-1);
  return { records, ...(found.length > limit && last !== undefined && { next_after: last.seq }) };
}

async function own(
  lines: AsyncIterable<{ readonly record: LogRecord }>,
  { world, caller }: Asker,
  wanted = Infinity,
): Promise<readonly LogRecord[]> {
  const found: LogRecord[] = [];
  for await (const { record } of lines) {
    const isForeign =
      caller?.org_id !== undefined && !isOwn(await orgOfRecord(record, world.records.store), caller.org_id);
    if (!isForeign) found.push(record);
    if (found.length >= wanted) break;
  }
  return found;
}
