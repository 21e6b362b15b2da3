import type { Json } from "../model/json.js";

/**
 * Why an expression has no answer. It is thrown inside a running expression but is no `Error`:
 * taking a stack trace for each missing path would cost more than the evaluation.
 */
export class Failure {
  readonly message: string;

  constructor(message: string) {
    this.message = message;
  }
}

export function fail(message: string): never {
  // eslint-disable-next-line @typescript-eslint/only-throw-error -- see Failure
  throw new Failure(message);
}

/** What a value is called in messages and in the documentation of the language. */
export function typeName(value: Json | undefined): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "a list";
  switch (typeof value) {
    case "string":
      return "text";
    case "number":
      return "a number";
    case "boolean":
      return "true or false";
    default:
      return "an object";
  }
}
