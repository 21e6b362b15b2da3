import type { DefinitionPlace } from "./checks/check-library.js";
import {
  gatesByKey,
  inheritedDiagnostics,
  checkPlaces,
  placesById,
  checkDeclaredTargets,
} from "./checks/check-library.js";
import type { LocatedEndpoint, DefinitionSummary, FileSummary } from "./definition-file.js";
import {
  declaredEndpoints,
  endpointsByName,
  endpointNames,
  duplicateEndpoints,
  declaredTargets,
} from "./definition-file.js";
import type { SharedDeclarations } from "./loaded-definition.js";
import { environmentOf, checkSharedGuardrails, assertGuardrailsReadable } from "./loaded-definition.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Definition, Environment, LoadedDefinition, Target } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";

/** All the definitions of a directory. */
export interface Library {
  readonly ids: readonly string[];
  /** What keeps definitions from being used. */
  readonly diagnostics: readonly Diagnostic[];
  /** What is known of those that can be used without loading them. */
  readonly summaries: readonly DefinitionSummary[];
  /** The ids of what is declared but cannot be used. */
  readonly broken: readonly string[];
  /** The stages and workflows that are declared, each once. */
  readonly targets: readonly Target[];
  /** The endpoints that are declared. */
  readonly endpoints: readonly LocatedEndpoint[];
  /** What is wrong with files and decisions that are, or may be, policies. */
  readonly brokenPolicies: readonly Diagnostic[];
  /** What is wrong with files and decisions that are, or may be, gates of some actions. */
  readonly brokenGates: readonly BrokenGate[];
  /** What bears on every decision; an error where that cannot be told. */
  sharedEnvironment(): Environment;
  /** The definition to decide by, or an error that says why there is none. */
  find(id: string): Promise<LoadedDefinition>;
  /** The same for those who only look at it: broken guardrails for every decision are not in their way. */
  findForInspection(id: string): Promise<LoadedDefinition>;
  /** There where definitions must be approved: throws unless all policies are, and none that was is missing. */
  assertPoliciesApproved?(): Promise<void>;
}

export interface BrokenGate {
  /** The names of the actions that it seems to be about. */
  readonly actions: readonly string[] | "any";
  readonly diagnostics: readonly Diagnostic[];
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
  const claimed = new Map(
    files.flatMap((file) => file.claimedIds.map((id) => [id, file.diagnostics] as const)),
  );
  const declared = declaredTargets(files) ?? [];
  const guardrails = files.flatMap((file) => (file.guardrails ?? []).map(({ guardrail }) => guardrail));
  const places = placesById(files);
  const known = allowedTargets(files, [...claimed.keys(), ...places.keys()]);
  const placed = declaredEndpoints(files);
  const endpoints = endpointsByName(placed);
  const unfit = { targets: checkDeclaredTargets(declared, known), endpoints: duplicateEndpoints(placed) };
  const misleading = files.flatMap((file) => checkSharedGuardrails(file, known));
  const brokenGuardrails = [
    ...files.flatMap((file) => (file.hidesGuardrails ? file.diagnostics : [])),
    ...misleading,
  ];
  const diagnostics = [
    ...files.flatMap((file) => file.diagnostics),
    ...unfit.targets.map(({ diagnostic: problem }) => problem),
    ...[...unfit.endpoints.values()].flat(),
    ...misleading,
  ];
  const usable = new Map<string, DefinitionPlace>();
  const brokenPolicies = files.flatMap((file) => (file.hidesPolicy ? file.diagnostics : []));
  const brokenGates: BrokenGate[] = files.flatMap((file) =>
    file.hidesGates === undefined ? [] : [{ actions: file.hidesGates, diagnostics: file.diagnostics }],
  );
  const beside = {
    targets: known,
    endpoints: isPart ? undefined : endpointNames(files, placed),
    gates: gatesByKey([...places.values()].flat()),
  };
  for (const [id, found] of places) {
    const faults = checkPlaces(found, beside);
    diagnostics.push(...faults);
    const [only] = found;
    const why = [...faults, ...inheritedDiagnostics(found, unfit)];
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
    if (place === undefined) throw notFoundError(id, usable, { claimed, diagnostics });
    const definition = await loadDefinition(place.file, place.position);
    const found = toLoadedDefinition(place, definition, { targets, guardrails, endpoints });
    loaded.set(id, found);
    return found;
  };
  return {
    ids: [...usable.keys()],
    summaries: [...usable.values()].map(({ summary }) => summary),
    diagnostics,
    broken: [...claimed.keys()].filter((id) => !usable.has(id)),
    targets,
    endpoints: placed,
    brokenPolicies,
    brokenGates,
    sharedEnvironment() {
      assertGuardrailsReadable(brokenGuardrails);
      return environmentOf({ reached: [] }, { targets, guardrails, endpoints });
    },
    async find(id) {
      if (usable.has(id)) assertGuardrailsReadable(brokenGuardrails);
      return loaded.get(id) ?? (await lookUp(id));
    },
    findForInspection: lookUp,
  };
}

const brokenGate = (
  { action }: DefinitionSummary,
  diagnostics: readonly Diagnostic[],
): readonly BrokenGate[] => (action === undefined ? [] : [{ actions: [action.name], diagnostics }]);

/** All that may be led to; undefined where anything may, as none are declared or not all can be read. */
function allowedTargets(
  files: readonly FileSummary[],
  ids: readonly string[],
): ReadonlySet<string> | undefined {
  const declared = declaredTargets(files);
  if (declared === undefined || files.some(({ hidesTargets }) => hidesTargets)) return undefined;
  return new Set([...declared.map(({ target }) => target.id), ...ids]);
}

function toLoadedDefinition(
  { file, summary }: DefinitionPlace,
  definition: Definition,
  declared: SharedDeclarations,
): LoadedDefinition {
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

function notFoundError(
  id: string,
  usable: ReadonlyMap<string, unknown>,
  broken: {
    readonly claimed: ReadonlyMap<string, readonly Diagnostic[]>;
    readonly diagnostics: readonly Diagnostic[];
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
    hint: didYouMean(id, usable.keys()) ?? notFoundHint(broken.diagnostics),
  });
}

function notFoundHint(diagnostics: readonly Diagnostic[]): string {
  const files = new Set(diagnostics.map(({ file }) => file)).size;
  if (files === 0) return "run `agent-33 decision list` to see what is defined";
  return `${files} file${files === 1 ? "" : "s"} cannot be used: run \`agent-33 decision validate\``;
}
