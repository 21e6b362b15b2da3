import type { ToolResult } from "../../decide/tool-result.js";
import { asDecision, hintOnCalls } from "../../record/record-reference.js";
import { question } from "../question.js";
import { answerWith, list, said } from "./answer-fields.js";
import { document, flag, objectWith, text } from "./fields.js";
import { inOwnSession } from "./in-own-session.js";
import { ownRecord } from "./own-records.js";

interface ResultInput {
  readonly tool: string;
  readonly session_id: string;
  readonly ok: boolean;
  readonly record_id?: string;
  readonly params?: object;
}

/** How a call went; later calls of the session may rest on it. */
export const recordToolResult = question<ResultInput, ToolResult>({
  name: "record_tool_result",
  title: "Tell how a call went",
  description:
    "Tell whether a tool call that was allowed has succeeded. Some policies allow a call only after another one has.",
  scope: "decide",
  readOnly: false,
  input: objectWith(
    {
      tool: text("the tool that was called"),
      session_id: text("the session in which it was called"),
      ok: flag("whether it succeeded"),
      record_id: text("the record of the decision that allowed it; absent: the newest call of the session"),
      params: document("what it was called with"),
    },
    ["tool", "session_id", "ok"],
  ),
  output: answerWith(
    {
      kind: { const: "tool_result" },
      record_id: said("the record of how it went"),
      timestamp: said("when it was told"),
      tool: said("the tool that was called"),
      ok: flag("whether it succeeded"),
      session_id: said("the session in which it was called"),
      decision_records: list("the decisions that allowed it"),
      warnings: list("that no such call was allowed"),
    },
    { parent_record_id: said("the first of those decisions") },
  ),
  answer: ({ tool, session_id, ok, record_id: id, params }, asker) =>
    inOwnSession({ session_id }, asker, async () => {
      const decision = id === undefined ? undefined : asDecision(id, await ownRecord(id, asker), hintOnCalls);
      return asker.world.recordToolResult({
        tool,
        session_id,
        ok,
        ...(decision && { decision }),
        ...(params && { params }),
      });
    }),
});
