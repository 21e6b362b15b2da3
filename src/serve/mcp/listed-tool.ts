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
  output,
  readOnly,
}: Pick<Question, "name" | "title" | "description" | "input" | "output" | "readOnly">): Tool {
  return {
    name,
    title,
    description,
    inputSchema: { ...input, required: [...input.required] } as Tool["inputSchema"],
    outputSchema: { ...output, required: [...output.required] },
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
