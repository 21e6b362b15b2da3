import type { Json } from "../../model/json.js";
import { isForbiddenKey } from "../path.js";
import { hintOfOperator } from "./operator-names.js";
import { ruleOperators } from "./rule-operators.js";
import { written } from "./wording.js";

export type Path = readonly (string | number)[];

/** Something wrong with an `if` as it is written: where in it, and what. */
export interface RuleFault {
  readonly path: Path;
  /** Set where a key is at fault and not the value under it. */
  readonly key?: string;
  readonly message: string;
  readonly hint?: string;
}

export type WrittenCondition = Readonly<Record<string, unknown>>;

/** What is wrong with a condition on a field, its unknown keys aside. */
export function faultsOfField(condition: WrittenCondition, path: Path): readonly RuleFault[] {
  return [
    ...faultsUnder(condition, "field", path, faultOfPath),
    ...faultsUnder(condition, "op", path, faultOfOperator),
    ...faultsOfValue(condition, path),
  ];
}

type Fault = Pick<RuleFault, "message" | "hint">;

function faultsUnder(
  condition: WrittenCondition,
  key: string,
  path: Path,
  faultOf: (text: string) => Fault | undefined,
): readonly RuleFault[] {
  if (!Object.hasOwn(condition, key)) return [{ path, message: `\`${key}\` is missing` }];
  const text = condition[key];
  const fault =
    typeof text === "string" ? faultOf(text) : { message: `\`${key}\` must be text (got ${written(text)})` };
  return fault === undefined ? [] : [{ path: [...path, key], ...fault }];
}

function faultOfPath(field: string): Fault | undefined {
  if (field === "") return { message: "`field` must not be empty" };
  const segments = field.split(".");
  if (segments.includes("")) return { message: `\`${field}\` has an empty part between its dots` };
  const bad = segments.find(isForbiddenKey);
  return bad === undefined ? undefined : { message: `\`${bad}\` is not a key that can be read` };
}

function faultOfOperator(op: string): Fault | undefined {
  if (ruleOperators.has(op)) return undefined;
  return { message: `there is no operator \`${op}\``, hint: hintOfOperator(op) };
}

function faultsOfValue({ op, value }: WrittenCondition, path: Path): readonly RuleFault[] {
  const operator = typeof op === "string" ? ruleOperators.get(op) : undefined;
  if (operator === undefined) return [];
  if (value === undefined) {
    if (operator.valueless) return [];
    return [{ path, message: "`value` is missing", hint: `\`${operator.name}\` takes ${operator.takes}` }];
  }
  const message = operator.faultOf(value as Json);
  return message === undefined ? [] : [{ path: [...path, "value"], message }];
}
