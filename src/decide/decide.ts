import type { Library } from "../definition/library.js";
import { deepFreeze } from "../digest/freeze.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { evaluate, prepare } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Result } from "../model/result.js";
import { bind } from "./bind.js";
import { deterministicHash } from "./deterministic-hash.js";
import type { Clock } from "./gather.js";
import { gather } from "./gather.js";

/** What is asked: a decision, and the context to make it in. */
export interface Request {
  readonly decision_id: string;
  readonly context: unknown;
  /** Evaluates without keeping anything. */
  readonly dry_run?: boolean;
  /** A condition that cannot be evaluated ends the decision with an error. */
  readonly strict?: boolean;
}

/** All that a decision needs from outside. */
export interface World {
  readonly definitions: Pick<Library, "find">;
  readonly clock: Clock;
}

/** Makes one decision. The command line and every other door come through here. */
export async function decide(request: Request, world: World): Promise<Result> {
  const loaded = await world.definitions.find(request.decision_id);
  const prepared = preparedOnce(loaded);
  const context = bind(request.context);
  const { facts, system } = await gather(world);
  const scope = { context, facts, system, input: undefined };
  const { definition } = loaded;
  const evaluated = evaluate(prepared, scope, request.strict);
  return deepFreeze({
    decision_id: definition.id,
    ...(definition.name !== undefined && { decision_name: definition.name }),
    ...(definition.version !== undefined && { decision_version: definition.version }),
    definition_hash: loaded.definition_hash,
    environment_hash: loaded.environment_hash,
    type: definition.type,
    selected_targets: evaluated.selected_targets,
    selected_labels: evaluated.selected_labels,
    input_value: evaluated.input_value,
    evaluation_details: evaluated.evaluation_details,
    ...(evaluated.rules_total !== undefined && { rules_total: evaluated.rules_total }),
    because: evaluated.because,
    failed_conditions: evaluated.failed_conditions,
    warnings: evaluated.warnings,
    guardrails: [],
    blocked: false,
    escalated: false,
    cached: false,
    dry_run: request.dry_run ?? false,
    timestamp: system.request_time,
    deterministic_hash: deterministicHash(loaded, prepared.reads, scope, evaluated),
  });
}

const preparations = new WeakMap<object, Prepared>();

function preparedOnce({ definition }: LoadedDefinition): Prepared {
  let prepared = preparations.get(definition);
  if (prepared === undefined) {
    prepared = prepare(definition);
    preparations.set(definition, prepared);
  }
  return prepared;
}
