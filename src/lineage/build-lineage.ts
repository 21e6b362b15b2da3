import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { DecisionError } from "../errors.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { Failure } from "../expression/failure.js";
import type { PathGetter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { Template } from "../expression/template.js";
import { compileTemplate, compileCondition } from "../expression/template.js";
import type { Definition, DecisionType } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Entity, Lineage, LineageCondition, InputSource } from "../model/lineage.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { conditionResults, isRollDetails } from "../record/condition-results.js";
import { maskMarker } from "../record/mask.js";

const none: readonly never[] = Object.freeze([]);

/** What a decision of any type rested on, made of what may be shown of it; who came before is not known here. */
export function buildLineage(prepared: Prepared, scope: Scope, evaluated: Evaluated): Lineage {
  const { definition } = prepared;
  const fill = templateFiller(prepared, { ...scope, input: evaluated.input_value });
  const call = evaluated.outcome?.type === "policy" ? evaluated.outcome : undefined;
  const params = call?.params ?? null;
  return {
    entities: entitiesOf(definition, fill),
    artifacts: artifactsOf(definition, fill),
    inputs: lineageInputs(prepared, scope),
    conditions: lineageConditions(definition.type, evaluated),
    policies: call?.policies ?? none,
    override: call?.outcome === "allowed_by_exception" ? (call.overrides[0] ?? null) : null,
    params_digest: params === null ? null : sha256Hex(canonicalJson(params)),
    precedents: none,
  };
}

/** The texts that a template comes to. */
type Fill = (template: string) => readonly string[];

/** A masked value would make all of them seem the same one, whatever is made of it. */
function templateFiller({ definition, input }: Prepared, scope: Scope): Fill {
  const isMasking = (definition.logging?.mask ?? none).length > 0;
  return (text) => {
    const template = templateOf(text);
    const used = input !== undefined && template.reads.some(isInput) ? [template, input] : [template];
    return isMasking && used.some((each) => readsMasked(each, scope))
      ? none
      : texts(template.evaluate(scope));
  };
}

const isInput = (path: string): boolean => path === "input" || path.startsWith("input.");

/** What is only a path shows by itself that it is masked. */
const readsMasked = ({ tree, reads }: Template, scope: Scope): boolean =>
  tree?.kind !== "path" &&
  reads.some((path) => {
    const value = pathGetter(path.split("."))(scope);
    return value !== undefined && canonicalJson(value).includes(maskMarker);
  });

/** What cannot be filled in leads to nothing; an entity counts once. */
function entitiesOf({ entities = none }: Definition, fill: Fill): readonly Entity[] {
  if (entities.length === 0) return none;
  const found = new Map<string, Entity>();
  for (const { type, id: text } of entities) {
    for (const id of fill(text)) found.set(JSON.stringify([type, id]), { type, id });
  }
  return [...found.values()];
}

const artifactsOf = ({ artifacts = none }: Definition, fill: Fill): readonly string[] =>
  artifacts.length === 0 ? none : [...new Set(artifacts.flatMap(fill))];

/** Of a list, each of its items. */
function texts(value: Json | Failure): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(texts);
  if (value instanceof Failure || value === null || value === "") return none;
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.includes(maskMarker) ? none : [text];
}

const maxCachedTemplates = 1000;
const templates = new Map<string, Template>();

function templateOf(text: string): Template {
  let template = templates.get(text);
  if (template === undefined) {
    template = compileTemplate(text);
    if (templates.size < maxCachedTemplates) templates.set(text, template);
  }
  return template;
}

/** The conditions that were asked, each with what it read. */
function lineageConditions(
  type: DecisionType,
  { outcome, evaluation_details: details }: Evaluated,
): readonly LineageCondition[] {
  if (outcome?.type === "policy") return outcome.conditions;
  if (type === "scored") {
    return conditionResults({ type, evaluation_details: details }).map(
      ({ label, condition, result, values }) => ({
        name: label,
        expression: condition,
        result,
        inputs_used: values === undefined ? pathsIn(condition) : Object.keys(values),
      }),
    );
  }
  const asked = isRollDetails(details) ? (details.conditions ?? {}) : (details as Details);
  const conditions: LineageCondition[] = [];
  for (const name in asked) {
    const detail = asked[name];
    if (detail !== undefined) conditions.push(toLineageCondition(name, detail));
  }
  return conditions;
}

