import type { AuthenticatedCaller } from "../../model/caller.js";
import type { Provenance } from "../../model/record.js";
import type { Asker } from "../question.js";
import type { ProvenanceInput } from "./fields.js";

/** On whose behalf it is asked, and who is proven to ask. */
export function onBehalf(
  { workflow_id, stage_id, session_id, correlation_id }: ProvenanceInput,
  { caller, correlationId }: Asker,
): Provenance & { readonly caller?: AuthenticatedCaller } {
  const correlation = correlation_id ?? correlationId;
  return {
    ...(workflow_id !== undefined && { workflow_id }),
    ...(stage_id !== undefined && { stage_id }),
    ...(session_id !== undefined && { session_id }),
    ...(correlation !== undefined && { correlation_id: correlation }),
    ...(caller !== undefined && { caller }),
  };
}
