import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Drawing, DrawnEdge } from "../../src/model/drawing.js";
import { drawTree } from "../../src/present/tree.js";
import { drawingView } from "../../src/present/drawing-view.js";
import type { Style } from "../../src/present/format.js";
import { displayWidth } from "../../src/present/text-width.js";

const style = (columns = Infinity): Style => ({ columns, paint: (_colour, text) => text });

/** `a-b` is an edge from a to b. */
function drawingOf(edges: readonly string[], roots: readonly string[] = ["a"]): Drawing {
  const drawn: readonly DrawnEdge[] = edges.map((edge) => {
    const [from = "", to = ""] = edge.split("-");
    return { from, to, label: edge };
  });
  const ids = new Set([...roots, ...drawn.flatMap(({ from, to }) => [from, to])]);
  return { nodes: [...ids].map((id) => ({ id, kind: "k" })), edges: drawn, roots };
}

interface Case {
  readonly name: string;
  readonly drawing: Drawing;
  readonly lines: readonly string[];
}

const cases: readonly Case[] = [
  { name: "nothing", drawing: drawingOf([], []), lines: [""] },
  { name: "a node alone", drawing: drawingOf([]), lines: ["a (k)"] },
  {
    name: "branches of branches",
    drawing: drawingOf(["a-b", "a-c", "b-d", "b-e", "c-f"]),
    lines: [
      "a (k)",
      "├─ a-b → b (k)",
      "│  ├─ b-d → d (k)",
      "│  └─ b-e → e (k)",
      "└─ a-c → c (k)",
      "   └─ c-f → f (k)",
    ],
  },
  {
    name: "one line for each edge, and a node in full once",
    drawing: drawingOf(["a-b", "a-b", "a-c", "b-d", "c-b", "c-d"]),
    lines: [
      "a (k)",
      "├─ a-b → b (k)",
      "│  └─ b-d → d (k)",
      "├─ a-b → b (again)",
      "└─ a-c → c (k)",
      "   ├─ c-b → b (again)",
      "   └─ c-d → d",
    ],
  },
  {
    name: "a circle, where it closes",
    drawing: drawingOf(["a-b", "b-a", "b-b"]),
    lines: ["a (k)", "└─ a-b → b (k)", "   ├─ b-a → a (cycle)", "   └─ b-b → b (cycle)"],
  },
  {
    name: "what no root leads to",
    drawing: { ...drawingOf(["a-b", "c-d", "d-c"]), roots: ["a"] },
    lines: ["a (k)", "└─ a-b → b (k)", "c (k)", "└─ c-d → d (k)", "   └─ d-c → c (cycle)"],
  },
  {
    name: "kinds, notes, names and edges without a label",
    drawing: {
      nodes: [
        { id: "a", label: "First\nline", kind: "decision", note: "switch" },
        { id: "b", label: "b", kind: "stage", note: "disabled" },
      ],
      edges: [
        { from: "a", to: "b", kind: "depends_on" },
        { from: "a", to: "b" },
      ],
      roots: ["a"],
    },
    lines: ["a  First line (decision, switch)", "├─ depends on → b (stage, disabled)", "└─ b"],
  },
  {
    name: "nothing that commands the terminal",
    drawing: {
      nodes: [{ id: "a\u001b[2J", label: "\u202eb", kind: "k\u0007" }],
      edges: [],
      roots: [],
    },
    lines: ["a\\u001b[2J  \\u202eb (k\\u0007)"],
  },
];

