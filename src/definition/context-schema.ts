import type { Options, ValidateFunction } from "ajv";
import { Ajv } from "ajv";
import type { SchemaFinding, SchemaWording } from "./explain-schema-errors.js";
import { explainSchemaErrors, listValues, maxShownLength, quote } from "./explain-schema-errors.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { typeName } from "../expression/failure.js";
import { parseInstant } from "../expression/instant.js";
import { compilePattern } from "../expression/pattern.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";
import { isObject } from "../expression/equal.js";

/** A place where a document violates its schema. */
export interface SchemaViolation {
  /** Keys joined by dots; empty for the whole document. */
  readonly path: string;
  readonly message: string;
  /** The path of the required property that is missing. */
  readonly missing?: string;
}

/** Returns the violations of a context; never throws. */
export type ContextValidator = (context: JsonObject) => readonly SchemaViolation[];

/**
 * Compiles a JSON Schema (draft-07); throws if `invalidSchemaReason` returns a reason. `documentName` is the name of
 * the document in messages.
 */
export function compileContextSchema(schema: JsonObject, documentName = "the context"): ContextValidator {
  const overlong = new Set<string>();
  const wording = contextWording(documentName);
  let compiled: ValidateFunction | undefined;
  let contexts = 0;
  return (context) => {
    if (compiled === undefined && ++contexts <= maxWithoutAjv && fitsSurely(schema, context)) return [];
    // Adding the schema of schemas takes as long as compiling most others, and its formats keep others from using it.
    const validate = (compiled ??= newAjv({
      meta: false,
      onOverlong: (pattern) => overlong.add(pattern),
    }).compile(schema));
    overlong.clear();
    const violations = catchStackOverflow(() =>
      validate(context) ? [] : toViolations(explainSchemaErrors(validate.errors ?? [], context, wording)),
    );
    return [...violations, ...Array.from(overlong, overlongViolation)];
  };
}

/**
 * How many contexts may be checked without ajv. Loading it and compiling a schema takes 7 ms, a seventh of the bench row
 * `gate`; checks with it are faster, which matters for many contexts.
 */
const maxWithoutAjv = 20;

/**
 * Whether a value certainly fits a schema. False: it may not fit, or the schema has a keyword that only ajv knows, so
 * that a mistake here could at most cost time.
 */
function fitsSurely(schema: unknown, value: Json): boolean {
  if (!isObject(schema)) return schema === true;
  return Object.entries(schema).every(([keyword, expected]) => fitsKeyword(keyword, expected, value, schema));
}

function fitsKeyword(keyword: string, expected: unknown, value: Json, schema: JsonObject): boolean {
  switch (keyword) {
    case "$schema":
    case "title":
    case "description":
    case "$comment":
    case "examples":
    case "default":
      return true;
    case "type":
      return (Array.isArray(expected) ? expected : [expected]).some((type) => hasType(value, type));
    case "enum":
      return !isCompound(value) && Array.isArray(expected) && expected.includes(value);
    case "const":
      return !isCompound(value) && expected === value;
    case "minimum":
      return typeof value !== "number" || value >= Number(expected);
    case "maximum":
      return typeof value !== "number" || value <= Number(expected);
    case "exclusiveMinimum":
      return typeof value !== "number" || value > Number(expected);
    case "exclusiveMaximum":
      return typeof value !== "number" || value < Number(expected);
    case "minLength":
      // Characters are counted; each has one or two units of UTF-16.
      return typeof value !== "string" || Math.ceil(value.length / 2) >= Number(expected);
    case "maxLength":
      return typeof value !== "string" || value.length <= Number(expected);
    case "required":
      return !isObject(value) || (expected as readonly string[]).every((key) => Object.hasOwn(value, key));
    case "properties":
      return (
        !isObject(value) ||
        Object.entries(expected as JsonObject).every(
          ([key, inner]) => !Object.hasOwn(value, key) || fitsSurely(inner, value[key] ?? null),
        )
      );
    case "additionalProperties": {
      if (!isObject(value) || expected === true) return true;
      const known = schema["patternProperties"] === undefined ? (schema["properties"] ?? {}) : {};
      return expected === false && Object.keys(value).every((key) => Object.hasOwn(known as JsonObject, key));
    }
    case "items":
      return !Array.isArray(value) || (value as readonly Json[]).every((item) => fitsSurely(expected, item));
    case "minItems":
      return !Array.isArray(value) || value.length >= Number(expected);
    case "maxItems":
      return !Array.isArray(value) || value.length <= Number(expected);
    default:
      return false;
  }
}

