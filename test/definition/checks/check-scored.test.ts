import { Ajv } from "ajv";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { parseAllDocuments } from "yaml";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import { schema } from "../../../src/definition/schema.js";
import { possibleDecisions } from "../../../src/definition/branches.js";
import { fakeIo } from "../../cli/fake-io.js";
import { main } from "../../../src/cli/main.js";
import { ruleset, says, scoredOf, threshold, whenRule } from "../../evaluate/scored/votes.js";

const problemsOf = (text: string): readonly string[] =>
  readDefinitions("f.yaml", Buffer.from(text)).summary.diagnostics.map(
    ({ line, column, message, hint }) =>
      `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`,
  );

const valid = `decision:
  id: d
  type: scored
  evaluators:
    - name: credit
      ruleset: credit_rules
      rules:
        - id: good
          if: { field: score, op: gte, value: 700 }
          then: { decision: approve, weight: 0.9, reason: "Good" }
        - id: poor
          when: "score < 500"
          then: { decision: reject, weight: 0.8 }
    - name: house
      static: { decision: approve, weight: 0.3 }
  scoring: { strategy: threshold, threshold: 0.8, fallback_decision: review }
  targets: { approve: stage-a, reject: stage-b, review: stage-c }
`;

/** The text with one place of it changed. */
function but(from: string, to: string): string {
  expect(valid).toContain(from);
  return valid.replace(from, to);
}

interface Case {
  readonly name: string;
  readonly yaml: string;
  readonly problems: readonly string[];
}

const condition = "{ field: score, op: gte, value: 700 }";
const scoring = "{ strategy: threshold, threshold: 0.8, fallback_decision: review }";

