import { describe, expect, it } from "vitest";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import type { Diagnostic } from "../../../src/model/diagnostic.js";

const brief = ({ line, column, message, hint }: Diagnostic): string =>
  `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`;

const read = (text: string): readonly Diagnostic[] =>
  readDefinitions("f.yaml", Buffer.from(text)).summary.diagnostics;

const heads = {
  switch:
    'decision:\n  id: d\n  type: switch\n  cases: [{ condition: "a", target: t }]\n  default: { target: z }\n',
  policy: "decision:\n  id: d\n  type: policy\n  tool: t\n  policies: []\n",
  gate:
    "decision:\n  id: d\n  type: gate\n  action: { org: o, domain: d, name: a }\n" +
    "  rules: [{ id: r, tier: T3, severity: 1, when: 'c', status: GREEN }]\n  computed: { c: 'amount > 1' }\n",
} as const;

/** A decision that fetches: one line each, the first of them the seventh of the file (of a gate, the eighth). */
const fetching = (fetches: readonly string[], type: keyof typeof heads = "switch"): string =>
  `${heads[type]}  enrich:\n${fetches.map((each) => `    - ${each}\n`).join("")}`;

/** Each condition is the `if` of a rule; the first is on line 8, and there are three lines a rule. */
const voting = (...conditions: readonly string[]): string =>
  "decision:\n  id: d\n  type: scored\n  evaluators:\n    - name: e\n      rules:\n" +
  conditions
    .map(
      (each, index) =>
        `        - id: r${index}\n          if: ${each}\n          then: { decision: d, weight: 1 }\n`,
    )
    .join("");

const asked = (value: string): string => `{ field: a, op: fetch_from_api, value: ${value} }`;

interface Fault {
  readonly name: string;
  readonly yaml: string;
  readonly problems: readonly string[];
}

const ownPlace = "use a different place for each";

