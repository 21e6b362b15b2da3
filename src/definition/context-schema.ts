import type { Options } from "ajv";
import { Ajv } from "ajv";
import type { SchemaIssue } from "./explain-schema-errors.js";
import { explainViolations } from "./explain-schema-errors.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { typeName } from "../expression/failure.js";
import { parseInstant } from "../expression/instant.js";
import { compilePattern } from "../expression/pattern.js";
import type { Json, JsonObject } from "../model/json.js";
import { didYouMean } from "../text.js";

export type { SchemaIssue };

/** Tells where a context does not fit; never throws. */
export type ContextValidator = (context: JsonObject) => readonly SchemaIssue[];

/**
 * Makes a JSON Schema (draft-07) ready to run; throws where `contextSchemaFault` finds fault with it. `whole` is
 * what the document is called.
 */
export function compileContextSchema(schema: JsonObject, whole = "the context"): ContextValidator {
  const overlong = new Set<string>();
  const validate = newAjv((pattern) => overlong.add(pattern)).compile(schema);
  return (context) => {
    overlong.clear();
    const issues = checkWithoutOverflow(() =>
      validate(context) ? [] : explainViolations(validate.errors ?? [], whole),
    );
    if (overlong.size === 0) return issues;
    return [...issues, ...Array.from(overlong, overlongText)];
  };
}

/** What is wrong with a schema itself. */
export function invalidSchemaReason(schema: unknown): string | undefined {
  if (typeof schema !== "object" || schema === null || Array.isArray(schema)) {
    return `the schema must be an object (got ${typeName(schema as Json)})`;
  }
  const { $schema, $async } = schema as JsonObject;
  if ($schema !== undefined && !isDraft07($schema)) return "`$schema` must be that of draft-07";
  if ($async !== undefined) return "unknown keyword `$async`";
  if (containsProtoKey(schema as JsonObject)) return "`__proto__` cannot be a key of the schema";
  return metaSchemaError(schema as JsonObject) ?? compileError(schema as JsonObject);
}

/** A schema that refers to itself without end, and a context nested beyond all measure, overflow the stack. */
function checkWithoutOverflow(check: () => readonly SchemaIssue[]): readonly SchemaIssue[] {
  try {
    return check();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    return [{ path: "", message: "the context is nested too deeply to be checked" }];
  }
}

/** A pattern counts as not matching then, which under `not` would let the text pass. */
const overlongText = (pattern: string): SchemaIssue => ({
  path: "",
  message: `a text is too long to be searched for \`${pattern}\``,
});

let metaChecker: Ajv | undefined;

/** One breach for each place: ajv tells of each alternative that a value could have been. */
function metaSchemaError(schema: JsonObject): string | undefined {
  metaChecker ??= newAjv();
  if (metaChecker.validateSchema(schema) === true) return undefined;
  const issues = explainViolations(metaChecker.errors ?? [], "the schema");
  const first = issues.filter(({ path }, index) => issues.findIndex((each) => each.path === path) === index);
  return first.map(({ message }) => message).join("; ");
}

function compileError(schema: JsonObject): string | undefined {
  const ajv = newAjv();
  try {
    ajv.compile(schema)({});
    return undefined;
  } catch (error) {
    if (error instanceof RangeError) return "the schema refers to itself without end";
    return explainCompileError(error, Object.keys(ajv.RULES.keywords));
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

/** The formats that a schema may ask for; each looks at a text in linear time. */
const formats = {
  "date-time": (text: string): boolean => !day.test(text) && parseInstant(text) !== undefined,
  date: (text: string): boolean => day.test(text) && parseInstant(text) !== undefined,
  email: (text: string): boolean => email.test(text),
  uri: (text: string): boolean => uri.test(text),
  uuid: (text: string): boolean => uuid.test(text),
} as const;

/** What ajv takes for a RegExp; it keeps two apart by their `toString`. */
interface Matcher {
  test(text: string): boolean;
  toString(): string;
}

interface PatternEngine {
  (source: string): Matcher;
  /** Only for validators that are written to a file. */
  readonly code: string;
}

/** Lets ajv run patterns in linear time. A text that is too long does not match, and is told of. */
function patternEngine(onOverlong: (source: string) => void): PatternEngine {
  return Object.assign((source: string) => matcher(source, onOverlong), { code: "undefined" });
}

function matcher(source: string, onOverlong: (source: string) => void): Matcher {
  const pattern = compilePattern(source);
  if (typeof pattern === "string") throw new Error(`\`${source}\` is no usable pattern: ${pattern}`);
  return {
    test(text) {
      const found = pattern.test(text);
      if (found === undefined) onOverlong(source);
      return found === true;
    },
    toString: () => source,
  };
}

/** Why ajv refuses a schema, in our words. */
function explainCompileError(error: unknown, keywords: readonly string[]): string {
  const text = error instanceof Error ? error.message : String(error);
  const keyword = /unknown keyword: "(.+)"/.exec(text)?.[1];
  if (keyword !== undefined) {
    const hint = didYouMean(keyword, keywords);
    return `unknown keyword \`${keyword}\`${hint === undefined ? "" : `, ${hint}`}`;
  }
  const format = /^unknown format "(.+)" ignored/.exec(text)?.[1];
  if (format !== undefined)
    return `unknown format \`${format}\`, known are ${listFormats(Object.keys(formats))}`;
  const reference = /^can't resolve reference (.+) from id/.exec(text)?.[1];
  if (reference !== undefined) return `\`$ref: ${reference}\` leads nowhere: it must lead within the schema`;
  return text.replace(/^strict mode: /, "").replace(/"([^"]*)"/g, "`$1`");
}

const listFormats = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(", ");