const cases: readonly Case[] = [
  { name: "nothing", yaml: valid, problems: [] },
  {
    name: "a custom evaluator, which may vote for any target",
    yaml: but("static: { decision: approve, weight: 0.3 }", "custom: model").replace(
      "review: stage-c",
      "refer: stage-c",
    ),
    problems: [],
  },
  {
    name: "no evaluators",
    yaml: "decision:\n  id: d\n  type: scored\n",
    problems: ["2:3 `evaluators` is missing in `decision`"],
  },
  {
    name: "an empty list of evaluators",
    yaml: "decision:\n  id: d\n  type: scored\n  evaluators: []\n",
    problems: ["4:15 `evaluators` must not be empty"],
  },
  {
    name: "a default, which a scored decision does not have",
    yaml: `${valid}  default: { target: stage-z }\n`,
    problems: [
      "18:3 `default` has no effect in a `scored` decision | remove it; only `binary`, `switch`, `weighted` and `rule_table` decisions use it",
    ],
  },
  {
    name: "an operator that is called otherwise",
    yaml: but("op: gte", "op: greater_than"),
    problems: ["9:35 unknown operator `greater_than` | did you mean `gt`?"],
  },
  {
    name: "an operator that is misspelt",
    yaml: but("op: gte", "op: betwen"),
    problems: ["9:35 unknown operator `betwen` | did you mean `between`?"],
  },
  {
    name: "a value that the operator cannot take",
    yaml: but("op: gte, value: 700", "op: between, value: 700"),
    problems: [
      "9:51 `value` must be [min, max] or {min, max}, two numbers or two texts, the smaller one first (got 700)",
    ],
  },
  {
    name: "a condition without a field",
    yaml: but(condition, "{ op: gte, value: 700 }"),
    problems: ["9:15 `field` is missing"],
  },
  { name: "an empty group", yaml: but(condition, "{ all: [] }"), problems: ["9:22 `all` must not be empty"] },
  {
    name: "an `if` that is a text",
    yaml: but(condition, '"score > 1"'),
    problems: ['9:15 a condition must be a map (got "score > 1") | write `when: "score > 1"`'],
  },
  {
    name: "an `if` that is a long text",
    yaml: but(condition, `"score > 1${" and score > 1".repeat(9)}"`),
    problems: [
      `9:15 a condition must be a map (got "score > 1${" and score > 1".repeat(3)} and sc…) | write it under \`when\` instead of \`if\``,
    ],
  },
  {
    name: "an `if` that is null",
    yaml: but(condition, "null"),
    problems: ["9:15 a condition must be a map (got null)"],
  },
  {
    name: "a weight above 1",
    yaml: but("weight: 0.9", "weight: 1.5"),
    problems: ["10:46 `weight` must be from 0 to 1 (got 1.5)"],
  },
  {
    name: "a weight below 0",
    yaml: but("weight: 0.8", "weight: -0.1"),
    problems: ["13:45 `weight` must be from 0 to 1 (got -0.1)"],
  },
  {
    name: "a static weight above 1",
    yaml: but("weight: 0.3", "weight: 30"),
    problems: ["15:44 `weight` must be from 0 to 1 (got 30)"],
  },
  {
    name: "a weight that is a text",
    yaml: but("weight: 0.3", 'weight: "0.3"'),
    problems: ['15:44 `weight` must be a number (got "0.3") | write `weight: 0.3`'],
  },
  {
    name: "a weight that is a percentage",
    yaml: but("weight: 0.3", "weight: 30%"),
    problems: ['15:44 `weight` must be a number (got "30%") | write `weight: 0.3`'],
  },
  {
    name: "a weight that is another text",
    yaml: but("weight: 0.3", "weight: high"),
    problems: ['15:44 `weight` must be a number (got "high")'],
  },
  {
    name: "a vote that is a text",
    yaml: but("{ decision: approve, weight: 0.3 }", "approve"),
    problems: ['15:15 `static` must be a map (got "approve") | write `static: { decision: approve }`'],
  },
  {
    name: "a vote of a rule that is a text",
    yaml: but("{ decision: reject, weight: 0.8 }", "reject"),
    problems: ['13:17 `then` must be a map (got "reject") | write `then: { decision: reject }`'],
  },
  {
    name: "nothing where a vote has no weight",
    yaml: but(", weight: 0.3", ""),
    problems: [],
  },
  {
    name: "nothing where evaluators and votes have metadata",
    yaml: but("weight: 0.3", "weight: 0.3, metadata: { version: 2 }").replace(
      "      ruleset: credit_rules\n",
      "      ruleset: credit_rules\n      metadata: { type: json_rule, owner: { team: risk } }\n",
    ),
    problems: [],
  },
  {
    name: "metadata that is not a map",
    yaml: but("weight: 0.3", "weight: 0.3, metadata: fast"),
    problems: ['15:59 `metadata` must be a map (got "fast")'],
  },
  {
    name: "metadata that claims another rule",
    yaml: but("weight: 0.8 }", "weight: 0.8, metadata: { rule_id: good } }"),
    problems: ["13:62 `rule_id` of a vote is always that of its rule | set the `id` of the rule"],
  },
  {
    name: "metadata that claims another ruleset",
    yaml: but("      rules:\n", "      metadata: { ruleset: other }\n      rules:\n"),
    problems: ["7:19 `ruleset` of a vote is always that of its rule | set the `ruleset` of the evaluator"],
  },
  {
    name: "a vote without a decision",
    yaml: but("{ decision: approve, weight: 0.3 }", "{ weight: 0.3 }"),
    problems: ["15:15 `decision` is missing in `static`"],
  },
  {
    name: "a rule with neither `if` nor `when`",
    yaml: but(`          if: ${condition}\n`, ""),
    problems: ["8:11 a rule needs either `if` or `when`, not both"],
  },
  {
    name: "a rule with both `if` and `when`",
    yaml: but(condition, `${condition}\n          when: "true"`),
    problems: ["8:11 a rule needs either `if` or `when`, not both"],
  },
  {
    name: "a rule without a vote",
    yaml: but("          then: { decision: reject, weight: 0.8 }\n", ""),
    problems: ["11:11 `then` is missing in `rules[1]`"],
  },
  {
    name: "a rule without an id",
    yaml: but("- id: poor\n          when", "- when"),
    problems: ["11:11 `id` is missing in `rules[1]`"],
  },
  {
    name: "an empty `when`",
    yaml: but('"score < 500"', '""'),
    problems: ['12:17 `when` must not be empty (got "")'],
  },
  {
    name: "a `when` that does not compile",
    yaml: but('"score < 500"', '"score <"'),
    problems: ["12:25 expected a value, got the end of the expression"],
  },
  {
    name: "an unknown function in a `when`",
    yaml: but('"score < 500"', '"lenght(score) > 1"'),
    problems: ["12:18 there is no function `lenght` | did you mean `length`?"],
  },
  {
    name: "an evaluator with rules and a static vote",
    yaml: but(
      "    - name: house\n",
      "    - name: house\n      rules: [{ id: r, when: 'true', then: { decision: approve, weight: 1 } }]\n",
    ),
    problems: ["14:7 an evaluator needs one of `rules`, `static` and `custom`"],
  },
  {
    name: "an evaluator with neither rules nor a static vote",
    yaml: but("      static: { decision: approve, weight: 0.3 }\n", ""),
    problems: ["14:7 an evaluator needs one of `rules`, `static` and `custom`"],
  },
  {
    name: "a static evaluator with a ruleset",
    yaml: but("    - name: house\n", "    - name: house\n      ruleset: house_rules\n"),
    problems: ["15:7 `ruleset` is only allowed with `rules`, not in a static evaluator"],
  },
  {
    name: "a custom evaluator with a ruleset",
    yaml: but("static: { decision: approve, weight: 0.3 }", "custom: model\n      ruleset: house_rules"),
    problems: ["16:7 `ruleset` is only allowed with `rules`, not in a custom evaluator"],
  },
  {
    name: "an evaluator with a static vote and a custom one",
    yaml: but("    - name: house\n", "    - name: house\n      custom: model\n"),
    problems: ["14:7 an evaluator needs one of `rules`, `static` and `custom`"],
  },
  {
    name: "a custom evaluator whose metadata names a rule",
    yaml: but("static: { decision: approve, weight: 0.3 }", "custom: model\n      metadata: { rule_id: r }"),
    problems: ["16:19 `rule_id` of a vote is always that of its rule | set the `id` of the rule"],
  },
  {
    name: "an evaluator without a name",
    yaml: but("- name: house\n      static", "- static"),
    problems: ["14:7 `name` is missing in `evaluators[1]`"],
  },
  {
    name: "an empty list of rules",
    yaml: "decision:\n  id: d\n  type: scored\n  evaluators: [{ name: e, rules: [] }]\n",
    problems: ["4:34 `rules` must not be empty"],
  },
  {
    name: "two evaluators of one name",
    yaml: but("name: house", "name: credit"),
    problems: ["14:13 the evaluator `credit` is used twice"],
  },
  {
    name: "two rules of one id",
    yaml: but("id: poor", "id: good"),
    problems: ["11:15 the rule `good` is used twice"],
  },
  {
    name: "an evaluator called __proto__",
    yaml: but("name: house", "name: __proto__"),
    problems: ["14:13 `__proto__` cannot be a name"],
  },
  {
    name: "an unknown strategy",
    yaml: but("strategy: threshold", "strategy: treshold"),
    problems: [
      '16:24 `strategy` must be one of `weighted_average`, `max_weight`, `consensus`, `threshold` (got "treshold") | did you mean `threshold`?',
    ],
  },
  {
    name: "the specification's name of a strategy",
    yaml: but("strategy: threshold", 'strategy: "DecisionAgent::Scoring::Threshold"'),
    problems: [
      '16:24 `strategy` must be one of `weighted_average`, `max_weight`, `consensus`, `threshold` (got "DecisionAgent::Scoring::Threshold")',
    ],
  },
  {
    name: "a scoring without a strategy",
    yaml: but(scoring, "{}").replace(", review: stage-c", ""),
    problems: ["16:12 `strategy` is missing in `scoring`"],
  },
  {
    name: "a threshold without its parameters",
    yaml: but(scoring, "{ strategy: threshold }").replace(", review: stage-c", ""),
    problems: [
      "16:12 `threshold` is missing, which the strategy `threshold` requires",
      "16:12 `fallback_decision` is missing, which the strategy `threshold` requires",
    ],
  },
  {
    name: "a threshold above 1",
    yaml: but("threshold: 0.8", "threshold: 80"),
    problems: ["16:46 `threshold` must be from 0 to 1 (got 80)"],
  },
  {
    name: "a consensus without its parameter",
    yaml: but(scoring, "{ strategy: consensus }").replace(", review: stage-c", ""),
    problems: ["16:12 `minimum_agreement` is missing, which the strategy `consensus` requires"],
  },
  {
    name: "a minimum agreement below 0",
    yaml: but(scoring, "{ strategy: consensus, minimum_agreement: -1 }").replace(", review: stage-c", ""),
    problems: ["16:54 `minimum_agreement` must be from 0 to 1 (got -1)"],
  },
  {
    name: "parameters of another strategy",
    yaml: but(scoring, "{ strategy: max_weight, threshold: 0.8, minimum_agreement: 0.5 }").replace(
      ", review: stage-c",
      "",
    ),
    problems: [
      "16:36 `threshold` has no effect with the strategy `max_weight`",
      "16:52 `minimum_agreement` has no effect with the strategy `max_weight`",
    ],
  },
  {
    name: "a target for a misspelt decision",
    yaml: but("reject: stage-b", "rejct: stage-b"),
    problems: ["17:32 no evaluator votes for `rejct` | did you mean `reject`?"],
  },
  {
    name: "a target for a decision nobody votes for",
    yaml: but("reject: stage-b", "postpone: stage-b"),
    problems: ["17:32 no evaluator votes for `postpone` | evaluators vote for approve, reject, review"],
  },
  {
    name: "a target for the fallback of another strategy",
    yaml: but(scoring, "{ strategy: max_weight }"),
    problems: ["17:49 no evaluator votes for `review` | evaluators vote for approve, reject"],
  },
  {
    name: "a target that is a list",
    yaml: but("reject: stage-b", "reject: [stage-b]"),
    problems: ['17:40 `reject` must be text (got a list) | put it in quotes, as in "{{ artifact.type }}"'],
  },
  {
    name: "a misspelt key of the decision",
    yaml: but("  scoring:", "  scorin:").replace(", review: stage-c", ""),
    problems: ["16:3 unknown key `scorin` | did you mean `scoring`?"],
  },
  {
    name: "a misspelt key of an evaluator",
    yaml: but("      ruleset:", "      rulset:"),
    problems: ["6:7 unknown key `rulset` | did you mean `ruleset`?"],
  },
  {
    name: "a misspelt key of a rule",
    yaml: but("id: poor\n", "id: poor\n          desciption: x\n"),
    problems: ["12:11 unknown key `desciption` | did you mean `description`?"],
  },
  {
    name: "a misspelt key of a vote",
    yaml: but("reason:", "reson:"),
    problems: ["10:51 unknown key `reson` | did you mean `reason`?"],
  },
  {
    name: "a misspelt key of a static vote",
    yaml: but("weight: 0.3 }", "weight: 0.3, resaon: x }"),
    problems: ["15:49 unknown key `resaon` | did you mean `reason`?"],
  },
  {
    name: "a misspelt key of the scoring",
    yaml: but("fallback_decision: review", "fallback_decision: review, fallback: x"),
    problems: [
      "16:78 unknown key `fallback` | known here: strategy, threshold, fallback_decision, minimum_agreement",
    ],
  },
  {
    name: "a key of a condition that is called otherwise",
    yaml: but("value: 700", "value: 700, operator: gte"),
    problems: ["9:52 unknown key `operator` | did you mean `op`?"],
  },
  {
    name: "a misspelt key deep in a condition",
    yaml: but(
      condition,
      "{ all: [{ any: [{ field: a, op: present }] }, { none: [{ field: a, op: present, vaule: 1 }] }] }",
    ),
    problems: ["9:95 unknown key `vaule` | did you mean `value`?"],
  },
  {
    name: "an unknown key of the document",
    yaml: `${valid}evaluators: []\n`,
    problems: ["18:1 unknown key `evaluators` | indent it below `decision:`"],
  },
  {
    name: "a list where a map should be",
    yaml: but("static: { decision: approve, weight: 0.3 }", "static: [approve, 0.3]"),
    problems: [
      "15:15 `static` must be a map (got a list) | for example `static: { decision: review, weight: 0.3 }`",
    ],
  },
  {
    name: "everything at once",
    yaml: `decision:
  id: d
  type: scored
  evaluators:
    - name: credit
      rules:
        - id: good
          if: { any: [{ field: score, op: gt_e, value: 700 }, { field: __proto__, op: eq }] }
          then: { decision: approve, weight: 2 }
        - id: poor
          when: "score <"
          then: { decision: reject, wieght: 0.8 }
    - name: house
  scoring: { strategy: average }
  target: { approve: stage-a }
`,
    problems: [
      "8:43 unknown operator `gt_e` | did you mean `gte`?",
      "8:63 `value` is missing | `eq` takes anything",
      "8:72 the key `__proto__` cannot be read",
      "9:46 `weight` must be from 0 to 1 (got 2)",
      "11:25 expected a value, got the end of the expression",
      "12:37 unknown key `wieght` | did you mean `weight`?",
      "13:7 an evaluator needs one of `rules`, `static` and `custom`",
      '14:24 `strategy` must be one of `weighted_average`, `max_weight`, `consensus`, `threshold` (got "average")',
      "15:3 unknown key `target` | did you mean `targets`?",
    ],
  },
];

