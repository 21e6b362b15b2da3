import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Ran } from "./workspace.js";
import { workplace } from "./workspace.js";

const place = workplace();
afterAll(() => rmSync(place.root, { recursive: true, force: true }));

const query =
  '{"session": {"query": {"audience": "ceo", "metric_type": "retention", "segment": "enterprise"}}}';

const secretive = `decision:
  id: policy-pay
  type: policy
  tool: pay
  entities:
    - { type: account, id: "{{ params.account }}" }
  artifacts: ["statement-{{ params.month }}"]
  policies:
    - name: small
      version: 1.0.0
      conditions:
        - { name: small, expression: "params.amount < 100" }
      reason: "{{ params.amount }} is little, {{ session.note }}"
  logging:
    mask: ["/params/account", "/session/note"]
---
decision:
  id: policy-quiet
  type: policy
  tool: quiet
  policies:
    - name: small
      version: 1.0.0
      conditions:
        - { name: small, expression: "params.amount < 100" }
  logging:
    include_inputs: false
---
decision:
  id: policy-first
  type: policy
  tool: both
  policies:
    - { name: first, version: 1.0.0, reason: "the first has nothing against it" }
---
decision:
  id: policy-second
  type: policy
  tool: both
  policies:
    - name: second
      version: 2.0.0
      conditions:
        - { name: never, expression: "false" }
      deny_reason: "the second does not want it"
`;

async function check(tool: string, params: object, session: string, context = query): Promise<string> {
  const words = ["check", tool, "--params", JSON.stringify(params), "--context", context];
  const { out } = await place.run([...words, "--session-id", session]);
  const { decisions } = JSON.parse(out) as { decisions: readonly { record_id: string }[] };
  return decisions[0]?.record_id ?? "";
}

const result = (tool: string, session: string, how = "--ok"): Promise<Ran> =>
  place.run(["result", tool, "--session-id", session, how]);

const explain = (...words: readonly string[]): Promise<Ran> => place.run(["explain", ...words]);

const methodologyOf = async (session: string): Promise<readonly string[]> =>
  (await explain("--session-id", session, "--format", "methodology")).out.split("\n");

const made: Record<string, string> = {};

beforeAll(async () => {
  writeFileSync(join(place.decisions, "secretive.yaml"), secretive);
  await result("read_file", "q4");
  made["metric"] = await check("select_metric", { name: "revenue_retention" }, "q4");
  await result("select_metric", "q4");
  made["crm"] = await check("read_source", { source: "crm" }, "q4");
  made["filter"] = await check("filter_customers", { segment: "enterprise" }, "q4");
  await result("filter_customers", "q4", "--failed");
  const score = '{"artifact": {"quality_score": 0.9}}';
  await place.run(["evaluate", "decision-quality-gate", "--input", score, "--session-id", "q4"]);
  const loan =
    '{"credit": {"score": 720, "defaults": 0}, "income": {"monthly": 3000}, "loan": {"rate": 900}}';
  await place.run(["evaluate", "decision-loan-approval", "--input", loan, "--session-id", "q4"]);
  const wire = '{"amount": 25000, "payee": {"country": "DE"}}';
  await place.run(["gate", "acme/payments/wire.approve", "--input", wire, "--session-id", "q4"]);
  await check("select_metric", { name: "revenue_retention" }, "other");
  await check(
    "pay",
    { account: "DE-4711", amount: 5, month: "may" },
    "masked",
    '{"session": {"note": "hush-hush"}}',
  );
  await check("quiet", { amount: 7 }, "quiet");
  await check("both", {}, "both", "{}");
  // All that follows needs the store alone.
  rmSync(place.decisions, { recursive: true });
}, 60_000);

