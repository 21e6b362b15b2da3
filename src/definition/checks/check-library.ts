import type { EndpointNames, DefinitionSummary, FileSummary, LocatedTarget } from "../definition-file.js";
import { targetFingerprint } from "../definition-file.js";
import { gateKeyText } from "../gate-key.js";
import { cycleText, findCycles } from "../cycles.js";
import type { Position } from "../yaml-source.js";
import type { Diagnostic } from "../../model/diagnostic.js";
import { didYouMean } from "../../text.js";

/** Where a definition is. */
export interface DefinitionPlace {
  readonly file: string;
  readonly position: number;
  readonly summary: DefinitionSummary;
}

export function placesById(files: readonly FileSummary[]): ReadonlyMap<string, readonly DefinitionPlace[]> {
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

/** What definitions are held against. */
interface KnownNames {
  /** Undefined: anything may be led to. */
  readonly targets: ReadonlySet<string> | undefined;
  /** Undefined: any may be fetched from. */
  readonly endpoints: EndpointNames | undefined;
  /** The places of gates by what they are asked for by. */
  readonly gates: ReadonlyMap<string, readonly DefinitionPlace[]>;
}

/** What is wrong with the definitions of one id beside others: at most one of them can be used. */
export function checkPlaces(places: readonly DefinitionPlace[], known: KnownNames): readonly Diagnostic[] {
  return [
    ...checkDuplicateIds(places),
    ...places.flatMap((place) => checkTargetReferences(place, known.targets)),
    ...places.flatMap((place) => checkEndpointReferences(place, known.endpoints)),
    ...places.flatMap((place) => checkGateKeys(place, known.gates)),
  ];
}

function checkDuplicateIds(places: readonly DefinitionPlace[]): readonly Diagnostic[] {
  if (places.length < 2) return [];
  return places.map((place, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.summary.position.line})`;
    return diagnosticAt(place, `the id \`${place.summary.id}\` is used more than once${where}`);
  });
}

export function gatesByKey(
  places: readonly DefinitionPlace[],
): ReadonlyMap<string, readonly DefinitionPlace[]> {
  const byKey = new Map<string, DefinitionPlace[]>();
  for (const place of places) {
    const { action } = place.summary;
    if (action === undefined) continue;
    const key = gateKeyText(action);
    byKey.set(key, [...(byKey.get(key) ?? []), place]);
  }
  return byKey;
}

function checkGateKeys(
  place: DefinitionPlace,
  byKey: ReadonlyMap<string, readonly DefinitionPlace[]>,
): readonly Diagnostic[] {
  const { action, id } = place.summary;
  const key = action === undefined ? "" : gateKeyText(action);
  const other = byKey.get(key)?.find(({ summary }) => summary.id !== id);
  if (other === undefined) return [];
  return [diagnosticAt(place, `\`${other.summary.id}\` is a gate for \`${key}\` already`)];
}

function checkTargetReferences(
  place: DefinitionPlace,
  known: ReadonlySet<string> | undefined,
): readonly Diagnostic[] {
  if (known === undefined) return [];
  const unknown = place.summary.reached.filter(({ target }) => !known.has(target));
  return unknown.map(({ target, line, column }, index) => ({
    ...diagnosticAt(place, `the target \`${target}\` is not declared under \`targets\``),
    line,
    column,
    hint: (index < maxSuggestions ? didYouMean(target, known) : undefined) ?? "add it under `targets:`",
  }));
}

function checkEndpointReferences(
  place: DefinitionPlace,
  known: EndpointNames | undefined,
): readonly Diagnostic[] {
  if (known === undefined) return [];
  const { names, brokenFiles: hiding } = known;
  const unknown = (place.summary.fetches ?? []).filter(({ endpoint }) => !names.has(endpoint));
  return unknown.map(({ endpoint, line, column }, index) => {
    const [broken] = hiding;
    const perhaps = broken === undefined ? "" : `, unless in \`${broken}\`, which is not valid`;
    const meant = index < maxSuggestions ? didYouMean(endpoint, names) : undefined;
    const hint = meant ?? (broken === undefined ? "add it under `endpoints:`" : "fix that file first");
    const message = `the endpoint \`${endpoint}\` is not declared under \`endpoints\`${perhaps}`;
    return { ...diagnosticAt(place, message), line, column, hint };
  });
}

