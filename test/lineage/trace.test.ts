import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { child, idOf, logOf, using } from "./records.js";
import { drawTrace, drawTraceAsTree } from "../../src/lineage/draw-lineage.js";
import type { LineageTrace } from "../../src/lineage/trace.js";
import { traceRecord } from "../../src/lineage/trace.js";
import type { Drawing } from "../../src/model/drawing.js";
import type { LogRecord } from "../../src/model/record.js";
import type { Ledger } from "../../src/model/store.js";
import { drawDot, drawMermaid, nodeText } from "../../src/present/diagrams.js";
import { drawTree } from "../../src/present/tree.js";
import { readDot, readMermaid } from "../present/picture-readers.js";
import { noted } from "../store/entries.js";

async function trace(log: Ledger, seq: number, limit = 100): Promise<LineageTrace> {
  const found = await log.find({ seq });
  const traced = "record" in found ? await traceRecord(found.record, log, limit) : undefined;
  if (traced === undefined) throw new Error("there is nothing to trace");
  return traced;
}

const tree = (drawn: LineageTrace): readonly string[] =>
  drawTree(drawTraceAsTree(drawn), { columns: Infinity, paint: (_colour, text) => text }).split("\n");

const numbers = (records: readonly { readonly record_id: string }[]): readonly number[] =>
  records.map(({ record_id }) => Number(record_id.slice(-12)));

describe("the parents of a record", () => {
  it("are listed up to the root, nearest first", async () => {
    const { restedOn, complete } = await trace(await logOf({}, child(1), child(2), child(3)), 4);
    expect([numbers(restedOn.parents), complete]).toEqual([[3, 2, 1], true]);
  });

  it("are listed as far as they are in the log", async () => {
    const { restedOn } = await trace(await logOf({ parent_record_id: idOf(9) }, child(1)), 2);
    expect(restedOn.parents).toMatchObject([
      { kind: "decision", decision_id: "d1" },
      { kind: "missing", record_id: idOf(9) },
    ]);
  });

  it("are limited", async () => {
    const { restedOn, complete } = await trace(await logOf({}, child(1), child(2), child(3)), 4, 2);
    expect([numbers(restedOn.parents), complete]).toEqual([[3, 2], false]);
  });

  it.each([
    { name: "a record that is its own parent", records: [child(1)], of: 1, parents: [] },
    { name: "two that are each other's", records: [child(2), child(1)], of: 1, parents: [2] },
    { name: "a circle further up", records: [child(2), child(1), child(2)], of: 3, parents: [2, 1] },
  ])("are listed once: $name", async ({ records, of, parents }) => {
    const traced = await trace(await logOf(...records), of);
    expect(numbers(traced.restedOn.parents)).toEqual(parents);
    expect(tree(traced).join("\n")).toContain("(cycle)");
  });

  it.each(["", "0", "0199", "no id", idOf(1).toUpperCase()])(
    "are no guess where one is called %j",
    async (id) => {
      const { restedOn } = await trace(await logOf({}, { parent_record_id: id }), 2);
      expect(restedOn.parents).toEqual([{ kind: "missing", record_id: id }]);
    },
  );

  it("are decisions, never a note", async () => {
    const log = await logOf();
    await log.append({ body: noted() });
    const note = await log.find({ seq: 1 });
    const { record_id } = "record" in note ? note.record : { record_id: "" };
    expect("record" in note && (await traceRecord(note.record, log, 5))).toBeUndefined();
    const below = await logOf({ parent_record_id: record_id });
    expect((await trace(below, 1)).restedOn.parents).toEqual([{ kind: "missing", record_id }]);
  });
});

const lineage = {
  artifacts: ["build-42", idOf(1)],
  entities: [{ type: "customer", id: "c:1" }],
  inputs: [{ source: "artifact", keys: ["score", "id"], digest: "d" }],
  policies: [
    {
      name: "ops_only",
      version: "1.0.0",
      hash: "h",
      base_decision: "deny" as const,
      denial_reason: "Only ops",
      override: "hotfix",
    },
    {
      name: "weekdays",
      version: "2.0.0",
      hash: "h",
      base_decision: "allow" as const,
      denial_reason: null,
      override: null,
    },
  ],
  override: {
    name: "hotfix",
    version: "3.0.0",
    hash: "h",
    overrides: ["ops_only"],
    condition: null,
    action: "allow" as const,
    reason: "It is urgent",
    expires_at: null,
  },
  precedents: [
    { record_id: idOf(2), similarity: 0.92, match_reason: "same customer", outcome_matched: true },
    { record_id: idOf(8), similarity: 0.7, match_reason: "same customer", outcome_matched: false },
  ],
};

