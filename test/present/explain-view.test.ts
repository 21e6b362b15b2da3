import { describe, expect, it } from "vitest";
import type { RoutingRecord, NoteRecord } from "../../src/model/record.js";
import type { ExplainedRecord } from "../../src/present/explain-view.js";
import { explainView, noteView } from "../../src/present/explain-view.js";
import type { Format, View } from "../../src/present/format.js";
import { present } from "../../src/present/format.js";
import type { ExplainedCondition } from "../../src/record/explain.js";

const chained = { seq: 1234, prev_hash: "a".repeat(64), hash: "b".repeat(64) };

const record: RoutingRecord = {
  ...chained,
  kind: "decision",
  record_id: "0199a3f2-1c44-7000-8000-000000000001",
  timestamp: "2026-11-15T10:30:45.123456Z",
  decision_id: "gate",
  decision_name: "Quality Gate",
  decision_version: "1.2.0",
  definition_hash: "c".repeat(64),
  environment_hash: "d".repeat(64),
  deterministic_hash: "e".repeat(64),
  type: "binary",
  selected_targets: ["stage-rework"],
  selected_labels: ["Fail"],
  input_value: 0.3,
  evaluation_details: {},
  because: ["input < 0.8"],
  failed_conditions: ["input >= 0.8"],
  warnings: [],
  guardrails: [],
  blocked: false,
  escalated: false,
  cached: false,
  dry_run: false,
  workflow_id: "nightly",
  correlation_id: "c-9",
  context: { artifact: { score: 0.3 } },
  facts: {},
};

const pass: ExplainedCondition = {
  label: "Pass",
  condition: "input >= 0.8",
  result: false,
  values: { "artifact.score": 0.3 },
};

const explained: ExplainedRecord = {
  record,
  explanation: {
    answer: "stage-rework",
    because: record.because,
    failed: [pass],
    definition: { version: "1.2.0", hash: record.definition_hash, available: true },
  },
  intact: true,
};

const text = (view: View, format: Format = "table", columns = 100): Promise<string> =>
  present(view, format, { columns, paint: (_colour, shown) => shown });

const linesOf = async (changed: Partial<ExplainedRecord> = {}, columns = 100): Promise<readonly string[]> =>
  (await text(explainView({ ...explained, ...changed }), "table", columns)).trimEnd().split("\n");

const withFailed = (failed: readonly ExplainedCondition[]): Partial<ExplainedRecord> => ({
  explanation: { ...explained.explanation, failed },
});

const withRecord = (changed: Partial<RoutingRecord>): Partial<ExplainedRecord> => ({
  record: { ...record, ...changed },
});

