import type { Diagnostic } from "../../model/diagnostic.js";
import { didYouMean } from "../../text.js";
import { escalationTarget } from "../branches.js";
import { cycleText, findCycles } from "../cycles.js";
import type {
  DefinitionSummary,
  FileSummary,
  HiddenGate,
  LocatedEndpoint,
  LocatedTarget,
  OverrideDeclaration,
} from "../definition-file.js";
import { declaredEndpoints, declaredTargets, targetFingerprint } from "../definition-file.js";
import type { DiagnosticText } from "../diagnostics.js";
import { diagnosticAt } from "../diagnostics.js";
import { gateKeyText } from "../gate-key.js";
import { haveCommonTool } from "../tool-match.js";
import type { Position } from "../yaml-source.js";

/** The file of a definition, and its position among the definitions of the file. */
export interface DefinitionPlace {
  readonly file: string;
  readonly position: number;
  readonly summary: DefinitionSummary;
}

export interface LibraryCheck {
  /** Every error of the directory. */
  readonly diagnostics: readonly Diagnostic[];
  /** The valid definitions, by id. */
  readonly valid: ReadonlyMap<string, DefinitionPlace>;
  /** The errors of invalid definitions, by id. */
  readonly invalid: ReadonlyMap<string, readonly Diagnostic[]>;
  /** The errors of files and decisions that are, or may be, policies. */
  readonly brokenPolicies: readonly Diagnostic[];
  /** The errors of files and decisions that are, or may be, gates. */
  readonly brokenGates: readonly BrokenGate[];
  /** By invalid id: the organisations that it may belong to; absent: to none, so it is not a gate. */
  readonly brokenOrgs: ReadonlyMap<string, readonly string[] | "any">;
  /** The errors of files that contain, or may contain, guardrails for every decision. */
  readonly brokenGuardrails: readonly Diagnostic[];
}

export interface BrokenGate extends HiddenGate {
  readonly diagnostics: readonly Diagnostic[];
}

export interface LibraryOptions {
  /** Whether there are other files, which may declare endpoints. */
  readonly isPart?: boolean;
}

/** Checks files together: ids are unique, targets are declared if any are, and endpoints always are. */
export function checkLibrary(
  files: readonly FileSummary[],
  { isPart = false }: LibraryOptions,
): LibraryCheck {
  const places = placesById(files);
  const invalid = new Map(
    files.flatMap((file) => file.claimedIds.map((id) => [id, file.diagnostics] as const)),
  );
  const endpoints = declaredEndpoints(files);
  const references: References = {
    targets: allowedTargets(files, [...invalid.keys(), ...places.keys()]),
    endpoints: isPart ? undefined : endpointNames(files, endpoints),
    gates: gatesByKey([...places.values()].flat()),
    policies: isPart ? undefined : policyPlaces(files, [...places.values()].flat()),
  };
  const declarations: DeclarationErrors = {
    targets: checkDeclaredTargets(declaredTargets(files) ?? [], references.targets),
    endpoints: checkDuplicateEndpoints(endpoints),
  };
  const guardrailErrors = files.flatMap((file) => checkSharedGuardrails(file, references.targets));

  const valid = new Map<string, DefinitionPlace>();
  const placeErrors: Diagnostic[] = [];
  const brokenPolicies = files.flatMap((file) => (file.hidesPolicy ? file.diagnostics : []));
  const brokenGates: BrokenGate[] = files.flatMap(({ hidesGates = [], diagnostics }) =>
    hidesGates.map((gate) => ({ ...gate, diagnostics })),
  );
  const brokenOrgs = new Map<string, readonly string[] | "any">();
  const addBrokenOrgs = (id: string, orgs: readonly string[] | "any"): void => {
    const known = brokenOrgs.get(id) ?? [];
    brokenOrgs.set(id, known === "any" || orgs === "any" ? "any" : [...known, ...orgs]);
  };
  // In a broken file, an id may be that of any of its gates.
  for (const { claimedIds, hidesGates = [] } of files)
    for (const id of claimedIds) for (const { orgs } of hidesGates) addBrokenOrgs(id, orgs);
  for (const [id, samePlaces] of places) {
    const own = checkPlaces(samePlaces, references);
    placeErrors.push(...own);
    const all = [...own, ...inheritedErrors(samePlaces, declarations)];
    const [only] = samePlaces;
    if (all.length === 0 && only !== undefined) {
      valid.set(id, only);
      continue;
    }
    invalid.set(id, all);
    for (const { summary } of samePlaces) {
      if (summary.action === undefined) continue;
      const { org, name } = summary.action;
      brokenGates.push({ orgs: [org], actions: [name], diagnostics: all });
      addBrokenOrgs(id, [org]);
    }
    if (samePlaces.some(({ summary }) => summary.tools !== undefined)) brokenPolicies.push(...all);
  }
  return {
    diagnostics: [
      ...files.flatMap((file) => file.diagnostics),
      ...declarations.targets.map(({ diagnostic }) => diagnostic),
      ...[...declarations.endpoints.values()].flat(),
      ...guardrailErrors,
      ...placeErrors,
    ],
    valid,
    invalid,
    brokenPolicies,
    brokenGates,
    brokenOrgs,
    brokenGuardrails: [
      ...files.flatMap((file) => (file.hidesGuardrails ? file.diagnostics : [])),
      ...guardrailErrors,
    ],
  };
}

