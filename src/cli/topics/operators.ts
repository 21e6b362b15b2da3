import { ruleOperatorGroups } from "../../expression/rule/rule-operators.js";
import type { RuleOperator } from "../../expression/rule/rule-operator.js";

/** The manual of the operators of scored rules, written from the table that defines them. */
export function operatorsTopic(): string {
  return [
    "OPERATORS",
    "",
    "For the rules of `scored` decisions: if: { field: credit.score, op: gte, value: 700 }",
    "",
    "  all: […]   every one holds          any: […]   at least one holds          none: […]   none holds",
    '  They may be nested. Instead of `if`, a rule may have an expression: when: "credit.score >= 700"',
    "",
    "  A field is a path into the context. Where there is no such field, every operator is false but `blank`, and",
    "  `fetch_from_api`, which never looks at it; a value of the wrong type is false, with a note that --explain shows.",
    ...ruleOperatorGroups.flatMap(({ title, entries }) => [
      "",
      title.toUpperCase(),
      ...entries.flatMap(describe),
    ]),
    "",
  ].join("\n");
}

function describe({ name, symbol, summary, takes, example }: RuleOperator): readonly string[] {
  const { condition, context, answer } = example;
  const shown = symbol === undefined ? "" : `; shown as ${symbol}`;
  return [
    `  ${name.padEnd(16)} ${summary}; value: ${takes}${shown}`,
    `  ${"".padEnd(16)} ${JSON.stringify(condition)} in ${JSON.stringify(context)}  →  ${answer}`,
  ];
}
