import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { Failure } from "../expression/failure.js";
import type { PathGetter } from "../expression/path.js";
import { pathGetter } from "../expression/path.js";
import type { Template } from "../expression/template.js";
import type { Json } from "../model/json.js";
import type { Entity, InputSource, Lineage, LineageCondition } from "../model/lineage.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { conditionResults, isRollDetails } from "../record/condition-results.js";
import { maskMarker } from "../record/mask.js";

const none: readonly never[] = Object.freeze([]);

/** Builds the lineage of a decision from its masked scope; precedents are added later. */
export function buildLineage(prepared: Prepared, scope: Scope, evaluated: Evaluated): Lineage {
  const evaluate = templateEvaluator(prepared, { ...scope, input: evaluated.input_value });
  const call = evaluated.outcome?.type === "policy" ? evaluated.outcome : undefined;
  const params = call?.params ?? null;
  return {
    entities: lineageEntities(prepared, evaluate),
    artifacts: lineageArtifacts(prepared, evaluate),
    inputs: lineageInputs(prepared, scope),
    conditions: lineageConditions(prepared, evaluated),
    policies: call?.policies ?? none,
    override: call?.outcome === "allowed_by_exception" ? (call.overrides[0] ?? null) : null,
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

/** Flattens lists; leaves out failures and empty or masked values. */
function texts(value: Json | Failure): readonly string[] {
  if (Array.isArray(value)) return (value as readonly Json[]).flatMap(texts);
  if (value instanceof Failure || value === null || value === "") return none;
  const text = typeof value === "string" ? value : canonicalJson(value);
  return text.includes(maskMarker) ? none : [text];
}

/** Returns the conditions that were evaluated, each with the paths that it read. */
function lineageConditions(
  { definition: { type }, readsByCondition }: Prepared,
  { outcome, evaluation_details: details }: Evaluated,
): readonly LineageCondition[] {
  if (outcome?.type === "policy") return outcome.conditions;
  if (type === "scored") {
    return conditionResults({ type, evaluation_details: details }).map(
      ({ label, condition, result, values }) => ({
        name: label,
        expression: condition,
        result,
        inputs_used: values === undefined ? (readsByCondition.get(condition) ?? none) : Object.keys(values),
      }),
    );
  }
  const evaluatedDetails = isRollDetails(details)
    ? (details.conditions ?? {})
    : (details as Readonly<Record<string, ConditionDetail>>);
  const conditions: LineageCondition[] = [];
  for (const name in evaluatedDetails) {
    const detail = evaluatedDetails[name];
    if (detail !== undefined) conditions.push(toLineageCondition(name, detail, readsByCondition));
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
  readsByCondition: Prepared["readsByCondition"],
): LineageCondition {
  let found = conditionsByDetail.get(detail);
  if (found === undefined) {
    const { condition, result } = detail;
    const inputs_used = readsByCondition.get(condition) ?? none;
    found = Object.freeze({ name, expression: condition, result, inputs_used });
    conditionsByDetail.set(detail, found);
  }
  return found;
}

/** A top-level part of the context that a definition reads. */
interface Source {
  readonly source: string;
  readonly keys: readonly string[];
  readonly paths: readonly { readonly path: string; readonly get: PathGetter }[];
}

/** Returns the parts of the context that a decision reads, each with a digest of the values. */
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

/** The same for all decisions of a definition; a field of `Prepared` would make evaluation depend on lineage. */
const sourcesByDefinition = new WeakMap<Prepared, readonly Source[]>();

function sourcesOf(prepared: Prepared): readonly Source[] {
  let sources = sourcesByDefinition.get(prepared);
  if (sources === undefined) {
    sources = findSources(prepared);
    sourcesByDefinition.set(prepared, sources);
  }
  return sources;
}

/** Not parts of the context: gathered facts, and the context as a whole. */
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

/** Resolves a path of an expression to the context paths it stands for. */
export function contextPaths(path: string, { input }: Prepared): readonly string[] {
  const [root, ...rest] = path.split(".");
  if (root !== "input") return [withoutContext(path)];
  if (input === undefined) return [rest.join(".")];
  if (input.tree?.kind !== "path") return input.reads.map(withoutContext);
  return [withoutContext([...input.tree.segments, ...rest].join("."))];
}

const withoutContext = (path: string): string => path.replace(/^context\.(?=.)/, "");
