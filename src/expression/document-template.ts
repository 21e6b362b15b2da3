import type { ExpressionLocation } from "./failure.js";
import { expressionLocation, Failure } from "./failure.js";
import type { Template } from "./template.js";
import { compileText, compileTemplate } from "./template.js";
import { DecisionError } from "../errors.js";
import type { Json, JsonObject } from "../model/json.js";
import type { Scope } from "../model/scope.js";

/** A compiled document whose texts are templates. */
export interface DocumentTemplate {
  readonly reads: readonly string[];
  /** The same for the lineage: with the keys of `get(a, 'key')`. */
  readonly inputs: readonly string[];
  fill(scope: Scope, onMissing?: OnMissing): Json | DocumentFailure;
}

/** The reason why a document could not be filled, with the JSON pointer of the part. */
export class DocumentFailure extends Failure {
  readonly pointer: string;

  constructor(message: string, pointer: string) {
    super(message);
    this.pointer = pointer;
  }
}

/** The position of an invalid template in a document; the `details` of the error. */
export interface DocumentLocation extends ExpressionLocation {
  readonly pointer: string;
}

/**
 * Compiles a document. Filling it fails if any of its expressions has no value. A text for which `replace` returns a
 * value is not evaluated: it is filled with that value, and reads nothing.
 */
export function compileDocument(
  document: Json,
  replace: (template: Template) => Json | undefined = () => undefined,
): DocumentTemplate {
  return compilePart(document, "", (text, pointer) => compileStrictText(text, pointer, replace));
}

/** Compiles a document that is filled with null, or within text with nothing, for expressions without a value. */
export function compileLenientDocument(document: JsonObject): LenientDocumentTemplate {
  return compilePart(document, "", compileLenientText) as LenientDocumentTemplate;
}

export interface LenientDocumentTemplate extends DocumentTemplate {
  /** Calls `onMissing` with the reason for each part without a value. */
  fill(scope: Scope, onMissing?: OnMissing): JsonObject;
}

type OnMissing = (reason: string) => void;

type CompileLeaf = (text: string, pointer: string) => DocumentTemplate;

function compilePart(part: Json, pointer: string, compileLeaf: CompileLeaf): DocumentTemplate {
  if (typeof part === "string") return compileLeaf(part, pointer);
  if (typeof part !== "object" || part === null) return { reads: [], inputs: [], fill: () => part };
  const parts = Object.entries(part).map(
    ([key, value]) => [key, compilePart(value, `${pointer}/${escapePointer(key)}`, compileLeaf)] as const,
  );
  const isList = Array.isArray(part);
  return {
    reads: parts.flatMap(([, each]) => each.reads),
    inputs: parts.flatMap(([, each]) => each.inputs),
    fill(scope, onMissing) {
      const filled: [string, Json][] = [];
      for (const [key, each] of parts) {
        const value = each.fill(scope, onMissing);
        if (value instanceof DocumentFailure) return value;
        filled.push([key, value]);
      }
      return isList ? filled.map(([, value]) => value) : Object.fromEntries(filled);
    },
  };
}

/** Escapes a key as RFC 6901 does. */
const escapePointer = (key: string): string => key.replaceAll("~", "~0").replaceAll("/", "~1");

function compileStrictText(
  text: string,
  pointer: string,
  replace: (template: Template) => Json | undefined,
): DocumentTemplate {
  const template = compileAt(text, pointer);
  const replaced = replace(template);
  if (replaced !== undefined) return { reads: [], inputs: [], fill: () => replaced };
  return {
    reads: template.reads,
    inputs: template.inputs,
    fill(scope) {
      const value = template.evaluate(scope);
      return value instanceof Failure ? new DocumentFailure(value.message, pointer) : value;
    },
  };
}

function compileLenientText(text: string, pointer: string): DocumentTemplate {
  const template = compileAt(text, pointer);
  const rendered = compileText(text, () => "");
  return {
    reads: template.reads,
    inputs: template.inputs,
    fill(scope, onMissing) {
      const value = template.evaluate(scope);
      if (!(value instanceof Failure)) return value;
      onMissing?.(value.message);
      return template.tree === undefined ? rendered.render(scope) : null;
    },
  };
}

function compileAt(text: string, pointer: string): Template {
  try {
    return compileTemplate(text);
  } catch (error) {
    const place = error instanceof DecisionError ? expressionLocation(error) : undefined;
    if (!(error instanceof DecisionError) || place === undefined) throw error;
    const { code, message, hint } = error;
    const details: DocumentLocation = { ...place, pointer };
    throw new DecisionError(code, message, { hint, details, cause: error });
  }
}
