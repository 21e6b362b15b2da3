import { destinationsOf, uniqueFetches } from "../definition/fetches.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { isObject } from "../expression/equal.js";
import { Failure } from "../expression/failure.js";
import type { PathGetter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import { pathText, splitPath } from "../expression/syntax.js";
import type { Template } from "../expression/template.js";
import type { Json } from "../model/json.js";
import type { Entity, InputSource, Lineage, LineageCondition, SourceType } from "../model/lineage.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { conditionResults, isRollDetails } from "../record/condition-results.js";
import { maskMarker } from "../record/mask.js";

const none: readonly never[] = Object.freeze([]);

/**
 * `whole`, or only the part that is always recorded: the policies that decided about a call, and the digest and the
 * names of its params, by which its result is linked to it.
 */
type Extent = "whole" | "call";

/** Builds the lineage of a decision from its masked scope; precedents are added later. */
export function buildLineage(
  prepared: Prepared,
  scope: Scope,
  evaluated: Evaluated,
  extent: Extent = "whole",
): Lineage {
  const isWhole = extent === "whole";
  const evaluate = templateEvaluator(prepared, { ...scope, input: evaluated.input_value });
  const call = evaluated.outcome?.type === "policy" ? evaluated.outcome : undefined;
  const params = call?.params ?? null;
  return {
    entities: isWhole ? lineageEntities(prepared, evaluate) : none,
    artifacts: isWhole ? lineageArtifacts(prepared, evaluate) : none,
    ...(call !== undefined && { param_names: paramNames(scope) }),
    inputs: isWhole ? lineageInputs(prepared, scope, evaluated) : none,
    conditions: isWhole ? lineageConditions(prepared, evaluated) : none,
    policies: call?.policies ?? none,
    override: call?.outcome === "allowed_by_exception" ? (call.overrides[0] ?? null) : null,
    overrides: call?.overrides ?? none,
    params_digest: params === null ? null : sha256Hex(canonicalJson(params)),
    precedents: none,
  };
}

/** Returns the texts that a template evaluates to; none if it fails. */
type TemplateEvaluator = (template: Template) => readonly string[];

/** Skips templates that read masked values: all masked entities would look the same. */
function templateEvaluator({ masks, input }: Prepared, scope: Scope): TemplateEvaluator {
  const isMasking = masks.length > 0;
  return (template) => {
    const used = input !== undefined && template.reads.some(isInput) ? [template, input] : [template];
    return isMasking && used.some((each) => readsMasked(each, scope))
      ? none
      : texts(template.evaluate(scope));
  };
}

const isInput = (path: string): boolean => path === "input" || path.startsWith("input.");

/** A template that is only a path evaluates to the mask marker itself, which `texts` leaves out. */
const readsMasked = ({ tree, reads }: Template, scope: Scope): boolean =>
  tree?.kind !== "path" &&
  reads.some((path) => {
    const value = pathGetter(path.split("."))(scope);
    return value !== undefined && canonicalJson(value).includes(maskMarker);
  });

function lineageEntities({ entities }: Prepared, evaluate: TemplateEvaluator): readonly Entity[] {
  if (entities.length === 0) return none;
  const unique = new Map<string, Entity>();
  for (const { type, id: template } of entities) {
    for (const id of evaluate(template)) unique.set(JSON.stringify([type, id]), { type, id });
  }
  return [...unique.values()];
}

const lineageArtifacts = ({ artifacts }: Prepared, evaluate: TemplateEvaluator): readonly string[] =>
  artifacts.length === 0 ? none : [...new Set(artifacts.flatMap(evaluate))];

/** Returns the names of the params of a tool call, as requested. */
function paramNames({ context: { params } }: Scope): readonly string[] {
  return isObject(params) ? Object.keys(params).sort() : none;
}

/** Flattens lists; leaves out failures and empty or masked values. */
function texts(value: Json | Failure): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(texts);
  if (value instanceof Failure || value === null || value === "") return none;
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.includes(maskMarker) ? none : [text];
}

