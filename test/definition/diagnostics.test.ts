import { describe, expect, it } from "vitest";
import { reviewConditions } from "../../src/analysis/review-conditions.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { reviewDefinition } from "../../src/definition/reviews/review-definition.js";
import { reviewSharedBuckets } from "../../src/definition/reviews/review-directory.js";
import type { LocatedDefinition } from "../../src/definition/read-definitions.js";
import type { Diagnostic } from "../../src/model/diagnostic.js";

function problemsOf(text: string | Uint8Array): readonly string[] {
  const content = typeof text === "string" ? Buffer.from(text) : text;
  return readDefinitions("f.yaml", content).summary.diagnostics.map(brief);
}

const brief = ({ line, column, message, hint }: Diagnostic): string =>
  `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`;

function libraryProblems(...texts: readonly string[]): readonly string[] {
  const files = texts.map((text, index) => readDefinitions(`${index}.yaml`, Buffer.from(text)).summary);
  const { diagnostics: problems } = buildLibrary(files, () => Promise.reject(new Error("no body is needed")));
  return problems.map((problem) => `${problem.file}:${brief(problem)}`);
}

const valid = `decision:
  id: d
  type: switch
  input: "{{ a }}"
  cases:
    - condition: "input == 1"
      target: t
  default: { target: z }
`;

/** A scored decision with a rule that compares a field with a value. */
const comparing = (value: string): string => `decision:
  id: d
  type: scored
  scoring: { strategy: max_weight }
  evaluators:
    - name: e
      rules:
        - id: r
          if: { field: a, op: eq, value: ${value} }
          then: { decision: approve, weight: 1 }
`;

interface Case {
  readonly name: string;
  readonly yaml: string;
  readonly problems: readonly string[];
}