const isCompound = (value: Json): boolean => typeof value === "object" && value !== null;

function hasType(value: Json, type: unknown): boolean {
  switch (type) {
    case "object":
      return isObject(value);
    case "array":
      return Array.isArray(value);
    case "null":
      return value === null;
    case "integer":
      return Number.isInteger(value);
    case "string":
    case "number":
    case "boolean":
      return typeof value === type;
    default:
      return false;
  }
}

/** Returns what is wrong with a schema itself. */
export function invalidSchemaReason(schema: unknown): string | undefined {
  if (!isObject(schema)) {
    return `the schema must be an object (got ${typeName(schema as Json)})`;
  }
  const { $schema, $async } = schema;
  if ($schema !== undefined && !isDraft07($schema))
    return "`$schema` must be `http://json-schema.org/draft-07/schema#`";
  if ($async !== undefined) return "unknown keyword `$async`";
  if (containsProtoKey(schema)) return "`__proto__` cannot be a key of the schema";
  return metaSchemaError(schema) ?? compileError(schema);
}

const maxViolations = 100;

/** Replays compare these texts with recorded ones, so that a changed text makes an old record differ. */
const contextWording = (documentName: string): SchemaWording => ({
  objectName: "an object",
  limit: maxViolations,
  nameOf: (path) => (path.length === 0 ? documentName : quote(path.join("."))),
  describeValue({ keyword, value }) {
    if (typeof value === "object" || value === undefined) return typeName(value as Json | undefined);
    if (keyword === "type" && typeof value !== "number") return typeName(value as Json);
    const text = JSON.stringify(value);
    if (text.length <= maxShownLength) return text;
    return `text of ${typeof value === "string" ? value.length : text.length} characters`;
  },
});

const toViolations = (findings: readonly SchemaFinding[]): readonly SchemaViolation[] =>
  findings.map(({ path, message, missing }) => ({
    path: path.join("."),
    message,
    ...(missing !== undefined && { missing: [...path, missing].join(".") }),
  }));

/** A schema that refers to itself endlessly and a context that is nested too deeply overflow the stack. */
function catchStackOverflow(check: () => readonly SchemaViolation[]): readonly SchemaViolation[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: "", message: "the context is nested too deeply to be checked" }];
  }
}

/** A text that is too long counts as not matching, which under `not` would let it pass. */
const overlongViolation = (pattern: string): SchemaViolation => ({
  path: "",
  message: `a text is too long to be searched for \`${pattern}\``,
});

/** Compiled once: the schema of schemas is large. */
let metaSchemaAjv: Ajv | undefined;

/** Explains one error for each place: ajv reports every alternative that a value could have been. */
function metaSchemaError(schema: JsonObject): string | undefined {
  metaSchemaAjv ??= newAjv();
  if (metaSchemaAjv.validateSchema(schema) === true) return undefined;
  const wording = contextWording("the schema");
  const violations = toViolations(explainSchemaErrors(metaSchemaAjv.errors ?? [], schema, wording));
  const places = new Set<string>();
  const first = violations.filter(({ path }) => !places.has(path) && places.add(path));
  return first.map(({ message }) => message).join("; ");
}

function compileError(schema: JsonObject): string | undefined {
  const ajv = newAjv();
  try {
    ajv.compile(schema)({});
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return "the schema refers to itself endlessly";
    return explainCompileError(error, Object.keys(ajv.RULES.keywords));
  }
}

