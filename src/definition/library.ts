import { DecisionError } from "../errors.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Definition, Environment, LoadedDefinition, Target } from "../model/definition.js";
import type { JsonObject } from "../model/json.js";
import type { Problem } from "../model/problem.js";
import { didYouMean } from "../nearest.js";
import type { PlacedEndpoint } from "./declared-endpoints.js";
import {
  declaredEndpoints,
  endpointsByName,
  knownEndpoints,
  repeatedEndpoints,
} from "./declared-endpoints.js";
import { declaredTargets } from "./declared-targets.js";
import type { DefinitionSummary, FileSummary } from "./definition-file.js";
import type { Declared } from "./environment.js";
import { environmentOf, misleadingGuardrails, refuseBrokenGuardrails } from "./environment.js";
import type { Place } from "./place-problems.js";
import { gatesByKey, inheritedProblems, placeProblems, placesById } from "./place-problems.js";
import { targetFaults } from "./target-faults.js";

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
  /** The endpoints that are declared. */
  readonly endpoints: readonly PlacedEndpoint[];
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

/** Puts files together: ids must be unique, targets known where any are declared, and endpoints always. */
export function buildLibrary(
  files: readonly FileSummary[],
  loadDefinition: LoadDefinition,
  /** Of files that others stand beside, where endpoints may be declared. */
  { isPart = false }: { readonly isPart?: boolean } = {},
): Library {
  const claimed = new Map(files.flatMap((file) => file.claimed.map((id) => [id, file.problems] as const)));
  const declared = declaredTargets(files) ?? [];
  const guardrails = files.flatMap((file) => (file.guardrails ?? []).map(({ guardrail }) => guardrail));
  const places = placesById(files);
  const known = knownTargets(files, [...claimed.keys(), ...places.keys()]);
  const placed = declaredEndpoints(files);
  const endpoints = endpointsByName(placed);
  const unfit = { targets: targetFaults(declared, known), endpoints: repeatedEndpoints(placed) };
  const misleading = files.flatMap((file) => misleadingGuardrails(file, known));
  const brokenGuardrails = [
    ...files.flatMap((file) => (file.hidesGuardrails ? file.problems : [])),
    ...misleading,
  ];
  const problems = [
    ...files.flatMap((file) => file.problems),
    ...unfit.targets.map(({ problem }) => problem),
    ...[...unfit.endpoints.values()].flat(),
    ...misleading,
  ];
  const usable = new Map<string, Place>();
  const brokenPolicies = files.flatMap((file) => (file.hidesPolicy ? file.problems : []));
  const brokenGates = files.flatMap(({ hidesGates: actions, problems }) =>
    actions === undefined ? [] : [{ actions, problems }],
  );
  const beside = {
    targets: known,
    endpoints: isPart ? undefined : knownEndpoints(files, placed),
    gates: gatesByKey([...places.values()].flat()),
  };
  for (const [id, found] of places) {
    const faults = placeProblems(found, beside);
    problems.push(...faults);
    const [only] = found;
    const why = [...faults, ...inheritedProblems(found, unfit)];
    if (found.some(({ summary }) => summary.tools !== undefined)) brokenPolicies.push(...why);
    if (why.length > 0) brokenGates.push(...found.flatMap(({ summary }) => brokenGate(summary, why)));
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
    const found = describe(place, definition, { targets, guardrails, endpoints });
    loaded.set(id, found);
    return found;
  };
  return {
    ids: [...usable.keys()],
    summaries: [...usable.values()].map(({ summary }) => summary),
    problems,
    broken: [...claimed.keys()].filter((id) => !usable.has(id)),
    targets,
    endpoints: placed,
    brokenPolicies,
    brokenGates,
    everywhere() {
      refuseBrokenGuardrails(brokenGuardrails);
      return environmentOf({ reached: [] }, { targets, guardrails, endpoints });
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

function describe({ file, summary }: Place, definition: Definition, declared: Declared): LoadedDefinition {
  const environment = environmentOf(summary, declared) as unknown as JsonObject;
  return {
    definition: deepFreeze(definition),
    definition_hash: summary.definition_hash,
    environment,
    environment_hash: sha256Hex(canonicalJson(environment)),
    file,
    line: summary.position.line,
  };
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
