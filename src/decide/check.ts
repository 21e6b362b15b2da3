import type { Library } from "../definition/library.js";
import { definitionHash, masksOf } from "../definition/loaded-definition.js";
import { findPolicies, hasOverridesOnly, matchesGlob } from "../definition/tool-match.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { DetailedPolicyOutcome } from "../evaluate/policy/policy-outcome.js";
import { mergeParams } from "../evaluate/policy/policy-outcome.js";
import type { Environment, LoadedDefinition, Policy, PolicyDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { AuthenticatedCaller, Provenance } from "../model/record.js";
import type { PolicyOutcome, PolicyResult } from "../model/result.js";
import type { Count } from "../model/store.js";
import { callCounter, sessionOf } from "../record/counters.js";
import { maskContext } from "../record/mask.js";
import { bindContext } from "./bind.js";
import { checkChangedParams } from "./changed-params.js";
import type { CallContext } from "./check-session.js";
import { assertSessionIfNeeded, countSessionState, withSessionState } from "./check-session.js";
import type { Decision } from "./decide.js";
import { makeDecision } from "./decide.js";
import type { Enriched } from "./enrich.js";
import type { ReadyDefinition } from "./find.js";
import { find, prepareOnce } from "./find.js";
import { recordWithRetry } from "./record.js";
import type { CallState, World } from "./request.js";
import { isObject } from "../expression/equal.js";
import { didYouMean } from "../text.js";

/** A request to check one tool call. */
export interface CheckRequest extends Omit<Provenance, "check_id"> {
  readonly tool: string;
  readonly params: unknown;
  /** `session`, `resources` and other values that policies read. */
  readonly context?: unknown;
  /** The caller cannot change the params, so no override may set them. */
  readonly fixed_params?: boolean;
  readonly caller?: AuthenticatedCaller | undefined;
  /**
   * Whether the caller may report results. Only then is the `session` that it sends kept for the calls of others. Default:
   * whether its scopes have `report`; true without a caller.
   */
  readonly may_report?: boolean;
  readonly dry_run?: boolean;
  readonly strict?: boolean;
}

/** Whether the call is allowed, and with which params. */
export interface CheckResult extends PolicyOutcome {
  readonly warnings: readonly string[];
  /** One result for each policy decision that applies to the tool. */
  readonly decisions: readonly PolicyResult[];
}

export interface CheckWorld extends World {
  readonly definitions: Library;
  /** The answer about a tool that no policy matches; absent: allowed, unless there is no policy at all. */
  readonly unknownTools?: UnknownTools | undefined;
}

export type UnknownTools = "deny" | "allow";

/** Checks one tool call: every policy decision for the tool is made, and all of them must allow it. */
export async function check(request: CheckRequest, world: CheckWorld): Promise<CheckResult> {
  assertNamed(request);
  const supplied = checkContext(request);
  await world.definitions.assertPoliciesApproved?.();
  const policies = await policiesFor(request.tool, world);
  assertSessionIfNeeded(request, policies, world.clock);
  // By the record of the session's state: fetched data may depend on it.
  const enriched = new Map<string, NonNullable<CallState["enriched"]>>();
  const checked = await recordWithRetry(request, world, async () => {
    const call = await withSessionState(supplied, request, policies, world.records?.log);
    const stateRecord = call.keptIn ?? "";
    const fetched = enriched.get(stateRecord) ?? new Map<LoadedDefinition, Enriched>();
    enriched.set(stateRecord, fetched);
    const decisions = await checkChangedParams(world, (changes) =>
      decideEach(policies, { request, call, world, enriched: fetched, changes }),
    );
    const answer = combine(request.tool, call.context, decisions);
    const counted = answer.allowed
      ? countOnce(withoutRepeatedCounts(decisions), answer, request, policies)
      : withoutCounts(decisions);
    return { answer, decisions: countSessionState(counted, call) };
  });
  const warning = unmatchedWarning(request.tool, world.definitions);
  return warning === undefined ? checked : { ...checked, warnings: [...checked.warnings, warning] };
}

/** Returns a warning if there is no policy at all, or none for a tool whose name may be misspelt. */
function unmatchedWarning(tool: string, definitions: Library): string | undefined {
  const tools = definitions.summaries.flatMap((each) => (hasOverridesOnly(each) ? [] : (each.tools ?? [])));
  if (tools.length === 0) return "no policy is defined: every call is allowed";
  if (tools.some((glob) => matchesGlob(glob, tool))) return undefined;
  const hint = didYouMean(
    tool,
    tools.filter((each) => !/[*?]/.test(each)),
  );
  return hint === undefined ? undefined : `no policy matches \`${tool}\`; ${hint}`;
}

function assertNamed({ tool, session_id: session }: CheckRequest): void {
  const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
  if (isText(tool) && (session === undefined || isText(session))) return;
  throw new DecisionError("input_invalid", "`tool` and `session_id` must be non-empty strings");
}

function checkContext({ tool, params, context = {} }: CheckRequest): JsonObject {
  const supplied = bindContext(context);
  const reserved = ["tool", "params", "context"].find((key) => Object.hasOwn(supplied, key));
  if (reserved !== undefined) {
    throw new DecisionError("input_invalid", `the context of a check cannot hold \`${reserved}\``, {
      hint: "name the tool first and pass its params with --params; the context holds `session` and `resources`",
    });
  }
  if (!isObject(params)) {
    throw new DecisionError("input_invalid", "the params must be a JSON object", {
      hint: 'name the values, as in {"path": "notes.txt"}',
    });
  }
  return bindContext({ ...supplied, tool, params });
}

/** Returns the decisions about a tool. One without policies has masks and guardrails, but does not make a tool known. */
async function policiesFor(tool: string, world: CheckWorld): Promise<readonly ReadyDefinition[]> {
  const { definitions, unknownTools } = world;
  const found = await Promise.all(findPolicies(tool, definitions).map((id) => find(id, world)));
  if (found.some(hasBasePolicy) || (found.length > 0 && unknownTools !== "deny")) return found;
  if (unknownTools !== "allow" && !hasPolicies(definitions)) throw noPolicyError();
  const unknown = unknownToolDefinition(definitions.sharedEnvironment(), unknownTools === "deny");
  return [...found, await prepareOnce(unknown)];
}

const hasBasePolicy = ({ loaded: { definition } }: ReadyDefinition): boolean =>
  definition.type === "policy" &&
  definition.policies?.some(({ overrides }) => overrides === undefined) === true;

const hasPolicies = ({ summaries }: Library): boolean =>
  summaries.some((each) => each.tools !== undefined && !hasOverridesOnly(each));

/** Policies that are all missing were more likely lost than never written. */
const noPolicyError = (): DecisionError =>
  new DecisionError("definition_invalid", "no policy is defined, so no call is allowed", {
    hint: "add a policy, or allow tools without a policy with `--unknown-tools allow`",
  });

/** The definition for a tool that no policy matches. It is recorded, so a replay gives the same answer. */
function unknownToolDefinition(shared: Environment, isDenied: boolean): LoadedDefinition {
  const environment = shared as unknown as JsonObject;
  const definition: PolicyDefinition = {
    id: "none",
    type: "policy",
    tool: "*",
    policies: isDenied ? [denyUnknownTools] : [],
  };
  return deepFreeze({
    definition,
    definition_hash: definitionHash(definition),
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file: "",
    line: 0,
  });
}

const denyUnknownTools: Policy = {
  name: "unknown_tools",
  conditions: [{ name: "has_policy", expression: "false" }],
  deny_reason: "No policy matches the tool {{ tool }}",
};

interface DecideEachOptions {
  readonly request: CheckRequest;
  readonly call: CallContext;
  readonly world: CheckWorld;
  readonly enriched: CallState["enriched"];
  readonly changes: CallState["changes"] | undefined;
}

/** Makes the decisions one after the other: each one sees the params that those before it have set. */
async function decideEach(
  policies: readonly ReadyDefinition[],
  { request, call: { context, keptIn }, world, enriched, changes }: DecideEachOptions,
): Promise<readonly Decision[]> {
  const at = world.clock();
  const check_id = world.newId(at);
  const decisions: Decision[] = [];
  let setParams: JsonObject = {};
  for (const policy of policies) {
    const decisionRequest = { ...request, decision_id: policy.loaded.definition.id, context, check_id };
    const call = {
      at,
      ...(enriched !== undefined && { enriched }),
      fixedParams: request.fixed_params ?? false,
      ...(Object.keys(setParams).length > 0 && { setParams }),
      ...(changes && { changes }),
      hasKeptState: keptIn !== undefined,
    };
    const decision = await makeDecision(policy, decisionRequest, world, call).catch((error: unknown) => {
      // The decisions before this one are never recorded, so they are no precedents.
      for (const { result } of decisions) world.records?.pending.remove(result.record_id ?? "");
      throw error;
    });
    setParams = { ...setParams, ...policyOutcome(decision).set_params };
    decisions.push(decision);
  }
  return decisions;
}

function policyOutcome({ evaluated }: Decision): DetailedPolicyOutcome {
  if (evaluated.outcome?.type !== "policy") throw new Error("a check makes policy decisions only");
  return evaluated.outcome;
}

/** Combines the decisions: all must allow, the first denial gives the reason, and params set by overrides merge. */
function combine(tool: string, context: JsonObject, made: readonly Decision[]): CheckResult {
  const outcomes = made.map(policyOutcome);
  const decisions = made.map(({ result }) => result as PolicyResult);
  const warnings = decisions.flatMap((each) => each.warnings);
  const [first] = outcomes;
  if (first === undefined) throw new Error("a check makes at least one decision");
  const combined = (decided: DetailedPolicyOutcome, params = decided.params): CheckResult => {
    const { allowed, outcome } = decided;
    // The reason of the result does not show masked values.
    const reason = decisions[outcomes.indexOf(decided)]?.reason ?? decided.reason;
    return { tool, allowed, outcome, reason, params, warnings, decisions };
  };
  const denial = outcomes.find(({ allowed }) => !allowed);
  if (denial !== undefined) return combined(denial);
  const exception = outcomes.find(({ outcome }) => outcome === "allowed_by_exception");
  const setParams = outcomes.reduce<JsonObject>((all, each) => ({ ...all, ...each.set_params }), {});
  const params = mergeParams(context["params"] ?? null, setParams);
  return combined(exception ?? first, params);
}

/** A call that one decision denies is counted by none. */
const withoutCounts = (decisions: readonly Decision[]): readonly Decision[] =>
  decisions.map((each) => ({ ...each, draft: each.draft && { ...each.draft, counts: [], limits: [] } }));

/** An override that flips denials of several decisions is counted once per call, with the first record. */
function withoutRepeatedCounts(decisions: readonly Decision[]): readonly Decision[] {
  const seen = new Set<Count>();
  return decisions.map((decision) => {
    const { draft } = decision;
    if (draft === undefined) return decision;
    const counts = draft.counts.filter((each) => !seen.has(each));
    for (const each of draft.counts) seen.add(each);
    return counts.length === draft.counts.length ? decision : { ...decision, draft: { ...draft, counts } };
  });
}

/** A call that several decisions allow is counted once, with the first record; its result can find it by its params, as requested or as changed. */
function countOnce(
  decisions: readonly Decision[],
  { tool, params }: CheckResult,
  request: CheckRequest,
  policies: readonly ReadyDefinition[],
): readonly Decision[] {
  const session = sessionOf(request);
  const first = decisions.find(({ draft }) => draft !== undefined);
  if (session === undefined) return decisions;
  const masks = policies.flatMap(({ loaded }) => masksOf(loaded));
  const digests = [request.params as Json, params].map((each) => callDigest(maskParams(each, masks)));
  const calls = [undefined, ...new Set(digests)].map((digest) => callCounter(session, tool, digest));
  return decisions.map((decision) => {
    const { draft } = decision;
    if (draft === undefined || decision !== first) return decision;
    return { ...decision, draft: { ...draft, counts: [...draft.counts, ...calls] } };
  });
}

const digestLength = 32;

/** Returns the params of a call without the values that are masked. */
export const maskParams = (params: Json, pointers: readonly string[]): Json =>
  maskContext({ params }, pointers)["params"] ?? null;

/** Returns the digest of the params of a call, without the values that are masked. */
export const paramsDigest = (masked: Json): string => sha256Hex(canonicalJson(masked));

/** Returns the digest by which a result finds its call. */
export const callDigest = (masked: Json): string => paramsDigest(masked).slice(0, digestLength);
