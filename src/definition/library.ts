import { canonicalJson } from "../digest/canonical-json.js";
import { DecisionError } from "../errors.js";
import type { Definition, Environment, LoadedDefinition, Observer, Target } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Json } from "../model/json.js";
import { didYouMean } from "../text.js";
import type { BrokenGate, LibraryCheck, LibraryOptions } from "./checks/check-library.js";
import { checkLibrary } from "./checks/check-library.js";
import type { DefinitionSummary, FileSummary, LocatedEndpoint } from "./definition-file.js";
import { declaredEndpoints, declaredTargets } from "./definition-file.js";
import type { GateSummary } from "./gate-key.js";
import { gatesIn } from "./gate-key.js";
import type { DeclaredOverrides } from "./loaded-definition.js";
import { environmentOf, toLoadedDefinition } from "./loaded-definition.js";

/** All definitions of a directory. */
export interface Library {
  /** The ids of the valid definitions. */
  readonly ids: readonly string[];
  /** The errors that make definitions invalid. */
  readonly diagnostics: readonly Diagnostic[];
  /** What is known of the valid definitions without loading them. */
  readonly summaries: readonly DefinitionSummary[];
  /** The valid gates. */
  readonly gates: readonly GateSummary[];
  /** The ids of the invalid definitions. */
  readonly broken: readonly string[];
  /** The declared stages and workflows, each once. */
  readonly targets: readonly Target[];
  readonly endpoints: readonly LocatedEndpoint[];
  /** The errors of files and decisions that are, or may be, policies. */
  readonly brokenPolicies: readonly Diagnostic[];
  /** The errors of files and decisions that are, or may be, gates. */
  readonly brokenGates: readonly BrokenGate[];
  /** By invalid id: the organisations that it may belong to; absent: to none, so it is not a gate. */
  readonly brokenOrgs: ReadonlyMap<string, readonly string[] | "any">;
  /** Returns the environment of every decision; throws if it may be incomplete. */
  sharedEnvironment(): Environment;
  /** Returns the masks for every decision; throws if they may be incomplete. */
  sharedMasks(): readonly string[];
  /** Returns a definition for a decision; throws an error that says why there is none. */
  find(id: string): Promise<LoadedDefinition>;
  /** Returns a definition to show it, even if guardrails for every decision are broken. */
  findForInspection(id: string): Promise<LoadedDefinition>;
  /** Set if approval is required: throws unless every policy is approved and no approved one is missing. */
  assertPoliciesApproved?(): Promise<void>;
}

/** Loads the definition at a position of a file. */
export type LoadDefinition = (file: string, position: number) => Promise<Definition>;

/** Builds the library of some files. */
export function buildLibrary(
  files: readonly FileSummary[],
  loadDefinition: LoadDefinition,
  options: LibraryOptions = {},
): Library {
  const checked = checkLibrary(files, options);
  const { valid, brokenGuardrails } = checked;
  const summaries = [...valid.values()].map(({ summary }) => summary);
  const endpoints = declaredEndpoints(files);
  const targets = (declaredTargets(files) ?? []).map(({ target }) => target);
  const shared = {
    targets: [...new Map(targets.map((target) => [target.id, target])).values()],
    guardrails: files.flatMap((file) => (file.guardrails ?? []).map(({ guardrail }) => guardrail)),
    endpoints: Object.fromEntries(endpoints.map(({ name, endpoint }) => [name, endpoint])),
    masks: [...new Set(files.flatMap(({ masks = [] }) => masks))],
    overrides: declaredOverrides(summaries),
    observers: declaredObservers(files),
  };
  const loaded = new Map<string, LoadedDefinition>();
  const findForInspection = async (id: string): Promise<LoadedDefinition> => {
    const earlier = loaded.get(id);
    if (earlier !== undefined) return earlier;
    const place = valid.get(id);
    if (place === undefined) throw notFoundError(id, checked);
    const definition = await loadDefinition(place.file, place.position);
    const result = toLoadedDefinition(definition, place, shared);
    loaded.set(id, result);
    return result;
  };
  return {
    ids: [...valid.keys()],
    diagnostics: checked.diagnostics,
    summaries,
    gates: gatesIn(summaries),
    broken: [...checked.invalid.keys()].filter((id) => !valid.has(id)),
    targets: shared.targets,
    endpoints,
    brokenPolicies: checked.brokenPolicies,
    brokenGates: checked.brokenGates,
    brokenOrgs: checked.brokenOrgs,
    sharedEnvironment() {
      assertGuardrailsReadable(brokenGuardrails);
      return environmentOf({ reached: [] }, shared);
    },
    sharedMasks() {
      assertGuardrailsReadable(brokenGuardrails);
      return shared.masks;
    },
    async find(id) {
      if (valid.has(id)) assertGuardrailsReadable(brokenGuardrails);
      return loaded.get(id) ?? (await findForInspection(id));
    },
    findForInspection,
  };
}

/** Returns each observer once, even if several files declare it. */
function declaredObservers(files: readonly FileSummary[]): readonly Observer[] {
  const observers = files.flatMap((file) => (file.observers ?? []).map(({ observer }) => observer));
  return [...new Map(observers.map((each) => [canonicalJson(each as unknown as Json), each])).values()];
}

/** Returns the overrides that name policies of other decisions, in the order of the ids of their decisions. */
function declaredOverrides(summaries: readonly DefinitionSummary[]): readonly DeclaredOverrides[] {
  return summaries
    .flatMap(({ id: decision, tools = [], foreignOverrides: overrides }) =>
      overrides === undefined ? [] : [{ decision, tools, overrides }],
    )
    .sort((a, b) => (a.decision < b.decision ? -1 : 1));
}

/**
 * A guardrail that cannot be read could have blocked the answer, and a mask could have kept a value out of the log, so
 * there is no answer without them.
 */
function assertGuardrailsReadable(problems: readonly Diagnostic[]): void {
  const [first] = problems;
  if (first === undefined) return;
  throw new DecisionError(
    "definition_invalid",
    `\`${first.file}\`, which may contain guardrails or masks for every decision, is not valid`,
    {
      hint: "no decision is made without them; run `agent-33 decision validate` to see all problems",
      details: { problems },
    },
  );
}

function notFoundError(id: string, { valid, invalid, diagnostics }: LibraryCheck): DecisionError {
  const problems = invalid.get(id);
  if (problems !== undefined) {
    return new DecisionError("definition_invalid", `the definition of \`${id}\` is not valid`, {
      hint: "run `agent-33 decision validate` to see all problems",
      details: { problems },
    });
  }
  return decisionNotFound(id, valid.keys(), notFoundHint(diagnostics));
}

/** The error for an unknown id; suggests the nearest of the ids that the caller may know. */
export function decisionNotFound(id: string, ids: Iterable<string>, hint = listHint): DecisionError {
  return new DecisionError("definition_not_found", `no decision called \`${id}\``, {
    hint: didYouMean(id, ids) ?? hint,
  });
}

const listHint = "run `agent-33 decision list` to see what is defined";

function notFoundHint(diagnostics: readonly Diagnostic[]): string {
  const files = new Set(diagnostics.map(({ file }) => file)).size;
  if (files === 0) return listHint;
  return `${files} file${files === 1 ? "" : "s"} cannot be used: run \`agent-33 decision validate\``;
}
