import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import type { Deliberation } from "../evaluate/policy/deliberation.js";
import { Failure } from "../expression/failure.js";
import { pathGetter } from "../expression/path.js";
import { compileTemplate } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Entity, InputSource, Lineage } from "../model/lineage.js";
import type { Scope } from "../model/scope.js";

/** What a decision on a call rested on, made of what may be shown of it. */
export function lineageOf(
  { definition, reads }: { readonly definition: Definition; readonly reads: readonly string[] },
  scope: Scope,
  { conditions, policies, overrides, outcome, params }: Deliberation,
): Lineage {
  return {
    inputs: inputsOf(reads, scope),
    entities: entitiesOf(definition, scope),
    artifacts: (definition.artifacts ?? []).flatMap((text) => render(text, scope) ?? []),
    conditions,
    policies,
    override: outcome === "allowed_by_exception" ? (overrides[0] ?? null) : null,
    params_digest: params === null ? null : sha256Hex(canonicalJson(params)),
    precedents: [],
  };
}

/** Gathered by us, not given with the request; and the whole of the context is no part of it. */
const noSources = new Set(["facts", "system", "input", "context"]);

function inputsOf(reads: readonly string[], scope: Scope): readonly InputSource[] {
  const bySource = new Map<string, string[]>();
  for (const read of reads) {
    const path = read.replace(/^context\.(?=.)/, "");
    const [source = ""] = path.split(".");
    if (noSources.has(source)) continue;
    bySource.set(source, [...(bySource.get(source) ?? []), path]);
  }
  return [...bySource].map(([source, paths]) => {
    const values: Record<string, Json> = {};
    for (const path of paths) {
      const value = pathGetter(path.split("."))(scope);
      if (value !== undefined) values[path] = value;
    }
    const keys = paths.filter((path) => path !== source).map((path) => path.slice(source.length + 1));
    return { source, keys, digest: sha256Hex(canonicalJson(values)) };
  });
}

/** What cannot be filled in leads to nothing. */
function entitiesOf({ entities = [] }: Definition, scope: Scope): readonly Entity[] {
  return entities.flatMap(({ type, id }) => {
    const rendered = render(id, scope);
    return rendered === undefined ? [] : [{ type, id: rendered }];
  });
}

function render(text: string, scope: Scope): string | undefined {
  const value = compileTemplate(text).evaluate(scope);
  if (value instanceof Failure || value === null || value === "") return undefined;
  return typeof value === "string" ? value : canonicalJson(value);
}
