import { Failure } from "../../expression/failure.js";
import { compileTemplate } from "../../expression/template.js";
import type { Json, JsonObject } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";

/** A document whose texts are templates, made ready. */
export interface DocumentTemplate {
  readonly reads: readonly string[];
  fill(scope: Scope): Json | Failure;
}

export function compileDocument(document: JsonObject): DocumentTemplate {
  return compilePart(document);
}

function compilePart(part: Json): DocumentTemplate {
  if (typeof part === "string") {
    const template = compileTemplate(part);
    return { reads: template.reads, fill: (scope) => template.evaluate(scope) };
  }
  if (typeof part !== "object" || part === null) return { reads: [], fill: () => part };
  const parts = Object.entries(part).map(([key, value]) => [key, compilePart(value)] as const);
  const isList = Array.isArray(part);
  return {
    reads: parts.flatMap(([, each]) => each.reads),
    fill(scope) {
      const filled: [string, Json][] = [];
      for (const [key, each] of parts) {
        const value = each.fill(scope);
        if (value instanceof Failure) return value;
        filled.push([key, value]);
      }
      return isList ? filled.map(([, value]) => value) : Object.fromEntries(filled);
    },
  };
}
