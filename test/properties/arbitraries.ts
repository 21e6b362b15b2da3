import fc from "fast-check";
import type { Case, HitPolicy, RoutingDefinition } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import { jsonValues } from "../digest/json-values.js";

/** Documents with the keys that the conditions below ask for, present or not, of any type. */
export const contexts: fc.Arbitrary<JsonObject> = fc.record(
  {
    n: fc.oneof(fc.integer({ min: -5, max: 5 }), jsonValues),
    t: fc.oneof(fc.constantFrom("", "a", "b", "2026-01-01"), jsonValues),
    yes: fc.oneof(fc.boolean(), jsonValues),
    list: fc.oneof(fc.array(fc.constantFrom<Json>(1, "a", null)), jsonValues),
    o: fc.oneof(
      fc.record({ k: fc.integer({ min: 0, max: 3 }), z: jsonValues }, { requiredKeys: [] }),
      jsonValues,
    ),
  },
  { requiredKeys: [] },
);

/** Conditions that may match, not match or be errored, depending on the context. */
export const conditions = fc.constantFrom(
  "n > 0",
  "n == 1",
  "n == 2 and yes",
  "n in (1, 2, 'a')",
  "t == 'a'",
  "t != 'a' and n >= 0",
  "starts_with(t, 'a')",
  "yes",
  "not yes or n < 3",
  "exists(o.k) and o.k <= 2",
  "o == list",
  "o.z == null",
  "contains(list, 'a')",
  "length(list) > 1",
  "get(o, 'k', 0) % 2 == 0",
  "empty(input)",
  "context.n == n",
  "{{ n + 1 > 0 }}",
  "before(t, system.request_time)",
  "true",
  "false",
);

/** Outputs of any kind; some cannot be evaluated, depending on the context. */
const outputs = fc.oneof(
  fc.constantFrom<Json>(
    1,
    2,
    null,
    "{{ n }}",
    "{{ input }}",
    { k: ["n is {{ n }}", "{{ o.k }}"] },
    "{{ list }}",
  ),
  jsonValues.filter(
    (value) => !JSON.stringify(value).includes("{{") && !JSON.stringify(value).includes("${"),
  ),
);

const inputs = fc.constantFrom(undefined, "{{ n }}", "t", "o", "{{ [n, t] }}", "context");

const cases: fc.Arbitrary<readonly Case[]> = fc
  .array(
    fc.record({
      condition: conditions,
      weight: fc.nat(9),
      priority: fc.nat(3),
      output: fc.option(outputs, { nil: undefined, freq: 3 }),
    }),
    { minLength: 1, maxLength: 12 },
  )
  .map((drawn) =>
    drawn.map(({ output, ...each }, index) => ({
      ...each,
      target: `stage-${index % 3}`,
      label: `case ${index}`,
      ...(output !== undefined && { output }),
    })),
  );

const hitPolicies = fc.constantFrom<HitPolicy>("first", "collect", "priority", "unique", "any", "rule_order");

/** Definitions of every routing type. */
export const definitions: fc.Arbitrary<RoutingDefinition> = fc
  .record({
    type: fc.constantFrom("binary", "switch", "weighted", "rule_table"),
    cases,
    input: inputs,
    hit_policy: hitPolicies,
  })
  .map(({ type, cases: drawn, input, hit_policy }) => {
    const common = {
      id: "under-test",
      default: { target: "stage-default" },
      ...(input !== undefined && { input }),
    };
    return type === "rule_table"
      ? { ...common, type, hit_policy, rules: drawn }
      : { ...common, type, cases: drawn };
  });

/** The definition with other cases. */
export function withCases(
  definition: RoutingDefinition,
  change: (all: readonly Case[]) => readonly Case[],
): RoutingDefinition {
  return definition.type === "rule_table"
    ? { ...definition, rules: change(definition.rules ?? []) }
    : { ...definition, cases: change(definition.cases) };
}
