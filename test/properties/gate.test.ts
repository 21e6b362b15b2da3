import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkGate } from "../../src/definition/checks/check-gate.js";
import { Failure } from "../../src/expression/failure.js";
import { compileCondition, compileInput } from "../../src/expression/template.js";
import type { GateDefinition, GateRule, Status, Tier } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { GateOutcome } from "../../src/model/result.js";
import { answerOf, ask, gateOf, outcomeOf, rule, scopeOf, system } from "../evaluate/gate/gates.js";
import { jsonValues } from "../digest/json-values.js";
import { runsFor } from "../thoroughness.js";
import { conditions, contexts } from "./arbitraries.js";

/** Any object but one with a `system` of its own. */
const anything: fc.Arbitrary<JsonObject> = fc
  .oneof(contexts, jsonValues)
  .filter(
    (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
  )
  // Both are refused.
  .filter((context) => !Object.hasOwn(context, "system") && !Object.hasOwn(context, "context"));

const schemas: fc.Arbitrary<JsonObject | undefined> = fc.constantFrom<JsonObject | undefined>(
  undefined,
  {},
  { required: ["n", "t"], properties: { n: { type: "number", minimum: 0 }, t: { pattern: "^a*$" } } },
  { additionalProperties: false, properties: { n: {}, t: { format: "date" }, list: { uniqueItems: true } } },
  { anyOf: [{ required: ["n"] }, { required: ["yes"], properties: { yes: { const: true } } }] },
  { propertyNames: { maxLength: 4 }, minProperties: 1, properties: { o: { $ref: "#" } } },
);

interface Drawn {
  readonly when: string;
  readonly applies_when: string | undefined;
  readonly tier: Tier;
  readonly severity: number;
  readonly status: Status;
  /** Which of the rules with a higher number it names, as bits. */
  readonly names: number;
}

const drawnRules: fc.Arbitrary<readonly GateRule[]> = fc
  .array(
    fc.record<Drawn>({
      when: conditions,
      applies_when: fc.option(conditions, { nil: undefined, freq: 3 }),
      tier: fc.constantFrom<Tier>("T1", "T2", "T2", "T3"),
      severity: fc.nat(3),
      status: fc.constantFrom<Status>("GREEN", "GREEN-SKIP", "YELLOW", "RED"),
      names: fc.nat(2 ** 8 - 1),
    }),
    { minLength: 1, maxLength: 8 },
  )
  .map((drawn) => drawn.map((each, index) => ruleFrom(each, index, drawn)))
  .chain((rules) => fc.shuffledSubarray([...rules], { minLength: rules.length }));

/** Names only rules of a higher number, so never in a circle; the file has them in any order. */
function ruleFrom(drawn: Drawn, index: number, all: readonly Drawn[]): GateRule {
  const { when, applies_when, tier, severity, status, names } = drawn;
  const suppresses = all.flatMap((each, at) =>
    at > index && each.tier !== "T1" && ((names >> at) & 1) === 1 ? [`rule-${at}`] : [],
  );
  return {
    id: `rule-${index}`,
    tier,
    severity,
    when,
    status: tier === "T1" && status.startsWith("GREEN") ? "RED" : status,
    ...(applies_when !== undefined && { applies_when }),
    ...(suppresses.length > 0 && { suppresses }),
    work_frame: { missing_evidence: [`evidence-${index}`], next_action: `action-${index}` },
  };
}

const gates: fc.Arbitrary<GateDefinition> = fc
  .record({
    rules: drawnRules,
    context_schema: schemas,
    computed: fc.option(fc.dictionary(fc.constantFrom("c1", "c2"), conditions), { nil: undefined }),
    input: fc.constantFrom(undefined, "n", "{{ [n, t] }}"),
  })
  .map(({ rules, context_schema, computed, input }) =>
    gateOf(rules, {
      ...(context_schema !== undefined && { context_schema }),
      ...(computed !== undefined && { computed }),
      ...(input !== undefined && { input }),
    }),
  );

/** Gates of which one rule, wherever it stands, is T1 and holds: by chance few have one. */
const floored: fc.Arbitrary<GateDefinition> = fc.tuple(gates, fc.nat()).map(([gate, place]) => {
  const floor = gate.rules[place % gate.rules.length]?.id;
  const rules = gate.rules.map((rule): GateRule => {
    const { suppresses = [] } = rule;
    if (rule.id !== floor) return { ...rule, suppresses: suppresses.filter((id) => id !== floor) };
    const status = rule.status === "YELLOW" ? "YELLOW" : "RED";
    return { ...rule, tier: "T1", status, when: "true", applies_when: "true" };
  });
  return { ...gate, rules };
});

const matchedOf = (gate: GateDefinition, { decision_metadata }: GateOutcome): readonly GateRule[] =>
  gate.rules.filter(({ id }) => decision_metadata.matched_rules.includes(id));

/** Straight from the sentence: a matched, unsuppressed rule names it, and it is not T1. */
function isSuppressed(each: GateRule, matched: readonly GateRule[]): boolean {
  if (each.tier === "T1") return false;
  return matched.some((other) => other.suppresses?.includes(each.id) && !isSuppressed(other, matched));
}

const holding = (text: string, context: JsonObject): boolean | undefined => {
  const value = compileCondition(text).evaluate({ ...scopeOf(context), input: context });
  return typeof value === "boolean" ? value : undefined;
};

describe("a gate", () => {
  it("is drawn without faults", () => {
    fc.assert(
      fc.property(gates, floored, (...drawn) => {
        expect(drawn.flatMap(checkGate)).toEqual([]);
      }),
      { numRuns: runsFor(100) },
    );
  });

  it("never throws, whatever the context but `system`", () => {
    fc.assert(
      fc.property(gates, anything, (gate, context) => {
        expect(["GREEN", "GREEN-SKIP", "YELLOW", "RED"]).toContain(answerOf(gate, context).status);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("lets no T1 match be suppressed or outvoted", () => {
    fc.assert(
      fc.property(floored, anything, (gate, context) => {
        const outcome = answerOf(gate, context);
        const floor = matchedOf(gate, outcome).filter(({ tier }) => tier === "T1");
        fc.pre(floor.length > 0);
        const worst = floor.some(({ status }) => status === "RED") ? "RED" : "YELLOW";
        const { suppressed, aggregation } = outcome.decision_metadata;
        expect(outcome.status).toBe(worst);
        expect(suppressed.filter(({ rule: id }) => floor.some((each) => each.id === id))).toEqual([]);
        expect(floor.map(({ id }) => id)).toEqual(expect.arrayContaining([...aggregation.deciding_rules]));
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("matches exactly the rules that apply and hold", () => {
    fc.assert(
      fc.property(drawnRules, anything, (rules, context) => {
        const expected = rules.filter(
          ({ applies_when, when }) =>
            (applies_when === undefined || holding(applies_when, context) === true) &&
            holding(when, context) === true,
        );
        const { matched_rules } = answerOf(gateOf(rules), context).decision_metadata;
        expect([...matched_rules].sort()).toEqual(expected.map(({ id }) => id).sort());
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("suppresses as a naive model does", () => {
    fc.assert(
      fc.property(gates, anything, (gate, context) => {
        const outcome = answerOf(gate, context);
        const matched = matchedOf(gate, outcome);
        const bySeverity = matched.toSorted((a, b) => b.severity - a.severity);
        const expected = bySeverity
          .filter((each) => isSuppressed(each, matched))
          .map(({ id }) => {
            const by = bySeverity.find(
              (other) => other.suppresses?.includes(id) && !isSuppressed(other, matched),
            );
            return { rule: id, by: by?.id };
          });
        expect(outcome.decision_metadata.suppressed).toEqual(expected);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("is neither GREEN nor GREEN-SKIP where anything could not be evaluated", () => {
    fc.assert(
      fc.property(gates, anything, (gate, context) => {
        const { status, work_frame, decision_metadata } = answerOf(gate, context);
        fc.pre(decision_metadata.errored_predicates.length > 0);
        expect(["YELLOW", "RED"]).toContain(status);
        if (status === "YELLOW") expect(work_frame.next_action).toBe("gather_evidence_and_retry");
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("notes each predicate that could not be evaluated", () => {
    fc.assert(
      fc.property(drawnRules, anything, (rules, context) => {
        const expected = rules.filter(({ applies_when, when }) => {
          const applies = applies_when === undefined || holding(applies_when, context);
          return applies === undefined || (applies && holding(when, context) === undefined);
        });
        const answer = ask(gateOf(rules), context);
        const noted = outcomeOf(answer).decision_metadata.errored_predicates.map(({ name }) => name);
        expect(noted.sort()).toEqual(expected.map(({ id }) => id).sort());
        expect([answer.warnings.length, answer.errors.length]).toEqual([noted.length, noted.length]);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("is not GREEN where a computed value or the input could not be evaluated", () => {
    fc.assert(
      fc.property(conditions, conditions, anything, (first, input, context) => {
        const green = rule("green", { when: "true", status: "GREEN" });
        const values = [input, first].map((text) =>
          compileInput(text).evaluate({ ...scopeOf(context), input: 1 }),
        );
        const readsInput = [first, input].some((text) => text.includes("input"));
        fc.pre(!readsInput && values.some((value) => value instanceof Failure));
        expect(answerOf(gateOf([green], { computed: { c: first }, input }), context).status).toBe("YELLOW");
      }),
      { numRuns: runsFor(300) },
    );
  });
});

describe("a caller", () => {
  const forgery = fc.oneof(
    anything,
    fc.record(
      {
        facts: jsonValues,
        input: jsonValues,
        computed: jsonValues,
        trusted: fc.oneof(fc.boolean(), jsonValues),
        broken: fc.oneof(fc.boolean(), jsonValues),
        request_id: jsonValues,
        context: fc.record({ system: jsonValues, trusted: jsonValues }),
      },
      { requiredKeys: [] },
    ),
  );
  const rules = [
    rule("admin", { when: "system.request_id == 'request-of-admin'", status: "GREEN", severity: 50 }),
    rule("trusted", { when: "trusted", status: "GREEN", severity: 40 }),
    rule("broken", { when: "broken", status: "GREEN-SKIP", severity: 30 }),
    rule("rest", { when: "not trusted", status: "RED", severity: 1 }),
  ];

  it("never forges what we know of the request, nor computed values", () => {
    const computed = { trusted: "system.request_id == 'nobody'", broken: "false" };
    const gate = gateOf(rules, { computed });
    fc.assert(
      fc.property(forgery, (context) => {
        expect(ask(gate, context)).toEqual({ ...ask(gate), input_value: context });
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("never puts a value of its own in the place of one that could not be computed", () => {
    const gate = gateOf(rules, { computed: { trusted: "false", broken: "system.absent" } });
    fc.assert(
      fc.property(forgery, (context) => {
        const { matched_rules, errored_predicates, request_id } = answerOf(gate, context).decision_metadata;
        expect([matched_rules, request_id]).toEqual([["rest"], system.request_id]);
        expect(errored_predicates.map(({ name }) => name)).toEqual(["broken", "broken"]);
      }),
      { numRuns: runsFor(300) },
    );
  });
});

describe("the order of the rules in the file", () => {
  const sorted = (items: readonly string[]): readonly string[] => [...items].sort();

  it("changes nothing but the order of lists where severities tie", () => {
    fc.assert(
      fc.property(gates, anything, fc.nat(), (gate, context, turn) => {
        const moved = { ...gate, rules: rotated(gate.rules, turn) };
        const [one, other] = [gate, moved].map((each) => {
          const { status, work_frame, decision_metadata } = answerOf(each, context);
          const { matched_rules, suppressed, aggregation } = decision_metadata;
          return {
            status,
            matched: sorted(matched_rules),
            suppressed: sorted(suppressed.map(({ rule: id }) => id)),
            deciding: sorted(aggregation.deciding_rules),
            mode: work_frame.mode,
            evidence: sorted(work_frame.missing_evidence),
          };
        });
        expect(other).toEqual(one);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("changes nothing of the outcome where they do not", () => {
    fc.assert(
      fc.property(gates, anything, fc.nat(), (gate, context, turn) => {
        const rules = gate.rules.map((each, index) => ({ ...each, severity: index * 2.5 }));
        const [one, other] = [rules, rotated(rules, turn)].map((each) =>
          ask({ ...gate, rules: each }, context),
        );
        if (one === undefined || other === undefined) return;
        expect({ ...other, failed_conditions: sorted(other.failed_conditions) }).toEqual({
          ...one,
          failed_conditions: sorted(one.failed_conditions),
        });
      }),
      { numRuns: runsFor(500) },
    );
  });
});

/** In another order: turned around, and begun elsewhere. */
function rotated(rules: readonly GateRule[], turn: number): readonly GateRule[] {
  const cut = turn % rules.length;
  return [...rules.slice(cut), ...rules.slice(0, cut)].reverse();
}
