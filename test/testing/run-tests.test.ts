import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { failuresOf, testProject } from "./test-project.js";

const gate = `decision:
  id: quality
  type: binary
  input: "{{ score }}"
  cases:
    - { condition: "input >= 0.8", target: deploy, label: Pass }
    - { condition: "input < 0.8", target: rework, label: Fail }
  default: { target: rework }
`;

describe("decision test", () => {
  it("makes one case of each row, with the values of the row in the rest of the test", async () => {
    const project = testProject({
      "quality.yaml": gate,
      "quality.test.yaml": `tests:
  - name: quality by score
    decision: quality
    each:
      - { score: 0.9, to: deploy }
      - { score: 0.79, to: deploy }
    input: { score: "{{ score }}" }
    expect: { target: "{{ to }}" }
  - name: "{{ score }} leads to {{ to }}"
    decision: quality
    each: [{ score: 1, to: deploy }, { score: 0, to: rework }]
    input: { score: "{{ score }}" }
    expect: { target: "{{ to }}", because: ["{{ if score > 0 then '>=' else '<' }}"] }
`,
    });
    const report = await project.test();
    expect(report).toEqual({
      exitCode: 6,
      passed: 3,
      failed: 1,
      cases: [
        {
          name: "quality by score (row 1)",
          decision: "quality",
          file: "decisions/quality.test.yaml",
          line: 5,
          passed: true,
          expected: { target: "deploy" },
          actual: { target: "deploy" },
        },
        {
          name: "quality by score (row 2)",
          decision: "quality",
          file: "decisions/quality.test.yaml",
          line: 6,
          passed: false,
          expected: { target: "deploy" },
          actual: {
            target: "rework",
            labels: ["Fail"],
            because: ["input < 0.8"],
            failed_conditions: ["input >= 0.8"],
          },
        },
        expect.objectContaining({ name: "1 leads to deploy", line: 11, passed: true }),
        expect.objectContaining({ name: "0 leads to rework", line: 11, passed: true }),
      ],
    });
  });

  it("runs the tests of definition files, too", async () => {
    const project = testProject({
      "quality.yaml": `${gate}tests:\n  - { name: good, decision: quality, input: { score: 1 }, expect: { label: Pass } }\n`,
    });
    const { exitCode, cases } = await project.test();
    expect(exitCode).toBe(0);
    expect(cases).toMatchObject([{ name: "good", file: "decisions/quality.yaml", line: 10 }]);
  });

  it("fails a test whose condition could not be evaluated, unless it expects that", async () => {
    const project = testProject({
      "quality.yaml": gate,
      "q.test.yaml": `tests:
  - { name: unexpected, decision: quality, expect: { target: rework } }
  - { name: text, decision: quality, expect: { target: rework, error: "\`score\` is missing" } }
  - { name: any, decision: quality, expect: { target: rework, error: true } }
  - { name: code, decision: quality, expect: { label: default, error: condition_errored } }
  - { name: warning, decision: quality, expect: { target: rework, warnings: [the default was taken] } }
  - { name: other, decision: quality, expect: { target: rework, error: nothing } }
  - { name: none, decision: quality, input: { score: 1 }, expect: { target: deploy, error: true } }
  - { name: strict, decision: quality, strict: true, expect: { error: condition_errored } }
  - { name: strict target, decision: quality, strict: true, expect: { error: true, target: rework } }
  - { name: no warning, decision: quality, input: { score: 1 }, expect: { warnings: [], error: false } }
  - { name: wrong type, decision: quality, input: { score: high }, expect: { error: needs two numbers } }
`,
    });
    expect(failuresOf(await project.test())).toEqual({
      unexpected: ["error"],
      other: ["error"],
      none: ["error"],
      "strict target": ["error", "target"],
    });
  });

  it("fails a test that names only some of the conditions that could not be evaluated", async () => {
    const project = testProject({
      "size.yaml": `decision:
  id: size
  type: switch
  cases:
    - { condition: "weight > 30", target: freight }
    - { condition: "wieght > 10", target: parcel }
  default: { target: letter }
tests:
  - { name: some, decision: size, expect: { target: letter, warnings: ["\`weight\` is missing"] } }
  - { name: all, decision: size, expect: { warnings: ["\`weight\` is missing", "\`parcel\` could not be"] } }
`,
    });
    const report = await project.test();
    expect(failuresOf(report)).toEqual({ some: ["warnings", "error"] });
    expect(report.cases[0]?.actual).toMatchObject({
      error: "`parcel` could not be evaluated: `wieght` is missing",
    });
  });

  it.each(["warnings: ['']", "warnings: ' '", "because: ''", "because: [ok, '']", "error: ' '"])(
    "cannot expect a text that is part of every other: %s",
    async (field) => {
      const project = testProject({
        "q.yaml": `${gate}tests:\n  - { decision: quality, input: { score: 1 }, expect: { label: Pass, ${field} } }\n`,
      });
      const { exitCode, stderr } = await project.run("test");
      expect(exitCode).toBe(3);
      expect(stderr).toMatch(
        /must be a (?:list of texts that are not empty|code, a part of the message, or true)/,
      );
    },
  );

  it.each([
    {
      name: "a text that rows would fill in",
      test: '{ decision: quality, input: { score: "{{ score }}" }, expect: { error: needs two numbers } }',
      warning:
        "warning: decisions/q.test.yaml:1:46 no `each`, so `{{ score }}` is left as text; write the value, or add rows with it: `each: [{ score: … }]`\n",
    },
    {
      name: "a template within a text",
      test: '{ name: "{{ a }} b", decision: quality, input: { score: 1, text: "hello {{ name }}" }, expect: { target: deploy } }',
      warning: "",
    },
    {
      name: "a template in a row",
      test: '{ decision: quality, each: [{ text: "{{ name }}" }], input: { score: 1, text: "{{ text }}" }, expect: { target: deploy } }',
      warning: "",
    },
  ])("passes with a warning or none for $name", async ({ test, warning }) => {
    const project = testProject({ "quality.yaml": gate, "q.test.yaml": `tests: [${test}]` });
    expect(await project.run("test")).toMatchObject({ exitCode: 0, stderr: warning });
    const validated = await project.run("validate", "--format", "plain");
    expect({ ...validated, warned: validated.stdout.includes("no `each`") }).toMatchObject({
      exitCode: 0,
      warned: warning !== "",
    });
  });

  it("refuses a named file that cannot be read, also if there may be nothing to check", async () => {
    const project = testProject({ "quality.yaml": gate });
    writeFileSync(join(project.folder, "binary.yaml"), Buffer.from([0xff, 0xfe, 0xc0, 0x80]));
    writeFileSync(join(project.folder, "large.yaml"), `# ${"x".repeat(5 * 1024 * 1024)}\n`);
    for (const file of ["binary.yaml", "large.yaml"]) {
      const { exitCode, stderr } = await project.run("test", file, "--allow-empty");
      expect(exitCode, file).toBe(3);
      expect(stderr).toContain(`${file}:1:1`);
    }
  });

  it("says when it has no test, and fails without --allow-empty", async () => {
    const project = testProject({ "quality.yaml": gate });
    const { exitCode, stderr } = await project.run("test");
    expect(exitCode).toBe(6);
    expect(stderr).toContain("error: nothing to check: no tests found in decisions");
    expect((await project.test("--allow-empty")).exitCode).toBe(0);
  });

  it.each([
    { words: ["--json"], message: "--watch and --format json cannot be combined" },
    { words: ["--format", "junit"], message: "--watch and --format junit cannot be combined" },
    { words: ["--format", "tabel"], message: "unknown format `tabel`" },
    { words: ["--min-score", "90"], message: "--watch and --mutate cannot be combined" },
    { words: ["missing"], message: "no such file or directory: `missing`" },
    { words: ["--decisions", "missing"], message: "the directory `missing` does not exist" },
  ])("does not watch with $words", async ({ words, message }) => {
    const { exitCode, stdout, stderr } = await testProject({}).run("test", "--watch", ...words);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toContain(message);
  });

  it("reads a context from a JSON file, relative to the file of the test", async () => {
    const project = testProject({
      "quality.yaml": gate,
      "deep/q.test.yaml": `tests:
  - { name: a, decision: quality, input: "@testdata/good.json", expect: { target: deploy } }
  - name: rows
    decision: quality
    each: [{ file: good }, { file: bad }]
    input: "@testdata/{{ file }}.json"
    expect: { target: deploy }
`,
      "deep/testdata/good.json": '{"score": 1}',
      "deep/testdata/bad.json": '{"score": 0}',
    });
    expect(failuresOf(await project.test())).toEqual({ "rows (row 2)": ["target"] });
    expect((await project.run("validate", "--format", "plain")).stdout).toBe("");
  });

  it("ignores data next to definitions that a test reads, and warns of other files", async () => {
    const project = testProject({
      "quality.yaml": gate,
      "q.test.yaml": `tests: [{ decision: quality, input: "@good.json", expect: { target: deploy } }]`,
      "good.json": '{"score": 1}',
      "other.json": '{"score": 1}',
    });
    const { exitCode, stderr } = await project.run("test");
    expect(exitCode).toBe(0);
    expect(stderr).toMatch(/^warning: decisions\/other.json:1:2 is invalid: .*\n$/);
  });
});

