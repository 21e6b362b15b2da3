import { isForbiddenKey } from "../expression/path.js";
import type { Definition } from "../model/definition.js";
import type { WrittenFetch } from "./fetches.js";
import { writtenFetches } from "./fetches.js";
import { paramFaults } from "./param-faults.js";
import { longestPath, PathMap } from "./path-map.js";
import { ifFaults } from "./scored-faults.js";
import { nameMeaning } from "./schema-meanings.js";
import { describe } from "./schema-words.js";
import type { SchemaFault } from "./schema-problems.js";
import type { Path } from "./yaml-source.js";

/** What is wrong with what a definition fetches: where it goes, and what it is asked with. */
export function fetchFaults(definition: Definition): readonly SchemaFault[] {
  const fetches = writtenFetches(definition);
  // An `if` that is wrong is told of already, and may hold anything.
  if (fetches.length === 0 || ifFaults(definition).length > 0) return [];
  return [
    ...fetches.flatMap((fetch) => [
      ...nameFaults(fetch),
      ...destinationFaults(fetch, definition),
      ...mappingFaults(fetch),
    ]),
    ...overlapFaults(fetches),
    ...paramFaults(fetches, definition),
  ];
}

function nameFaults({ endpoint, path }: WrittenFetch): readonly SchemaFault[] {
  if (/^[A-Za-z0-9_-]{1,64}$/.test(endpoint)) return [];
  const message = `${nameMeaning(["endpoints"])} (got ${describe(endpoint)})`;
  return [{ path: [...path, "endpoint"], message }];
}

interface Destination {
  readonly at: string;
  readonly path: Path;
}

/** Places in the context, with where they are written. */
function destinationsIn({ into, path, ...fetch }: WrittenFetch): readonly Destination[] {
  return into === undefined ? mappedIn({ path, ...fetch }) : [{ at: into, path: [...path, "into"] }];
}

/** Where the parts of an answer go: below `into`, or below the context itself. */
const mappedIn = ({ mapping = {}, path }: Pick<WrittenFetch, "mapping" | "path">): readonly Destination[] =>
  Object.entries(mapping).map(([from, at]) => ({ at, path: [...path, "mapping", from] }));

function destinationFaults(fetch: WrittenFetch, definition: Definition): readonly SchemaFault[] {
  return destinationsIn(fetch).flatMap(({ at, path }) => {
    const message = wordingFault(at) ?? rootFault(at.split(".")[0] ?? "", definition);
    return message === undefined ? [] : [{ path, message }];
  });
}

/** What is wrong with a path itself. */
function wordingFault(at: string): string | undefined {
  if (/\{\{|\$\{/.test(at)) return "a place for what is fetched is a path and no template";
  if (at.length > longestPath) return `a place for what is fetched has at most ${longestPath} characters`;
  const steps = at.split(".");
  if (steps.includes("")) return `\`${at}\` has an empty part between its dots`;
  const bad = steps.find(isForbiddenKey);
  return bad === undefined ? undefined : `\`${bad}\` is not a key that can be set`;
}

const keptRoots = ["input", "facts", "system", "context"];
const callRoots = ["tool", "params"];

function rootFault(root: string, definition: Definition): string | undefined {
  if (keptRoots.includes(root)) return `nothing can be fetched into \`${root}\`, which has a meaning already`;
  if (definition.type === "policy" && callRoots.includes(root))
    return `nothing can be fetched into \`${root}\`, which is what the call is about`;
  if (definition.type === "gate" && Object.hasOwn(definition.computed ?? {}, root))
    return `nothing can be fetched into \`${root}\`, which is computed`;
  return undefined;
}

/** Parts of one answer that would end up in one place, or nowhere. */
function mappingFaults(fetch: WrittenFetch): readonly SchemaFault[] {
  const taken = new PathMap<undefined>();
  return mappedIn(fetch).flatMap(({ at, path }) => {
    const from = String(path.at(-1));
    const wrong = fetch.into === undefined ? undefined : wordingFault(at);
    const other = taken.overlapping(at);
    taken.add(at, undefined);
    return [
      ...(wrong === undefined ? [] : [{ path, message: wrong }]),
      ...sourceFaults(from).map((fault) => ({ path: path.slice(0, -1), key: from, ...fault })),
      ...(other === undefined
        ? []
        : [{ path, message: `another field of the answer goes into \`${other.path}\`` }]),
    ];
  });
}

/** What is wrong with where in an answer something is to be found. */
function sourceFaults(from: string): readonly Pick<SchemaFault, "message" | "hint">[] {
  if (from.split(".").includes("")) return [{ message: `\`${from}\` has an empty part between its dots` }];
  const [, list = "", item = "", more = ""] = /^(.+?)\[(\d+)\](.*)$/.exec(from) ?? [];
  if (list === "") return [];
  const meant = `${list}.${item}${more}`;
  return [{ message: `\`${from}\` is no path`, hint: `did you mean \`${meant}\`?` }];
}

/** Two fetches that go into one place; a condition that is written twice is fetched once. */
function overlapFaults(fetches: readonly WrittenFetch[]): readonly SchemaFault[] {
  const taken = new PathMap<undefined>();
  const conditions = new Set<string>();
  return fetches.flatMap((fetch) => {
    if (fetch.into === undefined && conditions.has(fetch.key)) return [];
    conditions.add(fetch.key);
    const places = destinationsIn(fetch);
    const faults = places.flatMap(({ at, path }) => {
      const other = taken.overlapping(at);
      return other === undefined ? [] : [{ path, ...overlapFault(at, other.path) }];
    });
    for (const { at } of places) taken.add(at, undefined);
    return faults;
  });
}

function overlapFault(at: string, other: string): Pick<SchemaFault, "message" | "hint"> {
  const how = other.length > at.length ? `, which is part of \`${at}\`` : `, which \`${at}\` is part of`;
  const where = `\`${other}\`${at === other ? " already" : how}`;
  return { message: `something else is fetched into ${where}`, hint: "give each of them a place of its own" };
}