function placesById(files: readonly FileSummary[]): ReadonlyMap<string, readonly DefinitionPlace[]> {
  const places = new Map<string, DefinitionPlace[]>();
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

/** What definitions may refer to. */
interface References {
  /** Undefined: every target is allowed. */
  readonly targets: ReadonlySet<string> | undefined;
  /** Undefined: every endpoint is allowed. */
  readonly endpoints: EndpointNames | undefined;
  /** The places of gates, by key. */
  readonly gates: ReadonlyMap<string, readonly DefinitionPlace[]>;
  /** Undefined: overrides may name any policy. */
  readonly policies: PolicyPlaces | undefined;
}

/** The policy decisions that overrides of others may refer to, and the broken files that may declare more. */
interface PolicyPlaces {
  readonly places: readonly DefinitionPlace[];
  readonly brokenFiles: readonly string[];
}

function policyPlaces(files: readonly FileSummary[], places: readonly DefinitionPlace[]): PolicyPlaces {
  return {
    places: places.filter(({ summary }) => summary.tools !== undefined),
    brokenFiles: files.filter(({ hidesPolicy }) => hidesPolicy).map(({ file }) => file),
  };
}

/** The names of the declared endpoints, and the broken files that may declare more. */
interface EndpointNames {
  readonly names: ReadonlySet<string>;
  readonly brokenFiles: readonly string[];
}

/** Every target is allowed if none are declared, or if a broken file may declare some. */
function allowedTargets(
  files: readonly FileSummary[],
  ids: readonly string[],
): ReadonlySet<string> | undefined {
  const declared = declaredTargets(files);
  if (declared === undefined || files.some(({ hidesTargets }) => hidesTargets)) return undefined;
  return new Set([...declared.map(({ target }) => target.id), ...ids]);
}

function endpointNames(files: readonly FileSummary[], declared: readonly LocatedEndpoint[]): EndpointNames {
  const brokenFiles = files.filter(({ hidesEndpoints }) => hidesEndpoints).map(({ file }) => file);
  return { names: new Set(declared.map(({ name }) => name)), brokenFiles };
}

function gatesByKey(places: readonly DefinitionPlace[]): ReadonlyMap<string, readonly DefinitionPlace[]> {
  const byKey = new Map<string, DefinitionPlace[]>();
  for (const place of places) {
    const { action } = place.summary;
    if (action === undefined) continue;
    const key = gateKeyText(action);
    byKey.set(key, [...(byKey.get(key) ?? []), place]);
  }
  return byKey;
}

/** Checks the definitions with one id; of several, none is valid. */
function checkPlaces(places: readonly DefinitionPlace[], references: References): readonly Diagnostic[] {
  return [
    ...checkDuplicateIds(places),
    ...places.flatMap((place) => checkTargetReferences(place, references.targets)),
    ...places.flatMap((place) => checkEndpointReferences(place, references.endpoints)),
    ...places.flatMap((place) => checkGateKeys(place, references.gates)),
    ...places.flatMap((place) => checkForeignOverrides(place, references.policies)),
  ];
}

function checkDuplicateIds(places: readonly DefinitionPlace[]): readonly Diagnostic[] {
  if (places.length < 2) return [];
  return places.map((place, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.summary.position.line})`;
    return atPlace(place, { message: `the id \`${place.summary.id}\` is used more than once${where}` });
  });
}