describe("an invalid scored definition is reported at its position", () => {
  it.each(cases.map((each) => [each.name, each] as const))("%s", (_name, { yaml, problems }) => {
    expect(problemsOf(yaml)).toEqual(problems);
  });

  it("an empty decision", () => {
    expect(problemsOf(but("decision: reject", 'decision: ""'))).toContain(
      '13:29 `decision` must not be empty (got "")',
    );
  });
});

describe("the decisions that may come out", () => {
  it("are those that are voted for, each once and as written, and the fallback", () => {
    const evaluators = [
      ruleset("r", [
        whenRule("a", "true", { decision: "reject", weight: 1 }),
        whenRule("b", "true", { decision: "approve", weight: 1 }),
      ]),
      says("s", "reject", 1),
    ];
    expect(possibleDecisions(scoredOf(evaluators))).toEqual(["reject", "approve"]);
    expect(possibleDecisions(scoredOf(evaluators, { scoring: threshold(0.8, "review") }))).toEqual([
      "reject",
      "approve",
      "review",
    ]);
  });

  it("do not include a fallback that no strategy falls back to", () => {
    const scoring = { strategy: "max_weight", fallback_decision: "review" } as const;
    expect(possibleDecisions(scoredOf([says("s", "reject", 1)], { scoring }))).toEqual(["reject"]);
    expect(
      possibleDecisions(scoredOf([says("s", "reject", 1)], { scoring: { strategy: "threshold" } })),
    ).toEqual(["reject"]);
  });
});