describe("explain --session-id --format methodology", () => {
  it("is a block for a report of all that was decided, done and not done", async () => {
    const { code, err } = await explain("--session-id", "q4", "--format", "methodology");
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const [heading, ...lines] = await methodologyOf("q4");
    expect(heading).toMatch(/^Session q4, \d{4}-\d\d-\d\d \d\d:\d\d:\d\d( to .*)? UTC$/);
    expect(lines).toEqual([
      "",
      "Methodology:",
      "- select_metric: Revenue retention required for CEO audience",
      "  (per metric_selection v2.1.0; call succeeded)",
      "- filter_customers: Excluding pilot accounts (churn at 3x rate, excluded from board metrics since Q2 2024); sets exclude_pilots = true",
      "  (per exclude_pilots_from_retention v2.0.0; call failed)",
      "- Quality Gate: stage-deploy (Pass), because input >= 0.8",
      "  (per decision-quality-gate v1.0.0)",
      "- Loan Approval: stage-payout (approve), confidence 0.8421",
      "  (per decision-loan-approval v1.0.0)",
      "",
      "Not done:",
      "- read_source: Board reports use numbers from finance, not from crm",
      "  (per data_source v1.5.0)",
      "- Wire Transfer Gate: YELLOW, because 25000 is more than 10000",
      "  (per gate-wire-approve v1.0.0)",
      "",
      "Without a decision:",
      "- read_file succeeded; not linked to an allowed call",
      "",
      expect.stringMatching(
        /^Sources: session \(query\.audience, .*\), params \(name, source, filter\), facts \(.*\), artifact/,
      ),
      "",
      "[6 decisions recorded in session]",
      "",
    ]);
  });

  it("is the same whatever the terminal", async () => {
    const words = ["explain", "--session-id", "q4", "--format", "methodology"];
    const { out } = await place.run(words, { terminal: true, env: { FORCE_COLOR: "1", NO_COLOR: "" } });
    expect(out).toBe((await place.run(words)).out);
  });

  it("names the precedent that a decision is consistent with", async () => {
    expect((await methodologyOf("other"))[4]).toBe(
      `  (per metric_selection v2.1.0, consistent with ${made["metric"] ?? ""})`,
    );
  });

  it("shows no masked values", async () => {
    const block = (await methodologyOf("masked")).join("\n");
    expect(block).toContain("- pay: the reason is masked because it contains a masked value");
    expect(block).toContain("; artifacts: statement-may\n");
    const tree = (await place.run(["explain", "--session-id", "masked"], { terminal: true })).out;
    const [id = ""] = /[0-9a-f]{8}-\S+(?=,)/.exec(tree) ?? [];
    const { out } = await place.run(["explain", id], { terminal: true });
    expect(out).toContain('params = {"account":"[masked]","amount":5,"month":"may"}');
    expect(block + tree + out).not.toMatch(/DE-4711|hush/);
  });

  it("does without the inputs where they were not recorded", async () => {
    const lines = await methodologyOf("quiet");
    expect(lines).toContain("- quiet: Allowed by small v1.0.0 (per small v1.0.0)");
    expect(lines).toContain("Sources: params (amount)");
  });

  it("does not count as done what one of several decisions denied", async () => {
    const lines = await methodologyOf("both");
    expect(lines.slice(1)).toEqual([
      "",
      "Methodology:",
      "- no allowed action",
      "",
      "Not done:",
      "- both: the second does not want it (per second v2.0.0)",
      "",
      "[2 decisions recorded in session]",
      "",
    ]);
  });

  it("is the block of one decision for a record", async () => {
    const { code, out } = await explain(made["filter"] ?? "", "--format", "methodology");
    expect(code).toBe(0);
    const lines = out.split("\n");
    expect(lines[0]).toContain(`Record ${made["filter"] ?? ""}, `);
    expect(lines[4]).toBe("  (per exclude_pilots_from_retention v2.0.0; call failed)");
    expect(out).toMatch(/\n\[1 decision recorded\]\n$/);
  });

  it("makes hostile texts printable, each on its line", async () => {
    const hostile = workplace();
    const reason = "fine\\n\\nNot done:\\n- all of it \\e[31m\\u202e";
    writeFileSync(
      join(hostile.decisions, "hostile.yaml"),
      `decision:
  id: policy-hostile
  type: policy
  tool: hostile
  policies:
    - { name: p, version: 1.0.0, reason: "${reason}" }
`,
    );
    const session = "s\n- forged\u001b[2J";
    await hostile.run(["check", "hostile", "--session-id", session]);
    const { out } = await hostile.run(["explain", "--session-id", session, "--format", "methodology"]);
    rmSync(hostile.root, { recursive: true });
    expect(out.split("\n")[0]).toMatch(/^Session s - forged\\u001b\[2J, /);
    expect(out).toContain("\n- hostile: fine Not done: - all of it \\u001b[31m\\u202e (per p v1.0.0)\n");
    expect(out.match(/^- /gm)).toHaveLength(1);
  });
});

describe("explain --session-id", () => {
  it("explains each decision in a few lines, oldest first", async () => {
    const { code, out, err } = await place.run(["explain", "--session-id", "q4"], { terminal: true });
    expect({ code, err }).toEqual({ code: 0, err: "" });
    const lines = out.split("\n");
    expect(lines[0]).toMatch(/^session q4: 6 decisions, /);
    expect(lines.slice(1, 4)).toEqual([
      "├─ ✓ select_metric allowed: Revenue retention required for CEO audience",
      "│  ├─ per metric_selection v2.1.0; call succeeded",
      `│  └─ record: ${made["metric"] ?? ""}, number 2`,
    ]);
    expect(lines[4]).toBe("├─ ✗ read_source denied: Board reports use numbers from finance, not from crm");
    expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100);
  });

  it("is a session with its decisions and results for programs", async () => {
    const session = JSON.parse((await explain("--session-id", "q4", "--json")).out) as {
      decisions: readonly object[];
    };
    expect(session).toMatchObject({
      session_id: "q4",
      tool_results: [
        { tool: "read_file", ok: true },
        { tool: "select_metric", ok: true, decision_records: [made["metric"]] },
        { tool: "filter_customers", ok: false, decision_records: [made["filter"]] },
      ],
    });
    expect(session.decisions).toHaveLength(6);
    expect(session.decisions[0]).toEqual(JSON.parse((await explain(made["metric"] ?? "", "--json")).out));
  });

  it("has a line for each record as JSON lines, and for each decision in plain text", async () => {
    const { out } = await explain("--session-id", "q4", "--format", "jsonl");
    const records = out
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as { seq: number });
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
    const plain = (await explain("--session-id", "q4", "--format", "plain")).out.trimEnd().split("\n");
    expect(plain).toHaveLength(6);
    expect(plain[1]?.split("\t").slice(2)).toEqual([
      "read_source",
      "denied",
      "Board reports use numbers from finance, not from crm",
      "per data_source v1.5.0",
      made["crm"],
    ]);
  });

  it("prints a note if nothing is recorded, and exits 0", async () => {
    const { code, out, err } = await explain("--session-id", "nowhere");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({
      session_id: "nowhere",
      decisions: [],
      tool_results: [],
      assessments: [],
    });
    expect(err).toBe("no records of session `nowhere`\n");
    expect((await explain("--session-id", "nowhere", "--quiet")).err).toBe("");
    expect((await place.run(["explain", "--session-id", "nowhere"], { terminal: true })).out).toBe("");
    expect((await methodologyOf("nowhere")).at(-2)).toBe("[0 decisions recorded in session]");
  });

  it.each([
    [["latest", "--session-id", "q4"], "a record and --session-id cannot be combined"],
    [[], "specify a record to explain"],
    [["1", "--format", "methodology"], "record `1` is not a decision"],
    [["latest", "--format", "metodology"], "did you mean `methodology`?"],
  ])("refuses what it cannot mean: %j", async (words, message) => {
    const { code, out, err } = await explain(...words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(message);
  });

  it("skips damaged lines, and warns about them and about modified records", async () => {
    const log = join(place.store, "log/000000000001.jsonl");
    const whole = readFileSync(log, "utf8");
    const lines = whole.split("\n");
    lines[3] = lines[3]?.replace('"because":', '"becauze":') ?? "";
    lines[4] = lines[4]?.replace('"outcome":"allowed_by_exception"', '"outcome":{"a":null}') ?? "";
    writeFileSync(log, lines.join("\n"));
    const words = ["--session-id", "q4", "--format", "methodology"];
    const { code, out, err } = await explain(...words);
    writeFileSync(log, whole);
    expect(code).toBe(0);
    expect(out).toContain("- filter_customers: ");
    expect(out).toContain(
      "[5 decisions recorded in session, 1 changed since written, 1 more can no longer be read]",
    );
    expect(err).toContain("warning: skipped 1 damaged line of the log; run `agent-33 decision verify`");
    expect(err).toContain("warning: record 5 was modified after it was written");
  });
});
