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
