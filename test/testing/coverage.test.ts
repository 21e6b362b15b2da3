import { describe, expect, it } from "vitest";
import { testProject } from "./test-project.js";

interface CoverageDocument {
  readonly branches: { readonly covered: number; readonly total: number; readonly percent: number };
  readonly conditions: { readonly covered: number; readonly total: number; readonly percent: number };
  readonly decisions: Readonly<
    Record<
      string,
      {
        readonly missed: readonly {
          readonly kind: string;
          readonly label: string;
          readonly never: string;
          readonly file: string;
          readonly line: number;
        }[];
      }
    >
  >;
}

async function coverageOf(
  definition: string,
  tests: string,
): Promise<Pick<CoverageDocument, "branches" | "conditions"> & { readonly missed: readonly string[] }> {
  const project = testProject({ "d.yaml": definition, "d.test.yaml": `tests:\n${tests}` });
  const { stdout } = await project.run("test", "--coverage", "--json");
  const { coverage } = JSON.parse(stdout) as { coverage: CoverageDocument };
  const { branches, conditions, decisions } = coverage;
  const missed = Object.values(decisions).flatMap((each) =>
    each.missed.map(({ kind, label, never, line }) => `${kind} ${label} never ${never} in line ${line}`),
  );
  return { branches, conditions, missed };
}

describe("coverage", () => {
  it("counts a condition that was seen true and false, also where an earlier case matched", async () => {
    const definition = `decision:
  id: x
  type: binary
  input: "{{ a }}"
  cases:
    - { condition: "input <= 100", target: small }
    - { condition: "input > 100", target: large }
  default: { target: other }
`;
    const tests = `
  - { decision: x, input: { a: 1 }, expect: { target: small } }
  - { decision: x, input: { a: 101 }, expect: { target: wrong } }
`;
    expect(await coverageOf(definition, tests)).toEqual({
      branches: { covered: 2, total: 3, percent: 66.6 },
      conditions: { covered: 2, total: 2, percent: 100 },
      missed: ["branch default never selected in line 8"],
    });
  });

  it("shows what was missed of every type, and counts no constant", async () => {
    const definition = `decision:
  id: table
  type: rule_table
  rules:
    - { condition: "a == 1", target: one }
    - { condition: "missing == 1", target: two }
    - { condition: "true", target: rest }
  default: { target: never }
---
decision:
  id: split
  type: weighted
  input: "{{ id }}"
  cases: [{ target: all, weight: 1 }, { target: off, weight: 0 }]
  default: { target: none }
---
decision:
  id: votes
  type: scored
  evaluators:
    - name: e
      rules:
        - { id: r, if: { all: [{ field: a, op: eq, value: 1 }, { field: b, op: eq, value: 1 }] }, then: { decision: yes } }
    - { name: s, static: { decision: no, weight: 0.1 } }
---
decision:
  id: calls
  type: policy
  tool: t
  policies:
    - { name: free }
    - { name: limited, requires: [u, v], max_calls: { count: 1, per: session }, conditions: [{ name: c, expression: "params.a" }] }
    - { name: waiver, overrides: [limited], when: "get(params, 'b', false)" }
---
decision:
  id: gate
  type: gate
  action: { org: o, domain: d, name: n }
  rules:
    - { id: big, tier: T2, severity: 2, applies_when: "exists(a)", when: "a > 1", status: YELLOW }
    - { id: small, tier: T3, severity: 1, when: "exists(b)", status: GREEN }
`;
    const tests = `
  - { decision: table, input: { a: 1 }, expect: { error: true } }
  - { decision: split, input: { id: a }, expect: { target: all } }
  - { decision: votes, input: { a: 1, b: 2 }, expect: { decision: "no" } }
  - { decision: calls, tool: t, params: { a: true }, facts: { session: { results: [u] } }, expect: { allowed: false } }
  - { decision: gate, input: { b: 1 }, expect: { status: GREEN } }
`;
    const { missed, branches, conditions } = await coverageOf(definition, tests);
    expect([branches.total, conditions.total]).toEqual([17, 12]);
    expect(missed).toEqual([
      "condition one never false in line 5",
      "branch two never selected in line 6",
      "condition two never true or false in line 6",
      "branch rest never selected in line 7",
      "branch default never selected in line 15",
      "branch e / r never selected in line 23",
      "condition e / r never false in line 23",
      "condition e / r never true in line 23",
      "branch yes never selected in line 21",
      "branch limited (allows) never selected in line 32",
      "condition limited never false in line 32",
      "condition limited never false in line 32",
      "condition limited never true in line 32",
      "condition limited never false in line 32",
      "branch waiver (applied) never selected in line 33",
      "condition waiver never true in line 33",
      "branch big never selected in line 40",
      "condition big never true in line 40",
      "condition big never true or false in line 40",
      "condition small never false in line 41",
      "branch YELLOW never selected in line 40",
      "branch no rule matched never selected in line 40",
    ]);
  });

  it.each([
    [["--threshold", "60"], 0, ""],
    [["--threshold", "67"], 6, "error: 66.6 % of branches are covered, at least 67 % must be\n"],
    [["--threshold", "101"], 2, "--threshold must be a number from 0 to 100 (got `101`)"],
    [["--threshold", "-1"], 2, "--threshold must be a number from 0 to 100 (got `-1`)"],
    [["--threshold", "most"], 2, "--threshold must be a number from 0 to 100 (got `most`)"],
  ])("with %j, the exit code is %d", async (flags, code, message) => {
    const project = testProject({
      "d.yaml": `decision: { id: x, type: switch, cases: [{ condition: "a == 1", target: t }, { condition: "a == 2", target: u }], default: { target: z } }\n`,
      "d.test.yaml":
        "tests: [{ decision: x, input: { a: 1 }, expect: { target: t } }, { decision: x, input: { a: 2 }, expect: { target: u } }]",
    });
    const { exitCode, stderr } = await project.run("test", ...flags);
    expect(exitCode).toBe(code);
    expect(stderr).toContain(message);
    if (code === 2) return;
    const { stdout } = await project.run("test", ...flags, "--format", "junit");
    expect(stdout).toContain(`failures="${code === 6 ? 1 : 0}"`);
    expect(stdout.includes('name="branches at least 67 %" classname="coverage"')).toBe(code === 6);
  });
});

