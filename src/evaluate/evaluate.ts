import { DecisionError } from "../errors.js";
import { Failure } from "../expression/failure.js";
import type { Template } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Json } from "../model/json.js";
import type { Scope } from "../model/scope.js";
import type { Evaluated, Judge } from "./evaluated.js";

export type { Evaluated } from "./evaluated.js";

/** A definition made ready to be evaluated many times. */
export interface Prepared extends Judge {
  readonly definition: Definition;
  readonly input: Template | undefined;
}

/** Makes a decision; pure, so the same definition and scope always give the same answer. */
export function evaluate(prepared: Prepared, scope: Scope, strict = false): Evaluated {
  const judged = prepared.judge(scope);
  if (judged.errors.length > 0 && (strict || failsOnError(prepared.definition))) {
    throw errored(prepared.definition.id, judged.errors);
  }
  return judged;
}

const failsOnError = (definition: Definition): boolean =>
  "on_error" in definition && definition.on_error === "fail";

/** The value of the definition's input; `otherwise` where it cannot be evaluated. */
export function inputOf({ input }: Prepared, scope: Scope, otherwise: Json = null): Json {
  const value = input === undefined ? scope.context : input.evaluate(scope);
  return value instanceof Failure ? otherwise : value;
}

function few(reasons: readonly string[]): readonly string[] {
  return reasons.length <= 3 ? reasons : [...reasons.slice(0, 3), `and ${reasons.length - 3} more`];
}

function errored(id: string, errors: readonly string[]): DecisionError {
  return new DecisionError("condition_errored", `\`${id}\`: ${few(errors).join("; ")}`, {
    hint: "give the missing values, or ask for them with exists(…) or get(…)",
    details: { decision_id: id, errors },
  });
}