const faults: readonly Fault[] = [
  {
    name: "no endpoint, or no place",
    yaml: fetching(["{ into: x }", "{ endpoint: b }"]),
    problems: ["7:7 `endpoint` is missing in `enrich[0]`", "8:7 `into` is missing in `enrich[1]`"],
  },
  {
    name: "a misspelt key",
    yaml: fetching(["{ endpoint: b, into: x, require: true }"]),
    problems: ["7:31 unknown key `require` | did you mean `required`?"],
  },
  {
    name: "a mapping of nothing",
    yaml: fetching(["{ endpoint: b, into: x, mapping: {} }"]),
    problems: ["7:40 `mapping` must not be empty"],
  },
  {
    name: "params that are no map",
    yaml: fetching(["{ endpoint: b, into: x, params: [a] }"]),
    problems: ["7:39 `params` must be a map (got a list)"],
  },
  {
    name: "an endpoint that cannot be one",
    yaml: fetching(["{ endpoint: credit bureau, into: x }"]),
    problems: [
      '7:19 the name of an endpoint may contain only letters, digits, `_` and `-`, at most 64 characters (got "credit bureau")',
    ],
  },
  ...["input", "facts", "system", "context"].map((root) => ({
    name: `${root} as its place`,
    yaml: fetching([`{ endpoint: b, into: ${root}.x }`]),
    problems: [`7:28 data cannot be fetched into \`${root}\`, which is reserved`],
  })),
  ...["tool", "params"].map((root) => ({
    name: `${root} of a call as its place`,
    yaml: fetching([`{ endpoint: b, into: ${root} }`], "policy"),
    problems: [`7:28 data cannot be fetched into \`${root}\`, which describes the call`],
  })),
  {
    name: "a computed value as its place",
    yaml: fetching(["{ endpoint: b, into: c.x }"], "gate"),
    problems: ["8:28 data cannot be fetched into `c`, which is computed"],
  },
  {
    name: "a place that is no path",
    yaml: fetching([
      "{ endpoint: b, into: a..b }",
      "{ endpoint: b, into: c.__proto__ }",
      '{ endpoint: b, into: "{{ c }}" }',
    ]),
    problems: [
      "7:28 `a..b` has an empty part between its dots",
      "8:28 `__proto__` is not a key that can be set",
      "9:28 the place of fetched data is a path, not a template",
    ],
  },
  {
    name: "two fetches into one place",
    yaml: fetching([
      "{ endpoint: b, into: x.y }",
      "{ endpoint: c, into: x.y }",
      "{ endpoint: c, into: x.yy }",
    ]),
    problems: [`8:28 other data is already fetched into \`x.y\` already | ${ownPlace}`],
  },
  {
    name: "the same fetch twice",
    yaml: fetching(["{ endpoint: b, into: x }", "{ endpoint: b, into: x }"]),
    problems: [`8:28 other data is already fetched into \`x\` already | ${ownPlace}`],
  },
  {
    name: "fetches into parts of each other",
    yaml: fetching(["{ endpoint: b, into: x.y }", "{ endpoint: c, into: x }"]),
    problems: [`8:28 other data is already fetched into \`x.y\`, which is part of \`x\` | ${ownPlace}`],
  },
  {
    name: "a mapping that mixes its fields up",
    yaml: fetching(["{ endpoint: b, into: x, mapping: { a: v, b: v.w, c..d: u, e: constructor.f } }"]),
    problems: [
      "7:51 another field of the response goes into `v`",
      "7:56 `c..d` has an empty part between its dots",
      "7:68 `constructor` is not a key that can be set",
    ],
  },
  {
    name: "a mapping with the brackets of other languages",
    yaml: fetching(["{ endpoint: b, into: x, mapping: { 'list[0].id': v } }"]),
    problems: ["7:42 `list[0].id` is no path | did you mean `list.0.id`?"],
  },
  {
    name: "params that read what this fetches",
    yaml: fetching(['{ endpoint: b, into: x, params: { a: ["{{ context.x.id }}"] } }']),
    problems: ["7:45 `x.id` is fetched by this entry itself, so it is not available yet"],
  },
  {
    name: "params that read what is fetched later",
    yaml: fetching(['{ endpoint: b, into: x, params: { a: "id {{ y.id }}" } }', "{ endpoint: c, into: y }"]),
    problems: [
      "7:44 `y.id` is fetched later, from `c`, so it is not available yet | put the fetch from `c` before this one",
    ],
  },
  {
    name: "params that read what nobody knows yet",
    yaml: fetching(
      ['{ endpoint: b, into: x, params: { a: "{{ input }}", f: "{{ facts.a }}", c: "{{ c }}" } }'],
      "gate",
    ),
    problems: [
      "8:44 `input` is not available yet when data is fetched | read the context instead",
      "8:62 `facts` is not available yet when data is fetched | read the context instead",
      "8:82 `c` is computed only after data is fetched | write the expression here",
    ],
  },
  {
    name: "params that do not compile",
    yaml: fetching(['{ endpoint: b, into: x, params: { a: { b: ["{{ a = 1 }}"] } } }']),
    problems: ["7:56 `=` is not an operator | compare with `==`"],
  },
  {
    name: "params that are far too long",
    yaml: fetching([`{ endpoint: b, into: x, params: { a: "${"x".repeat(9000)}" } }`]),
    problems: ["7:44 a text of `params` has at most 8192 characters"],
  },
  {
    name: "a condition whose params do not compile",
    yaml: voting(`{ all: [${asked('{ endpoint: b, params: { a: "{{ nothing" } }')}] }`),
    problems: ["8:91 missing closing `}}`"],
  },
  {
    name: "a condition that is no fetch",
    yaml: voting(asked("b"), asked("{ endpoint: b, mapping: { a: 5 } }"), asked("{ endpoint: b c }")),
    problems: [
      '8:54 `value` must be a map with `endpoint` (got "b")',
      "11:54 `mapping` must be a map of fields of the response to fields of the context (got a map)",
    ],
  },
  {
    name: "a condition whose data have no place",
    yaml: voting(asked("{ endpoint: b c, mapping: { a: facts.x, b: y, c: y.z } }")),
    problems: [
      '8:66 the name of an endpoint may contain only letters, digits, `_` and `-`, at most 64 characters (got "b c")',
      "8:85 data cannot be fetched into `facts`, which is reserved",
      "8:103 another field of the response goes into `y`",
    ],
  },
  {
    name: "two conditions that fetch into one place",
    yaml: voting(
      asked("{ endpoint: b, mapping: { a: x } }"),
      asked("{ endpoint: b, mapping: { a: x } }"),
      asked("{ endpoint: b, params: { p: 1 }, mapping: { a: x.y } }"),
    ),
    problems: [`14:101 other data is already fetched into \`x\`, which \`x.y\` is part of | ${ownPlace}`],
  },
  {
    name: "a fetch that reads what only a condition fetches",
    yaml: `${voting(asked("{ endpoint: b, mapping: { a: x } }"))}  enrich: [{ endpoint: c, into: y, params: { p: "{{ x }}" } }]\n`,
    problems: [
      "10:49 `x` is fetched later, from `b`, so it is not available yet | put the fetch from `b` before this one, under `enrich`",
    ],
  },
];