describe("every type of decision", () => {
  it("can be expected", async () => {
    const project = testProject({
      "all.yaml": `decision:
  id: table
  type: rule_table
  hit_policy: collect
  rules:
    - { condition: "a > 1", target: one }
    - { condition: "a > 2", target: two }
  default: { target: none }
---
decision:
  id: votes
  type: scored
  evaluators:
    - name: score
      rules: [{ id: good, when: "score > 700", then: { decision: approve, weight: 0.9 } }]
    - { name: own, custom: own_vote }
  scoring: { strategy: max_weight }
  targets: { approve: pay }
---
decision:
  id: writes
  type: policy
  tool: write_file
  policies:
    - name: read_first
      read_before_write: { read_tools: [read_file], write_tools: [write_file], path: params.path }
      requires: [open_project]
    - name: budget
      max_calls: { count: 2, per: session }
      max_sum: { of: params.size, most: 10, per: caller }
    - { name: small, conditions: [{ name: size, expression: "params.size < 5" }] }
    - { name: waiver, overrides: [small], max_applications: 1, reason: Waived, when: "get(session, 'vip', false)" }
---
decision:
  id: wire
  type: gate
  action: { org: acme, domain: payments, name: wire }
  max_calls: { count: 1, per: session }
  rules:
    - { id: late, tier: T2, severity: 20, when: "hour(system.request_time) >= 18", status: YELLOW, reason: Late, work_frame: { next_human_owner: desk } }
    - { id: other, tier: T3, severity: 1, when: "true", status: GREEN }
---
decision:
  id: routed
  type: switch
  enrich:
    - { endpoint: bureau, params: { id: "{{ id }}" }, into: credit, mapping: { value: score } }
    - { endpoint: bureau, params: { id: "{{ id }}-2" }, into: second, required: true }
  cases: [{ condition: "credit.score > second.score", target: prod }]
  default: { target: dev }
  guardrails:
    - { type: requires_approval, workflows: [live], targets: [prod], approval_target: approval, on_fail: escalate }
    - { type: no_disabled_targets, disabled_stages: [dev] }
---
decision:
  id: split
  type: weighted
  input: "{{ id }}"
  cases: [{ target: a, weight: 50 }, { target: b, weight: 50 }]
  default: { target: a }
  guardrails: [{ type: distribution_drift, minimum: 10, on_fail: block }]
---
endpoints: { bureau: { url: "https://bureau.example/" } }
`,
      "all.test.yaml": `tests:
  - { name: several, decision: table, input: { a: 3 }, expect: { targets: [one, two], labels: [one, two], blocked: false } }
  - { name: not only one, decision: table, input: { a: 3 }, expect: { target: one } }
  - { name: vote, decision: votes, input: { score: 800 }, facts: { votes: { own_vote: { decision: deny, weight: 0.2 } } }, expect: { decision: approve, confidence: 0.9, target: pay } }
  - { name: other vote, decision: votes, input: { score: 1 }, facts: { votes: { own_vote: { decision: deny } } }, expect: { decision: deny, confidence: 1, target: null } }
  - { name: no vote, decision: votes, input: { score: 800 }, facts: { votes: { own_vote: null } }, expect: { decision: approve } }
  - { name: forgotten vote, decision: votes, input: { score: 800 }, expect: { decision: approve } }
  - { name: nobody voted, decision: votes, input: { score: 1 }, facts: { votes: { own_vote: null } }, expect: { error: no_evaluations } }
  - name: allowed
    decision: writes
    tool: write_file
    params: { path: ./a.txt, size: 4 }
    facts: &facts
      session: { results: [open_project, { tool: read_file, params: { path: a.txt } }] }
      counts: { budget: 1 }
      sums: { budget: 6 }
      caller: { subject: alice }
    expect: { allowed: true, outcome: allowed, label: allowed, reason: Allowed by read_first v0.0.0, params: { path: ./a.txt, size: 4 } }
  - name: limits are used up
    decision: writes
    each:
      - { counts: 2, sums: 0, because: 2 of 2 calls }
      - { counts: 0, sums: 7, because: is too much }
    tool: write_file
    params: { path: a.txt, size: 4 }
    facts:
      session: { results: [open_project, { tool: read_file, params: { path: a.txt } }] }
      counts: { budget: "{{ counts }}" }
      sums: { budget: "{{ sums }}" }
      caller: { subject: alice }
    expect: { allowed: false, because: ["{{ because }}"] }
  - name: nothing was read
    decision: writes
    tool: write_file
    params: { path: a.txt, size: 4 }
    facts: { session: { results: [open_project, { tool: read_file, ok: false, params: { path: a.txt } }] }, caller: { subject: alice } }
    expect: { allowed: false, reason: "\`a.txt\` must be read with \`read_file\` first" }
  - name: waived
    decision: writes
    each: [{ used: 0, outcome: allowed_by_exception, reason: Waived }, { used: 1, outcome: denied, reason: "\`size\` does not hold: params.size < 5" }]
    input: { tool: write_file, params: { path: a.txt, size: 9 } }
    facts:
      session: { state: { vip: true }, results: [open_project, { tool: read_file, params: { path: a.txt } }] }
      counts: { waiver: "{{ used }}" }
      caller: { subject: alice }
    expect: { outcome: "{{ outcome }}", reason: "{{ reason }}" }
  - { name: no session, decision: writes, session_id: null, tool: write_file, params: { path: a, size: 1 }, expect: { allowed: false, error: there is no recorded session } }
  - { name: other tool, decision: writes, tool: read_file, expect: { error: is not about the tool } }
  - name: by hour
    decision: wire
    each: [{ at: 17, status: GREEN, reason: "true" }, { at: 18, status: YELLOW, reason: Late }]
    now: "2026-11-15T{{ at }}:00:00Z"
    expect: { status: "{{ status }}", reason: "{{ reason }}" }
  - { name: frame, decision: wire, now: 2026-11-15T19:00:00Z, expect: { work_frame: { next_human_owner: desk, mode: review } } }
  - { name: other frame, decision: wire, now: 2026-11-15T19:00:00Z, expect: { work_frame: { next_human_owner: nobody } } }
  - { name: used up, decision: wire, now: 2026-11-15T09:00:00Z, facts: { counts: { wire: 1 } }, expect: { status: RED } }
  - { name: better first, decision: routed, input: { id: 1 }, facts: { fetched: { credit: { value: 5 }, bureau: { score: 4 } } }, expect: { target: prod } }
  - { name: escalated, decision: routed, input: { id: 1 }, workflow_id: live, facts: { fetched: { credit: { value: 5 }, second: { score: 4 } } }, expect: { target: approval, escalated: true } }
  - { name: blocked, decision: routed, input: { id: 1 }, facts: { fetched: { credit: { value: 5 }, second: { score: 6 } } }, expect: { target: null, targets: [], blocked: true } }
  - { name: not fetched, decision: routed, input: { id: 1 }, facts: { fetched: { credit: { value: 5 } } }, expect: { error: "requires data from \`bureau\`: the test gives no data" } }
  - { name: not fetched either, decision: routed, input: { id: 1 }, expect: { target: prod } }
  - { name: drifted, decision: split, input: { id: u }, facts: { distribution: { sample: 100, p_value: 0.00001, e_value: 5000 } }, expect: { blocked: true } }
  - { name: not drifted, decision: split, input: { id: u }, facts: { distribution: { sample: 100, p_value: 0.5, e_value: 1 } }, expect: { blocked: false } }
  - { name: empty, decision: split, input: { id: u }, expect: { blocked: false } }
`,
    });
    expect(failuresOf(await project.test())).toEqual({
      "not only one": ["target"],
      "forgotten vote": ["error"],
      "other frame": ["work_frame"],
      "not fetched either": ["target", "error"],
    });
  });
});

