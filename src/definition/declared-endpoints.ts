import type { Endpoints } from "../model/endpoint.js";
import type { Problem } from "../model/problem.js";
import type { DeclaredEndpoint, FileSummary } from "./definition-file.js";

/** A declared endpoint of a directory. */
export interface PlacedEndpoint extends DeclaredEndpoint {
  readonly file: string;
}

export function declaredEndpoints(files: readonly FileSummary[]): readonly PlacedEndpoint[] {
  return files.flatMap(({ file, endpoints = [] }) => endpoints.map((each) => ({ ...each, file })));
}

/** What is wrong with endpoints together, by their names: of two of one name nobody knows which is meant. */
export function repeatedEndpoints(
  declared: readonly PlacedEndpoint[],
): ReadonlyMap<string, readonly Problem[]> {
  const byName = new Map<string, PlacedEndpoint[]>();
  for (const each of declared) byName.set(each.name, [...(byName.get(each.name) ?? []), each]);
  const repeated = [...byName].filter(([, places]) => places.length > 1);
  return new Map(repeated.map(([name, places]) => [name, repeatProblems(name, places)]));
}

function repeatProblems(name: string, places: readonly PlacedEndpoint[]): readonly Problem[] {
  return places.map(({ file, line, column }, index) => {
    const other = places[index === 0 ? 1 : 0];
    const where = other === undefined ? "" : ` (also in ${other.file}:${other.line})`;
    const message = `the endpoint \`${name}\` is declared more than once${where}`;
    return { file, line, column, severity: "error", message, hint: "declare it once" };
  });
}

export const endpointsByName = (declared: readonly PlacedEndpoint[]): Endpoints =>
  Object.fromEntries(declared.map(({ name, endpoint }) => [name, endpoint]));

/** The endpoints that decisions may name, and the files that may hold more. */
export interface KnownEndpoints {
  readonly names: ReadonlySet<string>;
  /** Broken files. */
  readonly hiding: readonly string[];
}

export function knownEndpoints(
  files: readonly FileSummary[],
  declared: readonly PlacedEndpoint[],
): KnownEndpoints {
  const hiding = files.filter(({ hidesEndpoints }) => hidesEndpoints).map(({ file }) => file);
  return { names: new Set(declared.map(({ name }) => name)), hiding };
}
