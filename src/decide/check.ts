import type { Library } from "../definition/library.js";
import { policiesFor } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { withParams } from "../evaluate/policy/with-params.js";
import type { Deliberation } from "../evaluate/policy/deliberation.js";
import type { AuthenticatedCaller } from "../model/caller.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Provenance } from "../model/record.js";
import type { PolicyOutcome, PolicyResult } from "../model/result.js";
import { bind } from "./bind.js";
import type { Deliberated, EnrichedOnce, World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import { callWithCounter, isCallCounter } from "../record/counter-names.js";
import { noPolicyDefinition } from "./no-policy.js";
import { paramsDigest } from "./params-digest.js";
import { untilRemembered } from "./remember.js";

/** What is asked of a call: the tool, its params, and what else may bear on it. */
export interface CheckRequest extends Omit<Provenance, "check_id"> {
  readonly tool: string;
  readonly params: unknown;
  /** `session`, `resources` and the like. */
  readonly context?: unknown;
  /** The caller cannot change the params, so no override may. */
  readonly fixed_params?: boolean;
  readonly caller?: AuthenticatedCaller | undefined;
  readonly dry_run?: boolean;
  readonly strict?: boolean;
}

/** Whether the call may be made, and with which params. */
export interface CheckResult extends PolicyOutcome {
  readonly warnings: readonly string[];
  /** One for each decision that was asked. */
  readonly decisions: readonly PolicyResult[];
}

export interface CheckWorld extends World {
  readonly definitions: Library;
}

/** Asks every policy decision for the tool; all of them must allow the call. */
export async function check(request: CheckRequest, world: CheckWorld): Promise<CheckResult> {
  refuseNameless(request);
  const context = contextOf(request);
  await world.definitions.refuseUnapprovedPolicies?.();
  const ids = policiesFor(request.tool, world.definitions);
  const found = await Promise.all(ids.map((id) => world.definitions.find(id)));
  const asked = found.length === 0 ? [noPolicyDefinition(world.definitions.everywhere())] : found;
  const records = request.dry_run ? undefined : world.records;
  const enriched: EnrichedOnce = new Map();
  const decided = await untilRemembered(async () => {
    const made = await deliberateAll(request, context, { asked, world, enriched });
    const combined = combine(request.tool, context, made);
    return {
      decided: combined,
      made: combined.allowed ? countedOnce(made, combined, { request, asked }) : uncounted(made),
    };
  }, records);
  if (world.definitions.summaries.some(({ tools }) => tools !== undefined)) return decided;
  return { ...decided, warnings: [...decided.warnings, "no policy is defined, so every call is allowed"] };
}

function refuseNameless({ tool, session_id: session }: CheckRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (isText(tool) && (session === undefined || isText(session))) return;
  throw new DecisionError(
    "input_invalid",
    "a check names the tool, and the session if there is one, by a text",
  );
}

function contextOf({ tool, params, context = {} }: CheckRequest): JsonObject {
  const more = bind(context);
  const taken = ["tool", "params", "context"].find((key) => Object.hasOwn(more, key));
  if (taken !== undefined) {
    throw new DecisionError("input_invalid", `the context of a check cannot hold \`${taken}\``, {
      hint: "the tool is named first, its params are given with --params; the context holds `session` and `resources`",
    });
  }
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    throw new DecisionError("input_invalid", "the params must be a JSON object", {
      hint: 'name the values, as in {"path": "notes.txt"}',
    });
  }
  return bind({ ...more, tool, params });
}

/** One after the other, so that each knows what those before have set. */
async function deliberateAll(
  request: CheckRequest,
  context: JsonObject,
  {
    asked,
    world,
    enriched,
  }: {
    readonly asked: readonly LoadedDefinition[];
    readonly world: CheckWorld;
    readonly enriched: EnrichedOnce;
  },
): Promise<readonly Deliberated[]> {
  const at = world.clock();
  const check_id = world.newId(at);
  const made: Deliberated[] = [];
  let setParams: JsonObject = {};
  for (const loaded of asked) {
    const question = { ...request, decision_id: loaded.definition.id, context, check_id };
    const shared = {
      at,
      enriched,
      fixedParams: request.fixed_params ?? false,
      ...(Object.keys(setParams).length > 0 && { setParams }),
    };
    const deliberated = await deliberate(question, loaded, world, shared).catch((error: unknown) => {
      // Those before will never be recorded.
      for (const { result } of made) world.records?.recent.remove(result.record_id ?? "");
      throw error;
    });
    setParams = { ...setParams, ...outcomeIn(deliberated).set_params };
    made.push(deliberated);
  }
  return made;
}

function outcomeIn({ evaluated }: Deliberated): Deliberation {
  if (evaluated.outcome?.type !== "policy") throw new Error("only policies are asked about calls");
  return evaluated.outcome;
}

/** All must allow; the first that denies gives the reason, and overrides that change params change them all. */
function combine(tool: string, context: JsonObject, made: readonly Deliberated[]): CheckResult {
  const outcomes = made.map(outcomeIn);
  const decisions = made.map(({ result }) => result as PolicyResult);
  const warnings = decisions.flatMap((each) => each.warnings);
  const [first] = outcomes;
  if (first === undefined) throw new Error("nothing was asked");
  const denial = outcomes.find(({ allowed }) => !allowed);
  if (denial !== undefined) return { ...said(tool, denial), warnings, decisions };
  const exception = outcomes.find(({ outcome }) => outcome === "allowed_by_exception");
  const set = outcomes.reduce<JsonObject>((all, each) => ({ ...all, ...each.set_params }), {});
  const params = withParams(context["params"] ?? null, set);
  return { ...said(tool, exception ?? first), params, warnings, decisions };
}

const said = (tool: string, { allowed, outcome, reason, params }: PolicyOutcome): PolicyOutcome => ({
  tool,
  allowed,
  outcome,
  reason,
  params,
});

/** What is denied by one is counted by none. */
const uncounted = (made: readonly Deliberated[]): readonly Deliberated[] =>
  made.map((each) => ({ ...each, draft: each.draft && { ...each.draft, counts: [], limits: [] } }));

/** A call that several allow is one call, of the first that is recorded; its result may name it by its params. */
function countedOnce(
  made: readonly Deliberated[],
  { tool, params }: CheckResult,
  { request, asked }: { readonly request: CheckRequest; readonly asked: readonly LoadedDefinition[] },
): readonly Deliberated[] {
  const { session_id: session } = request;
  const first = made.find(({ draft }) => draft !== undefined);
  const digests = new Set([request.params as Json, params].map((each) => paramsDigest(each, asked)));
  const named =
    session === undefined ? [] : [...digests].map((digest) => callWithCounter(session, tool, digest));
  return made.map((each) => {
    const { draft } = each;
    if (draft === undefined) return each;
    const counts =
      each === first
        ? [...draft.counts, ...named]
        : draft.counts.filter((count) => typeof count !== "string" || !isCallCounter(count));
    return { ...each, draft: { ...draft, counts } };
  });
}