interface AjvOptions {
  /** Whether it knows the schema of schemas. */
  readonly meta?: boolean;
  readonly onOverlong?: (pattern: string) => void;
}

function newAjv({ meta = true, onOverlong = () => undefined }: AjvOptions = {}): Ajv {
  const options: Options = {
    meta,
    allErrors: true,
    strict: true,
    strictTypes: false,
    strictRequired: false,
    strictTuples: false,
    // The check of ajv would run the patterns with the native RegExp.
    allowMatchingProperties: true,
    ownProperties: true,
    logger: false,
    validateSchema: false,
    multipleOfPrecision: 9,
    formats,
    code: { regExp: patternEngine(onOverlong) },
  };
  const validate = (unique: boolean, list: readonly Json[]): boolean =>
    !unique || new Set(list.map((item) => canonicalJson(item))).size === list.length;
  // The one of ajv compares every item with every other.
  const uniqueItems = { keyword: "uniqueItems", type: "array", schemaType: "boolean", validate } as const;
  return new Ajv(options).removeKeyword("uniqueItems").addKeyword({ ...uniqueItems, errors: false });
}

const isDraft07 = (schema: Json): boolean =>
  typeof schema === "string" && /^http:\/\/json-schema\.org\/draft-07\/schema#?$/.test(schema);

function containsProtoKey(value: Json): boolean {
  if (typeof value !== "object" || value === null) return false;
  return (
    Object.hasOwn(value, "__proto__") || Object.values(value).some((each: Json) => containsProtoKey(each))
  );
}

const day = /^\d{4}-\d{2}-\d{2}$/;
const email = /^[^\s@]+@[^\s@.]+(?:\.[^\s@.]+)+$/;
const uri = /^[A-Za-z][A-Za-z0-9+.-]*:[^\s<>"{}|\\^`]+$/;
const uuid = /^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$/i;

/** The supported formats; each checks a text in linear time. */
const formats = {
  "date-time": (text: string): boolean => !day.test(text) && parseInstant(text) !== undefined,
  date: (text: string): boolean => day.test(text) && parseInstant(text) !== undefined,
  email: (text: string): boolean => email.test(text),
  uri: (text: string): boolean => uri.test(text),
  uuid: (text: string): boolean => uuid.test(text),
} as const;

/** The part of a RegExp that ajv uses; it distinguishes two patterns by their `toString`. */
interface Matcher {
  test(text: string): boolean;
  toString(): string;
}

interface PatternEngine {
  (source: string): Matcher;
  /** ajv needs it only for validators that are written to a file. */
  readonly code: string;
}

/** Lets ajv run patterns in linear time. A text that is too long does not match, and is reported. */
function patternEngine(onOverlong: (source: string) => void): PatternEngine {
  return Object.assign((source: string) => matcher(source, onOverlong), { code: "undefined" });
}

function matcher(source: string, onOverlong: (source: string) => void): Matcher {
  const pattern = compilePattern(source);
  if (typeof pattern === "string") throw new Error(`\`${source}\` is not a supported pattern: ${pattern}`);
  return {
    test(text) {
      const found = pattern.test(text);
      if (found === undefined) onOverlong(source);
      return found === true;
    },
    toString: () => source,
  };
}

/** Explains why ajv rejects a schema. */
function explainCompileError(error: unknown, keywords: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const keyword = /unknown keyword: "(.+)"/.exec(text)?.[1];
  if (keyword !== undefined) {
    const hint = didYouMean(keyword, keywords);
    return `unknown keyword \`${keyword}\`${hint === undefined ? "" : `, ${hint}`}`;
  }
  const format = /^unknown format "(.+)" ignored/.exec(text)?.[1];
  if (format !== undefined)
    return `unknown format \`${format}\`, supported are ${listValues(Object.keys(formats))}`;
  const reference = /^can't resolve reference (.+) from id/.exec(text)?.[1];
  if (reference !== undefined)
    return `\`$ref: ${reference}\` cannot be resolved: it must refer to a part of the schema`;
  return text.replace(/^strict mode: /, "").replace(/"([^"]*)"/g, "`$1`");
}
