import { DecisionError } from "../errors.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Definition, Environment, LoadedDefinition, Target } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import { declaredTargets } from "./declared-targets.js";
import type { DefinitionSummary, FileSummary } from "./definition-file.js";
import type { Declared } from "./environment.js";
import { environmentOf, misleadingGuardrails, refuseBrokenGuardrails } from "./environment.js";
import { gateKeyText } from "./gate-key.js";
import type { TargetFault } from "./target-faults.js";
import { mostSuggestions, targetFaults } from "./target-faults.js";

/** All the definitions of a directory. */
export interface Library {
  readonly ids: readonly string[];
  /** What keeps definitions from being used. */
  readonly problems: readonly Problem[];
  /** What is known of those that can be used without loading them. */
  readonly summaries: readonly DefinitionSummary[];
  /** The ids of what is declared but cannot be used. */
  readonly broken: readonly string[];
  /** The stages and workflows that are declared, each once. */
  readonly targets: readonly Target[];
  /** What is wrong with files and decisions that are, or may be, policies. */
  readonly brokenPolicies: readonly Problem[];
  /** What is wrong with files and decisions that are, or may be, gates of some actions. */
  readonly brokenGates: readonly BrokenGate[];
  /** What bears on every decision; an error where that cannot be told. */
  everywhere(): Environment;
  /** The definition to decide by, or an error that says why there is none. */
  find(id: string): Promise<LoadedDefinition>;
  /** The same for those who only look at it: broken guardrails for every decision are not in their way. */
  lookUp(id: string): Promise<LoadedDefinition>;
  /** There where definitions must be approved: throws unless all policies are, and none that was is missing. */
  refuseUnapprovedPolicies?(): Promise<void>;
}

export interface BrokenGate {
  /** The names of the actions that it seems to be about. */
  readonly actions: readonly string[] | "any";
  readonly problems: readonly Problem[];
}

/** Fetches a definition that a summary speaks of. */
export type LoadDefinition = (file: string, position: number) => Promise<Definition>;

interface Place {
  readonly file: string;
  readonly position: number;
  readonly summary: DefinitionSummary;
}

/** Puts files together: ids must be unique, and targets known where any are declared. */
export function buildLibrary(files: readonly FileSummary[], loadDefinition: LoadDefinition): Library {
  const claimed = new Map(files.flatMap((file) => file.claimed.map((id) => [id, file.problems] as const)));
  const declared = declaredTargets(files) ?? [];
  const guardrails = files.flatMap((file) => (file.guardrails ?? []).map(({ guardrail }) => guardrail));
  const places = placesById(files);
  const known = knownTargets(files, [...claimed.keys(), ...places.keys()]);
  const unfit = targetFaults(declared, known);
  const misleading = files.flatMap((file) => misleadingGuardrails(file, known));
  const brokenGuardrails = [
    ...files.flatMap((file) => (file.hidesGuardrails ? file.problems : [])),
    ...misleading,
  ];
  const problems = [
    ...files.flatMap((file) => file.problems),
    ...unfit.map(({ problem }) => problem),
    ...misleading,
  ];
  const usable = new Map<string, Place>();
  const brokenPolicies = files.flatMap((file) => (file.hidesPolicy ? file.problems : []));
  const brokenGates = files.flatMap(({ hidesGates: actions, problems }) =>
    actions === undefined ? [] : [{ actions, problems }],
  );
  const keys = placesByKey([...places.values()].flat());
  for (const [id, found] of places) {
    const faults = [
      ...duplicateProblems(found),
      ...found.flatMap((place) => targetProblems(place, known)),
      ...found.flatMap((place) => sharedKeyProblems(place, keys)),
    ];
    problems.push(...faults);
    if (found.some(({ summary }) => summary.tools !== undefined)) brokenPolicies.push(...faults);
    if (faults.length > 0) brokenGates.push(...found.flatMap(({ summary }) => brokenGate(summary, faults)));
    const [only] = found;
    const why = [...faults, ...inheritedProblems(found, unfit)];
    if (why.length > 0) claimed.set(id, why);
    else if (only !== undefined) usable.set(id, only);
  }
  const targets = [...new Map(declared.map(({ target }) => [target.id, target])).values()];
  const loaded = new Map<string, LoadedDefinition>();
  const lookUp = async (id: string): Promise<LoadedDefinition> => {
    const known = loaded.get(id);
    if (known !== undefined) return known;
    const place = usable.get(id);
    if (place === undefined) throw notFound(id, usable, { claimed, problems });
    const definition = await loadDefinition(place.file, place.position);
    const found = describe(place, definition, { targets, guardrails });
    loaded.set(id, found);
    return found;
  };
  return {
    ids: [...usable.keys()],
    summaries: [...usable.values()].map(({ summary }) => summary),
    problems,
    broken: [...claimed.keys()].filter((id) => !usable.has(id)),
    targets,
    brokenPolicies,
    brokenGates,
    everywhere() {
      refuseBrokenGuardrails(brokenGuardrails);
      return environmentOf([], { targets, guardrails });
    },
    async find(id) {
      if (usable.has(id)) refuseBrokenGuardrails(brokenGuardrails);
      return loaded.get(id) ?? (await lookUp(id));
    },
    lookUp,
  };
}

