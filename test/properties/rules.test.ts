import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { DecisionError } from "../../src/errors.js";
import type { Evaluated } from "../../src/evaluate/evaluate.js";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { Definition, RoutingDefinition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Scope } from "../../src/model/scope.js";
import { runsFor } from "../thoroughness.js";
import { contexts, definitions, withCases } from "./arbitraries.js";
import { noon } from "./worlds.js";

function answerOf(definition: Definition, context: JsonObject): Evaluated | { readonly code: string } {
  const scope: Scope = { context, input: undefined, facts: {}, system: { request_time: noon } };
  try {
    return evaluate(prepare(definition), scope);
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    return { code: error.code };
  }
}

/** All of an answer but what tells of each single rule. */
function withoutDetails(answer: Evaluated | { readonly code: string }): object {
  if ("code" in answer) return answer;
  const { selected_targets, selected_labels, because, input_value, warnings } = answer;
  return { selected_targets, selected_labels, because, input_value, warnings };
}

/** Errored whatever the context has under the keys of `contexts`. */
const erroring = fc.constantFrom(
  "no.such.path",
  "no_such_key == 1",
  "no_such_key != 1",
  "no_such_key == null",
  "no_such_key in ('a')",
  "no_such_key not in ('a')",
  "1 < 'a'",
  "null >= null",
  "1 / 0 > 1",
  "lower(5) == 'a'",
  "matches(5, 'a')",
  "1 in 'a' + 'b'",
);

const notBoolean = fc.constantFrom("1", "0", "'true'", "null", "[true]", "(true, true)", "context", "1 + 1");

const wrappings = fc.constantFrom(
  (each: string) => each,
  (each: string) => `(${each})`,
  (each: string) => `{{ ${each} }}`,
  (each: string) => `not (${each})`,
  (each: string) => `!(${each})`,
  (each: string) => `(${each}) or true`,
  (each: string) => `(${each}) and false`,
  (each: string) => `true and (${each})`,
  (each: string) => `false or (${each}) or true`,
  (each: string) => `if (${each}) then true else true`,
  (each: string) => `not ((${each}) and false)`,
);

const comparing = fc.constantFrom(
  (each: string) => `(${each}) == (${each})`,
  (each: string) => `(${each}) in (true, false)`,
  (each: string) => `exists([${each}])`,
  (each: string) => `empty((if ${each} then 1 else 2))`,
);

const erroredConditions = fc.oneof(
  fc.tuple(wrappings, erroring).map(([wrap, each]) => wrap(each)),
  fc.tuple(wrappings, notBoolean).map(([wrap, each]) => wrap(each)),
  fc.tuple(comparing, erroring).map(([wrap, each]) => wrap(each)),
);

describe("a rule that does not match", () => {
  const never = fc.constantFrom(
    "false",
    "1 > 2",
    "exists(no_such_key)",
    "not true",
    "context == 5",
    "n == 'never'",
  );

  it("changes nothing but the details, wherever it is put", () => {
    fc.assert(
      fc.property(definitions, contexts, never, fc.nat(), (definition, context, condition, place) => {
        const known = condition.startsWith("n ") ? { ...context, n: 1 } : context;
        const extra = { condition, target: "stage-extra", label: "extra", weight: 50, priority: -1 };
        const more = withCases(definition, (all) => all.toSpliced(place % (all.length + 1), 0, extra));
        expect(withoutDetails(answerOf(more, known))).toEqual(withoutDetails(answerOf(definition, known)));
      }),
      { numRuns: runsFor(400) },
    );
  });

  it.each([7, 99, 100, 150])("changes nothing but the details of a table that has %i rules", (count) => {
    const rules = Array.from({ length: count }, (_, index) => ({
      condition: index % 3 === 0 ? `n == ${index % 5}` : `n >= ${index % 5}`,
      target: "stage-a",
      label: `rule ${index}`,
    }));
    const table: Definition = {
      id: "under-test",
      type: "rule_table",
      hit_policy: "collect",
      default: { target: "stage-default" },
      rules,
    };
    const more = withCases(table, (all) => [{ condition: "n == 'x'", target: "stage-b" }, ...all]);
    expect(withoutDetails(answerOf(more, { n: 3 }))).toEqual(withoutDetails(answerOf(table, { n: 3 })));
  });
});

describe("a rule that is errored", () => {
  it("is never selected, among whatever others", () => {
    fc.assert(
      fc.property(
        definitions,
        contexts,
        fc.array(fc.tuple(erroredConditions, fc.nat()), { minLength: 1, maxLength: 6 }),
        (definition, context, drawn) => {
          const more = drawn.reduce<RoutingDefinition>((given, [condition, place], index) => {
            const odd = { condition, target: "stage-odd", label: `odd ${index}`, weight: 50, priority: -1 };
            return withCases(given, (all) => all.toSpliced(place % (all.length + 1), 0, odd));
          }, definition);
          const answer = answerOf(more, context);
          if ("selected_targets" in answer) expect(answer.selected_targets).not.toContain("stage-odd");
        },
      ),
      { numRuns: runsFor(400) },
    );
  });

  it("sends a decision that has no other to its default, with a warning", () => {
    fc.assert(
      fc.property(erroredConditions, contexts, (condition, context) => {
        const definition: Definition = {
          id: "under-test",
          type: "switch",
          default: { target: "stage-default" },
          cases: [{ condition, target: "stage-odd" }],
        };
        expect(answerOf(definition, context)).toMatchObject({
          selected_labels: ["default"],
          warnings: [expect.stringContaining("could not be evaluated")],
        });
      }),
      { numRuns: runsFor(300) },
    );
  });
});