describe("every format", () => {
  const file = "decisions/q.test.yaml";
  const cases = [
    {
      name: "an unknown decision",
      tests: "[{ decision: qualify, expect: { target: a } }]",
      exitCode: 3,
      message: "no decision called `qualify`",
      annotation: `::error file=${file},line=1,col=21::no decision called \`qualify\` (did you mean \`quality\`?)\n`,
    },
    {
      name: "a test without `expect`",
      tests: "[{ decision: quality }]",
      exitCode: 3,
      message: "`expect` is missing in `tests[0]`",
      annotation: `::error file=${file},line=1,col=9::\`expect\` is missing in \`tests[0]\`\n`,
    },
    {
      name: "a file that is not YAML",
      tests: "[",
      exitCode: 3,
      message: "`[` is never closed",
      annotation: /^::error file=decisions\/q\.test\.yaml,line=1,col=8::`\[` is never closed[^\n]+\n$/,
    },
    {
      name: "no test for a path",
      tests: "[{ decision: quality, input: { score: 1 }, expect: { target: deploy } }]",
      words: ["decisions/other.yaml"],
      exitCode: 6,
      message: "nothing to check: no tests found in decisions",
      annotation: "",
    },
    {
      name: "a path that does not exist",
      tests: "[]",
      words: ["decisions/nowhere"],
      exitCode: 2,
      message: "no such file or directory: `decisions/nowhere`",
      annotation: "",
    },
  ];

  it.each(cases)(
    "ends with an error for $name",
    async ({ tests, words = [], exitCode, message, annotation }) => {
      const other = gate.replace("id: quality", "id: other");
      const project = testProject({
        "quality.yaml": gate,
        "other.yaml": other,
        "q.test.yaml": `tests: ${tests}`,
      });
      for (const format of ["table", "plain", "yaml", "json", "jsonl", "junit", "github"]) {
        const ran = await project.run("test", ...words, "--format", format);
        expect({ format, exitCode: ran.exitCode }).toEqual({ format, exitCode });
        const stderr = format.startsWith("json")
          ? JSON.stringify((JSON.parse(ran.stderr) as { error: object }).error)
          : ran.stderr;
        expect(stderr).toContain(message);
        if (format !== "github" || annotation === "") expect(ran.stdout).toBe("");
        else if (typeof annotation === "string") expect(ran.stdout).toBe(annotation);
        else expect(ran.stdout).toMatch(annotation);
      }
    },
  );
});

