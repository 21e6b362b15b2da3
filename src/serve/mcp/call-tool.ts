import type { CallToolResult } from "@modelcontextprotocol/server";
import { stopwatch } from "../../clock.js";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../nearest.js";
import type { Asker } from "../question.js";
import { recordIn } from "../record-in.js";
import { isKept } from "../told-details.js";
import { correlationOf } from "./correlation.js";
import type { McpTool } from "./listed-tool.js";
import type { McpOptions } from "./options.js";
import { ProtocolError, ProtocolErrorCode } from "./sdk.js";
import { answered, failed } from "./tool-result.js";
import { toolsFor } from "./tools.js";

export interface ToolCall {
  readonly name: string;
  readonly arguments?: Readonly<Record<string, unknown>> | undefined;
  readonly _meta?: Readonly<Record<string, unknown>> | undefined;
}

/** Calls a tool; what can be put right by asking otherwise is a result, which agents get to see. */
export async function callTool(
  call: ToolCall,
  asker: Asker,
  log: McpOptions["log"],
): Promise<CallToolResult> {
  const tools = await toolsFor(asker);
  const tool = tools.find(({ name }) => name === call.name);
  if (tool === undefined) throw unknownTool(call.name, tools);
  const startedAt = stopwatch();
  const tell = (more: object): void => {
    const duration_ms = Math.round((stopwatch() - startedAt) * 1000) / 1000;
    log({ level: "info", event: "called", tool: tool.name, duration_ms, ...callerIn(asker), ...more });
  };
  try {
    const correlationId = correlationOf(call._meta, asker.correlationId);
    const answer = await tool.answer(call.arguments ?? {}, { ...asker, correlationId });
    const recordId = recordIn(answer);
    tell({
      ...(recordId !== undefined && { record_id: recordId }),
      ...(correlationId !== undefined && { correlation_id: correlationId }),
    });
    return answered(answer);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    const { code, message, hint } = error;
    tell({ code });
    if (isKept(error)) log({ level: "error", event: "failed", tool: tool.name, code, message, hint });
    return failed(error);
  }
}

const callerIn = ({ caller }: Asker): object =>
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
