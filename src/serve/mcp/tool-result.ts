import type { CallToolResult } from "@modelcontextprotocol/server";
import type { DecisionError } from "../../errors.js";
import { errorDocument } from "../../error-document.js";
import { toldError } from "../told-details.js";
import { printable } from "../../printable.js";

/** An answer, for those who read structures and for those who read text. */
export function answered(answer: unknown): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: answer,
  };
}

/** A failure that the agent can do something about. */
export function failed(error: DecisionError): CallToolResult {
  const told = toldError(error);
  return {
    isError: true,
    content: [{ type: "text", text: errorText(told) }],
    structuredContent: { ...errorDocument(told) },
  };
}

export function errorText({ message, hint }: DecisionError): string {
  return printable(`error: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`);
}