const cases: readonly Case[] = [
  { name: "nothing wrong", yaml: valid, problems: [] },
  {
    name: "a mask for all decisions that is not a pointer",
    yaml: `masks: [params.password]\n${valid}`,
    problems: ['1:9 `masks[0]` must be a JSON pointer such as /params/password (got "params.password")'],
  },
  {
    name: "observers",
    yaml: `observers: [{ type: precedent_consistency, every: 5, last: 10, on: info, description: all }]\n${valid}`,
    problems: [],
  },
  {
    name: "an observer of an unknown type",
    yaml: `observers: [{ type: precedent_consistancy }]\n${valid}`,
    problems: [
      '1:21 `type` must be one of `precedent_consistency` (got "precedent_consistancy") | did you mean `precedent_consistency`?',
    ],
  },
  {
    name: "an observer with wrong values",
    yaml: `observers:\n  - { type: precedent_consistency, every: 0, last: 101, on: warning }\n  - { type: precedent_consistency, evry: 3 }\n  - {}\n${valid}`,
    problems: [
      "2:43 `every` must be at least 1 (got 0)",
      "2:52 `last` must be at most 100 (got 101)",
      '2:61 `on` must be one of `info`, `caution` (got "warning")',
      "3:36 unknown key `evry` | did you mean `every`?",
      "4:5 `type` is missing in `observers[2]`",
    ],
  },
  {
    name: "observers that are misspelt",
    yaml: `observer: []\n${valid}`,
    problems: ["1:1 unknown key `observer` | did you mean `observers`?"],
  },
  ...["", " \n\t\n", "# nothing\n"].map((yaml) => ({
    name: `a file that declares nothing: ${JSON.stringify(yaml)}`,
    yaml,
    problems: ["1:1 the file declares nothing | add a decision, or delete the file"],
  })),
  {
    name: "a key at the top that is misspelt",
    yaml: "decisions:\n  id: x\n",
    problems: ["1:1 unknown key `decisions` | did you mean `decision`?"],
  },
  {
    name: "a list of decisions",
    yaml: "decisions:\n  - id: x\n    type: switch\n",
    problems: [
      "1:1 unknown key `decisions` | write one `decision:` per document, and separate documents with a line `---`",
    ],
  },
  {
    name: "a list of decisions under `decision`",
    yaml: "decision:\n  - id: x\n    type: switch\n",
    problems: [
      "2:3 `decision` must be a map (got a list) | write one `decision:` per document, and separate documents with a line `---`",
    ],
  },
  {
    name: "decisions by their ids",
    yaml: "decisions: { x: { type: switch } }\n",
    problems: [
      "1:1 unknown key `decisions` | write one `decision:` per document, and separate documents with a line `---`",
    ],
  },
  {
    name: "a decision that is a text",
    yaml: "decision: x\n",
    problems: ['1:11 `decision` must be a map (got "x")'],
  },
  {
    name: "a key of the document in the decision",
    yaml: `${valid}  tests: []\n`,
    problems: ["9:3 unknown key `tests` | move it to the top of the document, next to `decision:`"],
  },
  ...(
    [
      ["switch", "hit_policy: first", "`rule_table`"],
      ["binary", "output_values: [1]", "`rule_table`"],
      ["weighted", "policies: []", "`policy`"],
      ["switch", "max_sum: {}", "`gate`"],
      ["switch", "rules: []", "`rule_table` and `gate`"],
    ] as const
  ).map(([type, entry, others]) => ({
    name: `\`${entry}\` in a decision of type \`${type}\``,
    yaml: `${valid.replace("type: switch", `type: ${type}`)}  ${entry}\n`,
    problems: [
      `9:3 \`${entry.replace(/:.*/, "")}\` has no effect in a \`${type}\` decision | remove it; only ${others} decisions use it`,
    ],
  })),
  {
    name: "`rules` instead of `cases`",
    yaml: valid.replace("cases:", "rules:"),
    problems: ["2:3 `cases` is missing in `decision`", "5:3 unknown key `rules` | did you mean `cases`?"],
  },
  {
    name: "`cases` instead of `rules`",
    yaml: "decision:\n  id: g\n  type: gate\n  action: { org: a, domain: b, name: c }\n  cases: []\n",
    problems: ["2:3 `rules` is missing in `decision`", "5:3 unknown key `cases` | did you mean `rules`?"],
  },
  {
    name: "cases that are a map",
    yaml: valid.replace("    - condition", "      condition"),
    problems: [
      "6:7 `cases` must be a list (got a map) | start each case with `- `, or write `cases: [{ … }]`",
    ],
  },
  {
    name: "a default that is a text",
    yaml: valid.replace("{ target: z }", "z"),
    problems: ['8:12 `default` must be a map (got "z") | write `default: { target: z }`'],
  },
  {
    name: "a default that is a text with other characters",
    yaml: valid.replace("{ target: z }", "'a: b'"),
    problems: ['8:12 `default` must be a map (got "a: b") | write `default: { target: "a: b" }`'],
  },
  {
    name: "a default that is a long text",
    yaml: valid.replace("{ target: z }", "z".repeat(60)),
    problems: [
      `8:12 \`default\` must be a map (got "${"z".repeat(58)}…) | write it as a map with \`target\``,
    ],
  },
  {
    name: "a percentage as the weight of a case",
    yaml: "decision:\n  id: d\n  type: weighted\n  cases:\n    - { target: a, weight: 50% }\n  default: { target: z }\n",
    problems: ['5:28 `weight` must be a number (got "50%") | write `weight: 50`'],
  },
  ...(
    [
      ["tier: T3", "tier: 1", "22", "`tier` must be one of `T1`, `T2`, `T3` (got 1) | did you mean `T1`?"],
      ["tier: T3", "tier: 7", "22", "`tier` must be one of `T1`, `T2`, `T3` (got 7)"],
      [
        "tier: T3",
        "tier: T3, suppresses: b",
        "38",
        '`suppresses` must be a list (got "b") | write `suppresses: [b]`',
      ],
      [
        "tier: T3",
        'tier: T3, suppresses: "b,c"',
        "38",
        '`suppresses` must be a list (got "b,c") | write `suppresses: [b, c]`',
      ],
    ] as const
  ).map(([from, to, column, problem]) => ({
    name: `\`${to}\` in a rule of a gate`,
    yaml: `decision:\n  id: g\n  type: gate\n  action: { org: a, domain: b, name: c }\n  rules:\n    - { id: r, tier: T3, severity: 1, when: "true", status: GREEN }\n`.replace(
      from,
      to,
    ),
    problems: [`6:${column} ${problem}`],
  })),
  ...(
    [
      ["a == #1", "22 expected a value, got the end of the expression"],
      ["contains(a, #1)", "29 expected a value, got the end of the expression"],
      ["a == 'b #1'", "23 the text has no closing quote"],
    ] as const
  ).map(([condition, problem]) => ({
    name: `a condition with \`#\` without quotes: ${condition}`,
    yaml: valid.replace('"input == 1"', condition),
    problems: [
      `6:${problem} | \`#\` starts a comment: put all of \`condition\` in quotes, and text in it too, as in \`"a == '#1'"\``,
    ],
  })),
  ...(
    [
      ["a b # 1", "20 expected an operator or the end, got `b`"],
      ["a 'b' # 1", "20 expected an operator or the end, got `'b'`"],
      ['"a ==" # 1', "23 expected a value, got the end of the expression"],
      ["a = # 1", "20 `=` is not an operator | compare with `==`"],
    ] as const
  ).map(([condition, problem]) => ({
    name: `a condition with a mistake of its own before a comment: ${condition}`,
    yaml: valid.replace('"input == 1"', condition),
    problems: [`6:${problem}`],
  })),
  {
    name: "a key of the decision at the top",
    yaml: "version: '1.0.0'\n" + valid,
    problems: ["1:1 unknown key `version` | indent it below `decision:`"],
  },
  {
    name: "a value that differs from the allowed ones in a digit",
    yaml: [
      "decision:",
      "  id: g",
      "  type: gate",
      "  action: { org: o, domain: d, name: n }",
      "  rules:",
      "    - { id: a, tier: T4, severity: 1, when: 'true', status: GREEN }",
      "",
    ].join("\n"),
    problems: ['6:22 `tier` must be one of `T1`, `T2`, `T3` (got "T4")'],
  },
  {
    name: "a list instead of a map",
    yaml: "- a\n",
    problems: ["1:1 the document must be a map (got a list)"],
  },
  {
    name: "a key within the decision",
    yaml: valid.replace("  input:", "  inptu:"),
    problems: ["4:3 unknown key `inptu` | did you mean `input`?"],
  },
  {
    name: "a key within a case",
    yaml: valid.replace("target: t", "targt: t"),
    problems: [
      "6:7 `target` or `output` is missing in `cases[0]`",
      "7:7 unknown key `targt` | did you mean `target`?",
    ],
  },
  ...(
    [
      ["binary", "weight", "weighted"],
      ["switch", "weight", "weighted"],
      ["rule_table", "weight", "weighted"],
      ["switch", "priority", "rule_table"],
      ["weighted", "priority", "rule_table"],
    ] as const
  ).map(([type, key, other]) => ({
    name: `\`${key}\` within a case of \`${type}\``,
    yaml: valid.replace("type: switch", `type: ${type}`).replace("target: t", `target: t\n      ${key}: 1`),
    problems: [
      `8:7 \`${key}\` has no effect in a \`${type}\` decision | remove it; only \`${other}\` decisions use it`,
    ],
  })),
  {
    name: "a priority within a rule of a gate",
    yaml:
      "decision:\n  id: g\n  type: gate\n  action: { org: a, domain: b, name: c }\n  rules:\n" +
      '    - { id: r, tier: T3, severity: 1, when: "true", status: GREEN, priority: 1 }\n',
    problems: [
      "6:68 `priority` has no effect in a `gate` decision | remove it; only `rule_table` decisions use it",
    ],
  },
  {
    name: "a key within default",
    yaml: valid.replace("{ target: z }", "{ target: z, to: y }"),
    problems: ["8:25 unknown key `to` | known here: target, output, unexpected"],
  },
  {
    name: "a missing default",
    yaml: valid.replace("  default: { target: z }\n", ""),
    problems: ["2:3 `default` is missing in `decision`"],
  },
  {
    name: "a missing type",
    yaml: valid.replace("  type: switch\n", ""),
    problems: ["2:3 `type` is missing in `decision`"],
  },
  {
    name: "an unknown type",
    yaml: valid.replace("switch", "swich"),
    problems: [
      '3:9 `type` must be one of `binary`, `switch`, `weighted`, `rule_table`, `scored`, `policy`, `gate` (got "swich") | did you mean `switch`?',
    ],
  },
  {
    name: "a gate without what it needs",
    yaml: "decision:\n  id: d\n  type: gate\n",
    problems: ["2:3 `action` is missing in `decision`", "2:3 `rules` is missing in `decision`"],
  },
  {
    name: "an id with a blank",
    yaml: valid.replace("id: d", "id: d e"),
    problems: [
      '2:7 `id` may contain only letters, digits, `.`, `_` and `-`, at most 128 characters (got "d e")',
    ],
  },
  {
    name: "an id that is a number",
    yaml: valid.replace("id: d", "id: 7"),
    problems: ['2:7 `id` must be text (got 7) | put it in quotes: "7"'],
  },
  {
    name: "a version that is a number",
    yaml: `${valid}  version: 1.2\n`,
    problems: ['9:12 `version` must be text (got 1.2) | write all three parts in quotes, as in "1.2.0"'],
  },
  {
    name: "a version that is none",
    yaml: `${valid}  version: "1.2"\n`,
    problems: ['9:12 `version` must be a semantic version such as 1.2.0 (got "1.2")'],
  },
  {
    name: "an empty list of cases",
    yaml: "decision:\n  id: d\n  type: switch\n  cases: []\n  default: { target: z }\n",
    problems: ["4:10 `cases` must not be empty"],
  },
  {
    name: "an empty condition",
    yaml: valid.replace('"input == 1"', '""'),
    problems: ['6:18 `condition` must not be empty (got "")'],
  },
  {
    name: "a condition of blanks",
    yaml: valid.replace('"input == 1"', '"  "'),
    problems: ["6:21 the expression is empty"],
  },
  {
    name: "a negative weight",
    yaml: "decision:\n  id: d\n  type: weighted\n  cases:\n    - { target: a, weight: -1 }\n  default: { target: z }\n",
    problems: ["5:28 `weight` must not be negative (got -1)"],
  },
  {
    name: "a hit policy",
    yaml: "decision:\n  id: d\n  type: rule_table\n  hit_policy: frist\n  rules: [{ condition: 'true', target: a }]\n  default: { target: z }\n",
    problems: [
      '4:15 `hit_policy` must be one of `first`, `collect`, `priority`, `unique`, `any`, `rule_order`, `output_order` (got "frist") | did you mean `first`?',
    ],
  },
  {
    name: "rules and cases at once",
    yaml: "decision:\n  id: d\n  type: rule_table\n  rules: [{ condition: 'true', target: a }]\n  cases: [{ condition: 'true', target: a }]\n  default: { target: z }\n",
    problems: ["2:3 a rule table needs either `rules` or `cases`, not both"],
  },
  {
    name: "neither rules nor cases",
    yaml: "decision:\n  id: d\n  type: rule_table\n  default: { target: z }\n",
    problems: ["2:3 a rule table needs either `rules` or `cases`, not both"],
  },
  {
    name: "a duration",
    yaml: `${valid}  cache: { enabled: true, ttl: soon }\n`,
    problems: ['9:32 `ttl` must be a duration such as 500ms, 30s, 1h or 1h30m (got "soon")'],
  },
  {
    name: "an expression that does not compile",
    yaml: valid.replace("input == 1", "input = 1"),
    problems: ["6:25 `=` is not an operator | compare with `==`"],
  },
  {
    name: "an unknown function",
    yaml: valid.replace("input == 1", "lowr(input) == 'a'"),
    problems: ["6:19 there is no function `lowr` | did you mean `lower`?"],
  },
  {
    name: "a template that is never closed",
    yaml: valid.replace("{{ a }}", "{{ a"),
    problems: ["4:11 missing closing `}}`"],
  },
  {
    name: "a label used twice",
    yaml: "decision:\n  id: d\n  type: switch\n  cases:\n    - { condition: 'true', target: a, label: L }\n    - { condition: 'true', target: b, label: L }\n  default: { target: z }\n",
    problems: ["6:46 the label `L` is used twice | a distribution would count both branches as one"],
  },
  {
    name: "the reserved label",
    yaml: valid.replace("target: t", "target: t\n      label: default"),
    problems: ["8:14 the label `default` is reserved for the default route"],
  },
  {
    name: "a duplicate key",
    yaml: valid.replace("  type: switch", "  id: e\n  type: switch"),
    problems: ["3:3 the key `id` is used twice: first in line 2 | remove one of the two"],
  },
  {
    name: "an integer that a number cannot represent",
    yaml: comparing("9007199254740993"),
    problems: [
      '9:42 `9007199254740993` is an integer that a number cannot represent exactly | write it as a string: "9007199254740993"',
    ],
  },
  {
    name: "a hexadecimal integer that a number cannot represent",
    yaml: comparing("0x20000000000001"),
    problems: [
      '9:42 `0x20000000000001` is an integer that a number cannot represent exactly | write it as a string: "0x20000000000001"',
    ],
  },
  {
    name: "a number that is too large",
    yaml: comparing("1".repeat(400)),
    problems: [`9:42 \`${"1".repeat(40)}…\` is too large a number`],
  },
  {
    name: "an infinite number",
    yaml: comparing(".inf"),
    problems: ["9:42 `.inf` is not a number that JSON has"],
  },
  {
    name: "an integer in an expression that a number cannot represent",
    yaml: valid.replace(/condition: .*/, "condition: x in (1, 12345678901234567890)"),
    problems: [
      "6:18 `12345678901234567890` is an integer that a number cannot represent exactly | compare it as text: `'12345678901234567890'`",
    ],
  },
  {
    name: "a tab in the indentation",
    yaml: "decision:\n\tid: x\n",
    problems: ["2:1 tabs are not allowed as indentation | indent with spaces"],
  },
  {
    name: "an unknown tag",
    yaml: valid.replace("id: d", "id: !!js/function d"),
    problems: [
      "2:7 `!!js/function` is not a known tag | put the text in quotes: a `!` at its start is a tag",
    ],
  },
  {
    name: "several at once, in their order",
    yaml: "decision:\n  id: d d\n  type: switch\n  cases:\n    - condition: 'a ='\n      targt: t\n",
    problems: [
      "2:3 `default` is missing in `decision`",
      '2:7 `id` may contain only letters, digits, `.`, `_` and `-`, at most 128 characters (got "d d")',
      "5:7 `target` or `output` is missing in `cases[0]`",
      "5:21 `=` is not an operator | compare with `==`",
      "6:7 unknown key `targt` | did you mean `target`?",
    ],
  },
  {
    name: "a problem in the second document",
    yaml: `${valid}---\n${valid.replace("input == 1", "==")}`,
    problems: ["15:19 expected a value, got `==`"],
  },
  {
    name: "a target declared wrongly",
    yaml: "targets:\n  - 7\n  - { id: a, knd: stage }\n",
    problems: [
      '2:5 `targets[0]` must be text or a map (got 7) | put it in quotes: "7"',
      "3:14 unknown key `knd` | did you mean `kind`?",
    ],
  },
];

