import type { Tool } from "@modelcontextprotocol/server";
import type { Question } from "../question.js";

/** A question as MCP has it. */
export interface McpTool extends Pick<Question, "name" | "scope" | "answer"> {
  readonly listed: () => Tool;
}

export function listedTool({
  name,
  title,
  description,
  input,
  readOnly,
}: Pick<Question, "name" | "title" | "description" | "input" | "readOnly">): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...input, required: [...input.required] } as Tool["inputSchema"],
    annotations: {
      title,
      readOnlyHint: readOnly,
      destructiveHint: false,
      // Each time that it is asked, one more record is kept.
      idempotentHint: readOnly,
      openWorldHint: false,
    },
  };
}