describe("what a decision fetches", () => {
  it.each([
    [
      "with all that a fetch has",
      fetching([
        '{ endpoint: b, params: { a: "{{ a.b }}", n: 1 }, into: x, mapping: { a.0.b: v }, required: true }',
      ]),
    ],
    ["from one endpoint into two places", fetching(["{ endpoint: b, into: x }", "{ endpoint: b, into: y }"])],
    [
      "with what was fetched before",
      fetching(["{ endpoint: b, into: x }", '{ endpoint: b, into: y, params: { a: "{{ x.id }}" } }']),
    ],
    [
      "with all that its data go into a part of",
      fetching(['{ endpoint: b, into: customer.credit, params: { a: "{{ customer }}" } }']),
    ],
    ["with the whole context", fetching(['{ endpoint: b, into: x, params: { a: "{{ context }}" } }'])],
    [
      "with the time of the request",
      fetching(['{ endpoint: b, into: x, params: { a: "{{ system.request_time }}" } }']),
    ],
    ["for a call", fetching(["{ endpoint: b, into: resources.x }"], "policy")],
    ["for a gate", fetching(['{ endpoint: b, into: x, params: { a: "{{ amount }}" } }'], "gate")],
    [
      "in a condition that is used twice",
      voting(
        asked("{ endpoint: b, mapping: { a: x } }"),
        `{ none: [${asked("{ endpoint: b, mapping: { a: x } }")}] }`,
      ),
    ],
    [
      "nowhere, as a value only looks like a fetch",
      voting("{ field: a, op: eq, value: { op: fetch_from_api, value: { endpoint: b c } } }"),
    ],
    ["not at all", fetching([]).replace("enrich:", "enrich: []")],
  ])("is fine %s", (_how, yaml) => {
    expect(read(yaml)).toEqual([]);
  });

  it.each(faults)("is rejected with $name", ({ yaml, problems }) => {
    expect(read(yaml).map(brief)).toEqual(problems);
  });

  it("has a caret under what does not compile", () => {
    const [problem] = read(fetching(['{ endpoint: b, into: x, params: { a: "id {{ a = 1 }}" } }']));
    expect(problem?.excerpt).toBe("id {{ a = 1 }}\n        ^");
  });

  it("is read at once, however much of it there is", () => {
    const many = Array.from({ length: 5000 }, (_, index) => `{ endpoint: b, into: x${index}.y }`);
    expect(read(fetching(many))).toEqual([]);
    const long = voting(asked(`{ endpoint: b, mapping: { a: "${"a.".repeat(500_000)}a" } }`));
    expect(read(long).map(brief)).toEqual(["8:83 the place of fetched data has at most 256 characters"]);
  });
});