describe("the diagnostics of a file", () => {
  it.each(cases)("reports $name", ({ yaml, problems }) => {
    expect(problemsOf(yaml)).toEqual(problems);
  });

  it("rejects files that are not UTF-8 text", () => {
    expect(problemsOf(Uint8Array.of(0xff, 0xfe, 0x00))).toEqual(["1:1 the file is not UTF-8 text"]);
    expect(problemsOf("decision:\0")).toEqual(["1:1 the file contains NUL bytes, so it is not text"]);
  });

  it("shows the faulty expression with a caret", () => {
    const { summary } = readDefinitions("f.yaml", Buffer.from(valid.replace("input == 1", "input == (1")));
    expect(summary.diagnostics[0]?.excerpt).toBe("input == (1\n           ^");
  });

  it("records the ids that a broken file contains", () => {
    const { summary } = readDefinitions("f.yaml", Buffer.from(valid.replace("switch", "swich")));
    expect(summary.claimedIds).toEqual(["d"]);
  });
});

describe("the diagnostics of several files", () => {
  it("reports an id that is used twice, in both places", () => {
    expect(libraryProblems(valid, `# first line\n${valid}`)).toEqual([
      "0.yaml:1:1 the id `d` is used more than once (also in 1.yaml:2)",
      "1.yaml:2:1 the id `d` is used more than once (also in 0.yaml:1)",
    ]);
  });

  it("allows every target if none is declared", () => {
    expect(libraryProblems(valid)).toEqual([]);
  });

  it("reports targets that are not declared, where they are named", () => {
    expect(libraryProblems(valid, "targets: [tt, { id: z, kind: stage }]")).toEqual([
      "0.yaml:7:15 the target `t` is not declared under `targets` | did you mean `tt`?",
    ]);
  });

  it("allows the id of another decision as a target", () => {
    const other = valid.replace("id: d", "id: t");
    expect(libraryProblems(valid, other.replace("target: t", "target: z"), "targets: [z]")).toEqual([]);
  });

  it("explains why a definition cannot be found", async () => {
    const broken = readDefinitions("b.yaml", Buffer.from(valid.replace("switch", "swich"))).summary;
    const library = buildLibrary([broken], () => Promise.reject(new Error("no body")));
    await expect(library.find("d")).rejects.toMatchObject({
      code: "definition_invalid",
      details: { problems: broken.diagnostics },
    });
    await expect(library.find("nothing")).rejects.toMatchObject({ code: "definition_not_found" });
  });
});

