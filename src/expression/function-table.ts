import { isList } from "./equal.js";
import { fail, typeName } from "./failure.js";
import { isUnambiguousPath } from "./file-path.js";
import { dateFunctions } from "./functions/dates.js";
import { listFunctions, lookupFunctions } from "./functions/lists.js";
import { financialFunctions, mathematicalFunctions } from "./functions/mathematics.js";
import { numberFunctions } from "./functions/numbers.js";
import { pathFunctions } from "./functions/paths.js";
import { placeFunctions } from "./functions/places.js";
import { statisticalFunctions } from "./functions/statistics.js";
import { textFunctions } from "./functions/texts.js";
import { parseInstant } from "./instant.js";
import { parseIsoDuration } from "./iso-duration.js";
import type { Pattern } from "./pattern.js";
import { textTooLongMessage } from "./pattern.js";
import { parsePlace, parsePolygon, placeDescription, polygonDescription } from "./place.js";
import type { CallNode } from "./syntax.js";
import type { Json } from "../model/json.js";

/** The type of an argument. An argument of another type fails the expression. */
export type ParameterType =
  | "any"
  | "text"
  | "number"
  | "list"
  | "text or list"
  | "number or list"
  | "date"
  | "duration"
  | "path"
  | "place"
  | "polygon";

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional?: true;
  /** Takes all remaining arguments; only the last parameter may. */
  readonly rest?: true;
}

/** The result for an operand that is missing, null or of the wrong type; `any` if every type is accepted. */
export interface BadOperandResults {
  readonly missing: string;
  readonly null: string;
  readonly mistyped: string;
}

export const allErrored: BadOperandResults = { missing: "errored", null: "errored", mistyped: "errored" };

/** A function of the language. Evaluation, checks and documentation are derived from its entry. */
export interface FunctionEntry {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly returns: "boolean" | "text" | "number" | "any";
  /** A missing path is passed as undefined instead of failing the expression. */
  readonly acceptsMissing?: true;
  /** For the first argument; default: all errored. */
  readonly badOperandResults?: BadOperandResults;
  readonly example: { readonly expression: string; readonly answer: Json };
  readonly run: (...args: never[]) => Json;
  /** Rounds a number as the results are rounded; absent: they are not. */
  readonly round?: (result: number) => number;
}

export const functionGroups = (): readonly {
  readonly title: string;
  readonly entries: readonly FunctionEntry[];
}[] => [
  { title: "Presence", entries: lookupFunctions() },
  { title: "Text", entries: textFunctions() },
  { title: "Paths (by their text alone: symbolic links are not followed)", entries: pathFunctions() },
  { title: "Lists", entries: listFunctions() },
  { title: "Numbers", entries: numberFunctions() },
  {
    title: "Mathematics (logarithms, angles and the like have 12 significant digits)",
    entries: mathematicalFunctions(),
  },
  { title: "Statistics", entries: statisticalFunctions() },
  { title: "Finance (a rate is a share, such as 0.05)", entries: financialFunctions() },
  {
    title: "Dates and durations (ISO 8601 text; a date alone is UTC, a time needs a zone)",
    entries: dateFunctions(),
  },
  { title: "Places", entries: placeFunctions() },
];

let table: ReadonlyMap<string, FunctionEntry> | undefined;

/** All functions by name. Built on first use: most expressions call no function. */
export const functionTable = (): ReadonlyMap<string, FunctionEntry> =>
  (table ??= new Map(
    functionGroups().flatMap((group) => group.entries.map((entry) => [entry.name, entry] as const)),
  ));

export function functionNamed(name: string): FunctionEntry {
  const entry = functionTable().get(name);
  if (entry === undefined) throw new Error(`there is no function \`${name}\``);
  return entry;
}

export const firstParameterType = ({ parameters: [first] }: FunctionEntry): ParameterType =>
  first?.type ?? "any";

/** Returns the signature for the help, such as `round(value, [digits])`. */
export function signature(entry: FunctionEntry): string {
  const parameters = entry.parameters.map((parameter) => {
    const name = parameter.rest ? `${parameter.name}…` : parameter.name;
    return parameter.optional ? `[${name}]` : name;
  });
  return `${entry.name}(${parameters.join(", ")})`;
}

type CheckedFunction = (...args: (Json | undefined)[]) => Json;

/** Returns the function that a node calls. An argument of the wrong type fails the expression. */
export function toCallable({ name, pattern }: CallNode): {
  readonly run: CheckedFunction;
  readonly acceptsMissing: boolean;
} {
  if (pattern !== undefined) return { run: (text) => search(pattern, text), acceptsMissing: false };
  const entry = functionTable().get(name);
  if (entry === undefined) throw new Error(`the parser accepted the unknown function \`${name}\``);
  return { run: withArgumentChecks(entry), acceptsMissing: entry.acceptsMissing ?? false };
}

function search(pattern: Pattern, text: Json | undefined): boolean {
  if (typeof text !== "string") fail(`\`~=\` and \`matches\` need text, got ${displayValue(text ?? null)}`);
  return pattern.test(text) ?? fail(textTooLongMessage);
}

function withArgumentChecks(entry: FunctionEntry): CheckedFunction {
  const run = entry.run as unknown as CheckedFunction;
  const { parameters } = entry;
  if (parameters.every((parameter) => parameter.type === "any")) return run;
  return (...args) => {
    for (let index = 0; index < args.length; index++) {
      const parameter = parameters[Math.min(index, parameters.length - 1)];
      const error = parameter && argumentError(entry.name, parameter, args[index] ?? null);
      if (error !== undefined) fail(error);
    }
    return run(...args);
  };
}

/** Returns why an argument is not accepted. */
export function argumentError(name: string, { type }: Parameter, value: Json): string | undefined {
  return matchesType(type, value)
    ? undefined
    : `\`${name}\` needs ${describeType(type)}, got ${displayValue(value)}`;
}

/** Returns short text itself, because the type alone does not explain an invalid date. */
function displayValue(value: Json): string {
  return typeof value === "string" && value.length < 40 ? JSON.stringify(value) : typeName(value);
}

export function matchesType(type: ParameterType, value: Json): boolean {
  switch (type) {
    case "any":
      return true;
    case "text":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "list":
      return isList(value);
    case "text or list":
      return typeof value === "string" || isList(value);
    case "number or list":
      return typeof value === "number" || isList(value);
    case "date":
      return typeof value === "string" && parseInstant(value) !== undefined;
    case "duration":
      return typeof value === "string" && parseIsoDuration(value) !== undefined;
    case "path":
      return typeof value === "string" && isUnambiguousPath(value);
    case "place":
      return parsePlace(value) !== undefined;
    case "polygon":
      return parsePolygon(value) !== undefined;
  }
}

export function describeType(type: ParameterType): string {
  switch (type) {
    case "number":
    case "list":
      return `a ${type}`;
    case "date":
      return "an ISO 8601 date (a time needs a zone)";
    case "duration":
      return "an ISO 8601 duration (such as PT8H)";
    case "path":
      return "a path (text without backslashes that is not a URL)";
    case "place":
      return `a place: ${placeDescription}`;
    case "polygon":
      return polygonDescription;
    case "any":
    case "text":
      return type;
    case "text or list":
      return "text or a list";
    case "number or list":
      return "a number or a list";
  }
}