describe("annotations of a pull request", () => {
  const definition = `decision:
  id: x
  type: switch
  cases: [{ condition: "a == 1", target: t }]
  default: { target: u }
`;
  const tests = "tests: [{ decision: x, input: { a: 1 }, expect: { target: t } }]\n";
  const notCovered = [
    "file=decisions/d.yaml,line=4,col=1::never false: t: a == 1",
    "file=decisions/d.yaml,line=5,col=1::never selected: default",
  ];
  const notNoticed = [
    'file=decisions/d.yaml,line=4,col=1::no test notices this change: a == 1 → true (test the input {"a":2})',
    'file=decisions/d.yaml,line=5,col=1::no test notices this change: target: u → u-changed (test the input {"a":2})',
  ];

  it.each([
    {
      name: "are errors where the coverage is below the threshold",
      words: ["--threshold", "90"],
      exitCode: 6,
      lines: notCovered.map((each) => `::error ${each}`),
    },
    {
      name: "are notices where the coverage is only measured",
      words: ["--coverage"],
      exitCode: 0,
      lines: notCovered.map((each) => `::notice ${each}`),
    },
    {
      name: "are errors for changes that no test notices, below the minimum score",
      words: ["--min-score", "90"],
      exitCode: 6,
      lines: notNoticed.map((each) => `::error ${each}`),
    },
  ])("$name", async ({ words, exitCode, lines }) => {
    const project = testProject({ "d.yaml": definition, "d.test.yaml": tests });
    const ran = await project.run("test", "--format", "github", ...words);
    expect(ran).toMatchObject({ exitCode, stdout: lines.map((line) => `${line}\n`).join("") });
  });
});
