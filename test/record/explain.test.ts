import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import type { Definition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { ExplainedCondition } from "../../src/record/explain.js";
import { explain, explainConditions } from "../../src/record/explain.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { rule, switchOn, tableOf, weightedOf } from "../evaluate/definitions.js";
import { noon, worldWith } from "../properties/worlds.js";

/** What the log keeps of a decision. */
async function recordOf(definition: Definition, context: JsonObject): Promise<DecisionRecord> {
  const store = openMemoryStore();
  const records = new Records(store, {
    newNote: () => ({ record_id: "", timestamp: noon }),
    onWarning: () => undefined,
  });
  await decide({ decision_id: definition.id, context }, { ...worldWith(definition), records });
  const found = await store.log.find({ latest: true });
  if (!("record" in found) || found.record.kind !== "decision") throw new Error("nothing was recorded");
  return found.record;
}

async function failedOf(
  definition: Definition,
  context: JsonObject,
): Promise<readonly Partial<ExplainedCondition>[]> {
  return explain(await recordOf(definition, context), definition).failed;
}

const gate = switchOn(
  [
    { condition: "input >= 0.8", target: "stage-deploy", label: "Pass" },
    { condition: "input < 0.8", target: "stage-rework", label: "Fail" },
  ],
  { input: "{{ artifact.score }}", version: "1.2.0" },
);

describe("an explanation", () => {
  it("says what was decided, why, and by which definition", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.3 } });
    expect(explain(record, gate)).toEqual({
      answer: "stage-rework",
      because: ["input < 0.8"],
      failed: [
        { label: "Pass", condition: "input >= 0.8", result: false, values: { "artifact.score": 0.3 } },
      ],
      definition: { version: "1.2.0", hash: record.definition_hash, available: true },
    });
  });

  it("names the record of a cached answer", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.3 } });
    const hit: DecisionRecord = { ...record, cached: true, cached_from: "0199" };
    expect(explain(hit, gate)).toMatchObject({ cached_from: "0199" });
  });

  it("has the label as the answer where there is no target", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.3 } });
    expect(explain({ ...record, selected_targets: [] }, gate).answer).toBe("Fail");
  });

  it("works without the definition", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.3 } });
    const explanation = explain(record, undefined);
    expect(explanation.definition.available).toBe(false);
    expect(explanation.failed).toMatchObject([{ label: "Pass", values: { input: 0.3 } }]);
  });
});