/** Searching for the nearest name takes time, so only the first errors get a suggestion. */
const maxSuggestions = 20;

function checkTargetReferences(
  place: DefinitionPlace,
  allowed: ReadonlySet<string> | undefined,
): readonly Diagnostic[] {
  if (allowed === undefined) return [];
  const unknown = place.summary.reached.filter(({ target }) => !allowed.has(target));
  return unknown.map(({ target, line, column }, index) => {
    const suggestion = index < maxSuggestions ? didYouMean(target, allowed) : undefined;
    const message = `the target \`${target}\` is not declared under \`targets\``;
    return atPlace(place, { message, hint: suggestion ?? "add it under `targets:`" }, { line, column });
  });
}

function checkEndpointReferences(
  place: DefinitionPlace,
  declared: EndpointNames | undefined,
): readonly Diagnostic[] {
  if (declared === undefined) return [];
  const { names, brokenFiles } = declared;
  const [broken] = brokenFiles;
  const unknown = (place.summary.fetches ?? []).filter(({ endpoint }) => !names.has(endpoint));
  return unknown.map(({ endpoint, line, column }, index) => {
    const unless = broken === undefined ? "" : `, unless in \`${broken}\`, which is not valid`;
    const suggestion = index < maxSuggestions ? didYouMean(endpoint, names) : undefined;
    const hint = suggestion ?? (broken === undefined ? "add it under `endpoints:`" : "fix that file first");
    const message = `the endpoint \`${endpoint}\` is not declared under \`endpoints\`${unless}`;
    return atPlace(place, { message, hint }, { line, column });
  });
}

function checkGateKeys(
  place: DefinitionPlace,
  gates: ReadonlyMap<string, readonly DefinitionPlace[]>,
): readonly Diagnostic[] {
  const { action, id } = place.summary;
  const key = action === undefined ? "" : gateKeyText(action);
  const other = gates.get(key)?.find(({ summary }) => summary.id !== id);
  if (other === undefined) return [];
  return [atPlace(place, { message: `\`${other.summary.id}\` is already a gate for \`${key}\`` })];
}

/** Checks the overrides that name policies of other decisions. */
function checkForeignOverrides(
  place: DefinitionPlace,
  policies: PolicyPlaces | undefined,
): readonly Diagnostic[] {
  const { id, tools = [], foreignOverrides = [] } = place.summary;
  if (policies === undefined || foreignOverrides.length === 0) return [];
  const others = policies.places.filter(({ summary }) => summary.id !== id);
  const related = others.filter(({ summary }) => haveCommonTool(tools, summary.tools ?? []));
  return foreignOverrides.flatMap((declaration) => [
    ...declaration.foreign
      .filter(({ policy }) => !related.some(({ summary }) => summary.policies?.includes(policy)))
      .map(({ policy, line, column }) => {
        const text = unknownPolicy(policy, place, others, policies.brokenFiles);
        return atPlace(place, text, { line, column });
      }),
    ...sameNames(declaration, place, related),
  ]);
}

