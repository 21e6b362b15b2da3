import type { ErrorObject } from "ajv";
import type { Json } from "../../model/json.js";
import type { Params } from "./schema-demands.js";
import { demand, got, quoted } from "./schema-demands.js";

/** Where a document does not fit its schema. */
export interface SchemaIssue {
  /** With dots; empty where it is the whole. */
  readonly path: string;
  readonly message: string;
  /** The path of a required property that is not there. */
  readonly missing?: string;
}

/** Nobody reads more about one document. */
const mostIssues = 100;

/** The errors of ajv in our words; `whole` is what the document is called. */
export function issuesOf(errors: readonly ErrorObject[], whole: string): readonly SchemaIssue[] {
  const alternatives = [...new Set(errors.filter(isComposite).map(({ schemaPath }) => `${schemaPath}/`))];
  const own = errors.filter((error) => !isEcho(error, alternatives));
  const told = own.slice(0, mostIssues).map((error) => issueOf(error, whole));
  if (own.length <= mostIssues) return told;
  return [...told, { path: "", message: `and ${own.length - mostIssues} more` }];
}

const isComposite = ({ keyword }: ErrorObject): boolean =>
  keyword === "anyOf" || keyword === "oneOf" || keyword === "contains";

/** What another error says already; what an alternative asks for is worth knowing all the same. */
function isEcho(
  { keyword, schemaPath, propertyName }: ErrorObject,
  alternatives: readonly string[],
): boolean {
  if (keyword === "if" || propertyName !== undefined) return true;
  return keyword !== "required" && alternatives.some((path) => schemaPath.startsWith(path));
}

function issueOf(error: ErrorObject, whole: string): SchemaIssue {
  const path = dotted(error.instancePath);
  const { missingProperty } = error.params as Partial<Params>;
  if (missingProperty === undefined) return { path, message: explain(error, path, whole) };
  const missing = path === "" ? missingProperty : `${path}.${missingProperty}`;
  return { path, message: explain(error, missing, whole), missing };
}

function dotted(pointer: string): string {
  const steps = pointer.split("/").slice(1);
  return steps.map((step) => step.replaceAll("~1", "/").replaceAll("~0", "~")).join(".");
}

function explain(error: ErrorObject, path: string, whole: string): string {
  const name = path === "" ? whole : quoted(path);
  const params = error.params as Params;
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
      return `${name} ${demand(error.keyword, params)} (got ${got(error.keyword, error.data as Json | undefined)})`;
  }
}