function reviewOf(...texts: readonly string[]): readonly string[] {
  const located: LocatedDefinition[] = [];
  for (const text of texts) {
    const { summary } = readDefinitions("f.yaml", Buffer.from(text), (each) => located.push(each));
    expect(summary.diagnostics).toEqual([]);
  }
  const problems = [
    ...located.flatMap(reviewDefinition),
    ...located.flatMap((each) => reviewConditions(each)),
    ...reviewSharedBuckets(located),
  ];
  return problems.map((problem) => `${problem.severity} ${brief(problem)}`);
}

const switchOn = (...conditions: readonly string[]): string =>
  `decision:\n  id: d\n  type: switch\n  cases:\n${conditions
    .map((condition, index) => `    - { condition: ${JSON.stringify(condition)}, target: t${index} }\n`)
    .join("")}  default: { target: z }\n`;

const tableOf = (policy: string, ...conditions: readonly string[]): string =>
  switchOn(...conditions).replace("type: switch", `type: rule_table\n  hit_policy: ${policy}`);

/** A scored decision whose only rule has this condition. */
const scoredOn = (condition: string): string =>
  `decision:
  id: d
  type: scored
  scoring: { strategy: max_weight }
  evaluators:
    - name: e
      rules:
        - { id: r, if: ${condition}, then: { decision: yes, weight: 1 } }
    - { name: s, static: { decision: no, weight: 1 } }
`;

