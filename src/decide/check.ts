import { bind } from "./bind.js";
import type { Deliberated, EnrichedOnce, World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import { retryOnLostRace } from "./record.js";
import type { Library } from "../definition/library.js";
import { definitionHash } from "../definition/loaded-definition.js";
import { findPolicies } from "../definition/tool-match.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { DetailedPolicyOutcome } from "../evaluate/policy/policy-outcome.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import type { LoadedDefinition, Environment, PolicyDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, Provenance } from "../model/record.js";
import type { PolicyOutcome, PolicyResult } from "../model/result.js";
import { callWithParamsCounter, isCallCounter } from "../record/counters.js";
import { maskContext } from "../record/mask.js";

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
  assertNamed(request);
  const context = contextOf(request);
  await world.definitions.assertPoliciesApproved?.();
  const ids = findPolicies(request.tool, world.definitions);
  const found = await Promise.all(ids.map((id) => world.definitions.find(id)));
  const asked = found.length === 0 ? [noPolicyDefinition(world.definitions.sharedEnvironment())] : found;
  const records = request.dry_run ? undefined : world.records;
  const enriched: EnrichedOnce = new Map();
  const decided = await retryOnLostRace(async () => {
    const made = await evaluateEach(request, context, { asked, world, enriched });
    const combined = combine(request.tool, context, made);
    return {
      decided: combined,
      made: combined.allowed ? countOnce(made, combined, { request, asked }) : withoutCounts(made),
    };
  }, records);
  if (world.definitions.summaries.some(({ tools }) => tools !== undefined)) return decided;
  return { ...decided, warnings: [...decided.warnings, "no policy is defined, so every call is allowed"] };
}

function assertNamed({ tool, session_id: session }: CheckRequest): void {
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
async function evaluateEach(
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
      for (const { result } of made) world.records?.pending.remove(result.record_id ?? "");
      throw error;
    });
    setParams = { ...setParams, ...policyOutcome(deliberated).set_params };
    made.push(deliberated);
  }
  return made;
}

function policyOutcome({ evaluated }: Deliberated): DetailedPolicyOutcome {
  if (evaluated.outcome?.type !== "policy") throw new Error("only policies are asked about calls");
  return evaluated.outcome;
}

/** All must allow; the first that denies gives the reason, and overrides that change params change them all. */
function combine(tool: string, context: JsonObject, made: readonly Deliberated[]): CheckResult {
  const outcomes = made.map(policyOutcome);
  const decisions = made.map(({ result }) => result as PolicyResult);
  const warnings = decisions.flatMap((each) => each.warnings);
  const [first] = outcomes;
  if (first === undefined) throw new Error("nothing was asked");
  const denial = outcomes.find(({ allowed }) => !allowed);
  if (denial !== undefined) return { ...toOutcome(tool, denial), warnings, decisions };
  const exception = outcomes.find(({ outcome }) => outcome === "allowed_by_exception");
  const set = outcomes.reduce<JsonObject>((all, each) => ({ ...all, ...each.set_params }), {});
  const params = mergeParams(context["params"] ?? null, set);
  return { ...toOutcome(tool, exception ?? first), params, warnings, decisions };
}

const toOutcome = (tool: string, { allowed, outcome, reason, params }: PolicyOutcome): PolicyOutcome => ({
  tool,
  allowed,
  outcome,
  reason,
  params,
});

/** What is denied by one is counted by none. */
const withoutCounts = (made: readonly Deliberated[]): readonly Deliberated[] =>
  made.map((each) => ({ ...each, draft: each.draft && { ...each.draft, counts: [], limits: [] } }));

/** A call that several allow is one call, of the first that is recorded; its result may name it by its params. */
function countOnce(
  made: readonly Deliberated[],
  { tool, params }: CheckResult,
  { request, asked }: { readonly request: CheckRequest; readonly asked: readonly LoadedDefinition[] },
): readonly Deliberated[] {
  const { session_id: session } = request;
  const first = made.find(({ draft }) => draft !== undefined);
  const digests = new Set([request.params as Json, params].map((each) => paramsDigest(each, asked)));
  const named =
    session === undefined ? [] : [...digests].map((digest) => callWithParamsCounter(session, tool, digest));
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

const noPolicyDefinitions = new Map<string, LoadedDefinition>();

/** What is asked where no policy is about the tool: it allows the call, and the record says so. */
function noPolicyDefinition(everywhere: Environment): LoadedDefinition {
  const environment = everywhere as unknown as JsonObject;
  const hash = sha256Hex(canonicalJson(environment));
  let loaded = noPolicyDefinitions.get(hash);
  if (loaded === undefined) {
    const definition: PolicyDefinition = { id: "none", type: "policy", tool: "*", policies: [] };
    loaded = deepFreeze({
      definition,
      definition_hash: definitionHash(definition),
      environment,
      environment_hash: hash,
      file: "",
      line: 0,
    });
    noPolicyDefinitions.set(hash, loaded);
  }
  return loaded;
}

const digestLength = 32;

/** Tells calls with different params apart, without the values that any of the decisions masks. */
export function paramsDigest(params: Json, asked: readonly LoadedDefinition[]): string {
  const pointers = asked.flatMap(({ definition }) => definition.logging?.mask ?? []);
  const { params: shown = null } = maskContext({ params }, pointers);
  return sha256Hex(canonicalJson(shown)).slice(0, digestLength);
}
