import type { Library } from "../definition/library.js";
import type { Prepared } from "../evaluate/evaluate.js";
import { prepare } from "../evaluate/evaluate.js";
import type { LoadedDefinition } from "../model/definition.js";
import type { Provenance } from "../model/record.js";
import type { Result } from "../model/result.js";
import type { Records } from "../record/records.js";
import { answer } from "./answer.js";
import { bind } from "./bind.js";
import { withoutMasked } from "./conceal.js";
import { describe, freezeResult } from "./describe.js";
import { deterministicHash } from "./deterministic-hash.js";
import type { Clock } from "./gather.js";
import { gather } from "./gather.js";
import { valuesRead } from "./values-read.js";

/** What is asked: a decision, the context to make it in, and on whose behalf. */
export interface Request extends Provenance {
  readonly decision_id: string;
  readonly context: unknown;
  /** Evaluates without keeping anything. */
  readonly dry_run?: boolean;
  /** A condition that cannot be evaluated ends the decision with an error. */
  readonly strict?: boolean;
  /** Evaluates even where the answer is known already. */
  readonly no_cache?: boolean;
}

/** All that a decision needs from outside. */
export interface World {
  readonly definitions: Pick<Library, "find">;
  readonly clock: Clock;
  /** A new id for a record of this time. */
  readonly newId: (timestamp: string) => string;
  /** Undefined: nothing is remembered. */
  readonly records?: Records | undefined;
}

/** Makes one decision. The command line and every other door come through here. */
export async function decide(request: Request, world: World): Promise<Result> {
  const loaded = await world.definitions.find(request.decision_id);
  const prepared = preparedOnce(loaded);
  const context = bind(request.context);
  const { facts, system } = await gather(world);
  const scope = { context, facts, system, input: undefined };

  const { dry_run: dryRun = false, strict = false, no_cache: noCache = false } = request;
  const records = dryRun ? undefined : world.records;
  const isLogged = records !== undefined && loaded.definition.logging?.log_decision !== false;
  const recordId = isLogged ? world.newId(system.request_time) : undefined;
  const question = { loaded, prepared, scope, strict, at: system.request_time, recordId };
  const answered = await answer(question, noCache ? undefined : records);

  const { cached, cacheKey, cachedFrom } = answered;
  const { scope: shown, evaluated } = withoutMasked(prepared, scope, answered.evaluated);
  const hash = deterministicHash(loaded, valuesRead(prepared, shown), evaluated);
  const circumstances = { recordId, dryRun, cached, at: system.request_time, hash };
  const result = freezeResult(describe(loaded, evaluated, circumstances));
  if (isLogged) {
    const about = { provenance: request, context: shown.context, facts, cacheKey, cachedFrom };
    await records.append(result, about, loaded).catch((error: unknown) => {
      if (cacheKey !== undefined && !cached) records.answers.drop(cacheKey);
      throw error;
    });
  }
  if (cacheKey !== undefined && !cached) await records?.publish(cacheKey);
  return result;
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
