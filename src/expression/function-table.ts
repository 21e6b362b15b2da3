import { isList } from "./equal.js";
import { fail, typeName } from "./failure.js";
import { dateFunctions } from "./functions/dates.js";
import { listFunctions, lookupFunctions } from "./functions/lists.js";
import { numberFunctions } from "./functions/numbers.js";
import { textFunctions } from "./functions/texts.js";
import { parseInstant } from "./instant.js";
import type { Json } from "../model/json.js";

/** What an argument must be; anything else makes the expression errored. */
export type ParameterType = "any" | "text" | "number" | "list" | "text or list" | "number or list" | "date";

export interface Parameter {
  readonly name: string;
  readonly type: ParameterType;
  readonly optional?: true;
  /** Takes all that is left; only the last one may. */
  readonly rest?: true;
}

/** What comes of an operand that is missing, null or of the wrong type; `any` where no type is wrong. */
export interface BadOperandResults {
  readonly missing: string;
  readonly null: string;
  readonly mistyped: string;
}

export const allErrored: BadOperandResults = { missing: "errored", null: "errored", mistyped: "errored" };

/** One function of the language: registered, checked and documented from this one place. */
export interface FunctionEntry {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly returns: "boolean" | "text" | "number" | "any";
  /** A path that is missing arrives as undefined instead of failing the expression. */
  readonly acceptsMissing?: true;
  /** For its first argument; all errored where nothing is said. */
  readonly badOperandResults?: BadOperandResults;
  readonly example: { readonly expression: string; readonly answer: Json };
  readonly run: (...args: never[]) => Json;
}

export const functionGroups: readonly {
  readonly title: string;
  readonly entries: readonly FunctionEntry[];
}[] = [
  { title: "Presence", entries: lookupFunctions },
  { title: "Text", entries: textFunctions },
  { title: "Lists", entries: listFunctions },
  { title: "Numbers", entries: numberFunctions },
  { title: "Dates (ISO 8601 text; a date alone is UTC, a time needs a zone)", entries: dateFunctions },
];

export const functionTable: ReadonlyMap<string, FunctionEntry> = new Map(
  functionGroups.flatMap((group) => group.entries.map((entry) => [entry.name, entry] as const)),
);

/** `round(value, [digits])`, as the help prints it. */
export function signature(entry: FunctionEntry): string {
  const parameters = entry.parameters.map((parameter) => {
    const name = parameter.rest ? `${parameter.name}…` : parameter.name;
    return parameter.optional ? `[${name}]` : name;
  });
  return `${entry.name}(${parameters.join(", ")})`;
}

type CheckedFunction = (...args: (Json | undefined)[]) => Json;

/** The function as expressions call it: wrong arguments make the expression errored. */
export function withArgumentChecks(entry: FunctionEntry): CheckedFunction {
  const run = entry.run as unknown as CheckedFunction;
  const { parameters } = entry;
  if (parameters.every((parameter) => parameter.type === "any")) return run;
  return (...args) => {
    for (let index = 0; index < args.length; index++) {
      const parameter = parameters[Math.min(index, parameters.length - 1)];
      if (parameter !== undefined) checkArgument(entry.name, parameter, args[index] ?? null);
    }
    return run(...args);
  };
}

function checkArgument(name: string, { type }: Parameter, value: Json): void {
  if (!matchesType(type, value)) fail(`\`${name}\` needs ${describeType(type)}, got ${displayValue(value)}`);
}

/** A date that is none is text as well, so it is shown itself. */
function displayValue(value: Json): string {
  return typeof value === "string" && value.length < 40 ? JSON.stringify(value) : typeName(value);
}

function matchesType(type: ParameterType, value: Json): boolean {
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
  }
}

function describeType(type: ParameterType): string {
  switch (type) {
    case "number":
    case "list":
      return `a ${type}`;
    case "date":
      return "an ISO 8601 date (a time needs a zone)";
    default:
      return type;
  }
}
