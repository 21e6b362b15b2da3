import type { Command } from "commander";
import type { Provenance } from "../model/record.js";

/** Flags that say on whose behalf something is asked. */
export interface ProvenanceFlags {
  readonly workflowId?: string;
  readonly stageId?: string;
  readonly sessionId?: string;
  readonly correlationId?: string;
}

export function addProvenanceFlags(command: Command): Command {
  return command
    .option("--workflow-id <id>", "the workflow that asks; recorded")
    .option("--stage-id <id>", "the stage that asks; recorded")
    .option("--session-id <id>", "the session that asks; recorded")
    .option("--correlation-id <id>", "what ties this to other systems' logs; recorded");
}

export function provenanceOf(flags: ProvenanceFlags): Provenance {
  const { workflowId, stageId, sessionId, correlationId } = flags;
  return {
    ...(workflowId !== undefined && { workflow_id: workflowId }),
    ...(stageId !== undefined && { stage_id: stageId }),
    ...(sessionId !== undefined && { session_id: sessionId }),
    ...(correlationId !== undefined && { correlation_id: correlationId }),
  };
}
