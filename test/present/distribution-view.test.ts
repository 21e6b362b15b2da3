import { describe, expect, it } from "vitest";
import { distributionView } from "../../src/present/distribution-view.js";
import type { Style } from "../../src/present/format.js";
import { present } from "../../src/present/format.js";
import type { BranchShare, Distribution, ShareCheck } from "../../src/record/distribution.js";

const check: ShareCheck = {
  definition_hash: "c".repeat(64),
  sample: 1200,
  statistic: 1.69,
  degrees_of_freedom: 2,
  p_value: 0.4296,
  e_value: 0.0312,
  reliable: true,
  mismatch: false,
};

const branches: readonly BranchShare[] = [
  { label: "Control (v1)", target: "stage-prompt-v1", count: 864, share: 0.7, expected_share: 0.7 },
  { label: "Variant A (v2)", target: "stage-prompt-v2", count: 370, share: 0.3, expected_share: 0.2 },
  { label: "Variant B (v3)", target: "stage-prompt-v3", count: 0, share: 0, expected_share: 0.1 },
];

const weighted: Distribution = {
  decision_id: "decision-ab",
  definition_hash: "c".repeat(64),
  decision_version: "1.1.0",
  current_definition_hash: "c".repeat(64),
  total: 1234,
  all_total: 1234,
  current_total: 1234,
  distinct_inputs: 1200,
  counts: { "Control (v1)": 864, "Variant A (v2)": 370 },
  branches,
  check,
};

const counted: Distribution = {
  ...weighted,
  branches: branches.map((each) => ({ ...each, expected_share: null })),
  check: null,
};

const plainly: Style["paint"] = (_colour, text) => text;

async function tableOf(distribution: Distribution, columns = 100): Promise<readonly string[]> {
  const text = await present(distributionView(distribution), "table", { columns, paint: plainly });
  return text.trimEnd().split("\n");
}

const firstLine = async (changed: Partial<ShareCheck>): Promise<string> =>
  (await tableOf({ ...weighted, check: { ...check, ...changed } }))[0] ?? "";