/** Explains why an override cannot override a policy of this name. */
function unknownPolicy(
  name: string,
  { summary }: DefinitionPlace,
  others: readonly DefinitionPlace[],
  brokenFiles: readonly string[],
): DiagnosticText {
  const [broken] = brokenFiles;
  const ofOtherTool = others.find((each) => each.summary.policies?.includes(name));
  if (ofOtherTool !== undefined) {
    const message = `the policy \`${name}\` of \`${ofOtherTool.summary.id}\` is about other tools, so it cannot be overridden here`;
    return { message, hint: "an override applies to calls of the tools of both decisions" };
  }
  if (others.some((each) => each.summary.overrides?.includes(name)))
    return { message: `\`${name}\` is an override, and overrides cannot be overridden` };
  const known = [summary, ...others.map((each) => each.summary)].flatMap(({ policies = [] }) => policies);
  const unless = broken === undefined ? "" : `, unless in \`${broken}\`, which is not valid`;
  const hint = didYouMean(name, known) ?? (broken === undefined ? undefined : "fix that file first");
  return { message: `no policy \`${name}\` to override${unless}`, ...(hint !== undefined && { hint }) };
}

/** Names identify policies in the records of a decision, so an override cannot share one with them. */
function sameNames(
  { override: { name }, foreign, line, column }: OverrideDeclaration,
  place: DefinitionPlace,
  related: readonly DefinitionPlace[],
): readonly Diagnostic[] {
  const overridden = related.filter(({ summary }) =>
    foreign.some(({ policy }) => summary.policies?.includes(policy)),
  );
  return overridden.flatMap(({ summary }) => {
    const isTaken = [...(summary.policies ?? []), ...(summary.overrides ?? [])].includes(name);
    const rival = related.find(
      (other) =>
        other.summary.id !== summary.id &&
        other.summary.foreignOverrides?.some(
          (each) =>
            each.override.name === name &&
            each.foreign.some(({ policy }) => summary.policies?.includes(policy)),
        ),
    );
    if (!isTaken && rival === undefined) return [];
    const where = isTaken ? summary.id : (rival?.summary.id ?? "");
    const message = `\`${name}\` overrides a policy of \`${summary.id}\`, but \`${where}\` uses this name too`;
    return [atPlace(place, { message, hint: "give it another name" }, { line, column })];
  });
}

function atPlace(
  { file, summary }: DefinitionPlace,
  text: DiagnosticText,
  { line, column }: Position = summary.position,
): Diagnostic {
  return diagnosticAt({ file, line, column, decision_id: summary.id }, text);
}

/** Errors of declarations, which make the decisions that use them invalid too. */
interface DeclarationErrors {
  readonly targets: readonly TargetError[];
  /** By the name of the endpoint. */
  readonly endpoints: ReadonlyMap<string, readonly Diagnostic[]>;
}

function inheritedErrors(
  places: readonly DefinitionPlace[],
  { targets, endpoints }: DeclarationErrors,
): readonly Diagnostic[] {
  if (targets.length === 0 && endpoints.size === 0) return [];
  const reached = new Set(places.flatMap(({ summary }) => summary.reached.map(({ target }) => target)));
  const fetched = new Set(
    places.flatMap(({ summary }) => (summary.fetches ?? []).map(({ endpoint }) => endpoint)),
  );
  return [
    ...targets
      .filter((error) => error.targets.some((target) => reached.has(target)))
      .map(({ diagnostic }) => diagnostic),
    ...[...fetched].flatMap((endpoint) => endpoints.get(endpoint) ?? []),
  ];
}

/** An error about declared targets, with the targets that it makes unusable. */
interface TargetError {
  readonly diagnostic: Diagnostic;
  readonly targets: readonly string[];
}

/** Checks declared targets. Without `allowed`, a target that is not declared may still exist. */
function checkDeclaredTargets(
  declared: readonly LocatedTarget[],
  allowed: ReadonlySet<string> | undefined,
): readonly TargetError[] {
  return [
    ...conflictingTargets(declared),
    ...(allowed === undefined ? [] : unknownDependencies(declared, allowed)),
    ...dependencyCycles(declared),
  ];
}

