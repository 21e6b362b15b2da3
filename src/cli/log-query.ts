import type { Command } from "commander";
import { systemClock } from "../clock.js";
import { decisionTypes } from "../definition/decision-types.js";
import type { Query } from "../model/store.js";
import { askedQuery } from "../record/asked-query.js";
import type { TimeRangeFlags } from "./time-range.js";
import { addTimeRangeFlags, asFlag } from "./time-range.js";

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

/** What the flags mean at this moment. */
export function queryFor(flags: QueryFlags): Query {
  const { decisionId, workflowId, stageId, sessionId, correlationId, ...others } = flags;
  const named = {
    decision_id: decisionId,
    workflow_id: workflowId,
    stage_id: stageId,
    session_id: sessionId,
    correlation_id: correlationId,
  };
  return askedQuery({ ...others, ...named }, systemClock(), asFlag);
}
