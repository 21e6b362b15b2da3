import { describe, expect, it } from "vitest";
import type { DrawnEdge, DrawnNode } from "../../src/model/drawing.js";
import { readDot, readMermaid } from "../present/picture-readers.js";
import { root, run } from "./command.js";
import { hasTerminal, noTerminal, typed } from "./terminal.js";

interface Drawn {
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}

const graph = async (...words: readonly string[]): Promise<string> => {
  const { exitCode, stdout, stderr } = await run(["decision", "graph", ...words]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  return stdout;
};

describe("the graph of the samples", () => {
  it("has a node for each decision, and an edge for each way out", async () => {
    const { nodes, edges } = JSON.parse(await graph()) as Drawn;
    expect(nodes.filter(({ kind }) => kind === "decision").length).toBeGreaterThanOrEqual(10);
    const ways = edges.filter(({ from }) => from === "decision-quality-gate");
    expect(ways.map(({ label, to }) => `${label ?? ""} → ${to}`)).toEqual([
      "Pass → stage-deploy",
      "Fail → stage-rework",
      "default → stage-rework",
    ]);
  });

  it.each([
    { format: "mermaid", read: readMermaid },
    { format: "dot", read: readDot },
  ])("is a picture for those who read $format", async ({ format, read }) => {
    const { nodes, edges } = JSON.parse(await graph()) as Drawn;
    const picture = await read(await graph("--format", format));
    expect(picture.nodes.map((text) => text.split("\n")[0])).toEqual(nodes.map(({ id }) => id));
    expect(picture.edges).toHaveLength(edges.length);
  });

  it.skipIf(!hasTerminal)(`is a tree on a terminal${noTerminal}`, async () => {
    const { exitCode, screen } = await typed("node bin/agent-33.js decision graph decision-quality-gate", {
      cwd: root,
      env: { NO_COLOR: "1" },
    });
    expect(exitCode).toBe(0);
    expect(screen.trimEnd().split("\n")).toEqual([
      "decision-quality-gate  Quality Gate (decision, binary)",
      "├─ Pass → stage-deploy (target)",
      "├─ Fail → stage-rework (target)",
      "└─ default → stage-rework",
    ]);
  });
});