describe("a tree", () => {
  it.each(cases)("shows $name", ({ drawing, lines }) => {
    expect(drawTree(drawing, style()).split("\n")).toEqual(lines);
  });

  it("cuts labels to the width of the terminal, never ids", () => {
    const drawing: Drawing = {
      nodes: [
        { id: "decision-of-the-day", label: "A rather long name", kind: "decision" },
        { id: "stage-with-a-very-long-id", kind: "stage" },
      ],
      edges: [{ from: "decision-of-the-day", to: "stage-with-a-very-long-id", label: "A rather long label" }],
      roots: ["decision-of-the-day"],
    };
    expect(drawTree(drawing, style(44)).split("\n")).toEqual([
      "decision-of-the-day  A rather lo… (decision)",
      "└─ A ra… → stage-with-a-very-long-id (stage)",
    ]);
    expect(drawTree(drawing, style(20)).split("\n")).toEqual([
      "decision-of-the-day",
      "└─ A r… → stage-with-a-very-long-id",
    ]);
  });

  it("leaves out the kind of a node where the label of the edge would have no room", () => {
    const drawing: Drawing = {
      nodes: [
        { id: "a", kind: "decision" },
        { id: "b", kind: "decision" },
        { id: "c", kind: "stage", note: "disabled" },
      ],
      edges: ["b", "c"].map((to) => ({ from: "a", to, label: "precedent, same outcome" })),
      roots: ["a"],
    };
    expect(drawTree(drawing, style(34)).split("\n")).toEqual([
      "a (decision)",
      "├─ precedent, same outcome → b",
      "└─ preceden… → c (stage, disabled)",
    ]);
  });

  it("goes on further down where it would be too deep, at once and without an end", () => {
    const chain = Array.from({ length: 60 }, (_, index) => `n${index}-n${index + 1}`);
    const lines = drawTree(drawingOf(chain, ["n0"]), style()).split("\n");
    expect(Math.max(...lines.map(displayWidth))).toBeLessThan(120);
    expect(lines.filter((line) => line.endsWith("(further down)"))).toEqual([
      expect.stringContaining("n24 (further down)") as string,
      expect.stringContaining("n48 (further down)") as string,
    ]);
    expect(lines.filter((line) => /^\S/.test(line) && line.startsWith("n"))).toEqual([
      "n0 (k)",
      "n24 (k)",
      "n48 (k)",
    ]);
  });

  it("shows every node in full once and every edge once, whatever the graph", () => {
    const name = fc.integer({ min: 0, max: 6 }).map((number) => `node${number}`);
    const edges = fc.array(
      fc.tuple(name, name).map(([from, to]) => `${from}-${to}`),
      { maxLength: 20 },
    );
    fc.assert(
      fc.property(edges, (given) => {
        const drawing = drawingOf(given, ["node0"]);
        const lines = drawTree(drawing, style()).split("\n");
        for (const { id } of drawing.nodes) {
          expect(lines.filter((line) => line.endsWith(`${id} (k)`))).toHaveLength(1);
        }
        for (const edge of new Set(given)) {
          const times = given.filter((each) => each === edge).length;
          expect(lines.filter((line) => line.includes(`─ ${edge} → `))).toHaveLength(times);
        }
      }),
    );
  });

  it("is drawn quickly where there are very many ways", () => {
    const names = Array.from({ length: 100 }, (_, index) => `n${index}`);
    const all = names.flatMap((from) => names.map((to) => `${from}-${to}`));
    const lines = drawTree(drawingOf(all, ["n0"]), style()).split("\n");
    expect(lines.filter((line) => line.includes("→")).length).toBe(all.length);
  });

  it("paints what is disabled", () => {
    const drawing = { nodes: [{ id: "a", kind: "stage", note: "disabled" }], edges: [], roots: ["a"] };
    const painted = drawTree(drawing, { columns: 80, paint: (colour, text) => text && `<${colour}>${text}` });
    expect(painted).toBe("a <yellow>(stage, disabled)");
  });
});

describe("a drawing in other formats", () => {
  it("is nodes and edges as JSON, and one line an edge as plain text", () => {
    const drawing = drawingOf(["a-b"], ["a", "alone"]);
    const view = drawingView(drawing);
    expect(view.value).toEqual({ nodes: drawing.nodes, edges: drawing.edges });
    expect(view.plain()).toBe("a\ta-b\tb\t\nalone");
  });
});
