import fc from "fast-check";
import type { FieldCondition, RuleCondition } from "../../../src/model/definition.js";
import type { Json } from "../../../src/model/json.js";
import { ruleOperators } from "../../../src/expression/rule/rule-operators.js";

const names = ["a", "b", "x-y", "0", "input", "facts", "system", "context"];
const field = fc
  .array(fc.constantFrom(...names), { minLength: 1, maxLength: 3 })
  .map((each) => each.join("."));

/** Values that specific operators accept. */
const sensible: readonly Json[] = [
  true,
  5,
  "a",
  "2026-01-01",
  "mon",
  [1, 5],
  ["a", "b"],
  { min: 1, max: 5 },
  { divisor: 2, remainder: 1 },
  { days: 5, of: "2026-01-01" },
  { center: { lat: 1, lon: 1 }, radius: 1000 },
];

export const json = fc.oneof(
  fc.constantFrom(...sensible),
  fc.jsonValue({ maxDepth: 2 }) as fc.Arbitrary<Json>,
);

/** Conditions with a known operator and a valid value. */
const fieldCondition: fc.Arbitrary<FieldCondition> = fc
  .record({ field, op: fc.constantFrom(...ruleOperators().keys()), value: json })
  .filter(({ op, value }) => ruleOperators().get(op)?.checkValue(value) === undefined);

export const wellFormed: fc.Arbitrary<RuleCondition> = fc.letrec<{ condition: RuleCondition }>((tie) => {
  const several = fc.array(tie("condition"), { minLength: 1, maxLength: 3 });
  return {
    condition: fc.oneof(
      { depthSize: "small", withCrossShrink: true },
      fieldCondition,
      fc.record({ all: several }),
      fc.record({ any: several }),
      fc.record({ none: several }),
    ),
  };
}).condition;

export const context = fc.dictionary(fc.constantFrom(...names), json, { maxKeys: 6 });

/** Conditions that are valid, partly valid or invalid. */
export const written: fc.Arbitrary<Json> = fc.letrec<{ condition: Json }>((tie) => {
  const several = fc.oneof(fc.array(tie("condition"), { maxLength: 3 }), json);
  const op = fc.oneof(fc.constantFrom(...ruleOperators().keys()), fc.constantFrom("==", "fetch_from_api", 5));
  const path = fc.oneof(field, fc.constantFrom("", "a..b", "a.constructor", 5));
  const keys = { all: several, any: several, none: several, field: path, op, value: json, extra: json };
  return {
    condition: fc.oneof(
      { depthSize: "small" },
      fc.record({ field: path, op, value: json }, { requiredKeys: [] }),
      fc.record({ all: several }),
      fc.record(keys, { requiredKeys: [] }),
      json,
    ),
  };
}).condition;
