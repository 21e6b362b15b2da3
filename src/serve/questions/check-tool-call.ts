import type { CheckResult } from "../../decide/check.js";
import { DecisionError } from "../../errors.js";
import { question } from "../question.js";
import { answerWith, list, resultSchema, said } from "./answer-fields.js";
import type { ProvenanceInput } from "./fields.js";
import { document, flag, objectWith, provenance, text } from "./fields.js";
import { inOwnSession } from "./in-own-session.js";
import { onBehalf } from "./on-behalf.js";
import { ownReferences } from "./own-references.js";

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
export const checkToolCall = question<CheckInput, CheckResult>({
  name: "check_tool_call",
  title: "Ask whether a tool may be called",
  description:
    "Ask before you call a tool: answers whether the call is allowed, why, and the params to call it with, which " +
    "policies may have changed. Call it with those params only, and tell how it went with `record_tool_result`.",
  scope: "decide",
  readOnly: false,
  input: objectWith(
    {
      tool: text("the tool that is to be called"),
      params: document("what it is to be called with"),
      session: document("what is known of the session, as policies read it"),
      resources: document("what is known of the resources, as policies read it"),
      context: document("whatever else policies read, by the names that they read it by"),
      ...provenance,
      fixed_params: flag("the params cannot be changed: no policy may allow the call by changing them"),
      dry_run: flag("keep no record and count nothing"),
      strict: flag("a condition that cannot be evaluated is an error"),
    },
    ["tool", "params", "session_id"],
  ),
  output: answerWith({
    tool: said("the tool that is to be called"),
    allowed: flag("whether it may be called"),
    outcome: said("allowed, denied or allowed_by_exception"),
    reason: said("why"),
    params: { description: "what it may be called with" },
    warnings: list("what overrides and guardrails warn of"),
    decisions: list("what each decision said that was asked", resultSchema),
  }),
  async answer(asked, asker) {
    const { tool, params, fixed_params = false, dry_run = false, strict = false } = asked;
    const check = (): Promise<CheckResult> =>
      asker.world.check({
        tool,
        params,
        context: contextOf(asked),
        fixed_params,
        dry_run,
        strict,
        ...onBehalf(asked, asker),
      });
    const checked = await inOwnSession(asked, asker, check);
    return { ...checked, decisions: await Promise.all(checked.decisions.map(ownReferences(asker))) };
  },
});

function contextOf({ session, resources, context = {} }: CheckInput): object {
  const named = { ...(session && { session }), ...(resources && { resources }) };
  const twice = Object.keys(named).find((key) => Object.hasOwn(context, key));
  if (twice === undefined) return { ...context, ...named };
  throw new DecisionError("input_invalid", `\`${twice}\` is given twice: by itself and in \`context\``, {
    hint: "leave one of them out",
  });
}
