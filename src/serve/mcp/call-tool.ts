import type { CallToolResult } from "@modelcontextprotocol/server";
import type { McpTool } from "./tools.js";
import type { McpOptions } from "./server.js";
import { ProtocolError, ProtocolErrorCode } from "./sdk.js";
import { visibleTools } from "./tools.js";
import { stopwatch } from "../../clock.js";
import { DecisionError, errorDocument } from "../../errors.js";
import { didYouMean, printable } from "../../text.js";
import { correlationFromMeta } from "../correlation.js";
import type { Invocation } from "../operations/operation.js";
import { recordIdOf } from "../operations/operation.js";
import { isOperatorOnly, visibleError } from "../visible-error.js";

interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Calls a tool; what can be put right by asking otherwise is a result, which agents get to see. */
export async function callTool(
  call: ToolCall,
  asker: Invocation,
  log: McpOptions["log"],
): Promise<CallToolResult> {
  const tools = await visibleTools(asker);
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) throw unknownTool(call.name, tools);
  const startedAt = stopwatch();
  const tell = (more: object): void => {
    const duration_ms = Math.round((stopwatch() - startedAt) * 1000) / 1000;
    log({ level: "info", event: "called", tool: tool.name, duration_ms, ...callerFields(asker), ...more });
  };
  try {
    const correlationId = correlationFromMeta(call._meta, asker.correlationId);
    const answer = await tool.answer(call.arguments ?? {}, { ...asker, correlationId });
    const recordId = recordIdOf(answer);
    tell({
      ...(recordId !== undefined && { record_id: recordId }),
      ...(correlationId !== undefined && { correlation_id: correlationId }),
    });
    return toolAnswer(answer);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const { code, message, hint } = error;
    tell({ code });
    if (isOperatorOnly(error)) log({ level: "error", event: "failed", tool: tool.name, code, message, hint });
    return toolFailure(error);
  }
}

const callerFields = ({ caller }: Invocation): object =>
  caller === undefined ? {} : { caller: caller.subject, actors: caller.actors.map(({ subject }) => subject) };

function unknownTool(name: string, tools: readonly McpTool[]): ProtocolError {
  const hint =
    didYouMean(
      name,
      tools.map((each) => each.name),
    ) ?? "`tools/list` tells which there are";
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `there is no tool \`${name}\`; ${hint}`, {
    hint,
  });
}

/** An answer, for those who read structures and for those who read text. */
function toolAnswer(answer: unknown): CallToolResult {
  return {
    content: [{ type: "text", text: JSON.stringify(answer) }],
    structuredContent: answer,
  };
}

/** A failure that the agent can do something about. */
function toolFailure(error: DecisionError): CallToolResult {
  const told = visibleError(error);
  return {
    isError: true,
    content: [{ type: "text", text: formatError(told) }],
    structuredContent: { ...errorDocument(told) },
  };
}

export function formatError({ message, hint }: DecisionError): string {
  return printable(`error: ${message}${hint === undefined ? "" : `\nhint: ${hint}`}`);
}
