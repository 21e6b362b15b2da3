import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { compose } from "../../src/compose.js";
import type { GateResult, Result } from "../../src/model/result.js";
import {
  gateAnswerJson,
  leadingFieldOffset,
  leadingFields,
  resultJson,
} from "../../src/record/record-json.js";

const decisions = fileURLToPath(new URL("../../decisions", import.meta.url));

const questions: readonly [string, unknown][] = [
  ["decision-quality-gate", { artifact: { quality_score: 0.9 } }],
  ["decision-quality-gate", {}],
  ["decision-artifact-type-router", { artifact: { type: 'a "quoted" \\ text\n\u2028 ü' } }],
  ["decision-ab-prompt-variant", { request: { id: "req-1" } }],
  ["decision-escalation-rules", { severity: "critical" }],
  ["decision-escalation-rules", { severity: "low", attempts: 1e21, quality_score: -0.5 }],
  ["decision-loan-approval", { credit: { score: 720, defaults: 0 } }],
  [
    "decision-loan-approval",
    { credit: { score: 720, defaults: 0 }, loan: { rate: 1 }, income: { monthly: 9 } },
  ],
  [
    "policy-read-source",
    { tool: "read_source", params: { source: "crm" }, session: { finance_closed: true } },
  ],
  [
    "decision-shipping-fee",
    { parcel: { weight_kg: 40, insured: true, value: 1 }, destination: { country: "FR" } },
  ],
  ["decision-shipping-fee", {}],
  ["policy-filter-customers", { params: {} }],
  ["gate-wire-approve", { amount: 25_000, payee: { country: "DE" } }],
  ["gate-wire-approve", { amount: "much" }],
];

describe("a gate's answer over HTTP", () => {
  it.each(questions.filter(([id]) => id === "gate-wire-approve"))(
    "is what JSON.stringify writes: %s %j",
    async (decision_id, context) => {
      for (const store of ["memory", undefined] as const) {
        const { decide } = await compose({ decisions, store });
        const result = await decide({ decision_id, context });
        if (result.type !== "gate") throw new Error("not a gate");
        const { status, work_frame, decision_metadata, because, warnings, record_id } = result;
        expect(typeof record_id).toBe(store === undefined ? "undefined" : "string");
        expect(gateAnswerJson(result)).toBe(
          JSON.stringify({ status, work_frame, decision_metadata, because, warnings, record_id }),
        );
      }
    },
  );
});

it("the answer of a gate over HTTP has its outputs before the record", async () => {
  const { decide } = await compose({ decisions, store: "memory" });
  const gate = (await decide({ decision_id: "gate-wire-approve", context: {} })) as GateResult;
  const { status, work_frame, decision_metadata, because, warnings, record_id } = gate;
  const outputs = [{ limit: 5 }];
  expect(gateAnswerJson({ ...gate, outputs })).toBe(
    JSON.stringify({ status, work_frame, decision_metadata, because, warnings, outputs, record_id }),
  );
});

describe("a line of the log", () => {
  it.each(questions)("has its leading fields where the index looks for them: %s %j", async (id, context) => {
    const { decide, records } = await compose({ decisions, store: "memory" });
    await decide({ decision_id: id, context });
    if (records === undefined) throw new Error("there is a store");
    for await (const { text, record } of records.log.select({ kind: "decision" })) {
      const start = text.indexOf('"kind"');
      const fields = record as unknown as Readonly<Record<string, string>>;
      for (const name of Object.keys(leadingFields) as (keyof typeof leadingFields)[]) {
        const value = fields[name] ?? "";
        const offset = start + leadingFieldOffset(name);
        expect(text.slice(offset, offset + value.length)).toBe(value);
        expect(value.length).toBe(leadingFields[name] ?? value.length);
      }
    }
    expect.hasAssertions();
  });
});

describe("a result as a line", () => {
  it.each(questions)("is what JSON.stringify writes: %s %j", async (decision_id, context) => {
    const { decide } = await compose({ decisions });
    for (const dry_run of [true, false]) {
      const result = await decide({ decision_id, context, dry_run });
      expect(resultJson(result)).toBe(JSON.stringify(result));
      expect(resultJson(result)).toBe(JSON.stringify(result));
    }
  });

  it("may have the limits of a gate", async () => {
    const { decide } = await compose({ decisions });
    const gate = (await decide({ decision_id: "gate-wire-approve", context: {} })) as GateResult;
    const limits = [{ name: "max_sum", expression: 'say "so"', result: false, error: "e" }];
    const result = { ...gate, decision_metadata: { ...gate.decision_metadata, limits } };
    expect(resultJson(result)).toBe(JSON.stringify(result));
  });

  it("may have proposed outputs", async () => {
    const { decide } = await compose({ decisions });
    const context = { parcel: { weight_kg: 1 }, destination: { country: "DE" } };
    const fee = await decide({ decision_id: "decision-shipping-fee", context });
    const { cached, dry_run, timestamp, deterministic_hash, aggregate: _none, ...fields } = fee;
    const proposed = { proposed_targets: [], proposed_labels: ["Small parcel"], proposed_outputs: [4.9] };
    const result = {
      ...{ ...fields, outputs: [], blocked: true, ...proposed },
      ...{ cached, dry_run, timestamp, deterministic_hash },
    };
    expect(_none).toBeDefined();
    expect(resultJson(result)).toBe(JSON.stringify(result));
  });

  it("may have every optional field", async () => {
    const { decide } = await compose({ decisions });
    const some = await decide({ decision_id: "decision-quality-gate", context: {} });
    const checks = [{ check_name: "c", passed: false, message: "m" }];
    const fields = Object.entries(some).filter(
      ([key]) => key !== "decision_name" && key !== "decision_version",
    );
    const at = fields.findIndex(([key]) => key === "because");
    fields.splice(at, 0, ["rules_total", 1000]);
    const before = fields.findIndex(([key]) => key === "cached");
    fields.splice(before, 0, ["fetched", { "bureau:1": { endpoint: "bureau", ok: false, left_out: true } }]);
    const result = { ...Object.fromEntries(fields), guardrails: checks } as unknown as Result;
    expect(resultJson(result)).toBe(JSON.stringify(result));
  });
});
