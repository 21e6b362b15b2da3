import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { Failure } from "../expression/failure.js";
import { pathGetter } from "../expression/path.js";
import type { Template } from "../expression/template.js";
import { compileTemplate } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Entity, Lineage } from "../model/lineage.js";
import type { Scope } from "../model/scope.js";
import { masked } from "../record/mask.js";
import { conditionsOf } from "./conditions.js";
import { inputsOf } from "./sources.js";

const none: readonly never[] = Object.freeze([]);

/** What a decision of any type rested on, made of what may be shown of it; who came before is not known here. */
export function lineageOf(prepared: Prepared, scope: Scope, evaluated: Evaluated): Lineage {
  const { definition } = prepared;
  const fill = filler(prepared, { ...scope, input: evaluated.input_value });
  const call = evaluated.outcome?.type === "policy" ? evaluated.outcome : undefined;
  const params = call?.params ?? null;
  return {
    entities: entitiesOf(definition, fill),
    artifacts: artifactsOf(definition, fill),
    inputs: inputsOf(prepared, scope),
    conditions: conditionsOf(definition.type, evaluated),
    policies: call?.policies ?? none,
    override: call?.outcome === "allowed_by_exception" ? (call.overrides[0] ?? null) : null,
    params_digest: params === null ? null : sha256Hex(canonicalJson(params)),
    precedents: none,
  };
}

/** The texts that a template comes to. */
type Fill = (template: string) => readonly string[];

/** A masked value would make all of them seem the same one, whatever is made of it. */
function filler({ definition, input }: Prepared, scope: Scope): Fill {
  const isMasking = (definition.logging?.mask ?? none).length > 0;
  return (text) => {
    const template = templateOf(text);
    const used = input !== undefined && template.reads.some(isInput) ? [template, input] : [template];
    return isMasking && used.some((each) => isMadeOfMasked(each, scope))
      ? none
      : texts(template.evaluate(scope));
  };
}

const isInput = (path: string): boolean => path === "input" || path.startsWith("input.");

/** What is only a path shows by itself that it is masked. */
const isMadeOfMasked = ({ tree, reads }: Template, scope: Scope): boolean =>
  tree?.kind !== "path" &&
  reads.some((path) => {
    const value = pathGetter(path.split("."))(scope);
    return value !== undefined && canonicalJson(value).includes(masked);
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
  return text.includes(masked) ? none : [text];
}

const mostRemembered = 1000;
const templates = new Map<string, Template>();

function templateOf(text: string): Template {
  let template = templates.get(text);
  if (template === undefined) {
    template = compileTemplate(text);
    if (templates.size < mostRemembered) templates.set(text, template);
  }
  return template;
}