describe("an explanation on a terminal", () => {
  it("starts with the answer, followed by a few lines", async () => {
    expect(await linesOf()).toEqual([
      "stage-rework  Fail",
      "",
      "  decision      gate (Quality Gate) 1.2.0",
      "  when          2026-11-15 10:30:45.123456 UTC",
      "  record        0199a3f2-1c44-7000-8000-000000000001, number 1,234",
      "  workflow      nightly",
      "  correlation   c-9",
      "  input         0.3",
      "  because       input < 0.8",
      "  failed        Pass: input >= 0.8",
      "                  artifact.score = 0.3",
      "  cached        no",
      "  definition    1.2.0, cccccccccccc",
    ]);
  });

  it.each([
    [{ subject: "alice", actors: [] }, "alice"],
    [
      { subject: "alice", actors: [{ subject: "agent-7" }, { subject: "agent-1" }] },
      "alice, by agent-7, by agent-1",
    ],
    [{ subject: "alice", actors: "?" }, "alice"],
  ])("names the authenticated caller: %j", async (authenticated_caller, said) => {
    const lines = await linesOf(withRecord({ facts: { authenticated_caller } }));
    expect(lines).toContain(`  caller        ${said}`);
  });

  it.each([[{ subject: 1 }], ["alice"], [null]])(
    "leaves out a caller that is damaged: %j",
    async (caller) => {
      const lines = await linesOf(withRecord({ facts: { authenticated_caller: caller } }));
      expect(lines.join("\n")).not.toContain("caller");
    },
  );

  it.each([
    [{ values: { a: "x", b: [1] } }, ['a = "x"', "b = [1]"]],
    [{ values: { a: "[masked]" } }, ["a = [masked]"]],
    [{ values: {}, missing: ["a.b"] }, ["a.b: missing"]],
    [{ values: {}, missing: ["a"], error: "`input` is missing" }, ["a: missing"]],
    [{ values: {}, not_recorded: ["a.b"] }, ["a.b: not recorded"]],
    [{ values: { a: 1 }, error: "no number" }, ["! no number", "a = 1"]],
  ])("shows what a condition read: %j", async (changed, shown) => {
    const lines = await linesOf(withFailed([{ ...pass, ...changed }]));
    const at = lines.findIndex((line) => line.includes("failed"));
    expect(lines.slice(at + 1, at + 1 + shown.length).map((line) => line.trim())).toEqual(shown);
  });

  it("counts failed conditions beyond the limit", async () => {
    const many = Array.from({ length: 25 }, (_, index) => ({ ...pass, label: `R${index + 1}` }));
    const lines = await linesOf(withFailed(many));
    expect(lines.filter((line) => line.includes("failed"))).toHaveLength(10);
    expect(lines.map((line) => line.trim())).toContain("and 15 more; --verbose shows them all");
  });

  it("truncates long values to the width of the terminal", async () => {
    const long = "x".repeat(200);
    const lines = await linesOf(
      { ...withRecord({ input_value: long }), ...withFailed([{ ...pass, values: { a: long } }]) },
      80,
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(80);
    expect(lines.filter((line) => line.endsWith("x…"))).toHaveLength(2);
  });

  it.each([
    [{ cached: true, cached_from: "0199-first" }, "  cached        yes, from record 0199-first"],
    [{ cached: true }, "  cached        yes"],
    [{ cache_key: "f".repeat(64) }, "  cached        no (cache miss)"],
    [{ context: undefined } as unknown as Partial<RoutingRecord>, "  input         not recorded"],
  ])("shows whether the answer was cached: %j", async (changed, line) => {
    expect(await linesOf(withRecord(changed))).toContain(line);
  });

  it("shows warnings without a failed condition", async () => {
    const warnings = ["the input could not be evaluated"];
    const lines = await linesOf({ ...withRecord({ warnings }), ...withFailed([]) });
    expect(lines).toContain("  warning       the input could not be evaluated");
  });

  it("marks a missing definition and a changed record", async () => {
    const definition = { hash: record.definition_hash, available: false };
    const lines = await linesOf({ explanation: { ...explained.explanation, definition }, intact: false });
    expect(lines).toContain("  definition    cccccccccccc (no longer stored)");
    expect(lines.join("\n")).toContain("number 1,234, changed since it was written");
  });

  it("has a row for each passed guardrail, entity, artifact and precedent", async () => {
    const precedent = { record_id: "0199-before", similarity: 0.75, match_reason: "same file:a" };
    const lineage = {
      entities: [{ type: "file", id: "a" }],
      artifacts: ["report-7"],
      inputs: [],
      conditions: [],
      policies: [],
      override: null,
      params_digest: null,
      precedents: [{ ...precedent, outcome_matched: false }],
    };
    const guardrails = [{ check_name: "requires_approval", passed: true, message: "approved" }];
    const lines = await linesOf(withRecord({ lineage, guardrails, parent_record_id: "0199-parent" }));
    expect(lines).toEqual(
      expect.arrayContaining([
        "  parent        0199-parent",
        "  guardrail     requires_approval passed: approved",
        "  entity        file:a",
        "  artifact      report-7",
        "  precedent     0199-before, similarity 0.75, different outcome: same file:a",
      ]),
    );
  });

  it("escapes control characters", async () => {
    const condition = { ...pass, condition: "a ==\n  '\u202eb'" };
    const changed = { ...withRecord({ workflow_id: "\u001b[31mred" }), ...withFailed([condition]) };
    const shown = (await linesOf(changed)).join("\n");
    expect(shown).toContain("\\u001b[31mred");
    expect(shown).toContain("Pass: a == '\\u202eb'");
  });

  it("colours a default route differently", async () => {
    const view = explainView({ ...explained, ...withRecord({ selected_labels: ["default"] }) });
    const shown = await present(view, "table", {
      columns: 80,
      paint: (colour, each) => `<${colour}>${each}`,
    });
    expect(shown).toMatch(/^<yellow><bold>stage-rework {2}<dim>default\n/);
  });
});

describe("a verbose explanation", () => {
  const all = {
    conditions: [pass, { ...pass, label: "Fail", condition: "input < 0.8", result: true }],
    not_asked: [{ label: "Other", condition: "true" }],
  };

  it("has a table of all conditions, and full hashes", async () => {
    const lines = await linesOf({ all });
    expect(lines).not.toContain("  failed        Pass: input >= 0.8");
    expect(lines).toEqual(
      expect.arrayContaining([
        `  definition    1.2.0, ${"c".repeat(64)}`,
        "  facts         {}",
        '  context       {"artifact":{"score":0.3}}',
        `  environment   ${"d".repeat(64)}`,
        `  deterministic ${"e".repeat(64)}`,
        `  previous      ${"a".repeat(64)}`,
        `  hash          ${"b".repeat(64)}`,
        "  line          intact",
      ]),
    );
    expect(lines.slice(-4)).toEqual([
      "  CASE   RESULT           CONDITION     WHY",
      "  Pass   ✗ not matched    input >= 0.8  artifact.score = 0.3",
      "→ Fail   ✓ matched        input < 0.8   artifact.score = 0.3",
      "  Other  – not evaluated  true          an earlier case matched",
    ]);
  });

  it("shows a roll with the range of each case", async () => {
    const evaluation_details = { roll: 7.5, total_weight: 10, weights: { A: 7, B: 3 } };
    const changed = withRecord({ type: "weighted", evaluation_details, selected_labels: ["B"] });
    const lines = await linesOf({ ...changed, all: { conditions: [], not_asked: [] } });
    expect(lines.slice(-3)).toEqual([
      "  CASE  RANGE   SHARE",
      "  A     0 – 7   70.0 %  █████████████████░░░░░░░",
      "✓ B     7 – 10  30.0 %  ███████░░░░░░░░░░░░░░░░░",
    ]);
  });

  it("counts the rules of a long table that did not match", async () => {
    const lines = await linesOf({ ...withRecord({ rules_total: 1500 }), all: { ...all, not_asked: [] } });
    expect(lines.at(-1)).toBe("1,498 of 1,500 rules did not match");
  });

  it("shows the messages of guardrails", async () => {
    const guardrails = [{ check_name: "bounds", passed: false, message: "too much" }];
    expect(await linesOf({ ...withRecord({ guardrails }), all })).toContain(
      "  guardrail     bounds: failed, too much",
    );
  });
});

describe("an explanation for programs", () => {
  it("is the record with the explanation in it", async () => {
    expect(JSON.parse(await text(explainView(explained), "json"))).toEqual({
      ...record,
      explanation: { ...explained.explanation, intact: true },
    });
  });

  it("has one line per row in plain text", async () => {
    const lines = (await text(explainView(explained), "plain", Infinity)).trimEnd().split("\n");
    expect(lines[0]).toBe("answer\tstage-rework\tFail");
    expect(lines).toContain("failed\tPass: input >= 0.8\tartifact.score = 0.3");
  });
});

describe("a note", () => {
  const note: NoteRecord = {
    ...chained,
    kind: "note",
    record_id: record.record_id,
    timestamp: record.timestamp,
    note: "pruned",
    details: { records: 1200, through: 1200, keep: "90d" },
  };

  it.each([
    [{}, "the oldest 1,200 records were removed, up to number 1,200 (prune --keep 90d)"],
    [
      { note: "tail_repaired", details: { file: "x.torn", bytes: 1 } } as const,
      "the log ended in an incomplete line after a crash; 1 byte was moved to `x.torn`",
    ],
    [
      { note: "tail_lost", details: { from: 5, to: 9 } } as const,
      "records 5 to 9 were lost in a power failure, because writes were not synced to disk",
    ],
  ])("is described in a sentence: %j", async (changed, sentence) => {
    const view = noteView({ ...note, ...changed }, true);
    expect((await text(view)).split("\n")[0]).toBe(sentence);
    expect(JSON.parse(await text(view, "json"))).toMatchObject({ explanation: { answer: sentence } });
  });
});