const brokenGate = ({ action }: DefinitionSummary, problems: readonly Problem[]): readonly BrokenGate[] =>
  action === undefined ? [] : [{ actions: [action.name], problems }];

/** All that may be led to; undefined where anything may, as none are declared or not all can be read. */
function knownTargets(
  files: readonly FileSummary[],
  ids: readonly string[],
): ReadonlySet<string> | undefined {
  const declared = declaredTargets(files);
  if (declared === undefined || files.some(({ hidesTargets }) => hidesTargets)) return undefined;
  return new Set([...declared.map(({ target }) => target.id), ...ids]);
}

function placesById(files: readonly FileSummary[]): ReadonlyMap<string, readonly Place[]> {
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

function describe({ file, summary }: Place, definition: Definition, declared: Declared): LoadedDefinition {
  const environment = environmentOf(summary.reached, declared) as unknown as JsonObject;
  return {
    definition: deepFreeze(definition),
    definition_hash: summary.definition_hash,
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file,
    line: summary.position.line,
  };
}

function duplicateProblems(places: readonly Place[]): readonly Problem[] {
  if (places.length < 2) return [];
  return places.map((place, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.summary.position.line})`;
    return problem(place, `the id \`${place.summary.id}\` is used more than once${where}`);
  });
}

/** The places of gates by what they are asked for by. */
function placesByKey(places: readonly Place[]): ReadonlyMap<string, readonly Place[]> {
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

/** Where a target is declared wrongly, nobody knows what a decision leads to there. */
function inheritedProblems(places: readonly Place[], unfit: readonly TargetFault[]): readonly Problem[] {
  if (unfit.length === 0) return [];
  const reached = new Set(places.flatMap(({ summary }) => summary.reached.map(({ target }) => target)));
  return unfit
    .filter(({ targets }) => targets.some((target) => reached.has(target)))
    .map(({ problem }) => problem);
}

function problem({ file, summary }: Place, message: string): Problem {
  const { line, column } = summary.position;
  return { file, line, column, severity: "error", message, decision_id: summary.id };
}

function notFound(
  id: string,
  usable: ReadonlyMap<string, unknown>,
  broken: {
    readonly claimed: ReadonlyMap<string, readonly Problem[]>;
    readonly problems: readonly Problem[];
  },
): DecisionError {
  const problems = broken.claimed.get(id);
  if (problems !== undefined) {
    return new DecisionError("definition_invalid", `the definition of \`${id}\` is not valid`, {
      hint: "run `agent-33 decision validate` to see all problems",
      details: { problems },
    });
  }
  return new DecisionError("definition_not_found", `no decision called \`${id}\``, {
    hint: didYouMean(id, usable.keys()) ?? hintOnMissing(broken.problems),
  });
}

function hintOnMissing(problems: readonly Problem[]): string {
  const files = new Set(problems.map((each) => each.file)).size;
  if (files === 0) return "run `agent-33 decision list` to see what is defined";
  return `${files} file${files === 1 ? "" : "s"} cannot be used: run \`agent-33 decision validate\``;
}