describe("the values that a failed condition read", () => {
  it.each([
    {
      name: "a path of the context",
      definition: switchOn([rule("severity == 'high'")], { input: "{{ severity }}" }),
      values: { severity: "low" },
    },
    {
      name: "a part of the input",
      definition: switchOn([rule("input.quality.score > 1")], { input: "{{ artifact }}" }),
      values: { "artifact.quality.score": 0.5 },
    },
    {
      name: "a part of the whole context",
      definition: switchOn([rule("input.severity == 'high'")], { input: "{{ context }}" }),
      values: { severity: "low" },
    },
    {
      name: "a part of the whole context, which is the input where none is named",
      definition: switchOn([rule("input.severity == 'high' and attempts > 2")]),
      values: { severity: "low", attempts: 1 },
    },
    {
      name: "an input that was worked out, with what it was made of",
      definition: switchOn([rule("input == 'HIGH'")], { input: "{{ upper(severity) }}" }),
      values: { input: "LOW", severity: "low" },
    },
    {
      name: "an input that is a text around values",
      definition: switchOn([rule("input == 'x'")], { input: "{{ severity }}/{{ attempts }}" }),
      values: { input: "low/1", severity: "low", attempts: 1 },
    },
    {
      name: "the time of the request",
      definition: switchOn([rule("system.request_time == 'never'")]),
      values: { "system.request_time": noon },
    },
    {
      name: "a value read twice, listed once",
      definition: switchOn([rule("input > 5 or attempts > 7")], { input: "{{ attempts }}" }),
      values: { attempts: 1 },
    },
    { name: "nothing", definition: switchOn([rule("1 > 2")]), values: {} },
  ])("are $name", async ({ definition, values }) => {
    const context = { severity: "low", attempts: 1, artifact: { quality: { score: 0.5 } } };
    expect((await failedOf(definition, context))[0]).toEqual(
      expect.objectContaining({ result: false, values }),
    );
  });

  it("have the long path where the short one has another meaning", async () => {
    const definition = switchOn([rule("input.facts == 1 and input.context == 1")]);
    const [failed] = await failedOf(definition, { facts: 2, context: 3 });
    expect(failed?.values).toEqual({ "input.facts": 2, "input.context": 3 });
  });

  it("may be missing", async () => {
    const definition = tableOf([rule("input.score < 0.5"), rule("exists(input.score)")]);
    expect(await failedOf(definition, { severity: "low" })).toMatchObject([
      { error: "`input.score` is missing", values: {}, missing: ["score"] },
      { values: {}, missing: ["score"] },
    ]);
  });

  it("may not be recorded", async () => {
    const definition = { ...gate, logging: { include_inputs: false } };
    const [failed] = await failedOf(definition, { artifact: { score: 0.3 } });
    expect(failed).toMatchObject({ values: {}, not_recorded: ["artifact.score"] });
  });

  it.each(["/customer/email", "/customer", ""])("stays masked: %j", async (pointer) => {
    const definition = switchOn([rule("customer.email == 'x'")], { logging: { mask: [pointer] } });
    const [failed] = await failedOf(definition, { customer: { email: "a@example.org" } });
    expect(failed?.values).toEqual({ "customer.email": "[masked]" });
  });

  it("are not masked where there was no value", async () => {
    const definition = switchOn([rule("customer.email == 'x'")], { logging: { mask: ["/customer/email"] } });
    expect(await failedOf(definition, { customer: {} })).toMatchObject([{ missing: ["customer.email"] }]);
  });
});

describe("the conditions of a decision", () => {
  it("are those that were evaluated, and those that were not", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.9 } });
    expect(explainConditions(record, gate)).toEqual({
      conditions: [
        { label: "Pass", condition: "input >= 0.8", result: true, values: { "artifact.score": 0.9 } },
      ],
      not_asked: [{ label: "Fail", condition: "input < 0.8" }],
    });
  });

  it("of a weighted decision are those that exclude cases", async () => {
    const definition = weightedOf([
      { target: "a", weight: 1 },
      { target: "b", weight: 1, condition: "beta == true" },
    ]);
    const record = await recordOf(definition, { beta: false });
    expect(explainConditions(record, definition)).toEqual({
      conditions: [{ label: "b", condition: "beta == true", result: false, values: { beta: false } }],
      not_asked: [],
    });
  });

  it("of a long table are those that it lists", async () => {
    const rules = Array.from({ length: 150 }, (_, index) => rule(`input.n == ${index}`));
    const record = await recordOf(tableOf(rules), { n: 7 });
    expect(explainConditions(record, tableOf(rules))).toMatchObject({
      conditions: [{ label: "input.n == 7", result: true, values: { n: 7 } }],
      not_asked: [],
    });
  });

  it("that failed are recorded even where the evaluation is not", async () => {
    const definition = { ...gate, logging: { include_evaluation: false } };
    expect(await failedOf(definition, { artifact: { score: 0.3 } })).toEqual([
      { label: "Pass", condition: "input >= 0.8", result: false, values: { "artifact.score": 0.3 } },
    ]);
  });

  it("are left out where they are malformed", async () => {
    const record = await recordOf(gate, { artifact: { score: 0.3 } });
    const details = {
      Pass: { condition: "input >=", result: false },
      Fail: null,
      Other: "text",
    } as unknown as DecisionRecord["evaluation_details"];
    expect(explain({ ...record, evaluation_details: details }, gate).failed).toEqual([
      { label: "Pass", condition: "input >=", result: false, values: {} },
    ]);
  });
});