function conflictingTargets(declared: readonly LocatedTarget[]): readonly TargetError[] {
  const first = new Map<string, LocatedTarget>();
  return declared.flatMap((each) => {
    const { id } = each.target;
    const other = first.get(id);
    if (other === undefined) first.set(id, each);
    if (other === undefined || targetFingerprint(other.target) === targetFingerprint(each.target)) return [];
    const message = `the target \`${id}\` is declared differently in ${other.file}:${other.line}`;
    return [
      { diagnostic: diagnosticAt(locationOf(each), { message, hint: "declare it once" }), targets: [id] },
    ];
  });
}

function unknownDependencies(
  declared: readonly LocatedTarget[],
  allowed: ReadonlySet<string>,
): readonly TargetError[] {
  const unknown = declared.flatMap((each) =>
    each.dependencies
      .filter(({ target }) => !allowed.has(target))
      .map((dependency) => ({ file: each.file, id: each.target.id, dependency })),
  );
  return unknown.map(({ file, id, dependency: { target, line, column } }, index) => {
    const message = `\`${id}\` depends on \`${target}\`, which is not declared under \`targets\``;
    const suggestion = index < maxSuggestions ? didYouMean(target, allowed) : undefined;
    const hint = suggestion ?? "add it under `targets:`";
    return { diagnostic: diagnosticAt({ file, line, column }, { message, hint }), targets: [id] };
  });
}

function dependencyCycles(declared: readonly LocatedTarget[]): readonly TargetError[] {
  const byId = new Map(declared.map((each) => [each.target.id, each]));
  const graph = new Map([...byId].map(([id, { target }]) => [id, target.depends_on ?? []]));
  return findCycles(graph).flatMap((cycle) => {
    const [id = "", next = ""] = cycle;
    const first = byId.get(id);
    const dependency = first?.dependencies.find(({ target }) => target === next);
    if (first === undefined || dependency === undefined) return [];
    const { line, column } = dependency;
    const shown = cycle.length > 2 ? `: ${cycleText(cycle)}` : "";
    const message = `\`${id}\` depends on itself${shown}`;
    return [{ diagnostic: diagnosticAt({ file: first.file, line, column }, { message }), targets: cycle }];
  });
}

const locationOf = ({
  file,
  line,
  column,
}: LocatedTarget | LocatedEndpoint): Position & { file: string } => ({
  file,
  line,
  column,
});

/** Returns the errors about endpoints that are declared more than once, by name. */
function checkDuplicateEndpoints(
  declared: readonly LocatedEndpoint[],
): ReadonlyMap<string, readonly Diagnostic[]> {
  const byName = new Map<string, LocatedEndpoint[]>();
  for (const each of declared) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const duplicates = [...byName].filter(([, endpoints]) => endpoints.length > 1);
  return new Map(
    duplicates.map(([name, endpoints]) => {
      const diagnostics = endpoints.map((each, index) => {
        const other = endpoints[index === 0 ? 1 : 0];
        const where = other === undefined ? "" : ` (also in ${other.file}:${other.line})`;
        const message = `the endpoint \`${name}\` is declared more than once${where}`;
        return diagnosticAt(locationOf(each), { message, hint: "declare it once" });
      });
      return [name, diagnostics];
    }),
  );
}

/** Finds guardrails for every decision that escalate to a target which is not declared. */
function checkSharedGuardrails(
  { file, guardrails = [] }: FileSummary,
  allowed: ReadonlySet<string> | undefined,
): readonly Diagnostic[] {
  if (allowed === undefined) return [];
  return guardrails.flatMap(({ guardrail, line, column }) => {
    const target = guardrail.on_fail === "escalate" ? escalationTarget(guardrail) : undefined;
    if (target === undefined || allowed.has(target)) return [];
    const message = `the target \`${target}\` is not declared under \`targets\``;
    const hint = didYouMean(target, allowed) ?? "add it under `targets:`";
    return [diagnosticAt({ file, line, column }, { message, hint })];
  });
}