describe("a distribution on a terminal", () => {
  it("starts with the verdict, then shows every branch with a bar", async () => {
    expect(await tableOf(weighted)).toEqual([
      "decision-ab  1,234 records, 1,200 distinct inputs  ✓ as expected (e = 0.031, p = 0.43)",
      "",
      "LABEL           TARGET           COUNT   SHARE  EXPECTED",
      "Control (v1)    stage-prompt-v1    864  70.0 %    70.0 %  ████████████████│░░░░░░░",
      "Variant A (v2)  stage-prompt-v2    370  30.0 %    20.0 %  ████│██░░░░░░░░░░░░░░░░░",
      "Variant B (v3)  stage-prompt-v3      0   0.0 %    10.0 %  ░│░░░░░░░░░░░░░░░░░░░░░░",
      "│ the expected share",
    ]);
  });

  it("has no verdict without expected shares", async () => {
    expect(await tableOf(counted)).toEqual([
      "decision-ab  1,234 records, 1,200 distinct inputs",
      "",
      "LABEL           TARGET           COUNT   SHARE",
      "Control (v1)    stage-prompt-v1    864  70.0 %  █████████████████░░░░░░░",
      "Variant A (v2)  stage-prompt-v2    370  30.0 %  ███████░░░░░░░░░░░░░░░░░",
      "Variant B (v3)  stage-prompt-v3      0   0.0 %  ░░░░░░░░░░░░░░░░░░░░░░░░",
    ]);
  });

  it.each([
    [{ mismatch: true, p_value: 1e-9, e_value: 21_234 }, "✗ not as expected (e = 21000, p = 1e-9)"],
    [{ mismatch: true, p_value: 1e-9, e_value: 4.51e19 }, "✗ not as expected (e = 4.5e19, p = 1e-9)"],
    [{ mismatch: true, reliable: false, p_value: 0, e_value: 1e308 }, "✗ not as expected (e = 1e308, p = 0)"],
    [{ reliable: false, p_value: 1e-9 }, "– too few inputs to tell"],
    [{ p_value: 0.00123 }, "✓ as expected (e = 0.031, p = 0.0012)"],
    [{ p_value: 1 }, "✓ as expected (e = 0.031, p = 1)"],
  ])("describes the result of the check: %j", async (changed, verdict) => {
    expect(await firstLine(changed)).toBe(`decision-ab  1,234 records, 1,200 distinct inputs  ${verdict}`);
  });

  it("names the number of checked inputs where it is not all", async () => {
    const lines = await tableOf({ ...weighted, check: { ...check, sample: 1000 } });
    expect(lines[1]).toBe("the check uses the 1,000 distinct inputs that the weights have split");
  });

  it("says that records of earlier definitions are not counted", async () => {
    const lines = await tableOf({ ...counted, all_total: 1300 });
    expect(lines[0]).toBe("decision-ab  1,234 records, 1,200 distinct inputs");
    expect(lines.at(-1)).toBe("66 records of earlier definitions not counted; see --all-definitions");
  });

  it("names a definition that is not the current one", async () => {
    const [first] = await tableOf({ ...counted, definition_hash: "b".repeat(64) });
    expect(first).toBe("decision-ab, definition bbbbbbbbbbbb (1.1.0)  1,234 records, 1,200 distinct inputs");
  });

  it("lists the other definitions, each with its own verdict", async () => {
    const other = { ...weighted, definition_hash: "b".repeat(64), decision_version: null };
    const lines = await tableOf({ ...weighted, all_total: 2468, other_definitions: [other] });
    expect(lines).toContain(
      "definition bbbbbbbbbbbb  1,234 records, 1,200 distinct inputs  ✓ as expected (e = 0.031, p = 0.43)",
    );
    expect(lines.filter((line) => line.startsWith("Control"))).toHaveLength(2);
    expect(lines.join("\n")).not.toContain("not counted");
  });

  it("lists periods with the branches that were selected in them", async () => {
    const periods = [
      { period: "2026-11-14", total: 4, counts: { "Control (v1)": 3, "Variant A (v2)": 1 } },
      { period: "2026-11-15", total: 2, counts: { "Control (v1)": 2 } },
    ];
    const lines = await tableOf({ ...counted, periods });
    expect(lines.slice(-4)).toEqual([
      "PERIOD      LABEL           TARGET           COUNT    SHARE",
      "2026-11-14  Control (v1)    stage-prompt-v1      3   75.0 %  ██████████████████░░░░░░",
      "            Variant A (v2)  stage-prompt-v2      1   25.0 %  ██████░░░░░░░░░░░░░░░░░░",
      "2026-11-15  Control (v1)    stage-prompt-v1      2  100.0 %  ████████████████████████",
    ]);
    const plain = await present(distributionView({ ...counted, periods }), "plain", {
      columns: 80,
      paint: plainly,
    });
    expect(plain.split("\n")[0]).toBe("2026-11-14\tControl (v1)\t3\t0.75");
  });

  it("marks masked inputs", async () => {
    const [first] = await tableOf({ ...counted, distinct_inputs: null });
    expect(first).toBe("decision-ab  1,234 records, inputs masked");
  });

  it("uses the singular for one", async () => {
    const [first] = await tableOf({ ...counted, total: 1, current_total: 1, distinct_inputs: 1 });
    expect(first).toBe("decision-ab  1 record, 1 distinct input");
  });

  it.each([
    [90, "LABEL           TARGET           COUNT   SHARE  EXPECTED", 24],
    [75, "LABEL           TARGET           COUNT   SHARE  EXPECTED", 12],
    [60, "LABEL           TARGET           COUNT   SHARE  EXPECTED", 0],
    [50, "LABEL           COUNT   SHARE  EXPECTED", 0],
  ])("fits %i columns", async (columns, head, bar) => {
    const lines = await tableOf(weighted, columns);
    expect(lines).toContain(head);
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    const row = lines.find((line) => line.startsWith("Control")) ?? "";
    expect(row.replace(/[^█░│]/g, "")).toHaveLength(bar);
    expect(lines.includes("│ the expected share")).toBe(bar > 0);
  });

  it("breaks the first line where it does not fit", async () => {
    expect((await tableOf(weighted, 60)).slice(0, 2)).toEqual([
      "decision-ab  1,234 records, 1,200 distinct inputs",
      "✓ as expected (e = 0.031, p = 0.43)",
    ]);
  });

  it("omits unknown targets", async () => {
    const gone = { label: "old", target: null, count: 1, share: 0.1, expected_share: null };
    const some = await tableOf({ ...weighted, branches: [...branches, gone] });
    expect(some).toContain(
      "old             –                    1  10.0 %         –  ██░░░░░░░░░░░░░░░░░░░░░░",
    );
    const all = await tableOf({ ...counted, branches: [gone] });
    expect(all.slice(2)).toEqual(["LABEL  COUNT   SHARE", "old        1  10.0 %  ██░░░░░░░░░░░░░░░░░░░░░░"]);
  });

  it("folds the branches of a long table that were never selected", async () => {
    const many = Array.from({ length: 1000 }, (_, index) => ({
      label: `r${index}`,
      target: "t",
      count: index === 7 ? 3 : 0,
      share: index === 7 ? 1 : 0,
      expected_share: null,
    }));
    const lines = await tableOf({ ...counted, branches: many });
    expect(lines.slice(2)).toEqual([
      "LABEL  TARGET  COUNT    SHARE",
      "r7     t           3  100.0 %  ████████████████████████",
      "and 999 more that were never selected",
    ]);
  });

  it("escapes control characters", async () => {
    const hostile = { label: "\u001b[2Jx", target: "\u202et", count: 1, share: 1, expected_share: null };
    const text = (await tableOf({ ...counted, branches: [hostile] })).join("\n");
    expect(text).toContain("\\u001b[2Jx");
    expect(text).toContain("\\u202et");
  });

  it("has the same text with colours as without", async () => {
    const paint: Style["paint"] = (colour, text) => (colour === "bold" ? text : `<${colour}>${text}</>`);
    const coloured = await present(distributionView(weighted), "table", { columns: 100, paint });
    expect(coloured.replace(/<[^>]*>/g, "").trimEnd()).toBe((await tableOf(weighted)).join("\n"));
    expect(coloured).toContain("<green>✓ as expected (e = 0.031, p = 0.43)</>");
  });
});

describe("a distribution for programs", () => {
  const style: Style = { columns: Infinity, paint: plainly };

  it("is the document itself as JSON, also on one line", async () => {
    const view = distributionView(weighted);
    expect(JSON.parse(await present(view, "json", style))).toEqual(weighted);
    const line = await present(view, "jsonl", style);
    expect(line.split("\n")).toHaveLength(2);
    expect(JSON.parse(line)).toEqual(weighted);
  });

  it("is a line per branch as plain text", async () => {
    const third = { label: "c", target: null, count: 1, share: 1 / 3, expected_share: null };
    const view = distributionView({ ...weighted, branches: [...branches.slice(0, 1), third] });
    expect(await present(view, "plain", style)).toBe(
      "Control (v1)\tstage-prompt-v1\t864\t0.7\t0.7\nc\t\t1\t0.333333\t\n",
    );
  });
});
