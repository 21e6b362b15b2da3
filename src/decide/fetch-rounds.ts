import type { WrittenFetch } from "../definition/fetches.js";
import { destinationsOf, fetchesOf } from "../definition/fetches.js";
import { readsMasked } from "../definition/mask-pointers.js";
import type { LenientTemplate } from "../expression/document.js";
import { compileLenient } from "../expression/document.js";
import { overlaps } from "../expression/put-at.js";
import type { Definition } from "../model/definition.js";

export interface PreparedFetch extends WrittenFetch {
  readonly template: LenientTemplate;
  /** Those whose data its params read. */
  readonly after: readonly WrittenFetch[];
  /** Whether its answer may be kept: the context is, and nothing of it, nor of its params, is masked. */
  readonly cached: boolean;
}

const known = new WeakMap<Definition, readonly (readonly PreparedFetch[])[]>();

/** Which fetches go together: each comes after those whose data its params read. */
export function roundsOf(definition: Definition): readonly (readonly PreparedFetch[])[] {
  let rounds = known.get(definition);
  if (rounds === undefined) {
    rounds = inRounds(fetchesOf(definition).map((fetch) => prepareFetch(fetch, definition)));
    known.set(definition, rounds);
  }
  return rounds;
}

function prepareFetch(fetch: WrittenFetch, definition: Definition): PreparedFetch {
  const template = compileLenient(fetch.params ?? {});
  const masks = definition.logging?.mask ?? [];
  const touched = [...template.reads, ...destinationsOf(fetch)];
  const isTold = definition.logging?.include_inputs !== false;
  return {
    ...fetch,
    template,
    after: [],
    cached: isTold && !touched.some((path) => readsMasked(path, masks)),
  };
}

function inRounds(fetches: readonly PreparedFetch[]): readonly (readonly PreparedFetch[])[] {
  const rounds: PreparedFetch[][] = [];
  const roundOf = new Map<PreparedFetch, number>();
  for (const fetch of fetches) {
    const reads = fetch.template.reads.map((path) => path.replace(/^context\./, ""));
    const after = [...roundOf].filter(([other]) =>
      destinationsOf(other).some((at) => reads.some((path) => path === "context" || overlaps(path, at))),
    );
    const round = Math.max(0, ...after.map(([, number]) => number + 1));
    const prepared = { ...fetch, after: after.map(([other]) => other) };
    roundOf.set(prepared, round);
    (rounds[round] ??= []).push(prepared);
  }
  return rounds;
}
