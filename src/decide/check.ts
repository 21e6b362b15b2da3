import type { Library } from "../definition/library.js";
import { policiesFor } from "../definition/tool-match.js";
import { DecisionError } from "../errors.js";
import { isObject } from "../expression/equal.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Provenance } from "../model/record.js";
import type { PolicyOutcome, PolicyResult } from "../model/result.js";
import { bind } from "./bind.js";
import type { Deliberated, World } from "./deliberate.js";
import { deliberate } from "./deliberate.js";
import { noPolicyDefinition } from "./no-policy.js";
import { untilRemembered } from "./remember.js";

/** What is asked of a call: the tool, its params, and what else may bear on it. */
export interface CheckRequest extends Omit<Provenance, "check_id"> {
  readonly tool: string;
  readonly params: unknown;
  /** `session`, `resources` and the like. */
  readonly context?: unknown;
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
  const context = contextOf(request);
  const ids = policiesFor(request.tool, world.definitions);
  const found = await Promise.all(ids.map((id) => world.definitions.find(id)));
  const asked = found.length === 0 ? [noPolicyDefinition] : found;
  const records = request.dry_run ? undefined : world.records;
  return untilRemembered(async () => {
    const made = await deliberateAll(request, context, { asked, world });
    const decided = combine(request.tool, made);
    return { decided, made: made.map((each, index) => finallyCounted(each, index, decided.allowed)) };
  }, records);
}

function contextOf({ tool, params, context = {} }: CheckRequest): JsonObject {
  const more = bind(context);
  const taken = ["tool", "params"].find((key) => Object.hasOwn(more, key));
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
  { asked, world }: { readonly asked: readonly LoadedDefinition[]; readonly world: CheckWorld },
): Promise<readonly Deliberated[]> {
  const at = world.clock();
  const check_id = world.newId(at);
  const made: Deliberated[] = [];
  let setParams: JsonObject = {};
  for (const loaded of asked) {
    const question = { ...request, decision_id: loaded.definition.id, context, check_id };
    const shared = { at, ...(Object.keys(setParams).length > 0 && { setParams }) };
    const deliberated = await deliberate(question, loaded, world, shared);
    setParams = { ...setParams, ...changes(outcomeIn(deliberated).params, context["params"] ?? null) };
    made.push(deliberated);
  }
  return made;
}

/** The params that differ from those asked about. */
function changes(params: Json, before: Json): JsonObject {
  if (!isObject(params) || params === before) return {};
  const given = isObject(before) ? before : {};
  return Object.fromEntries(
    Object.entries(params).filter(([key, value]) => !Object.hasOwn(given, key) || given[key] !== value),
  );
}

function outcomeIn({ evaluated }: Deliberated): PolicyOutcome {
  if (evaluated.outcome?.type !== "policy") throw new Error("only policies are asked about calls");
  return evaluated.outcome;
}

/** All must allow; the first that denies gives the reason, and overrides that change params change them all. */
function combine(tool: string, made: readonly Deliberated[]): CheckResult {
  const outcomes = made.map(outcomeIn);
  const decisions = made.map(({ result }) => result as PolicyResult);
  const warnings = decisions.flatMap((each) => each.warnings);
  const [first] = outcomes;
  if (first === undefined) throw new Error("nothing was asked");
  const denial = outcomes.find(({ allowed }) => !allowed);
  if (denial !== undefined) return { ...said(tool, denial), warnings, decisions };
  const exception = outcomes.find(({ outcome }) => outcome === "allowed_by_exception");
  const base = outcomes.reduce<Json>(
    (params, each) =>
      isObject(params) && isObject(each.params) ? { ...params, ...each.params } : each.params,
    {},
  );
  return { ...said(tool, exception ?? first), params: base, warnings, decisions };
}

const said = (tool: string, { allowed, outcome, reason, params }: PolicyOutcome): PolicyOutcome => ({
  tool,
  allowed,
  outcome,
  reason,
  params,
});

const nothing = { counts: [], limits: [] };

/** What is denied by one is counted by none; and a call that several allow is still one call. */
function finallyCounted(made: Deliberated, index: number, allowed: boolean): Deliberated {
  if (!allowed) return { ...made, counting: nothing };
  if (index === 0) return made;
  const { counts, limits } = made.counting;
  const own = counts.filter((count) => typeof count !== "string" || !count.startsWith('["called",'));
  return { ...made, counting: { counts: own, limits } };
}
