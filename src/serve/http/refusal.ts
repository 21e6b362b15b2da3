import type { Unauthenticated } from "../auth/authenticate.js";
import type { ProblemDocument } from "./problem.js";
import { problem } from "./problem.js";

/** A request that is not even looked at: who sends it, from where, or how often. */
export class Refusal extends Error {
  override readonly name = "Refusal";
  readonly document: ProblemDocument;
  readonly headers: Readonly<Record<string, string>>;

  constructor(document: ProblemDocument, headers: Readonly<Record<string, string>> = {}) {
    super(document.detail);
    this.document = document;
    this.headers = headers;
  }
}

/** As RFC 6750 has it: who brings no token is told only that one is wanted. */
export function unauthenticated({ status, error, message, hint }: Unauthenticated): Refusal {
  if (status === 503) {
    return new Refusal(problem(503, message, { code: "keys_unavailable", hint }), { "retry-after": "5" });
  }
  const challenge = `Bearer realm="agent-33"${error === undefined ? "" : `, error="${error}", error_description="${message}"`}`;
  return new Refusal(problem(401, message, { code: "unauthorized", hint }), {
    "www-authenticate": challenge,
  });
}

export function tooMany(what: string, seconds: number): Refusal {
  return new Refusal(
    problem(429, `too many requests ${what}`, {
      code: "too_many_requests",
      hint: `try again in ${seconds} s`,
    }),
    { "retry-after": String(seconds) },
  );
}

export const overloaded = (): Refusal =>
  new Refusal(
    problem(503, "too many requests are being answered", { code: "overloaded", hint: "try again in 1 s" }),
    { "retry-after": "1" },
  );
