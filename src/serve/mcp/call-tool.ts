import type { CallToolResult } from "@modelcontextprotocol/server";
import type { McpTool } from "./tools.js";
import type { McpOptions } from "./server.js";
import { ProtocolError, ProtocolErrorCode } from "./sdk.js";
import { visibleTools } from "./tools.js";
import { stopwatch } from "../../clock.js";
import { DecisionError, errorDocument } from "../../errors.js";
import { correlationFromMeta } from "../correlation.js";
import { callerLogFields, roundMs } from "../log-writer.js";
import type { Invocation } from "../operations/operation.js";
import { recordIdOf } from "../operations/operation.js";
import { isOperatorOnly, visibleError } from "../visible-error.js";
import { didYouMean, printable } from "../../text.js";

interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Calls a tool. Expected errors are returned as results, because agents see those and can correct the call. */
export async function callTool(
  call: ToolCall,
  invocation: Invocation,
  log: McpOptions["log"],
): Promise<CallToolResult> {
  const tools = await visibleTools(invocation);
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) throw unknownTool(call.name, tools);
  const startedAt = stopwatch();
  const logCall = (fields: object): void => {
    const duration_ms = roundMs(stopwatch() - startedAt);
    log({
      level: "info",
      event: "called",
      tool: tool.name,
      duration_ms,
      ...callerLogFields(invocation.caller),
      ...fields,
    });
  };
  try {
    const correlationId = correlationFromMeta(call._meta, invocation.correlationId);
    const answer = await tool.run(call.arguments ?? {}, { ...invocation, correlationId });
    const recordId = recordIdOf(answer);
    logCall({
      ...(recordId !== undefined && { record_id: recordId }),
      ...(correlationId !== undefined && { correlation_id: correlationId }),
    });
    return toolAnswer(answer);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const { code, message, hint } = error;
    logCall({ code });
    if (isOperatorOnly(error)) log({ level: "error", event: "failed", tool: tool.name, code, message, hint });
    return toolFailure(error);
  }
}

function unknownTool(name: string, tools: readonly McpTool[]): ProtocolError {
  const hint =
    didYouMean(
      name,
      tools.map((each) => each.name),
    ) ?? "`tools/list` lists all tools";
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `unknown tool \`${name}\`; ${hint}`, {
    hint,
  });
}

/** Returns the answer as text too, for clients that do not read structured content. */
function toolAnswer(answer: unknown): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: answer,
  };
}

function toolFailure(error: DecisionError): CallToolResult {
  const visible = visibleError(error, "mcp");
  return {
    isError: true,
    content: [{ type: "text", text: formatError(visible) }],
    _meta: { [errorKey]: errorDocument(visible).error },
  };
}

/**
 * Where programs find code, message, hint and details of an error. Not in the structured content: clients validate that
 * against the output schema of the tool, and some show their own complaint instead of the error.
 */
export const errorKey = "agent-33/error";

export function formatError({ message, hint }: DecisionError): string {
  return printable(`error: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`);
}
