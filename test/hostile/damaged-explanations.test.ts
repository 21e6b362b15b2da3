import { rmSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { buildMethodology } from "../../src/lineage/methodology.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { explainView } from "../../src/present/explain-view.js";
import { present } from "../../src/present/format.js";
import { recordMethodology } from "../../src/present/session-view.js";
import { explain, explainConditions } from "../../src/record/explain.js";
import { explainCall } from "../../src/record/explain-call.js";
import { sanitizeRecord } from "../../src/record/sanitize-record.js";
import { isWellFormedRecord } from "../../src/record/well-formed.js";
import { workplace } from "../cli/workspace.js";
import { isThorough } from "../thoroughness.js";

const place = workplace();
afterAll(() => rmSync(place.root, { recursive: true, force: true }));

const records = new Map<string, DecisionRecord>();

const requests: readonly (readonly [string, readonly string[]])[] = [
  [
    "binary",
    [
      "evaluate",
      "decision-quality-gate",
      "--input",
      '{"artifact": {"quality_score": 0.9}}',
      "--session-id",
      "s",
    ],
  ],
  ["weighted", ["evaluate", "decision-ab-prompt-variant", "--input", '{"request": {"id": "req-1"}}']],
  ["rule_table", ["evaluate", "decision-escalation-rules", "--input", '{"severity": "low", "attempts": 1}']],
  [
    "scored",
    [
      "evaluate",
      "decision-loan-approval",
      "--input",
      '{"credit": {"score": 480, "defaults": 1}, "income": {"monthly": 9000}, "loan": {"rate": 900}}',
    ],
  ],
  [
    "gate",
    ["gate", "acme/payments/wire.approve", "--input", '{"amount": 25000, "payee": {"country": "DE"}}'],
  ],
  [
    "policy",
    [
      "check",
      "read_source",
      "--params",
      '{"source": "crm"}',
      "--context",
      '{"session": {"finance_closed": true}}',
      "--session-id",
      "s",
    ],
  ],
];

beforeAll(async () => {
  for (const [type, words] of requests) {
    await place.run(words);
    const { out } = await place.run(["log", "--limit", "1", "--format", "jsonl"]);
    const record = JSON.parse(out) as DecisionRecord;
    expect(record.type).toBe(type);
    const guardrails = [
      { check_name: "requires_approval", passed: false, message: "nobody", on_fail: "warn" as const },
    ];
    const precedent = { record_id: "0199", similarity: 1, match_reason: "same", outcome_matched: true };
    const lineage = record.lineage && { ...record.lineage, precedents: [precedent], artifacts: ["a"] };
    records.set(type, { ...record, guardrails, ...(lineage && { lineage }) });
  }
}, 60_000);

const strangers: readonly unknown[] = [null, 5, ["a\nb", null], { a: null, b: "\n" }];

/** The record with one of its parts gone, or something else, for each of its parts. */
function* damaged(value: unknown, rebuild: (part: unknown) => unknown, depth = 0): Generator {
  for (const stranger of strangers) yield rebuild(stranger);
  if (typeof value !== "object" || value === null || depth > 6) return;
  const parts = Object.entries(value).slice(0, Array.isArray(value) ? 2 : undefined);
  for (const [name, part] of parts) {
    const withPart = (other: unknown): unknown =>
      Array.isArray(value)
        ? value.map((each: unknown, index) => (String(index) === name ? other : each))
        : { ...value, [name]: other };
    if (!Array.isArray(value)) {
      yield rebuild(Object.fromEntries(Object.entries(value).filter(([key]) => key !== name)));
    }
    yield* damaged(part, (other) => rebuild(withPart(other)), depth + 1);
  }
}

/** `npm test` explains one of so many damaged records. */
const every = isThorough ? 1 : 3;

const style = { columns: 80, paint: (_colour: string, text: string): string => text };

async function tellAll(record: DecisionRecord): Promise<string> {
  const explained = {
    record,
    explanation: explain(record, undefined),
    intact: false,
    call: explainCall(record, undefined),
  };
  const verbose = explainView({ ...explained, all: explainConditions(record, undefined) });
  const account = buildMethodology({ decisions: [record], results: [] });
  return [
    await present(explainView(explained), "table", style),
    await present(verbose, "table", style),
    await present(verbose, "plain", style),
    recordMethodology({ record, intact: false }, account),
  ].join("");
}

describe("a record that is damaged somewhere and yet a whole one", () => {
  it.each(requests.map(([type]) => type))(
    "is explained as far as it goes: %s",
    async (type) => {
      const whole = records.get(type);
      let tried = 0;
      for (const record of damaged(whole, (part) => part) as Generator<DecisionRecord>) {
        if (!isWellFormedRecord(record)) continue;
        if (tried++ % every !== 0) continue;
        const told = await tellAll(record).catch((error: unknown) => {
          throw new Error(`could not tell ${JSON.stringify(record)}`, { cause: error });
        });
        if (!told.includes(record.decision_id)) expect(told).toContain(record.decision_name);
      }
      expect(tried).toBeGreaterThan(100);
    },
    120_000,
  );

  it.each(requests.map(([type]) => type))("stays as it is where nothing is wrong: %s", (type) => {
    const whole = records.get(type);
    expect(whole && sanitizeRecord(whole)).toEqual(whole);
  });
});