type Details = Readonly<Record<string, ConditionDetail>>;

/** A branch answers with one of two frozen details, time and again. */
const conditionsByDetail = new WeakMap<ConditionDetail, LineageCondition>();

function toLineageCondition(name: string, detail: ConditionDetail): LineageCondition {
  let found = conditionsByDetail.get(detail);
  if (found === undefined) {
    const { condition, result } = detail;
    found = Object.freeze({ name, expression: condition, result, inputs_used: pathsIn(condition) });
    conditionsByDetail.set(detail, found);
  }
  return found;
}

const maxCachedConditions = 5000;
const pathsByCondition = new Map<string, readonly string[]>();

function pathsIn(condition: string): readonly string[] {
  let paths = pathsByCondition.get(condition);
  if (paths === undefined) {
    paths = Object.freeze(readsOf(condition));
    if (pathsByCondition.size < maxCachedConditions) pathsByCondition.set(condition, paths);
  }
  return paths;
}

/** Not every condition of a gate or an evaluator is an expression. */
function readsOf(condition: string): readonly string[] {
  try {
    return condition.trim() === "" ? [] : compileCondition(condition).reads;
  } catch (error) {
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

/** A top-level part of the context that a definition reads; the same for all its decisions. */
interface Source {
  readonly source: string;
  readonly keys: readonly string[];
  readonly paths: readonly { readonly path: string; readonly get: PathGetter }[];
}

/** What a decision was told that it asked for, each with a digest of the values. */
function lineageInputs(prepared: Prepared, scope: Scope): readonly InputSource[] {
  return sourcesOf(prepared).map(({ source, keys, paths }) => {
    const values: Record<string, Json> = {};
    for (const { path, get } of paths) {
      const value = get(scope);
      if (value !== undefined) values[path] = value;
    }
    return { source, keys, digest: digestOf(canonicalJson(values)) };
  });
}

const maxCachedDigests = 1000;
const digests = new Map<string, string>();

/** Flags, countries and what is absent come again and again; the oldest gives way. */
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

const sourcesByDefinition = new WeakMap<Prepared, readonly Source[]>();

function sourcesOf(prepared: Prepared): readonly Source[] {
  let sources = sourcesByDefinition.get(prepared);
  if (sources === undefined) {
    sources = findSources(prepared);
    sourcesByDefinition.set(prepared, sources);
  }
  return sources;
}

/** Gathered by us, not given with the request; and the whole of the context (or no path at all) is no part of it. */
const nonSources = new Set(["facts", "system", "input", "context", ""]);

function findSources(prepared: Prepared): readonly Source[] {
  const paths = [...prepared.reads, ...prepared.conditionReads].flatMap((path) =>
    contextPaths(path, prepared),
  );
  const bySource = new Map<string, string[]>();
  for (const path of new Set(paths)) {
    const [source = ""] = path.split(".");
    if (!nonSources.has(source)) bySource.set(source, [...(bySource.get(source) ?? []), path]);
  }
  return [...bySource].map(([source, read]) => ({
    source,
    keys: read.filter((path) => path !== source).map((path) => path.slice(source.length + 1)),
    paths: read.map((path) => ({ path, get: pathGetter(path.split(".")) })),
  }));
}

/** The paths into the context that a path of an expression stands for. */
export function contextPaths(path: string, { input }: Prepared): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [withoutContext(path)];
  if (input === undefined) return [rest.join(".")];
  if (input.tree?.kind !== "path") return input.reads.map(withoutContext);
  return [withoutContext([...input.tree.segments, ...rest].join("."))];
}

const withoutContext = (path: string): string => path.replace(/^context\.(?=.)/, "");
