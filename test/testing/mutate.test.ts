import { describe, expect, it } from "vitest";
import { expressionChanges } from "../../src/testing/mutations.js";
import { testProject } from "./test-project.js";

interface MutationDocument {
  readonly killed: number;
  readonly total: number;
  readonly equivalent: number;
  readonly score: number;
  readonly survivors: readonly {
    readonly decision: string;
    readonly mutation: string;
    readonly file: string;
    readonly line: number;
    readonly example_input: Readonly<Record<string, unknown>> | null;
  }[];
}

const definition = `decision:
  id: size
  type: switch
  cases:
    - { condition: "weight > 30", target: freight }
    - { condition: "kind == 'letter'", target: post }
    - { condition: "kind == 'box'", target: parcel }
  default: { target: other }
`;

const row = (weight: number, kind: string, to: string): string =>
  `  - { decision: size, input: { weight: ${weight}, kind: ${kind} }, expect: { target: ${to}, label: ${to === "other" ? "default" : to} } }\n`;

const weak = `tests:\n${row(100, "box", "freight")}${row(1, "letter", "post")}${row(1, "box", "parcel")}${row(1, "x", "other")}`;
const strong = `${weak}${row(30, "box", "parcel")}${row(31, "letter", "freight")}`;

async function mutationOf(tests: string): Promise<MutationDocument> {
  const project = testProject({ "d.yaml": definition, "d.test.yaml": tests });
  const { stdout } = await project.run("test", "--mutate", "--json");
  return (JSON.parse(stdout) as { mutation: MutationDocument }).mutation;
}

