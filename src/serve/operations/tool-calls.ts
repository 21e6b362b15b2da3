import { defineOperation } from "./operation.js";
import { withOwnSession, findOwnRecord, hideForeignReferences } from "./org-access.js";
import type { ProvenanceInput } from "./shared-fields.js";
import {
  outputObject,
  listOf,
  resultSchema,
  outputText,
  objectField,
  flag,
  inputObject,
  provenanceFields,
  inputText,
  toProvenance,
} from "./shared-fields.js";
import type { CheckResult } from "../../decide/check.js";
import type { ToolResult } from "../../decide/tool-result.js";
import { DecisionError } from "../../errors.js";
import { assertDecision, allowedCallHint } from "../../record/find-records.js";

interface CheckInput extends ProvenanceInput {
  readonly tool: string;
  readonly params: object;
  readonly session?: object;
  readonly resources?: object;
  readonly context?: object;
  readonly session_id: string;
  readonly fixed_params?: boolean;
  readonly dry_run?: boolean;
  readonly strict?: boolean;
}

/** Whether a tool may be called, asked of every policy for it. */
export const checkToolCall = defineOperation<CheckInput, CheckResult>({
  name: "check_tool_call",
  title: "Ask whether a tool may be called",
  description:
    "Ask before you call a tool: answers whether the call is allowed, why, and the params to call it with, which " +
    "policies may have changed. Call it with those params only, and tell how it went with `record_tool_result`.",
  scope: "decide",
  readOnly: false,
  input: inputObject(
    {
      tool: inputText("the tool that is to be called"),
      params: objectField("what it is to be called with"),
      session: objectField("what is known of the session, as policies read it"),
      resources: objectField("what is known of the resources, as policies read it"),
      context: objectField("whatever else policies read, by the names that they read it by"),
      ...provenanceFields,
      fixed_params: flag("the params cannot be changed: no policy may allow the call by changing them"),
      dry_run: flag("keep no record and count nothing"),
      strict: flag("a condition that cannot be evaluated is an error"),
    },
    ["tool", "params", "session_id"],
  ),
  output: outputObject({
    tool: outputText("the tool that is to be called"),
    allowed: flag("whether it may be called"),
    outcome: outputText("allowed, denied or allowed_by_exception"),
    reason: outputText("why"),
    params: { description: "what it may be called with" },
    warnings: listOf("what overrides and guardrails warn of"),
    decisions: listOf("what each decision said that was asked", resultSchema),
  }),
  async answer(asked, asker) {
    const { tool, params, fixed_params = false, dry_run = false, strict = false } = asked;
    const check = (): Promise<CheckResult> =>
      asker.world.check({
        tool,
        params,
        context: policyContext(asked),
        fixed_params,
        dry_run,
        strict,
        ...toProvenance(asked, asker),
      });
    const checked = await withOwnSession(asked, asker, check);
    return { ...checked, decisions: await Promise.all(checked.decisions.map(hideForeignReferences(asker))) };
  },
});

function policyContext({ session, resources, context = {} }: CheckInput): object {
  const named = { ...(session && { session }), ...(resources && { resources }) };
  const twice = Object.keys(named).find((key) => Object.hasOwn(context, key));
  if (twice === undefined) return { ...context, ...named };
  throw new DecisionError("input_invalid", `\`${twice}\` is given twice: by itself and in \`context\``, {
    hint: "leave one of them out",
  });
}

interface ResultInput {
  readonly tool: string;
  readonly session_id: string;
  readonly ok: boolean;
  readonly record_id?: string;
  readonly params?: object;
}

/** How a call went; later calls of the session may rest on it. */
export const recordToolResult = defineOperation<ResultInput, ToolResult>({
  name: "record_tool_result",
  title: "Tell how a call went",
  description:
    "Tell whether a tool call that was allowed has succeeded. Some policies allow a call only after another one has.",
  scope: "decide",
  readOnly: false,
  input: inputObject(
    {
      tool: inputText("the tool that was called"),
      session_id: inputText("the session in which it was called"),
      ok: flag("whether it succeeded"),
      record_id: inputText(
        "the record of the decision that allowed it; absent: the newest call of the session",
      ),
      params: objectField("what it was called with"),
    },
    ["tool", "session_id", "ok"],
  ),
  output: outputObject(
    {
      kind: { const: "tool_result" },
      record_id: outputText("the record of how it went"),
      timestamp: outputText("when it was told"),
      tool: outputText("the tool that was called"),
      ok: flag("whether it succeeded"),
      session_id: outputText("the session in which it was called"),
      decision_records: listOf("the decisions that allowed it"),
      warnings: listOf("that no such call was allowed"),
    },
    { parent_record_id: outputText("the first of those decisions") },
  ),
  answer: ({ tool, session_id, ok, record_id: id, params }, asker) =>
    withOwnSession({ session_id }, asker, async () => {
      const decision =
        id === undefined ? undefined : assertDecision(id, await findOwnRecord(id, asker), allowedCallHint);
      return asker.world.recordToolResult({
        tool,
        session_id,
        ok,
        ...(decision && { decision }),
        ...(params && { params }),
      });
    }),
});
