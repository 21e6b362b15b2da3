import { Ajv } from "ajv";
import type { Options } from "ajv";
import { canonicalJson } from "../../digest/canonical-json.js";
import { typeName } from "../../expression/failure.js";
import type { Json, JsonObject } from "../../model/json.js";
import { formats } from "./formats.js";
import { patternEngine } from "./pattern-engine.js";
import { rewordCompileError } from "./schema-faults.js";
import type { SchemaIssue } from "./schema-issues.js";
import { issuesOf } from "./schema-issues.js";

export type { SchemaIssue };

/** Tells where a context does not fit; never throws. */
export type ContextCheck = (context: JsonObject) => readonly SchemaIssue[];

/**
 * Makes a JSON Schema (draft-07) ready to run; throws where `contextSchemaFault` finds fault with it. `whole` is
 * what the document is called.
 */
export function compileContextSchema(schema: JsonObject, whole = "the context"): ContextCheck {
  const overlong = new Set<string>();
  const validate = newAjv((pattern) => overlong.add(pattern)).compile(schema);
  return (context) => {
    overlong.clear();
    const issues = checked(() => (validate(context) ? [] : issuesOf(validate.errors ?? [], whole)));
    if (overlong.size === 0) return issues;
    return [...issues, ...Array.from(overlong, unanswered)];
  };
}

/** What is wrong with a schema itself. */
export function contextSchemaFault(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return `the schema must be an object (got ${typeName(schema as Json)})`;
  }
  const { $schema, $async } = schema as JsonObject;
  if ($schema !== undefined && !isDraft07($schema)) return "`$schema` must be that of draft-07";
  if ($async !== undefined) return "unknown keyword `$async`";
  if (holdsPrototype(schema as JsonObject)) return "`__proto__` cannot be a key of the schema";
  return metaFault(schema as JsonObject) ?? compileFault(schema as JsonObject);
}

/** A schema that refers to itself without end, and a context nested beyond all measure, overflow the stack. */
function checked(check: () => readonly SchemaIssue[]): readonly SchemaIssue[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: "", message: "the context is nested too deeply to be checked" }];
  }
}

/** A pattern counts as not matching then, which under `not` would let the text pass. */
const unanswered = (pattern: string): SchemaIssue => ({
  path: "",
  message: `a text is too long to be searched for \`${pattern}\``,
});

let metaChecker: Ajv | undefined;

/** One breach for each place: ajv tells of each alternative that a value could have been. */
function metaFault(schema: JsonObject): string | undefined {
  metaChecker ??= newAjv();
  if (metaChecker.validateSchema(schema) === true) return undefined;
  const issues = issuesOf(metaChecker.errors ?? [], "the schema");
  const first = issues.filter(({ path }, index) => issues.findIndex((each) => each.path === path) === index);
  return first.map(({ message }) => message).join("; ");
}

function compileFault(schema: JsonObject): string | undefined {
  const ajv = newAjv();
  try {
    ajv.compile(schema)({});
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return "the schema refers to itself without end";
    return rewordCompileError(error, Object.keys(ajv.RULES.keywords));
  }
}

function newAjv(onOverlong: (pattern: string) => void = () => undefined): Ajv {
  const options: Options = {
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    // Its check would run the patterns with the native RegExp.
    allowMatchingProperties: true,
    verbose: true,
    ownProperties: true,
    logger: false,
    validateSchema: false,
    multipleOfPrecision: 9,
    formats,
    code: { regExp: patternEngine(onOverlong) },
  };
  const validate = (unique: boolean, list: readonly Json[]): boolean =>
    !unique || new Set(list.map((item) => canonicalJson(item))).size === list.length;
  // Its own compares every item with every other.
  const uniqueItems = { keyword: "uniqueItems", type: "array", schemaType: "boolean", validate } as const;
  return new Ajv(options).removeKeyword("uniqueItems").addKeyword({ ...uniqueItems, errors: false });
}

const isDraft07 = (schema: Json): boolean =>
  typeof schema === "string" && /^http:\/\/json-schema\.org\/draft-07\/schema#?$/.test(schema);

function holdsPrototype(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return Object.hasOwn(value, "__proto__") || Object.values(value).some((each: Json) => holdsPrototype(each));
}