/** Returns the conditions that were evaluated, each with the paths that it read. */
function lineageConditions(
  { definition: { type }, inputsByCondition }: Prepared,
  { outcome, evaluation_details: details }: Evaluated,
): readonly LineageCondition[] {
  if (outcome?.type === "policy") return outcome.conditions;
  if (type === "scored") {
    return conditionResults({ type, evaluation_details: details }).map(
      ({ label, condition, result, values }) => ({
        name: label,
        expression: condition,
        result,
        inputs_used: values === undefined ? (inputsByCondition.get(condition) ?? none) : Object.keys(values),
      }),
    );
  }
  const evaluatedDetails = isRollDetails(details)
    ? (details.conditions ?? {})
    : (details as Readonly<Record<string, ConditionDetail>>);
  const conditions: LineageCondition[] = [];
  for (const name in evaluatedDetails) {
    const detail = evaluatedDetails[name];
    if (detail !== undefined) conditions.push(toLineageCondition(name, detail, inputsByCondition));
  }
  return conditions;
}

/**
 * A branch answers with one of two frozen details. Without this cache a batch takes 37 % more time, as the JSON
 * of each frozen condition is cached, too.
 */
const conditionsByDetail = new WeakMap<ConditionDetail, LineageCondition>();

function toLineageCondition(
  name: string,
  detail: ConditionDetail,
  inputsByCondition: Prepared["inputsByCondition"],
): LineageCondition {
  let found = conditionsByDetail.get(detail);
  if (found === undefined) {
    const { condition, result } = detail;
    const inputs_used = inputsByCondition.get(condition) ?? none;
    found = Object.freeze({ name, expression: condition, result, inputs_used });
    conditionsByDetail.set(detail, found);
  }
  return found;
}

/** A source that the conditions of a definition read. */
interface Source {
  readonly source: string;
  readonly type: SourceType;
  readonly keys: readonly string[];
  readonly paths: readonly { readonly path: string; readonly get: PathGetter }[];
}

/** Returns what the evaluated conditions read, by source, each with a digest of the values. */
function lineageInputs(prepared: Prepared, scope: Scope, evaluated: Evaluated): readonly InputSource[] {
  return sourcesOf(prepared, evaluated).map(({ source, type, keys, paths }) => {
    const values: Record<string, Json> = {};
    for (const { path, get } of paths) {
      const value = get(scope);
      if (value !== undefined) values[path] = value;
    }
    return { source, source_type: type, keys, digest: digestOf(canonicalJson(values)) };
  });
}

const maxCachedDigests = 1000;
/** Short values such as flags and countries recur. Without this cache a batch takes 16 % more time. */
const digests = new Map<string, string>();

function digestOf(text: string): string {
  if (text.length > 64) return sha256Hex(text);
  let digest = digests.get(text);
  if (digest === undefined) {
    digest = sha256Hex(text);
    if (digests.size >= maxCachedDigests) digests.delete(digests.keys().next().value ?? "");
    digests.set(text, digest);
  }
  return digest;
}

/** By definition; a field of `Prepared` would make evaluation depend on lineage. */
const sourceCaches = new WeakMap<Prepared, SourceCache>();

function sourcesOf(prepared: Prepared, evaluated: Evaluated): readonly Source[] {
  let cache = sourceCaches.get(prepared);
  if (cache === undefined) {
    cache = new SourceCache(prepared);
    sourceCaches.set(prepared, cache);
  }
  return cache.sourcesFor(prepared.inputsRead(evaluated));
}

/** The sources of conditions that were evaluated after those of the node before. */
interface SourceNode {
  readonly next: WeakMap<readonly string[], SourceNode>;
  sources?: readonly Source[];
}

/** Callers influence which conditions are evaluated, so there may be any number of combinations. */
const maxSourceNodes = 1000;

/** Finds sources by the lists of paths that the evaluated conditions read. Most decisions evaluate the same conditions. */
class SourceCache {
  readonly #prepared: Prepared;
  readonly #byLists = new WeakMap<readonly (readonly string[])[], readonly Source[]>();
  readonly #root: SourceNode = { next: new WeakMap() };
  #nodes = 0;

