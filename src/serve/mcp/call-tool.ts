import type { CallToolResult } from "@modelcontextprotocol/server";
import { DecisionError } from "../../errors.js";
import { didYouMean } from "../../nearest.js";
import type { Asker } from "../question.js";
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
  try {
    const correlationId = correlationOf(call._meta, asker.correlationId);
    return answered(await tool.answer(call.arguments ?? {}, { ...asker, correlationId }));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    if (isKept(error)) {
      const { code, message, hint } = error;
      log({ level: "error", event: "failed", tool: call.name, code, message, hint });
    }
    return failed(error);
  }
}

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
