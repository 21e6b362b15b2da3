import type { ErrorObject } from "ajv";
import { typeName } from "../expression/failure.js";
import type { Json } from "../model/json.js";
import type { Path } from "./yaml-source.js";

/** Where a document does not fit its schema. */
export interface SchemaIssue {
  /** With dots; empty where it is the whole. */
  readonly path: string;
  readonly message: string;
  /** The path of a required property that is not there. */
  readonly missing?: string;
}

/** Nobody reads more about one document. */
const maxViolations = 100;

/** The errors of ajv in our words; `whole` is what the document is called. */
export function explainViolations(errors: readonly ErrorObject[], whole: string): readonly SchemaIssue[] {
  const alternatives = [...new Set(errors.filter(isComposite).map(({ schemaPath }) => `${schemaPath}/`))];
  const own = errors.filter((error) => !isRedundant(error, alternatives));
  const told = own.slice(0, maxViolations).map((error) => toViolation(error, whole));
  if (own.length <= maxViolations) return told;
  return [...told, { path: "", message: `and ${own.length - maxViolations} more` }];
}

const isComposite = ({ keyword }: ErrorObject): boolean =>
  keyword === "anyOf" || keyword === "oneOf" || keyword === "contains";

/** What another error says already; what an alternative asks for is worth knowing all the same. */
function isRedundant(
  { keyword, schemaPath, propertyName }: ErrorObject,
  alternatives: readonly string[],
): boolean {
  if (keyword === "if" || propertyName !== undefined) return true;
  return keyword !== "required" && alternatives.some((path) => schemaPath.startsWith(path));
}

function toViolation(error: ErrorObject, whole: string): SchemaIssue {
  const path = dottedPath(error.instancePath);
  const { missingProperty } = error.params as Partial<AjvParams>;
  if (missingProperty === undefined) return { path, message: explain(error, path, whole) };
  const missing = path === "" ? missingProperty : `${path}.${missingProperty}`;
  return { path, message: explain(error, missing, whole), missing };
}

function dottedPath(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

function explain(error: ErrorObject, path: string, whole: string): string {
  const name = path === "" ? whole : quoted(path);
  const params = error.params as AjvParams;
  switch (error.keyword) {
    case "required":
      return `${name} is missing`;
    case "dependencies":
      return `${name} is missing, as ${quoted(params.property)} is given`;
    case "additionalProperties":
      return `unknown key ${quoted(params.additionalProperty)}${path === "" ? "" : ` in ${name}`}`;
    case "propertyNames":
      return `${quoted(params.propertyName)} is no key that ${name} may have`;
    case "false schema":
      return `${name} is not allowed`;
    case "anyOf":
    case "oneOf":
      return `${name} must fit ${error.keyword === "anyOf" ? "one" : "exactly one"} of the alternatives`;
    case "not":
      return `${name} is what the schema rules out`;
    default:
      return `${name} ${describeRequirement(error.keyword, params)} (got ${describeFound(error.keyword, error.data as Json | undefined)})`;
  }
}

/** What ajv says beside its sentences, of those keywords that say something. */
interface AjvParams {
  readonly type: string | readonly string[];
  readonly limit: number;
  readonly comparison: string;
  readonly multipleOf: number;
  readonly missingProperty: string;
  readonly additionalProperty: string;
  readonly propertyName: string;
  readonly property: string;
  readonly allowedValues: readonly Json[];
  readonly allowedValue: Json;
  readonly pattern: string;
  readonly format: string;
}

const maxShownLength = 60;
const maxListed = 10;

const typeWords: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
  object: "an object",
};

const formatWords: Readonly<Record<string, string>> = {
  "date-time": "a time with a zone, as in 2026-03-02T12:00:00Z",
  date: "a date, as in 2026-03-02",
  email: "an e-mail address",
  uri: "a URI",
  uuid: "a UUID",
};

/** What a keyword of a schema asks of a value. */
function describeRequirement(keyword: string, params: AjvParams): string {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `must be ${[params.type].flat().map(typeWord).join(" or ")}`;
    case "enum":
      return `must be one of ${listValues(params.allowedValues)}`;
    case "const":
      return `must be ${quoted(plainText(params.allowedValue))}`;
    case "minimum":
      return `must be at least ${limit}`;
    case "maximum":
      return `must be at most ${limit}`;
    case "exclusiveMinimum":
      return `must be more than ${limit}`;
    case "exclusiveMaximum":
      return `must be less than ${limit}`;
    case "multipleOf":
      return `must be a multiple of ${params.multipleOf}`;
    case "minLength":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} characters`;
    case "maxLength":
      return `must have at most ${countOf(limit, "character")}`;
    case "minItems":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} items`;
    case "maxItems":
    case "additionalItems":
      return `must have at most ${countOf(limit, "item")}`;
    case "minProperties":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} keys`;
    case "maxProperties":
      return `must have at most ${countOf(limit, "key")}`;
    case "uniqueItems":
      return "must not hold anything twice";
    case "contains":
      return "must hold an item that fits";
    case "pattern":
      return `must match ${quoted(params.pattern)}`;
    case "format":
      return `must be ${formatWords[params.format] ?? params.format}`;
    default:
      return `does not fit \`${keyword}\``;
  }
}

/** What was found instead: the value, unless it is long. */
function describeFound(keyword: string, value: Json | undefined): string {
  if (typeof value === "object" || value === undefined) return typeName(value);
  if (keyword === "type" && typeof value !== "number") return typeName(value);
  const text = JSON.stringify(value);
  return text.length <= maxShownLength ? text : `text of ${String(value).length} characters`;
}

function quoted(name: string): string {
  return name.length <= maxShownLength ? `\`${name}\`` : `\`${name.slice(0, maxShownLength - 1)}…\``;
}

function listValues(values: readonly Json[]): string {
  const shown = values.slice(0, maxListed).map((value) => quoted(plainText(value)));
  return [...shown, ...(values.length > maxListed ? ["…"] : [])].join(", ");
}

const typeWord = (type: string): string => typeWords[type] ?? type;

const plainText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

/** ajv writes positions in lists as text; YAML nodes are asked for by number. */
export function pathOf(pointer: string, value: unknown): Path {
  const path: (string | number)[] = [];
  let at = value;
  for (const step of pointer.split("/").slice(1)) {
    const key = step.replaceAll("~1", "/").replaceAll("~0", "~");
    path.push(Array.isArray(at) ? Number(key) : key);
    at = (at as Record<string, unknown>)[key];
  }
  return path;
}

export function valueAt(value: unknown, path: Path): unknown {
  return path.reduce<unknown>((at, key) => (at as Record<string, unknown> | undefined)?.[key], value);
}

export function textAt(value: unknown, path: Path): string {
  const found = valueAt(value, path);
  return typeof found === "string" ? found : "";
}

export function describeValue(value: unknown): string {
  if (value === undefined) return "nothing";
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : "a list";
  if (typeof value === "object" && value !== null) return "a map";
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  const text = JSON.stringify(value);
  return text.length > 60 ? `${text.slice(0, 59)}…` : text;
}

export function typePhrase(type: string): string {
  return (
    {
      string: "text",
      object: "a map",
      array: "a list",
      number: "a number",
      integer: "a whole number",
      boolean: "true or false",
    }[type] ?? type
  );
}

export function listNames(words: readonly string[]): string {
  return words.map((word) => `\`${word}\``).join(", ");
}
