import fc from "fast-check";
import type { Answer, HitPolicy, RuleTableDefinition } from "../../src/model/definition.js";
import type { Json } from "../../src/model/json.js";
import type { Cell } from "../../src/tables/cell.js";
import { toDefinition } from "../../src/tables/definition-table.js";
import type { Table } from "../../src/tables/table.js";
import { cells, numbers, texts } from "./arbitraries.js";

/** Paths of the columns: plain, nested, and with steps that are not plain names. */
export const names = ["n", "t", "yes"] as const;
const paths = [["n"], ["t"], ["yes"], ["o", "k"], ["context", "first name"]] as const;

const targets = fc.constantFrom("stage-a", "stage-b", "stage-c");
const outputs: fc.Arbitrary<Json> = fc.oneof(
  texts.filter((text) => !/\{\{|\$\{/.test(text)),
  numbers,
  fc.boolean(),
  fc.constant(null),
  fc.constantFrom<Json>([], {}, [1, "a"], { "a.b": 1 }, { fee: 2, note: { text: "x" } }, { fee: 2 }),
);

/** Answers of one kind, as tables have them. */
const answerKinds: readonly fc.Arbitrary<Answer>[] = [
  fc.record({ target: targets }),
  fc.record({ output: outputs }),
  fc.record({ target: targets, output: outputs }),
  fc.record({ output: fc.record({ fee: numbers, note: fc.constantFrom("a", "b") }) }),
  fc.record({ target: targets, output: fc.record({ fee: numbers }) }),
];

const hitPolicies = fc.constantFrom<HitPolicy | undefined>(
  undefined,
  "first",
  "unique",
  "any",
  "collect",
  "rule_order",
);

const maybe = <Value>(arbitrary: fc.Arbitrary<Value>, chance = 3): fc.Arbitrary<Value | undefined> =>
  fc.option(arbitrary, { nil: undefined, freq: chance });

const given = <Key extends string, Value>(key: Key, value: Value | undefined): Partial<Record<Key, Value>> =>
  value === undefined ? {} : ({ [key]: value } as Partial<Record<Key, Value>>);

/** Rule tables of every kind whose conditions are cells. */
export const tablesOf = (
  cellsOfRules: fc.Arbitrary<Cell>,
): fc.Arbitrary<Table & { id: string; default: Answer }> =>
  fc
    .record({
      columns: fc.subarray([...paths], { minLength: 0, maxLength: 4 }),
      policy: hitPolicies,
      answers: fc.constantFrom(...answerKinds),
    })
    .chain(({ columns, policy, answers }) =>
      fc
        .record({
          rules: fc.array(
            fc.record({
              cells: fc.array(maybe(cellsOfRules, 2), {
                minLength: columns.length,
                maxLength: columns.length,
              }),
              answer: answers,
              label: fc.boolean(),
              description: maybe(fc.constantFrom("why", "=1", "a, b", "line\nline")),
            }),
            { minLength: 1, maxLength: 6 },
          ),
          fallback: answers,
        })
        .map(({ rules, fallback }) => ({
          id: "random",
          ...given("hit_policy", policy),
          columns: columns.map((path) => ({ path })),
          answers: [],
          rules: rules.map(({ label, description, ...rule }, index) => ({
            ...rule,
            ...given("label", label ? `rule, ${index}` : undefined),
            ...given("description", description),
          })),
          default: fallback,
        })),
    );

export const definitions: fc.Arbitrary<RuleTableDefinition> = tablesOf(cells).map(toDefinition);
