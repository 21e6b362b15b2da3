import type { Command } from "commander";
import { decisionTypes } from "../definition/decision-types.js";
import { DecisionError } from "../errors.js";
import type { Query } from "../model/store.js";
import { didYouMean } from "../nearest.js";
import type { TimeRangeFlags } from "./time-range.js";
import { addTimeRangeFlags, timeRange } from "./time-range.js";

/** Flags of the commands that look at some of the records. */
export interface QueryFlags extends TimeRangeFlags {
  readonly decisionId?: string;
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
  readonly label?: string;
  readonly target?: string;
  readonly type?: string;
  readonly kind?: string;
  readonly limit?: string;
}

const kinds = ["decision", "tool_result", "note", "all"] as const;

export function addQueryFlags(command: Command): Command {
  command
    .option("--decision-id <id>", "only this decision")
    .option("--workflow-id <id>", "only on behalf of this workflow")
    .option("--stage-id <id>", "only on behalf of this stage")
    .option("--session-id <id>", "only on behalf of this session")
    .option("--correlation-id <id>", "only what is tied together by this");
  return addTimeRangeFlags(command)
    .option("--label <label>", "only where this branch was taken")
    .option("--target <target>", "only where this was the target")
    .option("--type <type>", `only decisions of this type: ${decisionTypes.join(", ")}`)
    .option(
      "--kind <kind>",
      "decision (the default), tool_result (how a call went), note (what happened to the log itself) or all",
    )
    .option("--limit <n>", "only the newest so many");
}

export function queryFor(flags: QueryFlags): Query {
  const { decisionId, workflowId, stageId, sessionId, correlationId, label, target } = flags;
  const kind = oneOf("kind", flags.kind ?? "decision", kinds);
  return {
    ...timeRange(flags),
    ...(kind !== "all" && { kind }),
    ...(flags.type !== undefined && { type: oneOf("type", flags.type, decisionTypes) }),
    ...(flags.limit !== undefined && { limit: limitOf(flags.limit) }),
    ...(decisionId !== undefined && { decision_id: decisionId }),
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(stageId !== undefined && { stage_id: stageId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
    ...(label !== undefined && { label }),
    ...(target !== undefined && { target }),
  };
}

export function oneOf<T extends string>(what: string, given: string, known: readonly T[]): T {
  const found = known.find((each) => each === given);
  if (found !== undefined) return found;
  throw new DecisionError("usage", `there is no ${what} \`${given}\``, {
    hint: didYouMean(given, known) ?? `choose one of ${known.join(", ")}`,
  });
}

export function limitOf(text: string, flag = "--limit"): number {
  const limit = /^\d+$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && Number.isSafeInteger(limit)) return limit;
  throw new DecisionError("usage", `${flag} must be a whole number from 1 (got \`${text}\`)`, {
    hint: `such as ${flag} 20`,
  });
}
