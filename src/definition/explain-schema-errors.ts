import type { ErrorObject } from "ajv";
import type { Json } from "../model/json.js";
import type { Finding } from "./diagnostics.js";
import type { Path } from "./yaml-source.js";

/** An error of ajv, with the value that violates the schema. */
export interface SchemaError {
  readonly keyword: string;
  readonly schemaPath: string;
  readonly params: AjvParams;
  readonly path: Path;
  readonly value: unknown;
}

/** The parameters of ajv's errors; each keyword sets those that it has. */
export interface AjvParams {
  readonly type: string | readonly string[];
  readonly limit: number;
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

/** How one kind of document names its places and values. */
export interface SchemaWording {
  readonly objectName: "an object" | "a map";
  /** How many errors are explained; all, if absent. */
  readonly limit?: number;
  nameOf(path: Path): string;
  /** The value as it is shown after "got"; undefined: it is not shown. */
  describeValue(error: SchemaError): string | undefined;
  /** Replaces the general explanation of an error. */
  explain?(error: SchemaError): Finding | undefined;
  /** Replaces the general text of what a keyword requires. */
  requirement?(error: SchemaError): string | undefined;
  hint?(error: SchemaError): string | undefined;
  /** Whether another error already says the same. */
  isRedundant?(error: ErrorObject): boolean;
}

/** A finding about a schema, with the name of the required property that is missing, if any. */
export interface SchemaFinding extends Finding {
  readonly missing?: string;
}

/** Explains the errors of ajv about a document. */
export function explainSchemaErrors(
  errors: readonly ErrorObject[],
  document: unknown,
  wording: SchemaWording,
): readonly SchemaFinding[] {
  const relevant = relevantErrors(errors).filter((error) => wording.isRedundant?.(error) !== true);
  const { limit = relevant.length } = wording;
  const findings = relevant.slice(0, limit).map(({ keyword, schemaPath, params, instancePath }) => {
    const path = pathOf(instancePath, document);
    const value = valueAt(document, path);
    return explain({ keyword, schemaPath, params: params as AjvParams, path, value }, wording);
  });
  if (relevant.length <= limit) return findings;
  return [...findings, { path: [], message: `and ${relevant.length - limit} more` }];
}

/** Leaves out what another error already says. What an alternative requires is kept: it tells what to add. */
function relevantErrors(errors: readonly ErrorObject[]): readonly ErrorObject[] {
  const alternatives = [...new Set(errors.filter(isComposite).map(({ schemaPath }) => `${schemaPath}/`))];
  return errors.filter(({ keyword, schemaPath, propertyName }) => {
    if (keyword === "if" || propertyName !== undefined) return false;
    return keyword === "required" || !alternatives.some((path) => schemaPath.startsWith(path));
  });
}

const isComposite = ({ keyword }: ErrorObject): boolean =>
  keyword === "anyOf" || keyword === "oneOf" || keyword === "contains";

function explain(error: SchemaError, wording: SchemaWording): SchemaFinding {
  const { keyword, params, path } = error;
  const name = wording.nameOf(path);
  const special = wording.explain?.(error);
  if (special !== undefined) return special;
  switch (keyword) {
    case "required":
    case "dependencies": {
      const missing = params.missingProperty;
      const because = keyword === "dependencies" ? `, as ${quote(params.property)} is given` : "";
      return { path, message: `${wording.nameOf([...path, missing])} is missing${because}`, missing };
    }
    case "additionalProperties": {
      const where = path.length === 0 ? "" : ` in ${name}`;
      return { path, message: `unknown key ${quote(params.additionalProperty)}${where}` };
    }
    case "propertyNames":
      return { path, message: `${quote(params.propertyName)} is no key that ${name} may have` };
    case "false schema":
      return { path, message: `${name} is not allowed` };
    case "anyOf":
    case "oneOf":
      return {
        path,
        message: `${name} must fit ${keyword === "anyOf" ? "one" : "exactly one"} of the alternatives`,
      };
    case "not":
      return { path, message: `${name} is what the schema rules out` };
    default: {
      const requirement = wording.requirement?.(error) ?? describeRequirement(keyword, params, wording);
      const found = wording.describeValue(error);
      const got = found === undefined ? "" : ` (got ${found})`;
      return { path, message: `${name} ${requirement}${got}`, hint: wording.hint?.(error) };
    }
  }
}

const typeNames: Readonly<Record<string, string>> = {
  string: "text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  array: "a list",
};

const formatNames: Readonly<Record<string, string>> = {
  "date-time": "a time with a zone, as in 2026-03-02T12:00:00Z",
  date: "a date, as in 2026-03-02",
  email: "an e-mail address",
  uri: "a URI",
  uuid: "a UUID",
};

/** What a keyword of a schema requires of a value. */
function describeRequirement(keyword: string, params: AjvParams, { objectName }: SchemaWording): string {
  const { limit } = params;
  switch (keyword) {
    case "type": {
      const names = [params.type]
        .flat()
        .map((type) => (type === "object" ? objectName : (typeNames[type] ?? type)));
      return `must be ${names.join(" or ")}`;
    }
    case "enum":
      return `must be one of ${listValues(params.allowedValues)}`;
    case "const":
      return `must be ${quote(plainText(params.allowedValue))}`;
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
      return atLeast(limit, "characters");
    case "maxLength":
      return atMost(limit, "character");
    case "minItems":
      return atLeast(limit, "items");
    case "maxItems":
    case "additionalItems":
      return atMost(limit, "item");
    case "minProperties":
      return atLeast(limit, "keys");
    case "maxProperties":
      return atMost(limit, "key");
    case "uniqueItems":
      return "must not hold anything twice";
    case "contains":
      return "must hold an item that fits";
    case "pattern":
      return `must match ${quote(params.pattern)}`;
    case "format":
      return `must be ${formatNames[params.format] ?? params.format}`;
    default:
      return `does not fit \`${keyword}\``;
  }
}

const atLeast = (limit: number, things: string): string =>
  limit === 1 ? "must not be empty" : `must have at least ${limit} ${things}`;

const atMost = (limit: number, thing: string): string =>
  `must have at most ${limit} ${thing}${limit === 1 ? "" : "s"}`;

/** The longest name or value that messages show. */
export const maxShownLength = 60;
const maxListed = 10;

export function quote(name: string): string {
  return name.length <= maxShownLength ? `\`${name}\`` : `\`${name.slice(0, maxShownLength - 1)}…\``;
}

export function listValues(values: readonly Json[]): string {
  const shown = values.slice(0, maxListed).map((value) => quote(plainText(value)));
  return [...shown, ...(values.length > maxListed ? ["…"] : [])].join(", ");
}

const plainText = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

/** Splits a JSON pointer of ajv; the steps into lists become numbers, as the YAML parser expects them. */
export function pathOf(pointer: string, document: unknown): Path {
  const path: (string | number)[] = [];
  let at = document;
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