describe("a test that is not valid", () => {
  it.each([
    ["without `expect`", "{ decision: quality }", "1:9 `expect` is missing in `tests[0]`"],
    ["with an empty `expect`", "{ decision: quality, expect: {} }", "1:38 `expect` must not be empty"],
    [
      "of an unknown decision",
      "{ decision: qualify, expect: { target: a } }",
      "1:21 no decision called `qualify` (did you mean `quality`?)",
    ],
    [
      "with an unknown expectation",
      "{ decision: quality, expect: { tarket: a } }",
      "1:40 unknown key `tarket` (did you mean `target`?)",
    ],
    [
      "with an expectation of another type",
      "{ decision: quality, expect: { target: a, status: RED } }",
      "1:51 a `binary` decision such as `quality` has no `status`",
    ],
    [
      "with a mistyped expectation",
      "{ decision: quality, expect: { target: [a] } }",
      "1:48 `target` must be text or null (got a list) (for several, write `targets`)",
    ],
    [
      "with a template but no rows",
      "{ decision: quality, expect: { blocked: '{{ x }}' } }",
      "1:49 `blocked` must be true or false",
    ],
    [
      "with rows that are no maps",
      "{ decision: quality, each: [1], expect: { target: a } }",
      "1:37 `each[0]` must be a map (got 1)",
    ],
    [
      "with a row that is no list",
      "{ decision: quality, each: { a: 1 }, expect: { target: a } }",
      "1:36 `each` must be a list (got a map) (start each row with `- `, or write `each: [{ … }]`)",
    ],
    [
      "that expects a text",
      "{ decision: quality, expect: parcel }",
      '1:38 `expect` must be a map (got "parcel") (write `expect: { target: parcel }`)',
    ],
    [
      "that expects a status",
      "{ decision: quality, expect: RED }",
      '1:38 `expect` must be a map (got "RED") (write `expect: { status: RED }`)',
    ],
    [
      "with a row without a value",
      "{ decision: quality, each: [{ a: 1 }, { b: 1 }], expect: { target: '{{ b }}' } }",
      "1:37 row 1 has no value for `expect.target`: `b` is missing",
    ],
    [
      "with a row that makes it invalid",
      "{ decision: quality, each: [{ b: [] }], expect: { target: '{{ b }}' } }",
      "1:37 `target` must be text, or null for none (with this row)",
    ],
    [
      "with a malformed template",
      "{ decision: quality, each: [{ b: 1 }], expect: { target: '{{ b + }}' } }",
      "1:73 expected a value, got the end of the expression",
    ],
    [
      "with an input that is no map",
      "{ decision: quality, input: high, expect: { target: a } }",
      "1:37 `input` must be a map, or `@file` with a JSON object",
    ],
    [
      "with a file that does not exist",
      "{ decision: quality, input: '@x.json', expect: { target: a } }",
      "1:37 cannot read `decisions/x.json`: ENOENT: no such file or directory, open 'decisions/x.json' (@ must be followed by a path, relative to the file of the test)",
    ],
    [
      "with a time that is none",
      "{ decision: quality, now: noon, expect: { target: a } }",
      "1:35 `now` must be a time, such as 2026-11-15T10:30:00Z",
    ],
    [
      "with unknown facts",
      "{ decision: quality, facts: { calls: 1 }, expect: { target: a } }",
      "1:39 unknown key `calls` (known here: session, counts, sums, fetched, caller, distribution, votes)",
    ],
    [
      "with counts of nothing",
      "{ decision: quality, facts: { counts: { x: 1 } }, expect: { target: a } }",
      "1:49 `quality` has no limited calls or uses of `x`",
    ],
    [
      "with data from nowhere",
      "{ decision: quality, facts: { fetched: { x: 1 } }, expect: { target: a } }",
      "1:50 `quality` has no data from `x`",
    ],
    [
      "with params that are given twice",
      "{ decision: quality, input: { params: {} }, params: {}, expect: { target: a } }",
      "1:61 `params` is given twice: here and in `input`",
    ],
    [
      "with a name that is used twice",
      "{ name: a, decision: quality, input: { score: 1 }, expect: { target: a } }, { name: a, decision: quality, expect: { target: a } }",
      "1:93 the name `a` is used twice in this file",
    ],
    ["that is not YAML", "{ input: @file }", '1:18 text that starts with `@` needs quotes (write `"@file"`)'],
  ])("%s is reported with its place", async (_, tests, problem) => {
    const project = testProject({ "quality.yaml": gate, "q.test.yaml": `tests: [${tests}]` });
    const problems = await project.problems();
    expect(problems[0]).toBe(`decisions/q.test.yaml:${problem}`);
  });

  it("is reported with the errors of the definition that it tests", async () => {
    const project = testProject({
      "a.yaml": gate.replace(">= 0.8", ">="),
      "q.test.yaml": "tests: [{ decision: quality, expect: { target: a } }]",
    });
    expect(await project.problems()).toEqual([
      "decisions/a.yaml:6:29 expected a value, got the end of the expression",
      "decisions/q.test.yaml:1:21 the definition of `quality` is not valid (fix decisions/a.yaml:6:29 first)",
    ]);
  });

  it.each([
    { name: "is suggested", id: "qualty", hint: "did you mean `quality`?" },
    {
      name: "may be in a broken file",
      id: "other",
      hint: "it may be in a file that is not valid, such as decisions/b.yaml",
    },
  ])("of an unknown decision names what it may be: it $name", async ({ id, hint }) => {
    const project = testProject({
      "a.yaml": gate,
      "b.yaml": "decision: [",
      "q.test.yaml": `tests: [{ decision: ${id}, expect: { target: a } }]`,
    });
    expect(await project.problems()).toContain(
      `decisions/q.test.yaml:1:21 no decision called \`${id}\` (${hint})`,
    );
  });

  it.each([
    ["in a file of its own", { "quality.yaml": gate, "q.test.yaml": "tests: [{ decision: quality }]" }],
    [
      "in a definition file",
      { "q.test.yaml": "tests: []", "quality.yaml": `${gate}tests: [{ decision: quality }]` },
    ],
  ])("%s changes no decision, and `validate` reports it", async (_, files) => {
    const project = testProject(files);
    const evaluated = await project.run(
      "dry-run",
      "quality",
      "--input",
      '{"score": 1}',
      "--format",
      "target",
    );
    expect(evaluated).toEqual({ exitCode: 0, stdout: "deploy\n", stderr: "" });
    const { exitCode, stdout } = await project.run("validate", "--format", "plain");
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/^decisions\/q\S+:(?:1|9):9\terror\t`expect` is missing in `tests\[0\]`$/m);
    expect((await project.problems()).at(-1)).toMatch(/`expect` is missing in `tests\[0\]`$/);
  });

  it("has no place for a definition", async () => {
    const project = testProject({ "quality.yaml": gate, "q.test.yaml": gate });
    expect(await project.problems()).toEqual([
      "decisions/q.test.yaml:1:1 `decision` has no effect in a test file (a file named *.test.yaml has only `tests`; rename it, or move this to another file)",
    ]);
    const { stdout } = await project.run("list", "--format", "plain");
    expect(stdout.split("\n")).toHaveLength(2);
  });
});
