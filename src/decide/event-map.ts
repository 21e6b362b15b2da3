import { DecisionError } from "../errors.js";
import type { DocumentLocation, DocumentTemplate } from "../expression/document-template.js";
import { compileDocument, DocumentFailure } from "../expression/document-template.js";
import { isObject } from "../expression/equal.js";
import { renderCaret } from "../expression/failure.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import { bindEvent, bindMap } from "./bind.js";

/** Builds the context of a decision from an event. */
export type EventMap = (event: unknown) => Json;

/** Compiles a map: an object whose texts are templates over the event. */
export function compileEventMap(map: unknown): EventMap {
  const document = compileMap(bindMap(map));
  return (event) => {
    const context = document.fill(scopeOf(bindEvent(event)));
    if (context instanceof DocumentFailure) throw missingValue(context);
    return context;
  };
}

function compileMap(map: JsonObject): DocumentTemplate {
  try {
    return compileDocument(map);
  } catch (error) {
    if (!(error instanceof DecisionError) || error.code !== "expression_invalid") throw error;
    const place = error.details as DocumentLocation;
    throw new DecisionError(
      "input_invalid",
      `the map cannot be used at \`${place.pointer}\`: ${error.message}`,
      { hint: error.hint, details: { ...place, excerpt: renderCaret(place) }, cause: error },
    );
  }
}

/** The scope of the templates. Keys such as `system` come from the event: nothing is gathered yet that they could forge. */
function scopeOf(event: Json): Scope {
  const context = isObject(event) ? event : {};
  const own = (key: string): Json | undefined => (Object.hasOwn(context, key) ? context[key] : undefined);
  return {
    context,
    computed: Object.hasOwn(context, "event") ? undefined : { event },
    input: own("input"),
    facts: own("facts") as JsonObject,
    system: own("system") as JsonObject,
  };
}

function missingValue({ message, pointer }: DocumentFailure): DecisionError {
  return new DecisionError("input_invalid", `the map has no value for \`${pointer}\`: ${message}`, {
    hint: "guard optional values with exists() or get(), as in {{ if exists(path) then path else 'none' }}",
    details: { pointer },
  });
}