  constructor(prepared: Prepared) {
    this.#prepared = prepared;
  }

  sourcesFor(lists: readonly (readonly string[])[]): readonly Source[] {
    const known = this.#byLists.get(lists);
    if (known !== undefined) return known;
    const node = this.#nodeFor(lists);
    const sources = node?.sources ?? findSources(this.#prepared, lists.flat());
    if (node !== undefined) node.sources = sources;
    this.#byLists.set(lists, sources);
    return sources;
  }

  #nodeFor(lists: readonly (readonly string[])[]): SourceNode | undefined {
    let node = this.#root;
    for (const list of lists) {
      let next = node.next.get(list);
      if (next === undefined) {
        if (this.#nodes >= maxSourceNodes) return undefined;
        this.#nodes++;
        next = { next: new WeakMap() };
        node.next.set(list, next);
      }
      node = next;
    }
    return node;
  }
}

function findSources(prepared: Prepared, read: readonly string[]): readonly Source[] {
  const typeOf = sourceTypeFinder(prepared);
  const { input, inputsBehind = (path: string) => [path], definition } = prepared;
  const wholeInput = definition.type === "weighted" ? ["input"] : (input?.inputs ?? []);
  const paths = [...wholeInput, ...read].flatMap(inputsBehind).flatMap((path) => inputPaths(path, prepared));
  const groups = new Map<string, { source: string; type: SourceType; read: string[] }>();
  for (const path of new Set(paths)) {
    const [source = "context"] = path === "" ? [] : splitPath(path);
    // The denial is made of what the conditions of its policy read.
    if (source === "denial" && definition.type === "policy") continue;
    const type = typeOf(source, path);
    const key = JSON.stringify([source, type]);
    const group = groups.get(key) ?? { source, type, read: [] };
    groups.set(key, group);
    group.read.push(path === "" ? "context" : path);
  }
  return [...groups.values()].map(({ source, type, read: ofSource }) => ({
    source,
    type,
    keys: ofSource.filter((path) => path !== source).map((path) => keyOf(path, source)),
    paths: ofSource.map((path) => ({ path, get: pathGetter(splitPath(path)) })),
  }));
}

/** Returns a path without its source. */
const keyOf = (path: string, source: string): string => path.slice(source.length).replace(/^\./, "");

/** The parts of the context of a tool call. */
const callSources: Readonly<Record<string, SourceType>> = {
  session: "session_state",
  params: "params",
  resources: "resource",
};

function sourceTypeFinder({ definition }: Prepared): (source: string, path: string) => SourceType {
  const fetched = uniqueFetches(definition).flatMap(destinationsOf);
  return (source, path) => {
    if (source === "facts") return path.startsWith("facts.fetched") ? "external" : "session_state";
    if (fetched.some((each) => path === each || path.startsWith(`${each}.`))) return "external";
    return (definition.type === "policy" ? callSources[source] : undefined) ?? "context";
  };
}

/** Resolves a path of an expression to the context paths it stands for. */
export function contextPaths(path: string, { input }: Prepared): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [withoutContext(path)];
  if (input === undefined) return [rest.join(".")];
  if (input.tree?.kind !== "path") return input.reads.map(withoutContext);
  return [withoutContext([...input.tree.segments, ...rest].join("."))];
}

/** Like `contextPaths`, for paths that `pathText` wrote. */
function inputPaths(path: string, { input }: Prepared): readonly string[] {
  if (!/^input(?:[.[]|$)/.test(path)) return [withoutContext(path)];
  const rest = path.slice("input".length);
  if (input === undefined) return [rest.replace(/^\./, "")];
  if (input.tree?.kind !== "path") return input.inputs.map(withoutContext);
  return [withoutContext(pathText(input.tree.segments) + rest)];
}

const withoutContext = (path: string): string => path.replace(/^context\.(?=.)/, "");
