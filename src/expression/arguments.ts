import type { Json } from "../model/json.js";
import { isList } from "./equal.js";
import { fail, typeName } from "./failure.js";
import type { FunctionEntry, Parameter, ParameterType } from "./function-table.js";
import { parseInstant } from "./instant.js";

type Run = (...args: (Json | undefined)[]) => Json;

/** The function as expressions call it: wrong arguments make the expression errored. */
export function checked(entry: FunctionEntry): Run {
  const run = entry.run as unknown as Run;
  const { parameters } = entry;
  if (parameters.every((parameter) => parameter.type === "any")) return run;
  return (...args) => {
    for (let index = 0; index < args.length; index++) {
      const parameter = parameters[Math.min(index, parameters.length - 1)];
      if (parameter !== undefined) check(entry.name, parameter, args[index] ?? null);
    }
    return run(...args);
  };
}

function check(name: string, { type }: Parameter, value: Json): void {
  if (!fits(type, value)) fail(`\`${name}\` needs ${describe(type)}, got ${shown(value)}`);
}

/** A date that is none is text as well, so it is shown itself. */
function shown(value: Json): string {
  return typeof value === "string" && value.length < 40 ? JSON.stringify(value) : typeName(value);
}

function fits(type: ParameterType, value: Json): boolean {
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

function describe(type: ParameterType): string {
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
