import { uniqueFetches } from "../definition/fetches.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Outcome, Prepared } from "../evaluate/evaluate.js";
import { evaluate } from "../evaluate/evaluate.js";
import { prepare } from "../evaluate/prepare.js";
import type { Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** The answer of a definition to one context, or the error that it ends with. */
export type TrialAnswer =
  | { readonly evaluated: Evaluated; readonly error?: undefined }
  | { readonly error: DecisionError; readonly evaluated?: undefined };

/** Evaluates contexts with a definition, as `evaluate` does, to confirm what an analysis has found. */
export class Trial {
  readonly definition: Definition;
  readonly #facts: JsonObject | undefined;
  #prepared: Prepared | undefined;

  /** Without facts, limits have room and what is required has happened. */
  constructor(definition: Definition, facts?: JsonObject) {
    this.definition = definition;
    this.#facts = facts;
  }

  get prepared(): Prepared {
    return (this.#prepared ??= prepare(this.definition));
  }

  run(context: JsonObject): TrialAnswer {
    try {
      return { evaluated: evaluate(this.prepared, this.scopeOf(context)) };
    } catch (error) {
      if (error instanceof DecisionError) return { error };
      throw error;
    }
  }

  scopeOf(context: JsonObject): Scope {
    const facts = this.#facts ?? favourableFacts(this.prepared);
    return { context, input: undefined, facts, system: trialSystem };
  }
}

const trialSystem = { request_time: "2026-01-01T00:00:00.000000Z", request_id: "analysis" };

/** Facts with which nothing but the context decides. */
function favourableFacts({ definition, needs }: Prepared): JsonObject {
  const each = (names: readonly string[], value: Json): JsonObject =>
    Object.fromEntries(names.map((name) => [name, value]));
  const fetched = each(
    uniqueFetches(definition).map(({ key }) => key),
    { ok: true },
  );
  if (needs === undefined) return { fetched };
  const limited = needs.limits.map(({ owner }) => owner);
  return {
    fetched,
    succeeded: each(needs.requires, 1),
    calls: each(limited, 0),
    sums: each(limited, 0),
    uses: each(
      needs.uses.map(({ override }) => override),
      0,
    ),
    read: each(
      needs.reads.map(({ policy }) => policy),
      { path: "", read: true },
    ),
  };
}

/** Returns the label that is selected, even if its output cannot be evaluated. */
export function selectedLabel({ evaluated, error }: TrialAnswer): string | undefined {
  if (evaluated !== undefined) return evaluated.selected_labels[0];
  const { label } = (error.details ?? {}) as { readonly label?: unknown };
  return error.code === "output_errored" && typeof label === "string" ? label : undefined;
}

/** Returns a text that is equal for equal answers. */
export function answerKey({ evaluated, error }: TrialAnswer): string {
  if (error !== undefined) return `error ${error.code}`;
  const { selected_labels, selected_targets, outputs = [] } = evaluated;
  const answer: Json = [selected_labels, selected_targets, outputs];
  return canonicalJson([...answer, ...outcomeParts(evaluated.outcome)]);
}

function outcomeParts(outcome: Outcome | undefined): readonly Json[] {
  switch (outcome?.type) {
    case undefined:
      return [];
    case "scored":
      return [outcome.decision, outcome.confidence];
    case "gate":
      return [outcome.status, outcome.work_frame as unknown as Json];
    case "policy":
      return [outcome.outcome, outcome.params];
  }
}

/** Describes two different answers in as few words as tell them apart. */
export function answerTexts(before: TrialAnswer, after: TrialAnswer): readonly [from: string, to: string] {
  const levels = [labelsText, targetsText, outputsText, detailText];
  for (const [index, write] of levels.entries()) {
    const [from, to] = [write(before), write(after)];
    if (from === to) continue;
    if (index === 0) return [from, to];
    return [`${labelsText(before)} (${from})`, `${labelsText(after)} (${to})`];
  }
  return [labelsText(before), labelsText(after)];
}

/** Names what was selected, or the error. */
export function labelsText({ evaluated, error }: TrialAnswer): string {
  if (error !== undefined) return `error: ${error.code}`;
  return evaluated.selected_labels.join(", ");
}

const targetsText = ({ evaluated }: TrialAnswer): string =>
  evaluated === undefined ? "" : `→ ${evaluated.selected_targets.join(", ") || "no target"}`;

const outputsText = ({ evaluated }: TrialAnswer): string =>
  (evaluated?.outputs ?? []).map((output) => canonicalJson(output)).join(", ") || "no output";

function detailText({ evaluated }: TrialAnswer): string {
  const outcome = evaluated?.outcome;
  switch (outcome?.type) {
    case undefined:
      return "";
    case "scored":
      return `confidence ${outcome.confidence}`;
    case "gate":
      return `work frame ${canonicalJson(outcome.work_frame as unknown as Json)}`;
    case "policy":
      return `params ${canonicalJson(outcome.params)}`;
  }
}