const samples = fileURLToPath(new URL("../../../decisions", import.meta.url));

describe("the JSON Schema for editors", () => {
  // `discriminator` is no word of draft 7, which lets unknown words be.
  const validator = new Ajv({ strict: false, allErrors: true });

  it("is valid draft 7", () => {
    expect(schema.$schema).toBe("http://json-schema.org/draft-07/schema#");
    expect(validator.validateSchema(schema)).toBe(true);
    expect(() => validator.compile(schema)).not.toThrow();
  });

  it("is what `decision schema` prints", async () => {
    const io = fakeIo();
    expect(await main(["decision", "schema"], io)).toBe(0);
    expect(JSON.parse(io.written.out)).toEqual(JSON.parse(JSON.stringify(schema)));
  });

  it.each([
    "loan-approval.yaml",
    "data-science-agent.yaml",
    "wire-transfer.yaml",
    "quality-gate.yaml",
    "escalation.yaml",
  ])("accepts every document of %s", (file) => {
    const documents = parseAllDocuments(readFileSync(join(samples, file), "utf8"));
    expect(documents.length).toBeGreaterThan(0);
    for (const document of documents) {
      const accepted = validator.validate(schema, document.toJS());
      expect(validator.errors ?? []).toEqual([]);
      expect(accepted).toBe(true);
    }
  });

  it.each([
    ["an operator that there is not", valid.replace("op: gte", "op: greater_than")],
    ["a weight above 1", valid.replace("weight: 0.9", "weight: 1.5")],
    ["an unknown key in a condition", valid.replace("value: 700", "vaule: 700")],
    ["an evaluator of both kinds", valid.replace("- name: house\n", "- name: house\n      rules: []\n")],
  ])("does not accept %s", (_what, yaml) => {
    const [document] = parseAllDocuments(yaml);
    expect(validator.validate(schema, document?.toJS())).toBe(false);
  });
});
