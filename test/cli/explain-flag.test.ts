import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { workplace } from "./workspace.js";

const place = workplace();

/** The rows of the table that `--explain` adds, with single gaps. */
async function rows(...words: readonly string[]): Promise<readonly string[]> {
  const flags = words[0] === "explain" ? [] : ["--explain"];
  const { out } = await place.run([...words, ...flags], { terminal: true, columns: 200 });
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

  it.each([
    ["evaluate", "decision-quality-gate", ...input({ artifact: { quality_score: 0.9 } })],
    ["evaluate", "decision-escalation-rules", ...input({ severity: "low", quality_score: "bad" })],
    ["evaluate", "decision-loan-approval", ...input({ credit: { score: 720 } })],
    ["evaluate", "decision-ab-prompt-variant", ...input({ request: { id: "u" } })],
    ["gate", "acme/payments/wire.approve", ...input({ amount: "much", payee: {} })],
  ])("has the same table as `explain --verbose` afterwards: %s %s", async (...words) => {
    const explained = await rows(...words);
    expect(explained.length).toBeGreaterThan(1);
    expect(await rows("explain", "latest", "--verbose")).toEqual(explained);
  });

  it("shows how much of a limit was used before the call", async () => {
    const policies = [
      "{ name: calls, max_calls: { count: 5, per: session, window: 1h } }",
      "{ name: sum, max_sum: { of: params.amount, most: 120, per: session } }",
      "{ name: org, max_calls: { count: 2, per: org } }",
    ];
    writeFileSync(
      join(place.decisions, "buy.yaml"),
      `decision: { id: buy, type: policy, tool: buy, policies: [${policies.slice(0, 2).join(", ")}] }\n` +
        `---\ndecision: { id: org, type: policy, tool: sell, policies: [${policies[2] ?? ""}] }\n`,
    );
    const check = (tool: string, amount: number): readonly string[] => [
      ...["check", tool, "--session-id", "s-limits", "--params", JSON.stringify({ amount })],
    ];
    expect((await place.run(check("buy", 60))).code).toBe(0);
    expect(await rows(...check("buy", 70))).toEqual([
      "calls / max_calls | ✓ matched | fewer than 5 calls in this session, in the last 1h | 1 of 5 used",
      "→ sum / max_sum | ✗ not matched | `params.amount` adds up to at most 120 in the session | 60 of 120 used, params.amount = 70",
    ]);
    expect(await rows(...check("sell", 1))).toEqual([
      "→ org / max_calls | ! errored | fewer than 2 calls by the organisation | there is no recorded organisation: only servers with authentication know organisations",
    ]);
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
