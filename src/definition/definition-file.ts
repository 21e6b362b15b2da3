import type { Position, SourceDocument } from "./yaml-source.js";
import type { Definition, DefinitionTest, GateAction, Target, Guardrail } from "../model/definition.js";
import type { Endpoint, Endpoints } from "../model/endpoint.js";
import type { Diagnostic } from "../model/diagnostic.js";

/** What one file declares, without the definitions themselves. A file with an error declares nothing. */
export interface FileSummary {
  readonly file: string;
  readonly definitions: readonly DefinitionSummary[];
  readonly targets?: readonly DeclaredTarget[];
  /** For every decision of the directory. */
  readonly guardrails?: readonly LocatedGuardrail[];
  /** Where its decisions, and those of other files, may fetch data from. */
  readonly endpoints?: readonly DeclaredEndpoint[];
  readonly diagnostics: readonly Diagnostic[];
  /** The ids that a broken file seems to declare. */
  readonly claimedIds: readonly string[];
  /** It is broken, and may have been meant to hold a policy. */
  readonly hidesPolicy?: true;
  /** It is broken, and may have been meant to hold gates of these actions; of any action where it could not be read. */
  readonly hidesGates?: readonly string[] | "any";
  /** It is broken, and seems to have been meant to hold guardrails for every decision, or what is disabled. */
  readonly hidesGuardrails?: true;
  /** It is broken, and may have been meant to declare targets. */
  readonly hidesTargets?: true;
  /** It is broken, and may have been meant to declare endpoints. */
  readonly hidesEndpoints?: true;
}

/** An endpoint, and where it is declared. */
export interface DeclaredEndpoint extends Position {
  readonly name: string;
  readonly endpoint: Endpoint;
}

export interface LocatedGuardrail extends Position {
  readonly guardrail: Guardrail;
}

export interface DefinitionSummary {
  readonly id: string;
  readonly definition_hash: string;
  readonly position: Position;
  /** Each target it may lead to, with the first place that names it. */
  readonly reached: readonly TargetReference[];
  /** Each endpoint it fetches from, with the first place that names it; absent: none. */
  readonly fetches?: readonly EndpointReference[];
  /** Of a policy: the tools that it is about, or globs. */
  readonly tools?: readonly string[];
  /** Of a gate. */
  readonly action?: GateAction;
}

export interface TargetReference extends Position {
  readonly target: string;
}

export interface EndpointReference extends Position {
  readonly endpoint: string;
}

/** A target, and where it is declared. */
export interface DeclaredTarget extends Position {
  readonly target: Target;
  /** What it depends on, with where that is written. */
  readonly dependencies: readonly TargetReference[];
}

/** The rest of a file: its definitions, in the order of their summaries, and its tests. */
export interface FileBody {
  readonly definitions: readonly Definition[];
  readonly tests: readonly DefinitionTest[];
}

export interface DefinitionFile {
  readonly summary: FileSummary;
  readonly body: FileBody;
}

/** A declared endpoint of a directory. */
export interface LocatedEndpoint extends DeclaredEndpoint {
  readonly file: string;
}

export function declaredEndpoints(files: readonly FileSummary[]): readonly LocatedEndpoint[] {
  return files.flatMap(({ file, endpoints = [] }) => endpoints.map((each) => ({ ...each, file })));
}

/** What is wrong with endpoints together, by their names: of two of one name nobody knows which is meant. */
export function duplicateEndpoints(
  declared: readonly LocatedEndpoint[],
): ReadonlyMap<string, readonly Diagnostic[]> {
  const byName = new Map<string, LocatedEndpoint[]>();
  for (const each of declared) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const repeated = [...byName].filter(([, places]) => places.length > 1);
  return new Map(repeated.map(([name, places]) => [name, duplicateEndpointDiagnostics(name, places)]));
}

function duplicateEndpointDiagnostics(
  name: string,
  places: readonly LocatedEndpoint[],
): readonly Diagnostic[] {
  return places.map(({ file, line, column }, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.line})`;
    const message = `the endpoint \`${name}\` is declared more than once${where}`;
    return { file, line, column, severity: "error", message, hint: "declare it once" };
  });
}

export const endpointsByName = (declared: readonly LocatedEndpoint[]): Endpoints =>
  Object.fromEntries(declared.map(({ name, endpoint }) => [name, endpoint]));

/** The endpoints that decisions may name, and the files that may hold more. */
export interface EndpointNames {
  readonly names: ReadonlySet<string>;
  /** Broken files. */
  readonly brokenFiles: readonly string[];
}

export function endpointNames(
  files: readonly FileSummary[],
  declared: readonly LocatedEndpoint[],
): EndpointNames {
  const hiding = files.filter(({ hidesEndpoints }) => hidesEndpoints).map(({ file }) => file);
  return { names: new Set(declared.map(({ name }) => name)), brokenFiles: hiding };
}

/** A target as it is written: its id alone, or with what is known about it. */
export type TargetEntry = string | Target;

/** Adds what the `targets` of a document declare, by their facts: what says the same once more is left out. */
export function addTargets(
  declared: Map<string, DeclaredTarget>,
  source: SourceDocument,
  written: readonly TargetEntry[],
): void {
  for (const [index, each] of written.entries()) {
    const target = typeof each === "string" ? { id: each } : each;
    const facts = targetFingerprint(target);
    if (declared.has(facts)) continue;
    const dependencies = (target.depends_on ?? []).map((name, at) => ({
      target: name,
      ...source.locate(["targets", index, "depends_on", at]),
    }));
    const path = typeof each === "string" ? ["targets", index] : ["targets", index, "id"];
    declared.set(facts, { target, ...source.locate(path), dependencies });
  }
}

/** All that is said about a target; an absent fact is the same as its default. */
export function targetFingerprint({ id, kind, depends_on = [], disabled = false }: Target): string {
  return JSON.stringify([id, kind, depends_on.toSorted(), disabled]);
}

/** A declared target of a directory. */
export interface LocatedTarget extends DeclaredTarget {
  readonly file: string;
}

/** Undefined where no file declares any. */
export function declaredTargets(files: readonly FileSummary[]): readonly LocatedTarget[] | undefined {
  if (!files.some(({ targets }) => targets !== undefined)) return undefined;
  return files.flatMap(({ file, targets = [] }) => targets.map((each) => ({ ...each, file })));
}
