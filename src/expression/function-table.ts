import type { Json } from "../model/json.js";
import { dateFunctions } from "./functions/dates.js";
import { listFunctions } from "./functions/lists.js";
import { lookupFunctions } from "./functions/lookup.js";
import { numberFunctions } from "./functions/numbers.js";
import { textFunctions } from "./functions/texts.js";

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
export interface Answers {
  readonly missing: string;
  readonly null: string;
  readonly mistyped: string;
}

export const allErrored: Answers = { missing: "errored", null: "errored", mistyped: "errored" };

/** One function of the language: registered, checked and documented from this one place. */
export interface FunctionEntry {
  readonly name: string;
  readonly summary: string;
  readonly parameters: readonly Parameter[];
  readonly returns: "boolean" | "text" | "number" | "any";
  /** A path that is missing arrives as undefined instead of failing the expression. */
  readonly acceptsMissing?: true;
  /** For its first argument; all errored where nothing is said. */
  readonly answers?: Answers;
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
