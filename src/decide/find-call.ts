import { DecisionError } from "../errors.js";
import type { DecisionRecord } from "../model/record.js";
import type { Ledger } from "../model/store.js";
import { callCounter, callWithCounter, resultCounter, resultWithCounter } from "../record/counter-names.js";
import { sameCheck } from "../record/same-check.js";

/** A call whose result is told. */
export interface AnsweredCall {
  readonly tool: string;
  readonly session_id: string;
  /** The decision that allowed it, where it is named. */
  readonly decision?: DecisionRecord;
  /** Of its params, where they are known. */
  readonly digest?: string | undefined;
}

/** A record of what one decision said of a call. */
export type CallRecord = Extract<DecisionRecord, { readonly type: "policy" }>;

/** Those that allowed the call. */
export async function decisionsOn(request: AnsweredCall, log: Ledger): Promise<readonly CallRecord[]> {
  const decided = request.decision ?? (await openCall(request, log));
  if (decided === undefined) return [];
  const call = ownCall(decided, request);
  const decisions = (await sameCheck(call, log)).filter(isCall);
  if (decisions.every(({ allowed }) => allowed)) return decisions;
  throw foreign(call, "is of a call that was denied");
}

/** The result of an older call leaves the newest one open. */
export async function isOfNewest(
  { tool, session_id }: Pick<AnsweredCall, "tool" | "session_id">,
  decisions: readonly CallRecord[],
  log: Ledger,
): Promise<boolean> {
  const newest = await log.counter(callCounter(session_id, tool));
  return decisions.some(({ seq }) => seq === newest.seq);
}

/** The newest allowed call of the tool in the session, with these params where they are known, unless its result is. */
async function openCall(call: AnsweredCall, log: Ledger): Promise<DecisionRecord | undefined> {
  const { tool, session_id: session, digest } = call;
  const names =
    digest === undefined
      ? [callCounter(session, tool), resultCounter(session, tool)]
      : [callWithCounter(session, tool, digest), resultWithCounter(session, tool, digest)];
  const [called, answered] = await Promise.all(names.map((name) => log.counter(name)));
  const seq = called?.seq ?? 0;
  if (seq === 0 || (answered?.seq ?? 0) > seq) return undefined;
  const found = await log.find({ seq });
  return "record" in found && found.record.kind === "decision" ? found.record : undefined;
}

function ownCall(decided: DecisionRecord, { tool, session_id }: AnsweredCall): CallRecord {
  if (!isCall(decided)) throw foreign(decided, "is no decision about a call");
  if (decided.tool !== tool) throw foreign(decided, `is about \`${decided.tool}\`, not about \`${tool}\``);
  if (decided.session_id !== session_id) throw foreign(decided, "is of another session");
  return decided;
}

const foreign = ({ record_id }: DecisionRecord, why: string): DecisionError =>
  new DecisionError("usage", `record \`${record_id}\` ${why}`, {
    hint: "name the record of the check that allowed this call",
  });

const isCall = (record: DecisionRecord): record is CallRecord => record.type === "policy";