describe("the drawing of a record", () => {
  it("has the record as the root of a tree", async () => {
    const log = await logOf(
      {},
      {},
      child(1),
      { ...child(3), lineage, cached: true, cached_from: idOf(2) },
      { ...child(4), selected_labels: ["A", "B"] },
      [4],
    );
    expect(tree(await trace(log, 4))).toEqual([
      "#4 d4  Pass → to-Pass (decision, binary, 2026-03-02 12:00:00)",
      "├─ depends on",
      "│  ├─ build-42 (artifact)",
      "│  ├─ artifact → #1 d1  Pass → to-Pass (decision, binary)",
      "│  ├─ customer:c:1 (entity)",
      "│  ├─ artifact  score, id (input)",
      "│  ├─ ops_only@1.0.0  denied: Only ops (overridden) (policy)",
      "│  ├─ weekdays@2.0.0  allowed (policy)",
      "│  ├─ hotfix@3.0.0  It is urgent (override)",
      "│  ├─ parent → #3 d3  Pass → to-Pass (decision, binary)",
      "│  │  └─ parent → #1 d1",
      "│  ├─ cached from → #2 d2  Pass → to-Pass (decision, binary)",
      "│  ├─ precedent, same outcome (similarity 0.92) → #2 d2",
      `│  └─ precedent, other outcome (similarity 0.7) → ${idOf(8)} (record, not in the log)`,
      "└─ led to",
      "   ├─ Pass → to-Pass (target)",
      "   ├─ child → #5 d5  A → to-A, B → to-B (decision, binary)",
      "   │  ├─ A → to-A (target)",
      "   │  └─ B → to-B (target)",
      "   └─ result → #6 read_file (result, ok)",
    ]);
  });

  it("shows the decisions of the same check", async () => {
    const check = { check_id: "c", selected_targets: [] };
    const log = await logOf(
      { check_id: "b" },
      { ...check, selected_labels: ["denied"] },
      { ...check, selected_labels: ["allowed"], selected_targets: ["stage"] },
      {},
    );
    const traced = await trace(log, 3);
    expect(numbers(traced.sameCheck)).toEqual([2]);
    expect(tree(traced)).toContain("├─ decided together with");
    expect(tree(traced)).toContain("│  └─ #2 d2  denied (decision, binary)");
  });

  it("has the result of a call below the decisions that allowed it", async () => {
    const log = await logOf({}, child(1), child(1), [2, 3]);
    expect(tree(await trace(log, 4))).toEqual([
      "#4 read_file (result, ok, 2026-03-02 12:00:00)",
      "└─ depends on",
      "   ├─ allowed by → #2 d2  Pass → to-Pass (decision, binary)",
      "   │  └─ parent → #1 d1  Pass → to-Pass (decision, binary)",
      "   └─ allowed by → #3 d3  Pass → to-Pass (decision, binary)",
      "      └─ parent → #1 d1",
    ]);
  });

  it.each([
    {
      name: "blocked",
      record: {
        blocked: true,
        selected_labels: [],
        proposed_targets: ["stage-x"],
        proposed_labels: ["Go"],
      },
      lines: ["#1 d1  blocked", "proposed Go → stage-x (target)"],
    },
    {
      name: "escalated",
      record: {
        escalated: true,
        selected_labels: ["stage-approval"],
        selected_targets: ["stage-approval"],
        proposed_targets: ["stage-x"],
        proposed_labels: ["stage-x"],
      },
      lines: [
        "#1 d1  escalated → stage-approval",
        "escalated → stage-approval (target)",
        "proposed → stage-x (target)",
      ],
    },
    {
      name: "of a gate that was blocked",
      record: {
        blocked: true,
        selected_labels: ["RED"],
        selected_targets: [],
        proposed_targets: [],
        proposed_status: "GREEN" as const,
      },
      lines: ["#1 d1  blocked, RED (proposed: GREEN)"],
    },
    {
      name: "of votes that lead nowhere and were blocked",
      record: { blocked: true, selected_labels: [], proposed_targets: [], proposed_labels: ["approve"] },
      lines: ["#1 d1  blocked (proposed: approve)"],
    },
    {
      name: "default",
      record: { selected_labels: ["default"], selected_targets: ["stage-rework"] },
      lines: ["#1 d1  default → stage-rework", "default → stage-rework (target)"],
    },
  ])("shows an answer that is $name", async ({ record, lines }) => {
    const drawn = tree(await trace(await logOf(record), 1)).join("\n");
    for (const line of lines) expect(drawn).toContain(line);
  });

  it("has edges that point downstream", async () => {
    const { nodes, edges, roots } = drawTrace(await trace(await logOf({}, child(1), using(idOf(2))), 2));
    const record = (number: number): string => `record:${idOf(number)}`;
    expect(roots).toEqual([record(2)]);
    expect(nodes.map(({ id }) => id)).toEqual([record(2), record(1), "target:to-Pass", record(3)]);
    expect(edges).toEqual([
      { from: record(1), to: record(2), kind: "child" },
      { from: record(2), to: "target:to-Pass", kind: "leads_to", label: "Pass" },
      { from: record(3), to: "target:to-Pass", kind: "leads_to", label: "Pass" },
      { from: record(2), to: record(3), kind: "input_of" },
    ]);
  });
});

