import type { Json } from "../../../model/json.js";
import { isList, isObject } from "../../equal.js";
import { Failure } from "../../failure.js";
import type { RuleOperator } from "../operator-entry.js";
import { ruleOperator } from "../operator-entry.js";

export const presenceOperators: readonly RuleOperator[] = [
  ruleOperator({
    name: "present",
    summary: "there is a value, and it is not null, '', [] or {}; false and 0 are values",
    takes: "nothing",
    valueless: true,
    example: {
      condition: { field: "email", op: "present" },
      context: { email: "ada@mail.example" },
      answer: true,
    },
    parse: (value) => nothing(value, "present", "blank"),
    test: () => (actual) => !isBlank(actual),
  }),
  ruleOperator({
    name: "blank",
    summary: "missing, null, '', [] or {}",
    takes: "nothing",
    valueless: true,
    holdsWhenMissing: true,
    example: { condition: { field: "notes", op: "blank" }, context: { notes: "" }, answer: true },
    parse: (value) => nothing(value, "blank", "present"),
    test: () => isBlank,
  }),
];

/** `value: true` says the same again; false would say the opposite, so it is not overlooked. */
function nothing(value: Json, name: string, opposite: string): true | Failure {
  if (value === true) return true;
  const instead = value === false ? `: write \`${opposite}\` instead` : "";
  return new Failure(`\`${name}\` takes no \`value\`${instead}`);
}

function isBlank(actual: Json): boolean {
  if (actual === null || actual === "") return true;
  if (isList(actual)) return actual.length === 0;
  return isObject(actual) && Object.keys(actual).length === 0;
}
