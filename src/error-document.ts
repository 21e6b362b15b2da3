import type { DecisionError } from "./errors.js";

/** An error as JSON carries it. */
export interface ErrorDocument {
  readonly error: {
    readonly code: string;
    readonly message: string;
    readonly hint?: string;
    readonly details?: unknown;
  };
}

export function errorDocument({ code, message, hint, details }: DecisionError): ErrorDocument {
  return {
    error: { code, message, ...(hint !== undefined && { hint }), ...(details !== undefined && { details }) },
  };
}
