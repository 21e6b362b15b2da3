import type { Library } from "../definition/library.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { evaluate, prepare } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Result } from "../model/result.js";
import { bind } from "./bind.js";
import { deterministicHash } from "./deterministic-hash.js";
import type { Clock } from "./gather.js";
import { gather } from "./gather.js";
import { describe, freezeResult } from "./describe.js";

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
  const evaluated = evaluate(prepared, scope, request.strict);
  const hash = deterministicHash(loaded, prepared, scope, evaluated);
  return freezeResult(
    describe(loaded, evaluated, { dryRun: request.dry_run ?? false, at: system.request_time, hash }),
  );
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
