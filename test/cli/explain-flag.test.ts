import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workplace } from "./workspace.js";

const place = workplace();

/** The rows of the table that `--explain` adds, with single gaps. */
async function rows(...words: readonly string[]): Promise<readonly string[]> {
  const { out } = await place.run([...words, "--explain"], { terminal: true, columns: 200 });
  const lines = out.trimEnd().split("\n");
  const start = lines.findIndex((line) => line.startsWith("  CASE"));
  return lines.slice(start + 1).map((line) => line.trim().replaceAll(/ {2,}/g, " | "));
}

const input = (context: object): readonly string[] => ["--input", JSON.stringify(context)];

describe("--explain", () => {
  it.each([
    [
      "the branch that was taken, and those before it",
      ["evaluate", "decision-quality-gate", ...input({ artifact: { quality_score: 0.5 } })],
      [
        "Pass | ✗ not matched | input >= 0.8 | artifact.quality_score = 0.5",
        "→ Fail | ✓ matched | input < 0.8 | artifact.quality_score = 0.5",
      ],
    ],
    [
      "branches that were not evaluated",
      ["dry-run", "decision-quality-gate", ...input({ artifact: { quality_score: 0.9 } })],
      [
        "→ Pass | ✓ matched | input >= 0.8 | artifact.quality_score = 0.9",
        "Fail | – not evaluated | input < 0.8 | an earlier case matched",
      ],
    ],
    [
      "the default, and errors with the values that were found",
      ["evaluate", "decision-escalation-rules", ...input({ severity: "low" })],
      [
        "Critical + Retried | ✗ not matched | input.severity == 'critical' and input.attempts > 2 | severity = \"low\", attempts: missing",
        "Critical | ✗ not matched | input.severity == 'critical' | severity = \"low\"",
        "Low Quality | ! errored | input.quality_score < 0.5 | `input.quality_score` is missing",
        "Needs Polish | ! errored | input.quality_score < 0.8 | `input.quality_score` is missing",
        "→ default | ✓ taken | no condition matched",
      ],
    ],
    [
      "the rule that decided a gate",
      ["gate", "acme/payments/wire.approve", ...input({ amount: 20_000, payee: { country: "DE" } })],
      [
        "sanctioned-payee | ✗ not matched | payee.country in ('XX', 'YY') | payee.country = \"DE\"",
        "paid-already | ✗ not matched | already_paid | already_paid: missing",
        "→ large-needs-review | ✓ matched | is_large | amount = 20000",
        "routine | ✓ matched | true",
      ],
    ],
    [
      "the condition that denied a call",
      ["check", "filter_customers", "--session-id", "s", "--params", '{"segment":"enterprise"}', "--dry-run"],
      [
        "→ metric_first / requires | ✗ not matched | `select_metric` has succeeded in the session",
        "→ customer_inclusion / filter_given | ✗ not matched | exists(params.filter) | params.filter: missing",
        "exclude_pilots_from_retention / when | ! errored | session.query.metric_type in ('retention', 'churn') | `session.query.metric_type` is missing",
      ],
    ],
  ])("shows the values of every condition and marks what was taken: %s", async (_, words, expected) => {
    expect(await rows(...words)).toEqual(expected);
  });

  it("shows no masked value", async () => {
    const file = join(place.decisions, "quality-gate.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("logging:", 'logging:\n    mask: ["/artifact/quality_score"]'));
    const words = ["evaluate", "decision-quality-gate", ...input({ artifact: { quality_score: 0.123 } })];
    const shown = await rows(...words);
    expect(shown[0]).toBe("Pass | ✗ not matched | input >= 0.8 | artifact.quality_score = [masked]");
    expect(shown.join("\n")).not.toContain("0.123");
  });
});
