import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Prepared } from "../evaluate/evaluate.js";
import type { Getter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { Json } from "../model/json.js";
import type { InputSource } from "../model/lineage.js";
import type { Scope } from "../model/scope.js";

/** A top-level part of the context that a definition reads; the same for all its decisions. */
interface Source {
  readonly source: string;
  readonly keys: readonly string[];
  readonly paths: readonly { readonly path: string; readonly get: Getter }[];
}

/** What a decision was told that it asked for, each with a digest of the values. */
export function inputsOf(prepared: Prepared, scope: Scope): readonly InputSource[] {
  return sourcesOf(prepared).map(({ source, keys, paths }) => {
    const values: Record<string, Json> = {};
    for (const { path, get } of paths) {
      const value = get(scope);
      if (value !== undefined) values[path] = value;
    }
    return { source, keys, digest: digestOf(canonicalJson(values)) };
  });
}

const mostRemembered = 1000;
const digests = new Map<string, string>();

/** Flags, countries and what is absent come again and again; the oldest gives way. */
function digestOf(text: string): string {
  if (text.length > 64) return sha256Hex(text);
  let digest = digests.get(text);
  if (digest === undefined) {
    digest = sha256Hex(text);
    if (digests.size >= mostRemembered) digests.delete(digests.keys().next().value ?? "");
    digests.set(text, digest);
  }
  return digest;
}

const known = new WeakMap<Prepared, readonly Source[]>();

function sourcesOf(prepared: Prepared): readonly Source[] {
  let sources = known.get(prepared);
  if (sources === undefined) {
    sources = findSources(prepared);
    known.set(prepared, sources);
  }
  return sources;
}

/** Gathered by us, not given with the request; and the whole of the context (or no path at all) is no part of it. */
const noSources = new Set(["facts", "system", "input", "context", ""]);

function findSources(prepared: Prepared): readonly Source[] {
  const paths = [...prepared.reads, ...prepared.asks].flatMap((path) => givenPaths(path, prepared));
  const bySource = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    const [source = ""] = path.split(".");
    if (!noSources.has(source)) bySource.set(source, [...(bySource.get(source) ?? []), path]);
  }
  return [...bySource].map(([source, read]) => ({
    source,
    keys: read.filter((path) => path !== source).map((path) => path.slice(source.length + 1)),
    paths: read.map((path) => ({ path, get: pathGetter(path.split(".")) })),
  }));
}

/** The paths into the context that a path of an expression stands for. */
export function givenPaths(path: string, { input }: Prepared): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [withoutContext(path)];
  if (input === undefined) return [rest.join(".")];
  if (input.tree?.kind !== "path") return input.reads.map(withoutContext);
  return [withoutContext([...input.tree.segments, ...rest].join("."))];
}

const withoutContext = (path: string): string => path.replace(/^context\.(?=.)/, "");