/** The warning about inputs that no rule of a unique table with two rules matches. */
const uniqueGap = (region: string, example: object): string =>
  `warning 8:12 no rule matches where \`${region}\`, such as ${JSON.stringify(example)}, but with \`hit_policy: unique\` one of them should match | add a rule, or declare with \`unexpected: false\` that the default is for them`;

const durationWarning = (text: string): string =>
  `\`${text}\` looks like a duration, but is compared as text | in an expression, compare lengths: \`duration(…) > duration('${text}')\``;

const weighted = (id: string, weights: readonly number[], more = ""): string =>
  `decision:\n  id: ${id}\n  type: weighted\n  input: "{{ user.id }}"\n${more}  cases:\n${weights
    .map((weight, index) => `    - { target: t${index}, weight: ${weight} }\n`)
    .join("")}  default: { target: z }\n`;

describe("the review of a definition", () => {
  it.each([
    [
      "a case after one that always matches",
      switchOn("true", "kind == 1"),
      [
        "warning 6:20 `t1` is never reached: `t0` matches whenever it does | put the narrower condition first",
      ],
    ],
    [
      "the same condition twice",
      switchOn("a == 1 and b == 2", "b==2 && a==1"),
      ["warning 6:20 `t1` has the same condition as `t0`, so it is never reached"],
    ],
    [
      "an equality within an earlier list",
      switchOn("kind in ('a', 'b')", "kind == 'a'"),
      [
        "warning 6:20 `t1` is never reached: `t0` matches whenever it does | put the narrower condition first",
      ],
    ],
    [
      "a narrower conjunction after a wider one",
      switchOn("s == 'c'", "s == 'c' and n > 2"),
      [
        "warning 6:20 `t1` is never reached: `t0` matches whenever it does | put the narrower condition first",
      ],
    ],
    [
      "a narrower range after a wider one",
      switchOn("n >= 5", "n > 5", "n == 7", "9 < n"),
      [6, 7, 8].map(
        (line, index) =>
          `warning ${line}:20 \`t${index + 1}\` is never reached: \`t0\` matches whenever it does | put the narrower condition first`,
      ),
    ],
    [
      "lists that overlap",
      switchOn("kind in ('a', 'b')", "kind in ('b', 'c')"),
      ["note 6:20 `t1` overlaps `t0` where `kind == 'b'`"],
    ],
    [
      "rules of a unique table that overlap",
      tableOf("unique", "x in (1, 2)", "x in (2, 3)"),
      [
        "warning 7:20 `t0` and `t1` can both match where `x == 2`; with `hit_policy: unique` that is an error",
        uniqueGap("x not in (1, 2, 3)", { x: 0 }),
      ],
    ],
    [
      "a condition that contradicts itself",
      switchOn("n > 5 and n < 3"),
      ["warning 5:20 `t0` can never match: `n > 5` and `n < 3` contradict each other"],
    ],
    [
      "a condition that is false",
      switchOn("false"),
      ["warning 5:20 `t0` can never match: the condition is `false`"],
    ],
    [
      "a comparison with the whole context",
      switchOn("input == 1"),
      [
        "warning 5:20 `t0` can never match: `input == 1` is never true | without `input`, it is the whole context: set `input`, or compare a field",
      ],
    ],
    [
      "nothing, where the narrower comes first",
      switchOn("s == 'c' and n > 2", "s == 'c'", "n < 3", "n < 5"),
      [],
    ],
    ["nothing, where all matches are collected", tableOf("collect", "s == 'c'", "s == 'c' and n > 2"), []],
    [
      "weights that do not sum to 100",
      weighted("d", [1, 2]),
      ["note 6:5 the weights sum to 3, not to 100; shares are relative to the sum"],
    ],
    [
      "weights that are all 0",
      weighted("d", [0, 0]),
      ["warning 6:5 all weights are 0, so everything goes to the default"],
    ],
    ["nothing, where they sum to 100", weighted("d", [33.3, 33.3, 33.4]), []],
  ] as const)("reports %s", (_name, text, remarks) => {
    expect(reviewOf(text)).toEqual(remarks);
  });

  it.each([
    [
      "a condition that is never true or false",
      switchOn("lower(a)"),
      [
        "warning 5:21 the condition is never true or false, so it never matches | compare it with something, as in `a + b > 10`",
      ],
    ],
    [
      "a part that is never true or false",
      switchOn("a == 'x' or 'y'"),
      [
        "warning 5:33 one side of `or` is never true or false, whatever the input is | repeat the comparison, or use `in`",
      ],
    ],
    [
      "a constant as another language spells it",
      switchOn("a == True"),
      ["warning 5:26 `True` is a field of the context, not the constant `true` | write `true`"],
    ],
    [
      "two durations that are ordered as text",
      switchOn("'PT8H' > 'PT10H'"),
      [`warning 5:20 ${durationWarning("PT8H")}`],
    ],
    [
      "a path that is ordered against a duration as text",
      switchOn("a == 1 and not (x.timeout >= 'P1DT2H')"),
      [`warning 5:20 ${durationWarning("P1DT2H")}`],
    ],
    [
      "a range of durations as text",
      switchOn("between(x.timeout, 'PT8H', 'PT10H')"),
      [`warning 5:20 ${durationWarning("PT8H")}`],
    ],
    [
      "dates of different forms that are ordered as text",
      switchOn("'2026-01-01' <= x < '2026-02-01T00:00:00Z'"),
      [
        "warning 5:20 `2026-01-01` and `2026-02-01T00:00:00Z` are dates of different forms, but are compared as text | write both in the same form and zone, or compare instants with `before`, `after` or `date`",
      ],
    ],
    [
      "dates of different zones that are ordered as text",
      switchOn("'2026-01-01T00:00:00Z' < '2026-01-01T00:00:00+02:00'"),
      [
        "warning 5:20 `2026-01-01T00:00:00Z` and `2026-01-01T00:00:00+02:00` are dates of different forms, but are compared as text | write both in the same form and zone, or compare instants with `before`, `after` or `date`",
      ],
    ],
    [
      "nothing about other orders",
      switchOn(
        "'2026-01-01' <= x < '2026-02-01'",
        "x > 'b'",
        "x == 'PT8H'",
        "duration(x) > duration('PT8H')",
        "after(x, '2026-01-01') and before(x, '2026-02-01T00:00:00Z')",
      ),
      [],
    ],
    [
      "a duration in the operator of a rule",
      scoredOn("{ any: [{ field: a, op: gt, value: PT10H }, { field: a, op: eq, value: PT10H }] }"),
      [`warning 8:59 ${durationWarning("PT10H")}`],
    ],
    [
      "dates of different forms in the operator of a rule",
      scoredOn("{ field: a, op: between, value: [2026-01-01, '2026-02-01T00:00:00Z'] }"),
      [
        "warning 8:56 `2026-01-01` and `2026-02-01T00:00:00Z` are dates of different forms, but are compared as text | write both in the same form and zone, or compare instants with `before`, `after` or `date`",
      ],
    ],
    [
      "a rule without a priority",
      tableOf("priority", "a == 1"),
      ["warning 6:7 `t0` has no priority, so it has priority 0 and wins over all higher numbers"],
    ],
    [
      "rules of a unique table that match together",
      tableOf("unique", "n >= 10", "n >= 20"),
      [
        "warning 7:20 `t0` and `t1` can both match where `n >= 20`; with `hit_policy: unique` that is an error",
        uniqueGap("n < 10", { n: 9 }),
      ],
    ],
    [
      "rules of an any table that lead elsewhere",
      tableOf("any", "n >= 10", "n >= 20"),
      ["warning 7:20 `t0` and `t1` can both match where `n >= 20`; with `hit_policy: any` that is an error"],
    ],
    ["nothing, where overlaps are the point", tableOf("collect", "n in (1, 2)", "n in (2, 3)"), []],
  ] as const)("reports %s", (_name, text, remarks) => {
    expect(reviewOf(text)).toEqual(remarks);
  });

  it("reports two weighted decisions with the same split", () => {
    const remarks = reviewOf(
      weighted("a", [50, 50]),
      weighted("b", [10, 90]).replace("{{ user.id }}", "${user.id}"),
    );
    expect(remarks).toEqual([
      "warning 4:10 the same input is used without a salt in `b`, so the splits are not independent | set a different `salt` in each",
      "warning 4:10 the same input is used without a salt in `a`, so the splits are not independent | set a different `salt` in each",
    ]);
    expect(reviewOf(weighted("a", [50, 50]), weighted("b", [10, 90], "  salt: b\n"))).toEqual([]);
    const salted = reviewOf(weighted("a", [50, 50], "  salt: s\n"), weighted("b", [10, 90], "  salt: s\n"));
    expect(salted).toHaveLength(2);
    expect(salted[0]).toContain("with the same salt in `b`");
  });

  it("names each decision with the same split once, and none where only the id is used twice", () => {
    const [a, b] = [weighted("a", [50, 50]), weighted("b", [10, 90])];
    expect(reviewOf(a, a)).toEqual([]);
    const inB = reviewOf(a, b, a).at(1);
    expect(inB).toContain(" without a salt in `a`, so the splits");
  });
});
