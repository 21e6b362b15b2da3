import type { JsonObject } from "../../model/json.js";
import type { InputSchema } from "../question.js";

/** The JSON Schema of an object with these keys and no others. */
export function objectWith(
  properties: Readonly<Record<string, JsonObject>>,
  required: readonly string[] = [],
): InputSchema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** No name is longer, whichever way it comes. */
export const longestText = 1024;

export const text = (description: string): JsonObject => ({
  type: "string",
  minLength: 1,
  maxLength: longestText,
  description,
});

export const flag = (description: string): JsonObject => ({ type: "boolean", description });

export const document = (description: string): JsonObject => ({ type: "object", description });

export const context = document("what is known of the case; the definition says which values it reads");

/** On whose behalf it is asked. */
export const provenance = {
  workflow_id: text("the workflow on whose behalf it is asked"),
  stage_id: text("the stage on whose behalf it is asked"),
  session_id: text("the session that asks"),
  correlation_id: text("ties together what belongs together; else that of the request"),
} as const;

export interface ProvenanceInput {
  readonly workflow_id?: string;
  readonly stage_id?: string;
  readonly session_id?: string;
  readonly correlation_id?: string;
}

export const feedback = document("is recorded beside the decision, without a part in it");
