import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { DrawnEdge, DrawnNode } from "../../src/model/drawing.js";
import { main } from "../../src/cli/main.js";
import { fakeIo } from "./fake-io.js";
import { workplace } from "./workspace.js";

const { decisions, ...place } = workplace();
const run: typeof place.run = (words, options) => place.run(words, options);

const triage = `decision:
  id: triage
  name: "Triage"
  type: switch
  cases:
    - { condition: "a == 1", target: deep-look, label: Odd }
    - { condition: "a == 2", target: stage-archive, label: Dull }
  default: { target: stage-inbox }
---
decision:
  id: deep-look
  type: binary
  cases:
    - { condition: "a == 1", target: workflow-repair, label: Broken }
  default: { target: triage }
---
decision:
  id: aside
  type: binary
  cases:
    - { condition: "a == 1", target: stage-inbox }
  default: { target: stage-inbox }
`;

const targets = `targets:
  - stage-inbox
  - { id: stage-archive, kind: stage, disabled: true }
  - { id: workflow-repair, kind: workflow, depends_on: [stage-inbox] }
  - { id: stage-unused, kind: stage }
`;

const write = (file: string, text: string): void => writeFileSync(join(decisions, file), text);

interface Drawn {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

async function drawn(...words: readonly string[]): Promise<Drawn> {
  const { code, out } = await run(["graph", ...words]);
  expect(code).toBe(0);
  return JSON.parse(out) as Drawn;
}

beforeEach(() => {
  rmSync(decisions, { recursive: true });
  mkdirSync(decisions);
  write("triage.yaml", triage);
  write("targets.yaml", targets);
});

describe("decision graph", () => {
  it("draws a tree on a terminal: decisions, where they lead, and what that depends on", async () => {
    const { code, out, err } = await run(["graph"], { terminal: true });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out.trimEnd().split("\n")).toEqual([
      "aside (decision, binary)",
      "├─ stage-inbox → stage-inbox (target)",
      "└─ default → stage-inbox",
      "triage  Triage (decision, switch)",
      "├─ Odd → deep-look (decision, binary)",
      "│  ├─ Broken → workflow-repair (workflow)",
      "│  │  └─ depends on → stage-inbox",
      "│  └─ default → triage (cycle)",
      "├─ Dull → stage-archive (stage, disabled)",
      "└─ default → stage-inbox",
      "stage-unused (stage)",
    ]);
  });

  it("answers with nodes and edges in a pipe", async () => {
    const { nodes, edges } = await drawn();
    expect(nodes).toEqual([
      { id: "triage", label: "Triage", kind: "decision", note: "switch" },
      { id: "deep-look", kind: "decision", note: "binary" },
      { id: "aside", kind: "decision", note: "binary" },
      { id: "stage-inbox", kind: "target" },
      { id: "stage-archive", kind: "stage", note: "disabled" },
      { id: "workflow-repair", kind: "workflow" },
      { id: "stage-unused", kind: "stage" },
    ]);
    expect(edges).toContainEqual({ from: "triage", to: "deep-look", label: "Odd", kind: "leads_to" });
    expect(edges).toContainEqual({ from: "deep-look", to: "triage", label: "default", kind: "leads_to" });
    expect(edges).toContainEqual({ from: "workflow-repair", to: "stage-inbox", kind: "depends_on" });
    expect(edges).toHaveLength(8);
  });

  it("draws only what can be reached from the decisions that are named", async () => {
    const { nodes, edges } = await drawn("deep-look", "aside", "deep-look");
    expect(nodes.map(({ id }) => id)).not.toContain("stage-unused");
    expect(nodes.map(({ id }) => id)).toContain("stage-archive");
    expect(edges).toHaveLength(8);
    const alone = await drawn("aside");
    expect(alone.nodes.map(({ id }) => id)).toEqual(["aside", "stage-inbox"]);
    expect(alone.edges.map(({ label }) => label)).toEqual(["stage-inbox", "default"]);
  });

  it("begins with the decisions that are named, in their order", async () => {
    const { out } = await run(["graph", "deep-look", "aside", "--format", "tree"]);
    expect(out.split("\n").filter((line) => /^\w/.test(line))).toEqual([
      "deep-look (decision, binary)",
      "aside (decision, binary)",
    ]);
  });

  it("draws the tools of policies and the actions of gates", async () => {
    write(
      "more.yaml",
      `decision:
  id: p
  type: policy
  tool: [write_file, "send_*"]
  policies:
    - { name: looked, requires: [read_file] }
---
decision:
  id: g
  type: gate
  action: { org: acme, domain: pay, name: wire, world_model_version: 2 }
  rules:
    - { id: r, tier: T2, severity: 5, when: "a > 1", status: YELLOW, work_frame: { next_action: ask } }
    - { id: s, tier: T3, severity: 1, when: "true", status: GREEN }
`,
    );
    const { nodes, edges } = await drawn("p", "g");
    expect(nodes.filter(({ kind }) => kind !== "decision")).toEqual([
      { id: "tool:write_file", kind: "tool" },
      { id: "tool:send_*", kind: "tool" },
      { id: "tool:read_file", kind: "tool" },
      { id: "action:acme/pay/wire@2", kind: "action" },
      { id: "action:ask", kind: "action" },
    ]);
    expect(edges).toEqual([
      { from: "p", to: "tool:write_file", kind: "guards" },
      { from: "p", to: "tool:send_*", kind: "guards" },
      { from: "p", to: "tool:read_file", label: "requires (looked)", kind: "requires" },
      { from: "g", to: "action:acme/pay/wire@2", kind: "guards" },
      { from: "g", to: "action:ask", label: "r (YELLOW)", kind: "next_action" },
    ]);
  });

  it.each([
    ["mermaid", "flowchart TD\n", 'n4 -.->|"depends on"| n2'],
    ["dot", "digraph decisions {\n", 'n4 -> n2 [label="depends on", style=dashed];'],
    ["plain", "triage\tOdd\tdeep-look\tleads_to\n", "workflow-repair\tdepends on\tstage-inbox\tdepends_on"],
    ["yaml", "nodes:\n", "kind: depends_on"],
    ["jsonl", '{"nodes":[', '"kind":"depends_on"'],
  ])("is written as %s", async (format, beginning, within) => {
    const { code, out } = await run(["graph", "triage", "--format", format]);
    expect(code).toBe(0);
    expect(out.startsWith(beginning)).toBe(true);
    expect(out).toContain(within);
  });

  it("suggests a similar id", async () => {
    const { code, out, err } = await run(["graph", "aside", "triag"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toBe("error: no decision called `triag`\nhint: did you mean `triage`?\n");
  });

  it("suggests a similar format", async () => {
    const { code, err } = await run(["graph", "--format", "mermiad"]);
    expect(code).toBe(2);
    expect(err).toContain("did you mean `mermaid`?");
  });

  it("warns of files that cannot be used, and shows that ways into them are cut off", async () => {
    write(
      "triage.yaml",
      triage.replace("id: deep-look\n  type: binary", "id: deep-look-too\n  type: binary"),
    );
    write("deep.yaml", "decision:\n  id: deep-look\n  type: binry\n");
    const { code, out, err } = await run(["graph", "triage"]);
    expect(code).toBe(0);
    expect(err).toMatch(/^warning: \S+deep\.yaml:\d+:\d+ is invalid: .*\n$/);
    expect((JSON.parse(out) as Drawn).nodes).toContainEqual({
      id: "deep-look",
      kind: "target",
      note: "not valid",
    });
    const broken = await run(["graph", "deep-look"]);
    expect({ code: broken.code, out: broken.out }).toEqual({ code: 3, out: "" });
  });

  it("prints a note if there are no decisions", async () => {
    rmSync(join(decisions, "triage.yaml"));
    rmSync(join(decisions, "targets.yaml"));
    expect(await run(["graph"])).toEqual({
      code: 0,
      out: '{\n  "nodes": [],\n  "edges": []\n}\n',
      err: `no decisions found in \`${decisions}\`: they are in files named *.yaml, *.yml or *.json\n`,
    });
  });

  it("warns where mermaid would refuse to draw", async () => {
    const rules = Array.from(
      { length: 501 },
      (_, index) => `    - { condition: "a == ${index}", target: t${index} }`,
    );
    rmSync(join(decisions, "targets.yaml"));
    write(
      "triage.yaml",
      `decision:\n  id: wide\n  type: switch\n  cases:\n${rules.join("\n")}\n  default: { target: z }\n`,
    );
    const { code, err } = await run(["graph", "--format", "mermaid"]);
    expect(code).toBe(0);
    expect(err).toContain("mermaid renders at most 500 edges");
    expect((await run(["graph", "--format", "mermaid", "--quiet"])).err).toBe("");
  });

  it("fits the terminal", async () => {
    const io = fakeIo({ terminal: true, columns: 25, env: { AGENT33_DECISIONS: decisions, NO_COLOR: "1" } });
    expect(await main(["decision", "graph", "deep-look"], io)).toBe(0);
    const lines = io.written.out.trimEnd().split("\n");
    expect(lines.slice(0, 2)).toEqual(["deep-look", "├─ Bro… → workflow-repair"]);
  });

  it("completes the ids of decisions, one after another, and its formats", async () => {
    const complete = async (...words: readonly string[]): Promise<string> => {
      const io = fakeIo({ env: { AGENT33_DECISIONS: decisions } });
      await main(["__complete", "--", "decision", "graph", ...words], io);
      return io.written.out;
    };
    expect(await complete("tri")).toBe("triage\n");
    expect(await complete("triage", "dee")).toBe("deep-look\n");
    expect(await complete("--format", "mer")).toBe("mermaid\n");
  });
});

describe("decision validate", () => {
  it("reports disabled targets and cycles without failing", async () => {
    const { code, out } = await run(["validate", "--format", "plain"]);
    expect(code).toBe(0);
    const lines = out
      .trimEnd()
      .split("\n")
      .filter((line) => line.includes("\twarning\t"));
    expect(lines.map((line) => line.slice(decisions.length + 1))).toEqual([
      "triage.yaml:6:38\twarning\tdecisions form a cycle: `triage` → `deep-look` → `triage`\t`--follow` ends in an error there",
      "triage.yaml:7:38\twarning\t`Dull` leads to `stage-archive`, which is disabled",
    ]);
  });

  it("fails for targets that cannot be as they are declared, and leaves other decisions alone", async () => {
    write("targets.yaml", targets.replace("depends_on: [stage-inbox]", "depends_on: [stage-inbx]"));
    const { code, out } = await run(["validate"]);
    expect(code).toBe(3);
    expect((JSON.parse(out) as { readonly problems: readonly object[] }).problems).toContainEqual({
      file: join(decisions, "targets.yaml"),
      line: 4,
      column: 57,
      severity: "error",
      message: "`workflow-repair` depends on `stage-inbx`, which is not declared under `targets`",
      hint: "did you mean `stage-inbox`?",
    });
    expect((await run(["dry-run", "deep-look", "--input", '{"a": 1}'])).code).toBe(3);
    expect((await run(["dry-run", "aside", "--input", '{"a": 1}'])).code).toBe(0);
  });
});
