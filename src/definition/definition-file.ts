import type { Position, SourceDocument } from "./yaml-source.js";
import type {
  Definition,
  DefinitionTest,
  GateAction,
  Guardrail,
  Observer,
  OverridePolicy,
  Target,
} from "../model/definition.js";
import type { Endpoint } from "../model/endpoint.js";
import type { Diagnostic } from "../model/diagnostic.js";

/** What one file declares, without the definitions themselves. A file with errors declares nothing. */
export interface FileSummary {
  readonly file: string;
  readonly definitions: readonly DefinitionSummary[];
  readonly targets?: readonly DeclaredTarget[];
  /** Guardrails for every decision of the directory. */
  readonly guardrails?: readonly LocatedGuardrail[];
  /** The endpoints that all decisions of the directory may fetch from. */
  readonly endpoints?: readonly DeclaredEndpoint[];
  /** JSON pointers of values that no decision of the directory records. */
  readonly masks?: readonly string[];
  /** The observers of every session. */
  readonly observers?: readonly LocatedObserver[];
  /** The number of tests; absent: none. */
  readonly tests?: number;
  /** What is wrong with its tests: they are not run, and its decisions are made. Absent: nothing. */
  readonly testDiagnostics?: readonly Diagnostic[];
  readonly diagnostics: readonly Diagnostic[];
  /** The ids that the text of a broken file contains. */
  readonly claimedIds: readonly string[];
  /** Set if the file is broken and may contain a policy. */
  readonly hidesPolicy?: true;
  /** Set if the file is broken and may contain these gates. */
  readonly hidesGates?: readonly HiddenGate[];
  /** Set if the file is broken and may contain guardrails or masks for every decision, or disabled targets. */
  readonly hidesGuardrails?: true;
  /** Set if the file is broken and contained such guardrails, masks or targets when it was valid last. */
  readonly heldGuardrails?: true;
  /** Set if the file is broken and may declare targets. */
  readonly hidesTargets?: true;
  /** Set if the file is broken and may declare endpoints. */
  readonly hidesEndpoints?: true;
}

/** A gate that a broken file may contain; `any` where its text does not say it. */
export interface HiddenGate {
  readonly orgs: readonly string[] | "any";
  /** The names of the actions. */
  readonly actions: readonly string[] | "any";
}

/** An endpoint, with the position of its declaration. */
export interface DeclaredEndpoint extends Position {
  readonly name: string;
  readonly endpoint: Endpoint;
}

export interface LocatedGuardrail extends Position {
  readonly guardrail: Guardrail;
}

export interface LocatedObserver extends Position {
  readonly observer: Observer;
}

export interface DefinitionSummary {
  readonly id: string;
  readonly definition_hash: string;
  readonly position: Position;
  /** Each target that the decision may lead to, with the first position that names it. */
  readonly reached: readonly TargetReference[];
  /** Each endpoint that the decision fetches from, with the first position that names it; absent: none. */
  readonly fetches?: readonly EndpointReference[];
  /** For a policy: its tools, or globs. */
  readonly tools?: readonly string[];
  /** For a policy: the names of its policies that are not overrides. */
  readonly policies?: readonly string[];
  /** For a policy: the names of its overrides; absent: none. */
  readonly overrides?: readonly string[];
  /** For a policy: the overrides that name policies of other decisions; absent: none. */
  readonly foreignOverrides?: readonly OverrideDeclaration[];
  /** For a gate. */
  readonly action?: GateAction;
}

/** An override, with the policies of other decisions that it names and the positions of their names. */
export interface OverrideDeclaration extends Position {
  readonly override: OverridePolicy;
  readonly foreign: readonly PolicyReference[];
}

export interface PolicyReference extends Position {
  readonly policy: string;
}

export interface TargetReference extends Position {
  readonly target: string;
}

export interface EndpointReference extends Position {
  readonly endpoint: string;
}

/** A target, with the position of its declaration. */
export interface DeclaredTarget extends Position {
  readonly target: Target;
  /** The targets that it depends on, with their positions. */
  readonly dependencies: readonly TargetReference[];
}

/** The rest of a file: its definitions, in the order of their summaries, and its tests. */
export interface FileBody {
  readonly definitions: readonly Definition[];
  readonly tests: readonly LocatedTest[];
}

/** A test with its position. */
export interface LocatedTest extends Position {
  readonly test: DefinitionTest;
  /** The number of its document in the file, and its number in the `tests` of the document. */
  readonly document: number;
  readonly index: number;
  /** The lines of its rows; absent: it has none. */
  readonly rows?: readonly number[];
}

export interface DefinitionFile {
  readonly summary: FileSummary;
  readonly body: FileBody;
}

/** An endpoint of a directory, with its file. */
export interface LocatedEndpoint extends DeclaredEndpoint {
  readonly file: string;
}

export function declaredEndpoints(files: readonly FileSummary[]): readonly LocatedEndpoint[] {
  return files.flatMap(({ file, endpoints = [] }) => endpoints.map((each) => ({ ...each, file })));
}

/** A target in a file: its id alone, or an object. */
export type TargetEntry = string | Target;

/** Adds the `targets` of a document, by their fingerprints; identical declarations are added once. */
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

/** Returns a text that is equal for equal targets; an absent field equals its default. */
export function targetFingerprint({ id, kind, depends_on = [], disabled = false }: Target): string {
  return JSON.stringify([id, kind, depends_on.toSorted(), disabled]);
}

/** A target of a directory, with its file. */
export interface LocatedTarget extends DeclaredTarget {
  readonly file: string;
}

/** Returns the declared targets; undefined if no file declares any. */
export function declaredTargets(files: readonly FileSummary[]): readonly LocatedTarget[] | undefined {
  if (!files.some(({ targets }) => targets !== undefined)) return undefined;
  return files.flatMap(({ file, targets = [] }) => targets.map((each) => ({ ...each, file })));
}
