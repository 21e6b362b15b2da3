import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Evaluated, Prepared } from "../evaluate/evaluate.js";
import { Failure } from "../expression/failure.js";
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
  const call = evaluated.outcome?.type === "policy" ? evaluated.outcome : undefined;
  const params = call?.params ?? null;
  return {
    entities: entitiesOf(definition, scope),
    artifacts: artifactsOf(definition, scope),
    inputs: inputsOf(prepared, scope),
    conditions: conditionsOf(definition.type, evaluated),
    policies: call?.policies ?? none,
    override: call?.outcome === "allowed_by_exception" ? (call.overrides[0] ?? null) : null,
    params_digest: params === null ? null : sha256Hex(canonicalJson(params)),
    precedents: none,
  };
}

/** What cannot be filled in leads to nothing; an entity counts once. */
function entitiesOf({ entities = none }: Definition, scope: Scope): readonly Entity[] {
  if (entities.length === 0) return none;
  const found = new Map<string, Entity>();
  for (const { type, id: text } of entities) {
    for (const id of texts(templateOf(text).evaluate(scope))) found.set(`${type} ${id}`, { type, id });
  }
  return [...found.values()];
}

function artifactsOf({ artifacts = none }: Definition, scope: Scope): readonly string[] {
  if (artifacts.length === 0) return none;
  return [...new Set(artifacts.flatMap((text) => texts(templateOf(text).evaluate(scope))))];
}

/** Of a list, each of its items. A masked value would make all of them seem the same one. */
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
