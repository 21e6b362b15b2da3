import { matchesGlob, toolsOf } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import type { Evaluated } from "../evaluate/evaluate.js";
import { policyFacts } from "../evaluate/policy/policy-facts.js";
import { isObject } from "../expression/equal.js";
import { guard } from "../guard/guard.js";
import type { Result } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import type { RecordDraft } from "../record/records.js";
import { bind } from "./bind.js";
import { checkChangedParams } from "./changed-params.js";
import { describe } from "./describe.js";
import { enrich, needsData, withoutData } from "./enrich.js";
import type { Answer } from "./evaluate-cached.js";
import { evaluateCached } from "./evaluate-cached.js";
import type { ReadyDefinition } from "./find.js";
import { find } from "./find.js";
import { gather, needsFacts } from "./gather.js";
import type { Masked } from "./mask.js";
import { mask } from "./mask.js";
import { countCall, draftRecord, recordWithRetry } from "./record.js";
import type { CallState, DecisionRequest, World } from "./request.js";

export type { DecisionRequest, World } from "./request.js";

/** Makes one decision. CLI, HTTP and MCP all enter here. */
export async function decide(request: DecisionRequest, world: World): Promise<Result> {
  const definition = await find(request.decision_id, world, request.caller);
  assertAboutTool(definition, request.context);
  const call: CallState = { enriched: new Map() };
  return recordWithRetry(request, world, async () => {
    const decision = await makeSingleDecision(definition, request, world, call);
    return { answer: decision.result, decisions: [decision] };
  });
}

/** Makes one decision. If it is about a tool call and changes its params, the changed params are checked too. */
export async function makeSingleDecision(
  definition: ReadyDefinition,
  request: DecisionRequest,
  world: World,
  call: CallState = { enriched: new Map() },
): Promise<Decision> {
  const [decision] = await checkChangedParams(world, async (changes): Promise<[Decision]> => [
    await makeDecision(definition, request, world, { ...call, ...(changes && { changes }) }),
  ]);
  return decision;
}

/** Throws if a policy is asked by its id about a tool that it does not match: its answer would look like a permission. */
export function assertAboutTool({ loaded: { definition } }: ReadyDefinition, context: unknown): void {
  if (definition.type !== "policy" || !isObject(context) || !Object.hasOwn(context, "tool")) return;
  const { tool } = context;
  const globs = toolsOf(definition);
  if (typeof tool === "string" && globs.some((glob) => matchesGlob(glob, tool))) return;
  const asked = typeof tool === "string" ? `the tool \`${tool}\`` : "a tool that is not text";
  throw new DecisionError("input_invalid", `\`${definition.id}\` is not about ${asked}`, {
    hint: `it is about ${globs.map((glob) => `\`${glob}\``).join(", ")}; to ask all policies for a tool, use \`agent-33 decision check\``,
  });
}

/** A decision that is made but not yet recorded. */
export interface Decision {
  readonly result: Result;
  /** The values that it was made with. */
  readonly scope: Scope;
  /** The answer before the guardrails. */
  readonly answer: Answer;
  /** The answer with all its values; the result shows masked values as masked. */
  readonly evaluated: Evaluated;
  /** The scope and the answer as they may be shown. */
  readonly masked: Masked;
  /** Undefined where nothing is recorded. */
  readonly draft: RecordDraft | undefined;
  /** The key of an answer that is new in the cache. */
  readonly newCacheKey: string | undefined;
}

/** The steps of a decision, in order. `decide`, `check` and `follow` all run these; recording comes last. */
export async function makeDecision(
  definition: ReadyDefinition,
  request: DecisionRequest,
  world: World,
  call: CallState = {},
): Promise<Decision> {
  const bound = bind(definition, request, world, call); // frozen copies, time, id, caller
  const enriched = needsData(definition)
    ? await enrich(definition, bound, world, call) // the context with data from endpoints
    : withoutData(bound);
  const scope = needsFacts(definition, request, call)
    ? await gather(definition, enriched, { request, world, call }) // session, counters, distribution
    : enriched.scope;
  const answer = await evaluateCached(definition, scope, bound, enriched, world);
  const { context, facts } = scope;
  const guarded = guard(definition.loaded, answer.evaluated, {
    context,
    facts,
    workflow: request.workflow_id,
  });
  const masked = mask(definition.prepared, scope, guarded.evaluated);
  world.onScope?.(definition.loaded.definition.id, masked.scope);
  const counted = countCall(definition, guarded.evaluated, bound, policyFacts(facts)); // uses of overrides and limits on calls
  const described = await describe(definition, { bound, answer, guarded, masked, counted }, world);
  return {
    result: described.result,
    scope,
    answer,
    evaluated: guarded.evaluated,
    masked,
    draft: draftRecord(definition, { request, bound, answer, masked, counted, described }),
    newCacheKey: answer.cached ? undefined : answer.cacheKey,
  };
}
