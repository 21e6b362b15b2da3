import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsFor } from "../thoroughness.js";
import type { ReadPicture } from "./picture-readers.js";
import { readDot, readMermaid } from "./picture-readers.js";
import type { Drawing } from "../../src/model/drawing.js";
import { drawDot, drawMermaid, edgeText, nodeText } from "../../src/present/diagrams.js";

const nasty: readonly string[] = [
  "end",
  'say "hello"',
  "it's",
  "a [b] {c} (d) <e>",
  "`code` and *stars* and __under__",
  "#35; #quot; &amp; &lt;b&gt; &#60;",
  "style a:b #f00;",
  "classDef x fill:#f00;",
  "one\ntwo\r\nthree",
  "<script>alert(1)</script><br/><b title='x'>",
  "%%{init: {}}%%",
  "%% no comment",
  "a --> b; c -.-> d |x| & e",
  "\\N \\G \\n \\",
  "äöü ß ﬂ ° ¶ ﬂ°°35¶ß 漢字 🙂 e\u0301 שלום",
  "1. first",
  "- item",
  "    four blanks ",
  "fa:fa-camera https://example.org/?a=b&c=d",
  "$$x^2$$",
  "\u0000\u001b[31mred\u0007",
  "\ud800 half",
  "tab\there",
  "__proto__",
  "subgraph graph click href linkStyle",
  "---\ntitle: x\n---",
];

const text = fc.oneof(
  fc.constantFrom("", " ", ...nasty),
  fc.string({ unit: "binary", maxLength: 12 }),
  fc.string({
    unit: fc.constantFrom(..."\"'`#;:&<>|[](){}\\/%-=.~*_^$@!? \nxo1ß°¶ﬂ".split("")),
    maxLength: 16,
  }),
);

const kinds = fc.constantFrom("decision", "stage", "workflow", "tool", "action", "__proto__", 'any "kind"');

const drawings: fc.Arbitrary<Drawing> = fc
  .uniqueArray(
    fc.record({ id: text, label: text, kind: kinds, note: text }, { requiredKeys: ["id", "kind"] }),
    { selector: ({ id }) => id, minLength: 1, maxLength: 5 },
  )
  .chain((nodes) => {
    const id = fc.constantFrom(...nodes.map((node) => node.id));
    const kind = fc.constantFrom("leads_to", "depends_on", "other");
    const edge = fc.record({ from: id, to: id, label: text, kind }, { requiredKeys: ["from", "to"] });
    return fc.record({
      nodes: fc.constant(nodes),
      edges: fc.array(edge, { maxLength: 6 }),
      roots: fc.subarray(nodes.map((node) => node.id)),
    });
  });

/** The expected text. */
function contentOf({ nodes, edges }: Drawing): ReadPicture {
  const at = (id: string): number => nodes.findIndex((node) => node.id === id);
  return {
    nodes: nodes.map(nodeText),
    edges: edges.map((edge) => ({ from: at(edge.from), to: at(edge.to), text: edgeText(edge) })),
  };
}

/** Ignores kinds of spaces, empty lines and the order of edges. */
function seen({ nodes, edges }: ReadPicture): ReadPicture {
  const lines = (text: string): string =>
    text
      .replaceAll("\u00a0", " ")
      .split("\n")
      .filter((line) => line.trim() !== "")
      .join("\n");
  return {
    nodes: nodes.map(lines),
    edges: edges
      .map((edge) => ({ ...edge, text: lines(edge.text) }))
      .toSorted((a, b) => (JSON.stringify(a) < JSON.stringify(b) ? -1 : 1)),
  };
}

const pictures = [
  { language: "mermaid", draw: drawMermaid, read: readMermaid },
  { language: "dot", draw: drawDot, read: readDot },
] as const;

describe.each(pictures)("a drawing in $language", ({ draw, read }) => {
  it.each(nasty.map((label) => ({ label })))("shows $label as it is", async ({ label }) => {
    const drawing: Drawing = {
      nodes: [
        { id: label, label: `${label}!`, kind: "decision", note: label },
        { id: "other", kind: "stage" },
      ],
      edges: [{ from: label, to: "other", label }],
      roots: [label],
    };
    expect(seen(await read(draw(drawing)))).toEqual(seen(contentOf(drawing)));
  });

  it("is accepted with any text, and unchanged", async () => {
    await fc.assert(
      fc.asyncProperty(drawings, async (drawing) => {
        expect(seen(await read(draw(drawing)))).toEqual(seen(contentOf(drawing)));
      }),
      { numRuns: runsFor(100) },
    );
  });

  it("may be empty", async () => {
    expect(await read(draw({ nodes: [], edges: [], roots: [] }))).toEqual({ nodes: [], edges: [] });
  });
});

describe("the readers of these tests", () => {
  it.each([
    ["mermaid", () => readMermaid("flowchart TD\n  n0[say (hello)]\n")],
    ["mermaid", () => readMermaid("flowchart TD\n  n0[a] --> end\n")],
    ["dot", () => readDot('digraph { n0 [label="say "hello""]; }')],
  ])("reject invalid %s", async (_language, read) => {
    await expect(read()).rejects.toThrow();
  });
});