const nasty = [
  'a "quoted" [b] {c} | <d> & #e;',
  "end",
  "line\nbreak",
  "\u001b[31mred",
  "\\N\\G",
  "record:x",
  "__proto__",
  "",
];

describe("a lineage of hostile names", () => {
  it.each([
    { language: "mermaid", draw: drawMermaid, read: readMermaid },
    { language: "DOT", draw: drawDot, read: readDot },
  ])("is drawn in $language unchanged", async ({ draw, read }) => {
    const log = await logOf(
      {
        parent_record_id: nasty[0] ?? "",
        cached_from: "a [b] {c}; d",
        selected_labels: [...nasty],
        selected_targets: nasty.map((each) => `${each}.`),
        lineage: {
          artifacts: nasty,
          entities: nasty.map((each) => ({ type: each, id: each })),
          inputs: nasty.map((each) => ({ source: each, keys: nasty, digest: each })),
          policies: [{ ...lineage.policies[0], name: nasty[0], denial_reason: nasty[2] } as never],
          precedents: nasty.map((each) => ({ ...lineage.precedents[0], record_id: each }) as never),
        },
      },
      child(1),
    );
    const drawing = drawTrace(await trace(log, 1));
    const picture = await read(draw(drawing));
    const words = (text: string): string => text.replace(/\s+/g, " ").trim();
    expect(picture.nodes.map(words)).toEqual(drawing.nodes.map(nodeText).map(words));
    expect(picture.edges).toHaveLength(drawing.edges.length);
  });
});

/** Whatever could stand in the place of a lineage, and of what else a record says of others. */
const damaged = fc.record({
  lineage: fc.oneof(
    fc.jsonValue(),
    fc.record(
      Object.fromEntries(
        Object.keys(lineage).map((name) => [
          name,
          fc.oneof(
            fc.jsonValue(),
            fc.array(
              fc.oneof(
                fc.jsonValue(),
                fc.record({ record_id: fc.jsonValue(), similarity: fc.jsonValue(), name: fc.jsonValue() }),
                fc.record({ type: fc.jsonValue(), id: fc.jsonValue(), source: fc.jsonValue() }),
              ),
            ),
          ),
        ]),
      ),
    ),
  ),
  parent_record_id: fc.jsonValue(),
  cached_from: fc.jsonValue(),
  check_id: fc.jsonValue(),
  session_id: fc.jsonValue(),
  tool: fc.jsonValue(),
  blocked: fc.jsonValue(),
  escalated: fc.jsonValue(),
  proposed_targets: fc.jsonValue(),
  proposed_labels: fc.jsonValue(),
  proposed_status: fc.jsonValue(),
});

const isWhole = ({ nodes, edges }: Drawing): boolean => {
  const ids = new Set(nodes.map(({ id }) => id));
  return ids.size === nodes.length && edges.every(({ from, to }) => ids.has(from) && ids.has(to));
};

describe("a damaged record", () => {
  it("is drawn as far as it is well-formed", async () => {
    const log = await logOf({}, child(1));
    const found = await log.find({ seq: 1 });
    if (!("record" in found)) throw new Error("it is not there");
    await fc.assert(
      fc.asyncProperty(damaged, async (damage) => {
        const record = { ...found.record, ...damage } as unknown as LogRecord;
        const traced = await traceRecord(record, log, 10);
        expect(traced !== undefined && isWhole(drawTrace(traced))).toBe(true);
        expect(traced !== undefined && isWhole(drawTraceAsTree(traced))).toBe(true);
        expect(traced === undefined || tree(traced).length).toBeGreaterThan(1);
      }),
    );
  });

  it("may have no lineage, like old records", async () => {
    const log = await logOf({});
    const found = await log.find({ seq: 1 });
    if (!("record" in found)) throw new Error("it is not there");
    const { lineage: gone, ...old } = found.record as { readonly lineage?: unknown } & LogRecord;
    expect(gone).toBeDefined();
    const traced = await traceRecord(old as LogRecord, log, 10);
    expect(traced?.restedOn).toMatchObject({ artifacts: [], entities: [], policies: [], override: null });
  });
});
