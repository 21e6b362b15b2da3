import type { Invocation } from "./operation.js";
import { defineOperation } from "./operation.js";
import { findOwnRecord, hideForeignReferences } from "./org-access.js";
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
import { hasScope } from "../auth/authenticate.js";
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
  readonly session_id?: string;
  readonly fixed_params?: boolean;
  readonly dry_run?: boolean;
  readonly strict?: boolean;
}

/** Checks a tool call against every policy for the tool. */
export const checkToolCall = defineOperation<CheckInput, CheckResult>({
  name: "check_tool_call",
  title: "Check whether a tool may be called",
  description:
    "Call this before you call a tool. Returns whether the call is allowed, the reason, and the params to use, which " +
    "policies may have changed. Call the tool only with those params, then report its outcome with " +
    "`record_tool_result` if you have that tool.",
  scope: "decide",
  readOnly: false,
  input: inputObject(
    {
      tool: inputText("the tool to be called"),
      params: objectField("the params of the call"),
      session: objectField(
        "data of the session that policies read; kept for your later calls of the session",
      ),
      resources: objectField("data of the resources that policies read"),
      context: objectField("other data that policies read"),
      ...provenanceFields,
      fixed_params: flag("the params cannot be changed, so no policy may allow the call by changing them"),
      dry_run: flag("record and count nothing"),
      strict: flag("a condition that cannot be evaluated is an error"),
    },
    ["tool", "params"],
  ),
  output: outputObject({
    tool: outputText("the tool to be called"),
    allowed: flag("whether the call is allowed"),
    outcome: outputText("allowed, denied or allowed_by_exception"),
    reason: outputText("the reason for the outcome"),
    params: { description: "the params to call the tool with" },
    warnings: listOf("warnings of overrides and guardrails"),
    decisions: listOf("the result of each policy that was checked", resultSchema),
  }),
  async run(input, invocation) {
    const { tool, params, fixed_params = false, dry_run = false, strict = false } = input;
    const checked = await invocation.world.check({
      tool,
      params,
      context: policyContext(input),
      fixed_params,
      dry_run,
      strict,
      may_report: hasScope(invocation, "report"),
      ...toProvenance(input, invocation),
    });
    return {
      ...checked,
      decisions: await Promise.all(checked.decisions.map(hideForeignReferences(invocation))),
    };
  },
});

function policyContext({ session, resources, context = {} }: CheckInput): object {
  const separate = { ...(session && { session }), ...(resources && { resources }) };
  const duplicate = Object.keys(separate).find((key) => Object.hasOwn(context, key));
  if (duplicate === undefined) return { ...context, ...separate };
  throw new DecisionError(
    "input_invalid",
    `\`${duplicate}\` is given twice: as a key and within \`context\``,
    {
      hint: "remove one of them",
    },
  );
}

interface ResultInput {
  readonly tool: string;
  readonly session_id?: string;
  readonly ok: boolean;
  readonly record_id?: string;
  readonly params?: object;
  readonly value?: unknown;
}

/** Records whether a tool call succeeded. Policies for later calls of the session may depend on it. */
export const recordToolResult = defineOperation<ResultInput, ToolResult>({
  name: "record_tool_result",
  title: "Report the result of a tool call",
  description:
    "Records whether a tool call that was checked and allowed has succeeded. Some policies allow a call only after " +
    "another call has succeeded.",
  scope: "report",
  readOnly: false,
  input: inputObject(
    {
      tool: inputText("the tool that was called"),
      session_id: inputText("the session of the call; default: that of `record_id`"),
      ok: flag("whether the call succeeded"),
      record_id: inputText(
        "the record of the decision that allowed the call; default: the newest call of the session",
      ),
      params: objectField("the params of the call"),
      value: { description: "what the call returned, to be recorded: any JSON of at most 64 KiB" },
    },
    ["tool", "ok"],
  ),
  output: outputObject(
    {
      kind: { const: "tool_result" },
      record_id: outputText("the id of the new record"),
      timestamp: outputText("the time of the record"),
      tool: outputText("the tool that was called"),
      ok: flag("whether the call succeeded"),
      decision_records: listOf("the records of the decisions that allowed the call"),
      linked: flag("whether the result belongs to a call that a check allowed; others do not count"),
      warnings: listOf("says why the result is not linked, or the value not recorded"),
    },
    {
      session_id: outputText("the session of the call"),
      parent_record_id: outputText("the first of `decision_records`"),
      params_digest: outputText("SHA-256 of the params, with masked values replaced"),
      value: { description: "what the call returned, with masked values replaced" },
    },
  ),
  async run({ tool, session_id, ok, record_id: id, params, value }, invocation) {
    if (session_id === undefined && id === undefined) {
      throw new DecisionError("input_invalid", "specify `session_id` or `record_id`", {
        hint: "`record_id` is that of the check that allowed the call",
      });
    }
    if (id !== undefined) assertMayLookUp(id, invocation);
    const decision =
      id === undefined ? undefined : assertDecision(id, await findOwnRecord(id, invocation), allowedCallHint);
    return await invocation.world.recordToolResult({
      tool,
      ...(session_id !== undefined && { session_id }),
      ok,
      ...(decision && { decision }),
      ...(params && { params }),
      ...(value !== undefined && { value }),
      caller: invocation.caller,
    });
  },
});

const completeId = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** A caller that may not read records names one by its complete id: other references would tell the ids of records. */
function assertMayLookUp(id: string, invocation: Invocation): void {
  if (completeId.test(id) || hasScope(invocation, "audit")) return;
  throw new DecisionError("record_not_found", `record \`${id}\` not found`, {
    hint: "use the complete id of the record, as the check returned it",
  });
}
