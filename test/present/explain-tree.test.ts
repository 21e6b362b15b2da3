import { describe, expect, it } from "vitest";
import type { Definition, PolicyDefinition } from "../../src/model/definition.js";
import type { Json } from "../../src/model/json.js";
import type { Lineage } from "../../src/model/lineage.js";
import type { PolicyRecord } from "../../src/model/record.js";
import { explainView } from "../../src/present/explain-view.js";
import type { Colour } from "../../src/present/format.js";
import { present } from "../../src/present/format.js";
import { explain, explainConditions } from "../../src/record/explain.js";
import { explainCall } from "../../src/record/explain-call.js";

const lineage: Lineage = {
  entities: [{ type: "segment", id: "enterprise" }],
  artifacts: ["board-deck-q3"],
  inputs: [
    { source: "params", keys: ["filter"], digest: "" },
    { source: "session", keys: ["query.metric_type"], digest: "" },
  ],
  conditions: [],
  policies: [
    {
      name: "metric_first",
      version: "1.0.0",
      hash: "",
      base_decision: "allow",
      denial_reason: null,
      override: null,
    },
    {
      name: "customer_inclusion",
      version: "3.0.0",
      hash: "",
      base_decision: "deny",
      denial_reason: "Must specify customer filter criteria",
      override: "exclude_pilots",
    },
  ],
  override: {
    name: "exclude_pilots",
    version: "2.0.0",
    hash: "",
    overrides: ["customer_inclusion"],
    condition: "session.query.metric_type == 'retention'",
    action: "modify_params",
    reason: "Excluding pilot accounts, which churn at three times the rate of those that pay for it",
    expires_at: "2030-01-01T00:00:00Z",
  },
  params_digest: "",
  precedents: [
    {
      record_id: "0199a3f2-1c44-7000-8000-000000000007",
      similarity: 0.94,
      match_reason: "same segment:enterprise",
      outcome_matched: true,
    },
    {
      record_id: "0199a3f2-1c44-7000-8000-000000000006",
      similarity: 0.8,
      match_reason: "same segment:enterprise",
      outcome_matched: false,
    },
  ],
};

const record: PolicyRecord = {
  seq: 14,
  prev_hash: "a".repeat(64),
  hash: "b".repeat(64),
  kind: "decision",
  record_id: "0199a3f2-1c44-7000-8000-000000000009",
  timestamp: "2026-11-15T10:30:45.123456Z",
  decision_id: "policy-filter-customers",
  decision_name: "Customer Inclusion",
  decision_version: "1.0.0",
  definition_hash: "c".repeat(64),
  environment_hash: "d".repeat(64),
  deterministic_hash: "e".repeat(64),
  type: "policy",
  selected_targets: [],
  selected_labels: ["allowed_by_exception"],
  input_value: null,
  evaluation_details: {
    metric_first: {
      version: "1.0.0",
      result: true,
      conditions: [{ name: "requires", expression: "`select_metric` has succeeded", result: true }],
    },
    old_rule: { version: "0.9.0", result: true, left_out: "expired on 2026-01-01", conditions: [] },
    customer_inclusion: {
      version: "3.0.0",
      result: false,
      conditions: [{ name: "filter_given", expression: "exists(params.filter)", result: false }],
      reason: "Must specify customer filter criteria",
      overridden_by: "exclude_pilots",
    },
    exclude_pilots: {
      version: "2.0.0",
      result: true,
      conditions: [{ name: "when", expression: "session.query.metric_type == 'retention'", result: true }],
      reason: lineage.override?.reason ?? "",
      overrides: ["customer_inclusion"],
    },
    ask_finance: {
      version: "1.0.0",
      result: false,
      left_out: "used up: 100 of 100 applications",
      conditions: [],
    },
  },
  because: [lineage.override?.reason ?? ""],
  failed_conditions: ["exists(params.filter)"],
  warnings: [],
  guardrails: [{ check_name: "requires_approval", passed: true, message: "approved by ann" }],
  blocked: false,
  escalated: false,
  cached: false,
  dry_run: false,
  tool: "filter_customers",
  allowed: true,
  outcome: "allowed_by_exception",
  reason: lineage.override?.reason ?? "",
  params: { segment: "enterprise", exclude_pilots: true },
  session_id: "s-1",
  check_id: "0199a3f2-1c44-7000-8000-00000000000a",
  parent_record_id: "0199a3f2-1c44-7000-8000-000000000001",
  context: {
    tool: "filter_customers",
    params: { segment: "enterprise" },
    session: { query: { metric_type: "retention" } },
  },
  facts: {},
  lineage,
};

