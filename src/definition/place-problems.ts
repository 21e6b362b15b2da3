import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import type { KnownEndpoints } from "./declared-endpoints.js";
import type { DefinitionSummary, FileSummary } from "./definition-file.js";
import { gateKeyText } from "./gate-key.js";
import type { TargetFault } from "./target-faults.js";
import { mostSuggestions } from "./target-faults.js";

/** Where a definition is. */
export interface Place {
  readonly file: string;
  readonly position: number;
  readonly summary: DefinitionSummary;
}

export function placesById(files: readonly FileSummary[]): ReadonlyMap<string, readonly Place[]> {
  const places = new Map<string, Place[]>();
  for (const { file, definitions } of files) {
    for (const [position, summary] of definitions.entries()) {
      const place = { file, position, summary };
      const others = places.get(summary.id);
      if (others === undefined) places.set(summary.id, [place]);
      else others.push(place);
    }
  }
  return places;
}

/** What definitions are held against. */
export interface Known {
  /** Undefined: anything may be led to. */
  readonly targets: ReadonlySet<string> | undefined;
  /** Undefined: any may be fetched from. */
  readonly endpoints: KnownEndpoints | undefined;
  /** The places of gates by what they are asked for by. */
  readonly gates: ReadonlyMap<string, readonly Place[]>;
}

/** What is wrong with the definitions of one id beside others: at most one of them can be used. */
export function placeProblems(places: readonly Place[], known: Known): readonly Problem[] {
  return [
    ...duplicateProblems(places),
    ...places.flatMap((place) => targetProblems(place, known.targets)),
    ...places.flatMap((place) => endpointProblems(place, known.endpoints)),
    ...places.flatMap((place) => sharedKeyProblems(place, known.gates)),
  ];
}

function duplicateProblems(places: readonly Place[]): readonly Problem[] {
  if (places.length < 2) return [];
  return places.map((place, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.summary.position.line})`;
    return problem(place, `the id \`${place.summary.id}\` is used more than once${where}`);
  });
}

export function gatesByKey(places: readonly Place[]): ReadonlyMap<string, readonly Place[]> {
  const byKey = new Map<string, Place[]>();
  for (const place of places) {
    const { action } = place.summary;
    if (action === undefined) continue;
    const key = gateKeyText(action);
    byKey.set(key, [...(byKey.get(key) ?? []), place]);
  }
  return byKey;
}

function sharedKeyProblems(place: Place, byKey: ReadonlyMap<string, readonly Place[]>): readonly Problem[] {
  const { action, id } = place.summary;
  const key = action === undefined ? "" : gateKeyText(action);
  const other = byKey.get(key)?.find(({ summary }) => summary.id !== id);
  if (other === undefined) return [];
  return [problem(place, `\`${other.summary.id}\` is a gate for \`${key}\` already`)];
}

function targetProblems(place: Place, known: ReadonlySet<string> | undefined): readonly Problem[] {
  if (known === undefined) return [];
  const unknown = place.summary.reached.filter(({ target }) => !known.has(target));
  return unknown.map(({ target, line, column }, index) => ({
    ...problem(place, `the target \`${target}\` is not declared under \`targets\``),
    line,
    column,
    hint: (index < mostSuggestions ? didYouMean(target, known) : undefined) ?? "add it under `targets:`",
  }));
}

function endpointProblems(place: Place, known: KnownEndpoints | undefined): readonly Problem[] {
  if (known === undefined) return [];
  const { names, hiding } = known;
  const unknown = (place.summary.fetches ?? []).filter(({ endpoint }) => !names.has(endpoint));
  return unknown.map(({ endpoint, line, column }, index) => {
    const [broken] = hiding;
    const perhaps = broken === undefined ? "" : `, unless in \`${broken}\`, which is not valid`;
    const meant = index < mostSuggestions ? didYouMean(endpoint, names) : undefined;
    const hint = meant ?? (broken === undefined ? "add it under `endpoints:`" : "mend that file first");
    const message = `the endpoint \`${endpoint}\` is not declared under \`endpoints\`${perhaps}`;
    return { ...problem(place, message), line, column, hint };
  });
}

/** What is wrong with what definitions rest on: declared wrongly, and told of there. */
export interface Unfit {
  readonly targets: readonly TargetFault[];
  readonly endpoints: ReadonlyMap<string, readonly Problem[]>;
}

/** Where something is declared wrongly, nobody knows what a decision leads to, or what it fetches. */
export function inheritedProblems(places: readonly Place[], unfit: Unfit): readonly Problem[] {
  const fetched = new Set(
    places.flatMap(({ summary }) => summary.fetches ?? []).map((each) => each.endpoint),
  );
  return [
    ...inheritedFromTargets(places, unfit.targets),
    ...[...fetched].flatMap((endpoint) => unfit.endpoints.get(endpoint) ?? []),
  ];
}

function inheritedFromTargets(places: readonly Place[], unfit: readonly TargetFault[]): readonly Problem[] {
  if (unfit.length === 0) return [];
  const reached = new Set(places.flatMap(({ summary }) => summary.reached.map(({ target }) => target)));
  return unfit
    .filter(({ targets }) => targets.some((target) => reached.has(target)))
    .map(({ problem: each }) => each);
}

function problem({ file, summary }: Place, message: string): Problem {
  const { line, column } = summary.position;
  return { file, line, column, severity: "error", message, decision_id: summary.id };
}