/** What is wrong with what definitions rest on: declared wrongly, and told of there. */
interface InvalidDeclarations {
  readonly targets: readonly TargetDiagnostic[];
  readonly endpoints: ReadonlyMap<string, readonly Diagnostic[]>;
}

/** Where something is declared wrongly, nobody knows what a decision leads to, or what it fetches. */
export function inheritedDiagnostics(
  places: readonly DefinitionPlace[],
  unfit: InvalidDeclarations,
): readonly Diagnostic[] {
  const fetched = new Set(
    places.flatMap(({ summary }) => summary.fetches ?? []).map((each) => each.endpoint),
  );
  return [
    ...inheritedFromTargets(places, unfit.targets),
    ...[...fetched].flatMap((endpoint) => unfit.endpoints.get(endpoint) ?? []),
  ];
}

function inheritedFromTargets(
  places: readonly DefinitionPlace[],
  unfit: readonly TargetDiagnostic[],
): readonly Diagnostic[] {
  if (unfit.length === 0) return [];
  const reached = new Set(places.flatMap(({ summary }) => summary.reached.map(({ target }) => target)));
  return unfit
    .filter(({ targets }) => targets.some((target) => reached.has(target)))
    .map(({ diagnostic: each }) => each);
}

function diagnosticAt({ file, summary }: DefinitionPlace, message: string): Diagnostic {
  const { line, column } = summary.position;
  return { file, line, column, severity: "error", message, decision_id: summary.id };
}

/** What is wrong with declared targets, and whom it keeps from being led to. */
interface TargetDiagnostic {
  readonly diagnostic: Diagnostic;
  readonly targets: readonly string[];
}

/** Looking for the nearest word takes its time; after so many the pattern is clear. */
const maxSuggestions = 20;

/** Targets that cannot be as they are declared; without `known`, what is not declared may still be there. */
export function checkDeclaredTargets(
  declared: readonly LocatedTarget[],
  known: ReadonlySet<string> | undefined,
): readonly TargetDiagnostic[] {
  return [
    ...conflictingTargets(declared),
    ...(known === undefined ? [] : unknownDependencies(declared, known)),
    ...dependencyCycles(declared),
  ];
}

function conflictingTargets(declared: readonly LocatedTarget[]): readonly TargetDiagnostic[] {
  const first = new Map<string, LocatedTarget>();
  return declared.flatMap((each) => {
    const { id } = each.target;
    const other = first.get(id);
    if (other === undefined) first.set(id, each);
    if (other === undefined || targetFingerprint(other.target) === targetFingerprint(each.target)) return [];
    const message = `the target \`${id}\` is declared differently in ${other.file}:${other.line}`;
    return [targetDiagnostic(each, each, { message, hint: "declare it once", targets: [id] })];
  });
}

function unknownDependencies(
  declared: readonly LocatedTarget[],
  known: ReadonlySet<string>,
): readonly TargetDiagnostic[] {
  const unknown = declared.flatMap((each) =>
    each.dependencies.filter(({ target }) => !known.has(target)).map((place) => ({ each, place })),
  );
  return unknown.map(({ each, place }, index) => {
    const { id } = each.target;
    const message = `\`${id}\` depends on \`${place.target}\`, which is not declared under \`targets\``;
    const meant = index < maxSuggestions ? didYouMean(place.target, known) : undefined;
    return targetDiagnostic(each, place, {
      message,
      hint: meant ?? "add it under `targets:`",
      targets: [id],
    });
  });
}

function dependencyCycles(declared: readonly LocatedTarget[]): readonly TargetDiagnostic[] {
  const byId = new Map(declared.map((each) => [each.target.id, each]));
  const leads = new Map([...byId].map(([id, { target }]) => [id, target.depends_on ?? []]));
  return findCycles(leads).flatMap((way) => {
    const [id = "", next = ""] = way;
    const each = byId.get(id);
    const place = each?.dependencies.find(({ target }) => target === next);
    if (each === undefined || place === undefined) return [];
    const round = way.length > 2 ? `: ${cycleText(way)}` : "";
    return [targetDiagnostic(each, place, { message: `\`${id}\` depends on itself${round}`, targets: way })];
  });
}

function targetDiagnostic(
  { file }: LocatedTarget,
  { line, column }: Position,
  { targets, ...said }: Pick<Diagnostic, "message" | "hint"> & Pick<TargetDiagnostic, "targets">,
): TargetDiagnostic {
  return { diagnostic: { file, line, column, severity: "error", ...said }, targets };
}