describe("mutation", () => {
  it("shows the changes that no test notices, with an input that does", async () => {
    const { survivors, killed, total, equivalent } = await mutationOf(weak);
    expect(survivors).toContainEqual({
      decision: "size",
      mutation: "weight > 30 → weight >= 30",
      file: "decisions/d.yaml",
      line: 5,
      example_input: { weight: 30, kind: "box" },
    });
    expect(killed + survivors.length).toBe(total);
    // The second and the third case never match both.
    expect(equivalent).toBe(1);
    const project = testProject({
      "a.yaml": definition,
      "b.yaml": definition.replace("id: size", "id: changed").replace("> 30", ">= 30"),
    });
    const input = '{"weight": 30, "kind": "box"}';
    const answers = await Promise.all(
      ["size", "changed"].map(
        async (id) => (await project.run("dry-run", id, "--input", input, "--format", "target")).stdout,
      ),
    );
    expect(answers).toEqual(["parcel\n", "freight\n"]);
  });

  it("is shown with its file and line", async () => {
    const project = testProject({ "d.yaml": definition, "d.test.yaml": weak });
    const { stdout } = await project.run("test", "--mutate", "--format", "table");
    expect(stdout.split("\n")).toContain("decisions/d.yaml:5  size: weight > 30 → weight >= 30");
  });

  it("is noticed by tests of both sides of each border", async () => {
    expect(await mutationOf(strong)).toMatchObject({ score: 100, survivors: [] });
  });

  it.each([
    [weak, "90", 6],
    [strong, "100", 0],
    [strong, "nothing", 2],
  ])("below --min-score, the exit code is 6 (%#)", async (tests, score, code) => {
    const project = testProject({ "d.yaml": definition, "d.test.yaml": tests });
    const { exitCode, stderr } = await project.run("test", "--min-score", score);
    expect(exitCode).toBe(code);
    if (code === 6)
      expect(stderr).toMatch(/^error: the tests notice [\d.]+ % of the mutations, at least 90 %/);
  });

  it("changes every value of an output, and how outputs are combined", async () => {
    const project = testProject({
      "d.yaml": `decision:
  id: fees
  type: rule_table
  hit_policy: collect
  aggregate: sum
  rules:
    - { condition: "amount > 10", output: "{{ amount * 0.1 }}", label: Share }
    - { condition: "amount > 20", output: 5, label: Extra }
  default: { output: 0 }
---
decision:
  id: answers
  type: switch
  cases:
    - { condition: "n == 1", output: { id: x, list: [true, null], text: "n is {{ n }}" }, label: One }
  default: { output: { name: y } }
tests:
  - { decision: fees, input: { amount: 30 }, expect: { labels: [Share, Extra] } }
  - { decision: fees, input: { amount: 10 }, expect: { label: default } }
  - { decision: answers, input: { n: 1 }, expect: { label: One } }
  - { decision: answers, input: { n: 2 }, expect: { label: default } }
`,
    });
    const { stdout } = await project.run("test", "--mutate", "--json");
    const { survivors } = (JSON.parse(stdout) as { mutation: MutationDocument }).mutation;
    const about = survivors.filter(({ mutation }) => /output|aggregate/.test(mutation));
    expect(about.map(({ mutation, example_input }) => [mutation, example_input])).toEqual([
      ["without `aggregate`", { amount: 30 }],
      ["aggregate: sum → max", { amount: 30 }],
      ["output: {{ amount * 0.1 }} → {{ amount / 0.1 }}", { amount: 30 }],
      ["output: {{ amount * 0.1 }} → {{ amount * 0.2 }}", { amount: 30 }],
      ["output: {{ amount * 0.1 }} → {{ amount * 0 }}", { amount: 30 }],
      ["output: 5 → 6", { amount: 30 }],
      ["output: 0 → 1", { amount: 10 }],
      ["output.id: x → x-changed", { n: 1 }],
      ["output.list.0: true → false", { n: 1 }],
      ["output.list.1: null → changed", { n: 1 }],
      ["output.text: n is {{ n }} → n is {{ n }}-changed", { n: 1 }],
      ["output.name: y → y-changed", { n: 2 }],
    ]);
  });

  it("that leaves out a guardrail changes answers if it stops a disabled target", async () => {
    const project = testProject({
      "d.yaml": `targets:
  - { id: freight, kind: stage, disabled: true }
  - { id: parcel, kind: stage }
---
decision:
  id: size
  type: switch
  cases: [{ condition: "w > 30", target: freight }]
  default: { target: parcel }
  guardrails: [{ type: no_disabled_targets, disabled_stages: [x], on_fail: warn }]
tests:
  - { decision: size, input: { w: 3 }, expect: { target: parcel } }
`,
    });
    const { stdout } = await project.run("test", "--mutate", "--json");
    const { survivors } = (JSON.parse(stdout) as { mutation: MutationDocument }).mutation;
    expect(survivors).toContainEqual(
      expect.objectContaining({
        mutation: expect.stringMatching(/^without \{"type":"no_disabled/) as unknown,
        example_input: { w: 31 },
      }),
    );
  });

  it("that leaves out a fetch no longer fetches", async () => {
    const project = testProject({
      "d.yaml": `endpoints:
  bureau: { url: "http://127.0.0.1:9/", allow_private: true }
decision:
  id: limit
  type: scored
  evaluators:
    - name: bureau
      rules:
        - id: trusted
          if:
            all:
              - { field: id, op: fetch_from_api, value: { endpoint: bureau, mapping: { score: bureau.score } } }
              - { field: bureau.score, op: gte, value: 700 }
          then: { decision: raise }
    - { name: house, static: { decision: review, weight: 0.3 } }
  scoring: { strategy: max_weight }
tests:
  - { decision: limit, input: { id: a }, facts: { fetched: { bureau: { score: 700 } } }, expect: { decision: raise } }
  # What the caller supplies is not what the endpoint says.
  - { decision: limit, input: { id: a, bureau: { score: 700 } }, expect: { decision: review, warnings: ["no data from \`bureau\`"] } }
`,
    });
    const { stdout } = await project.run("test", "--mutate", "--json");
    const { passed, mutation } = JSON.parse(stdout) as { passed: number; mutation: MutationDocument };
    expect(passed).toBe(2);
    expect(mutation.survivors.filter((each) => each.mutation.includes("fetch_from_api"))).toEqual([]);
  });

  it.each([
    ["a >= 0.8", ["a > 0.8", "a < 0.8", "a >= 0.9", "a >= 0.7", "true"]],
    [
      "a == 'x' and not b",
      [
        "a != 'x' and not b",
        "a == 'x-changed' and not b",
        "a == 'x' or not b",
        "a == 'x' and  b",
        "not b",
        "a == 'x'",
        "true",
      ],
    ],
    ["true", ["false"]],
  ])("changes %s", (text, changes) => {
    expect(expressionChanges(text, true)).toEqual(changes);
  });
});