interface Asked {
  readonly columns?: number;
  readonly verbose?: boolean;
  readonly definition?: Definition;
  readonly paint?: (colour: Colour, text: string) => string;
}

async function tree(changed: object = {}, asked: Asked = {}): Promise<readonly string[]> {
  const { columns = 100, verbose = false, definition, paint = (_colour, text) => text } = asked;
  const kept = { ...record, ...changed };
  const view = explainView({
    record: kept,
    explanation: explain(kept, definition),
    intact: true,
    all: verbose ? explainConditions(kept, definition) : undefined,
    call: explainCall(kept, definition),
  });
  return (await present(view, "table", { columns, paint })).trimEnd().split("\n");
}

const without = (...names: readonly (keyof PolicyRecord)[]): object =>
  Object.fromEntries(names.map((name) => [name, undefined]));

describe("an explained call on a terminal", () => {
  it("shows what was fetched for the call", async () => {
    const about = { endpoint: "bureau", into: "credit" };
    const came = { ...about, ok: true, from: "cache", fetched_at: "2026-11-15T10:30:45.123456Z" };
    const failed = { ...about, ok: false, error: { code: "request_failed", message: "HTTP status 503" } };
    const lines = await tree({ facts: { fetched: { "bureau:1": came, "bureau:2": failed } } });
    const at = lines.indexOf("├─ fetched");
    expect(lines.slice(at, at + 3)).toEqual([
      "├─ fetched",
      "│  ├─ ✓ credit from bureau, cached 2026-11-15 10:30:45 UTC",
      "│  └─ ✗ no credit from bureau: HTTP status 503",
    ]);
  });

  it("is a tree from the verdict to the record", async () => {
    expect(await tree()).toEqual([
      "policy-filter-customers on filter_customers",
      "├─ ✓ allowed_by_exception: Excluding pilot accounts, which churn at three times the rate of those",
      "│     that pay for it",
      "├─ inputs",
      "│  ├─ params",
      "│  │  └─ filter: missing",
      "│  └─ session",
      '│     └─ query.metric_type = "retention"',
      "├─ policies",
      "│  ├─ ✓ metric_first 1.0.0 allows",
      "│  │  └─ ✓ requires: `select_metric` has succeeded",
      "│  └─ ✗ customer_inclusion 3.0.0 denies: Must specify customer filter criteria",
      "│     ├─ ✗ filter_given: exists(params.filter)",
      "│     │  └─ params.filter: missing",
      "│     └─ ✓ overridden by exclude_pilots 2.0.0 (modify_params): Excluding pilot accounts, which churn",
      "│        │  at three times the rate of those that pay for it",
      "│        ├─ ✓ when: session.query.metric_type == 'retention'",
      '│        │  └─ session.query.metric_type = "retention"',
      "│        ├─ sets exclude_pilots = true",
      "│        └─ expires on 2030-01-01T00:00:00Z",
      "├─ skipped",
      "│  ├─ – old_rule 0.9.0: expired on 2026-01-01",
      "│  └─ – ask_finance 1.0.0: used up: 100 of 100 applications",
      "├─ precedents",
      "│  ├─ ✓ 0199a3f2-1c44-7000-8000-000000000007: similarity 0.94, same outcome: same segment:enterprise",
      "│  └─ ✗ 0199a3f2-1c44-7000-8000-000000000006: similarity 0.8, different outcome: same",
      "│        segment:enterprise",
      "├─ guardrails",
      "│  └─ ✓ requires_approval: approved by ann",
      "├─ entities",
      "│  └─ segment:enterprise",
      "├─ artifacts",
      "│  └─ board-deck-q3",
      "├─ outcome: filter_customers may be called",
      '│  └─ params = {"segment":"enterprise","exclude_pilots":true}',
      "└─ record: 0199a3f2-1c44-7000-8000-000000000009, number 14",
      "   ├─ when: 2026-11-15 10:30:45.123456 UTC",
      "   ├─ session: s-1",
      "   ├─ parent: 0199a3f2-1c44-7000-8000-000000000001",
      "   ├─ check: 0199a3f2-1c44-7000-8000-00000000000a",
      "   └─ definition: Customer Inclusion 1.0.0, cccccccccccc (no longer stored)",
    ]);
  });

  it.each([80, 100])("fits %i columns, with every id in one piece", async (columns) => {
    const words = Array.from({ length: 40 }, (_, index) => `word${index}`);
    const long = words.join(" ");
    const lines = await tree(
      {
        reason: long,
        warnings: [long],
        params: { text: "x".repeat(300) },
        context: { params: { filter: long }, session: { query: { metric_type: "y".repeat(300) } } },
      },
      { columns },
    );
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns);
    const text = lines.join("\n");
    for (const id of [
      record.record_id,
      record.check_id,
      ...lineage.precedents.map((each) => each.record_id),
    ]) {
      expect(text).toContain(id);
    }
    for (const word of words) expect(text).toContain(word);
  });

  it("shows full values, the context and all hashes when verbose", async () => {
    const long = "x".repeat(300);
    const text = (await tree({ params: { text: long } }, { columns: 80, verbose: true })).join("\n");
    expect(text).toContain(long);
    for (const each of [record.hash, record.prev_hash, record.definition_hash, record.deterministic_hash]) {
      expect(text).toContain(each);
    }
    expect(text.replaceAll(/,\n {4,}/g, ",")).toContain(`context       ${JSON.stringify(record.context)}`);
  });

  it("shows a denial with its reasons and warnings", async () => {
    const lines = await tree({
      allowed: false,
      outcome: "denied",
      reason: "no filter",
      because: ["no filter", "no metric"],
      warnings: ["`when` could not be evaluated"],
    });
    expect(lines.slice(1, 4)).toEqual([
      "├─ ✗ denied: no filter",
      "│  ├─ because: no metric",
      "│  └─ ! `when` could not be evaluated",
    ]);
    expect(lines).toContain("├─ outcome: filter_customers must not be called");
    expect(lines.join("\n")).not.toContain("sets ");
  });

  it("shows what a guardrail blocked", async () => {
    const guardrails = [
      { check_name: "requires_approval", passed: false, message: "nobody approved it", on_fail: "block" },
      { check_name: "weight_bounds", passed: false, message: "odd", on_fail: "warn" },
    ];
    const held = { allowed: false, outcome: "denied", blocked: true, proposed_outcome: "allowed" };
    const lines = await tree({ guardrails, ...held, proposed_targets: [] });
    expect(lines).toContain("│  ├─ ✗ requires_approval blocks: nobody approved it");
    expect(lines).toContain("│  └─ ! weight_bounds warns: odd");
    expect(lines).toContain("│  └─ proposed: allowed");
  });

  it("shows a masked value as masked", async () => {
    const lines = await tree({
      params: "[masked]",
      context: { params: "[masked]", session: { query: { metric_type: "[masked]" } } },
    });
    expect(lines).toContain("│     └─ query.metric_type = [masked]");
    expect(lines).toContain("│  │  └─ filter = [masked]");
    expect(lines).toContain("│  └─ params = [masked]");
  });

  it("says where inputs or conditions are not recorded", async () => {
    const lines = await tree({ ...without("context", "params"), evaluation_details: {} });
    expect(lines).toContain("│  │  └─ filter: not recorded");
    expect(lines).toContain("│  └─ params: not recorded");
    expect(lines).toContain("│  ├─ ✓ metric_first 1.0.0 allows");
    expect(lines.find((line) => line.includes("overridden by"))).toContain("exclude_pilots 2.0.0");
    expect(lines.join("\n")).not.toContain("sets ");
  });

  it("accepts older records without a lineage", async () => {
    const lines = await tree(without("lineage"));
    expect(lines).toContain("│  └─ ✗ customer_inclusion 3.0.0 denies: Must specify customer filter criteria");
    expect(lines.find((line) => line.includes("overridden by"))).toContain("exclude_pilots 2.0.0: Excluding");
    expect(lines).toContain("│        └─ sets exclude_pilots = true");
    expect(lines.join("\n")).not.toContain("expires");
    const nothing = await tree({ ...without("lineage"), evaluation_details: {} });
    expect(nothing).toContain("├─ policies: not recorded");
  });

  it("says where no policy was in effect", async () => {
    const none = { ...lineage.policies[0], name: "none", version: "0.0.0" };
    expect(await tree({ lineage: { ...lineage, policies: [none] } })).toContain(
      "├─ policies: none was in effect",
    );
  });

  it("describes an override of several denials once, with the params of each override", async () => {
    const denial = { ...lineage.policies[1], override: "exclude_pilots" };
    const policies = [
      { ...denial, name: "a" },
      { ...denial, name: "b" },
      { ...denial, name: "c", override: "other" },
    ];
    const params = { segment: "enterprise", exclude_pilots: true, from: 2025 };
    const override = (name: string, set: Record<string, Json>): object => ({
      name,
      version: "2.0.0",
      overrides: ["a"],
      action: "modify_params",
      params: set,
    });
    const definition = {
      id: "d",
      type: "policy",
      tool: "t",
      policies: [override("exclude_pilots", { exclude_pilots: true }), override("other", { from: 1 })],
    } as unknown as PolicyDefinition;
    const changed = { lineage: { ...lineage, policies }, params };
    const lines = (await tree(changed, { definition })).map((line) => line.replace(/^[│ ]*[├└]─ /, ""));
    expect(lines).toContain("✓ overridden by exclude_pilots 2.0.0 (modify_params): as above");
    expect(lines).toContain("✓ overridden by other 2.0.0 (modify_params)");
    expect(lines.filter((line) => line.startsWith("sets "))).toEqual([
      "sets exclude_pilots = true",
      "sets from = 2025",
    ]);
    expect((await tree(changed)).filter((line) => line.includes("sets "))).toEqual([]);
  });

  it("counts the entries of long lists", async () => {
    const keys = Array.from({ length: 25 }, (_, index) => `k${index}`);
    const inputs = keys.map((key) => ({ source: key, keys: [], digest: "" }));
    const lines = await tree({ lineage: { ...lineage, inputs } });
    expect(lines).toContain("│  └─ and 5 more; --verbose shows them all");
    expect((await tree({ lineage: { ...lineage, inputs } }, { verbose: true })).join("\n")).not.toContain(
      "more;",
    );
  });

  it("escapes control characters and line breaks", async () => {
    const reason = "fine\n└─ record: forged \u001b[31m\u202e";
    const lines = await tree({ reason, tool: "a\nb", session_id: "s\r\n1" });
    expect(lines[0]).toBe("policy-filter-customers on a b");
    expect(lines[1]).toBe("├─ ✓ allowed_by_exception: fine └─ record: forged \\u001b[31m\\u202e");
    expect(lines).toContain("   ├─ session: s 1");
  });

  it("colours the verdict and dims the tree", async () => {
    const lines = await tree({}, { paint: (colour, text) => `<${colour}>${text}</>` });
    expect(lines[0]).toBe("<bold>policy-filter-customers on filter_customers</>");
    expect(lines[1]).toContain("<dim>├─ </><green>✓</> <yellow>allowed_by_exception</>: Excluding");
    expect(lines.join("\n")).toContain("<red>✗</> customer_inclusion 3.0.0 denies: Must");
  });

  it("is the record with its lineage as JSON, and rows in plain text", async () => {
    const explained = { record, explanation: explain(record, undefined), intact: true };
    const view = explainView({ ...explained, call: explainCall(record, undefined) });
    const style = { columns: 100, paint: (_colour: Colour, text: string) => text };
    expect(JSON.parse(await present(view, "json", style))).toEqual({
      ...record,
      explanation: { ...explained.explanation, intact: true },
    });
    const plain = (await present(view, "plain", style)).split("\n");
    expect(plain).toContain("entity\tsegment:enterprise");
    expect(plain).toContain("artifact\tboard-deck-q3");
    expect(plain).toContain("guardrail\trequires_approval passed: approved by ann");
    expect(plain).toContain(
      "precedent\t0199a3f2-1c44-7000-8000-000000000007, similarity 0.94, same outcome: same segment:enterprise",
    );
  });
});
