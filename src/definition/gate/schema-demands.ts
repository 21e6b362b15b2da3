import { typeName } from "../../expression/failure.js";
import type { Json } from "../../model/json.js";

/** What ajv says beside its sentences, of those keywords that say something. */
export interface Params {
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

const longestShown = 60;
const mostListed = 10;

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
export function demand(keyword: string, params: Params): string {
  const { limit } = params;
  switch (keyword) {
    case "type":
      return `must be ${[params.type].flat().map(typeWord).join(" or ")}`;
    case "enum":
      return `must be one of ${listed(params.allowedValues)}`;
    case "const":
      return `must be ${quoted(plain(params.allowedValue))}`;
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
      return `must have at most ${counted(limit, "character")}`;
    case "minItems":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} items`;
    case "maxItems":
    case "additionalItems":
      return `must have at most ${counted(limit, "item")}`;
    case "minProperties":
      return limit === 1 ? "must not be empty" : `must have at least ${limit} keys`;
    case "maxProperties":
      return `must have at most ${counted(limit, "key")}`;
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
export function got(keyword: string, value: Json | undefined): string {
  if (typeof value === "object" || value === undefined) return typeName(value);
  if (keyword === "type" && typeof value !== "number") return typeName(value);
  const text = JSON.stringify(value);
  return text.length <= longestShown ? text : `text of ${String(value).length} characters`;
}

export function quoted(name: string): string {
  return name.length <= longestShown ? `\`${name}\`` : `\`${name.slice(0, longestShown - 1)}…\``;
}

function listed(values: readonly Json[]): string {
  const shown = values.slice(0, mostListed).map((value) => quoted(plain(value)));
  return [...shown, ...(values.length > mostListed ? ["…"] : [])].join(", ");
}

const typeWord = (type: string): string => typeWords[type] ?? type;

const plain = (value: Json): string => (typeof value === "string" ? value : JSON.stringify(value));

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;
