import { describe, expect, it } from "vitest";
import { prepareGate } from "../../../src/evaluate/gate/gate.js";
import type { GateDefinition } from "../../../src/model/definition.js";
import { ask, gateOf, outcomeOf, readsOf, rule, scopeOf } from "./gates.js";

const green = (output: string, extra: Partial<GateDefinition> = {}): GateDefinition =>
  gateOf([rule("go", { status: "GREEN", output })], extra);

describe("the output of a gate", () => {
  it("is that of the deciding rule", () => {
    const gate = gateOf([
      rule("low", { severity: 1, output: "low" }),
      rule("high", { severity: 9, output: { limit: "{{ amount }}" } }),
    ]);
    expect(ask(gate, { low: true, high: true, amount: 5 })).toMatchObject({
      selected_labels: ["YELLOW"],
      outputs: [{ limit: 5 }],
    });
  });

  it("is that of the first deciding rule that has one", () => {
    const gate = gateOf([rule("a"), rule("b", { output: 1 }), rule("c", { output: 2 })]);
    expect(ask(gate, { a: true, b: true, c: true }).outputs).toEqual([1]);
  });

  it("is null where no deciding rule has one, and absent where no rule has one", () => {
    const gate = gateOf([rule("a"), rule("b", { output: 1 })]);
    expect(ask(gate, { a: true, b: false }).outputs).toEqual([null]);
    expect(ask(gate, { a: false, b: false }).outputs).toEqual([null]);
    expect(ask(gateOf([rule("a")]), { a: true })).not.toHaveProperty("outputs");
  });

  it("reads computed values", () => {
    const gate = green("{{ doubled }}", { computed: { doubled: "n * 2" } });
    expect(ask(gate, { go: true, n: 4 }).outputs).toEqual([8]);
    expect(readsOf(gate)).toEqual(["context", "n", "go"]);
  });

  it("keeps the gate from being GREEN where it cannot be evaluated", () => {
    const evaluated = ask(green("{{ gone }}"), { go: true });
    expect(evaluated).toMatchObject({
      selected_labels: ["YELLOW"],
      outputs: [null],
      warnings: ["the output of `go` could not be evaluated: `gone` is missing"],
      because: ["the output could not be evaluated", "go"],
    });
    expect(outcomeOf(evaluated)).toMatchObject({
      status: "YELLOW",
      work_frame: { mode: "review", next_action: "gather_evidence_and_retry" },
      decision_metadata: {
        aggregation: { raised: { from: "GREEN", to: "YELLOW", reason: "the output could not be evaluated" } },
        errored_predicates: [{ source: "output", name: "go", error: "`gone` is missing" }],
      },
    });
  });

  it("is reported where it cannot be evaluated, and leaves a stricter status as it is", () => {
    const evaluated = ask(gateOf([rule("no", { status: "RED", output: "{{ gone }}" })]), { no: true });
    expect(evaluated).toMatchObject({
      selected_labels: ["RED"],
      outputs: [null],
      errors: ["the output of `no` could not be evaluated: `gone` is missing"],
    });
  });

  it("is left out where errors made the gate stricter than its rules", () => {
    const gate = gateOf([rule("go", { status: "GREEN", output: "approved" }), rule("other")]);
    expect(ask(gate, { go: true, other: false }).outputs).toEqual(["approved"]);
    expect(ask(gate, { go: true })).toMatchObject({ selected_labels: ["YELLOW"], outputs: [null] });
  });

  it("stays where a review is what the rules say, whatever else could not be evaluated", () => {
    const gate = gateOf([rule("look", { output: "checklist" }), rule("other")]);
    expect(ask(gate, { look: true })).toMatchObject({ selected_labels: ["YELLOW"], outputs: ["checklist"] });
  });

  it("is left out where a limit is used up", () => {
    const gate = green("approved", { max_sum: { of: "amount", most: 10, per: "org" } });
    const facts = { sums: { "gate-under-test": 0 } };
    expect(ask(gate, { go: true, amount: 5 }, facts).outputs).toEqual(["approved"]);
    expect(ask(gate, { go: true, amount: 50 }, facts)).toMatchObject({
      selected_labels: ["RED"],
      outputs: [null],
    });
  });

  it.each([
    ["itself", "{{ iban }}", {}],
    ["as a computed value", "{{ account }}", { computed: { account: "upper(iban)" } }],
    ["as the input", "{{ input }}", { input: "{{ iban }}" }],
  ])("does not show a masked value: %s", (_how, output, extra) => {
    const gate = green(output, { ...extra, logging: { mask: ["/iban"] } });
    expect(ask(gate, { go: true, iban: "de1" }).outputs).toEqual(["[masked]"]);
  });

  it("is listed for the lineage where its rule decides", () => {
    const gate = gateOf([
      rule("low", { severity: 1, output: "{{ a }}" }),
      rule("high", { severity: 9, output: "{{ b }}" }),
    ]);
    const prepared = prepareGate(gate, undefined);
    const inputs = (context: Parameters<typeof scopeOf>[0]): readonly string[] =>
      prepared.inputsRead(prepared.evaluate(scopeOf(context))).flat();
    expect(inputs({ low: true, high: false, a: 1 })).toEqual(["high", "low", "a"]);
    expect(inputs({ low: true, high: true, b: 1 })).toEqual(["high", "low", "b"]);
  });
});
