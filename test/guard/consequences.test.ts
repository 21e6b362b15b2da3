import { describe, expect, it } from "vitest";
import { excepted, gateOf, guardedAs, leadingTo, loadedAs, split, voted } from "./guard-samples.js";
import { blockAnswer, escalateAnswer } from "../../src/guard/consequences.js";
import type { Guarded } from "../../src/guard/guard.js";
import { staticChecks } from "../../src/guard/static-checks.js";
import type { Definition, Guardrail, OnFail, RuleTableDefinition } from "../../src/model/definition.js";

/** A guardrail that fails for every target. */
const failing = (on_fail: OnFail, escalate_to = "stage-review"): Guardrail => ({
  type: "requires_approval",
  on_fail,
  ...(on_fail === "escalate" && { escalate_to }),
});

const needed = (target: string): string => `Target '${target}' requires approval`;

/** Returns the answer without the checks. */
function become({ blocked, escalated, proposed, evaluated }: Guarded): object {
  const { selected_targets, selected_labels } = evaluated;
  return { blocked, escalated, ...proposed, selected_targets, selected_labels };
}

describe("the outputs of an answer", () => {
  const fees = (guardrail: Guardrail, extra: Partial<RuleTableDefinition> = {}): Definition => ({
    ...leadingTo([], [guardrail]),
    rules: [
      { condition: "true", target: "a", output: 1 },
      { condition: "true", output: 2 },
    ],
    ...extra,
  });
  const outputsOf = ({ evaluated, proposed }: Guarded): object => ({
    labels: evaluated.selected_labels,
    outputs: evaluated.outputs,
    aggregate: evaluated.aggregate,
    proposed: proposed?.proposed_outputs,
  });

  it("are none if it is blocked, and kept in the proposal", () => {
    expect(outputsOf(guardedAs(fees(failing("block"))))).toEqual({
      labels: [],
      outputs: [],
      aggregate: undefined,
      proposed: [1, 2],
    });
  });

  it("are null if it is escalated", () => {
    expect(outputsOf(guardedAs(fees(failing("escalate"))))).toEqual({
      labels: ["stage-review"],
      outputs: [null],
      aggregate: undefined,
      proposed: [1, 2],
    });
  });

  it("are not combined any more if it is blocked", () => {
    expect(outputsOf(guardedAs(fees(failing("block"), { aggregate: "sum" })))).toEqual({
      labels: [],
      outputs: [],
      aggregate: undefined,
      proposed: [3],
    });
  });

  it("stay if there is only a warning", () => {
    expect(outputsOf(guardedAs(fees(failing("warn"))))).toMatchObject({
      outputs: [1, 2],
      proposed: undefined,
    });
  });

  it("are not proposed where the definition declares none", () => {
    const { evaluated, proposed } = guardedAs(leadingTo(["a"], [failing("block")]));
    expect(evaluated).not.toHaveProperty("outputs");
    expect(proposed).not.toHaveProperty("proposed_outputs");
  });

  it("are not those of the rules if a gate is held", () => {
    const gate = gateOf("GREEN", [failing("escalate")]);
    const withOutput = { ...gate, rules: gate.rules.map((rule) => ({ ...rule, output: "paid" })) };
    expect(outputsOf(guardedAs(withOutput))).toMatchObject({
      labels: ["YELLOW"],
      outputs: [null],
      proposed: ["paid"],
    });
  });

  it("stay if a gate is at least as strict as its guardrail", () => {
    const gate = gateOf("YELLOW", [
      { type: "distribution_drift", on_fail: "block" },
      { type: "requires_approval", targets: ["wire.approve"] },
    ]);
    const withOutput = { ...gate, rules: gate.rules.map((rule) => ({ ...rule, output: "checklist" })) };
    expect(outputsOf(guardedAs(withOutput))).toMatchObject({ labels: ["YELLOW"], outputs: ["checklist"] });
  });
});

describe("an answer that leads somewhere", () => {
  it("selects nothing if it is blocked", () => {
    expect(become(guardedAs(leadingTo(["a", "b"], [failing("block")])))).toEqual({
      blocked: true,
      escalated: false,
      selected_targets: [],
      selected_labels: [],
      proposed_targets: ["a", "b"],
      proposed_labels: ["to a", "to b"],
    });
  });

  it("is blocked if a guardrail has no `on_fail`", () => {
    expect(guardedAs(leadingTo(["a"], [{ type: "requires_approval" }])).blocked).toBe(true);
  });

  it("routes to the escalation target", () => {
    expect(become(guardedAs(leadingTo(["a", "b"], [failing("escalate")])))).toEqual({
      blocked: false,
      escalated: true,
      selected_targets: ["stage-review"],
      selected_labels: ["stage-review"],
      proposed_targets: ["a", "b"],
      proposed_labels: ["to a", "to b"],
    });
  });

  it("is escalated to the approval target, unless `escalate_to` is set", () => {
    const asking: Guardrail = { type: "requires_approval", approval_target: "ask", on_fail: "escalate" };
    expect(guardedAs(leadingTo(["a"], [asking])).evaluated.selected_targets).toEqual(["ask"]);
    const other = { ...asking, escalate_to: "boss" };
    expect(guardedAs(leadingTo(["a"], [other])).evaluated.selected_targets).toEqual(["boss"]);
  });

  it("stays if there is only a warning, which is added to the others", () => {
    const guarded = guardedAs(leadingTo(["a", "b"], [failing("warn")]));
    expect(become(guarded)).toEqual({
      blocked: false,
      escalated: false,
      selected_targets: ["a", "b"],
      selected_labels: ["to a", "to b"],
    });
    expect(guarded.evaluated.warnings).toEqual([needed("a"), needed("b")]);
  });

  it("is left as it is if all guardrails pass", () => {
    const passing: Guardrail = { type: "no_disabled_targets", disabled_stages: ["z"] };
    const { evaluated, checks } = guardedAs(leadingTo(["a"], [passing]));
    expect(evaluated.warnings).toEqual([]);
    expect(checks.map(({ on_fail }) => on_fail)).toEqual([undefined]);
  });

  it("has no checks if there are no guardrails", () => {
    expect(guardedAs(leadingTo(["a"]))).toMatchObject({ checks: [], blocked: false, proposed: undefined });
  });
});

const orders: readonly (readonly OnFail[])[] = [
  ["block", "escalate", "warn"],
  ["block", "warn", "escalate"],
  ["escalate", "block", "warn"],
  ["escalate", "warn", "block"],
  ["warn", "block", "escalate"],
  ["warn", "escalate", "block"],
];

describe("of several consequences", () => {
  it.each(orders)("blocking stands: %s, %s, %s", (...order) => {
    const guarded = guardedAs(
      leadingTo(
        ["a"],
        order.map((each) => failing(each)),
      ),
    );
    expect(guarded).toMatchObject({ blocked: true, escalated: false, evaluated: { selected_targets: [] } });
    expect(guarded.evaluated.warnings).toEqual([]);
    expect(guarded.checks.map(({ on_fail }) => on_fail)).toEqual(order);
  });

  it.each([
    ["escalate", "warn"],
    ["warn", "escalate"],
  ] as const)("escalating stands over a warning: %s, %s", (...order) => {
    const guarded = guardedAs(
      leadingTo(
        ["a"],
        order.map((each) => failing(each)),
      ),
    );
    expect(guarded).toMatchObject({ blocked: false, escalated: true });
    expect(guarded.evaluated.selected_targets).toEqual(["stage-review"]);
  });

  it("the first of two escalations says where to", () => {
    const two = [failing("escalate", "first"), failing("escalate", "second")];
    expect(guardedAs(leadingTo(["a"], two)).evaluated.selected_targets).toEqual(["first"]);
  });
});

describe("an escalation to where nothing may lead", () => {
  const off = (on_fail: OnFail): Guardrail => ({
    type: "no_disabled_targets",
    disabled_stages: ["stage-review"],
    on_fail,
    ...(on_fail === "escalate" && { escalate_to: "stage-review" }),
  });

  it.each<OnFail>(["block", "escalate", "warn"])("blocks, though a disabled target would %s", (onFail) => {
    const guarded = guardedAs(leadingTo(["a"], [failing("escalate"), off(onFail)]));
    expect(guarded).toMatchObject({ blocked: true, escalated: false, evaluated: { selected_targets: [] } });
    expect(guarded.checks.at(-1)).toEqual({
      decision_id: "route",
      check_name: "no_disabled_targets",
      passed: false,
      message: "Target 'stage-review' is disabled",
      on_fail: "block",
    });
  });

  it("blocks if it is declared as disabled", () => {
    const environment = { targets: [{ id: "stage-review", disabled: true }] };
    expect(guardedAs(leadingTo(["a"], [failing("escalate")]), { environment }).blocked).toBe(true);
  });

  it("blocks if another guardrail blocks what leads there", () => {
    const closed: Guardrail = { type: "requires_approval", targets: ["stage-review"] };
    expect(guardedAs(leadingTo(["a"], [failing("escalate"), closed])).blocked).toBe(true);
    expect(guardedAs(leadingTo(["a"], [closed, failing("escalate")])).blocked).toBe(true);
  });

  it.each([
    ["first", ["stage-review", "stage-open"]],
    ["last", ["stage-open", "stage-review"]],
  ] as const)("blocks if it is one of two, the %s", (_which, ends) => {
    const two = ends.map((end) => failing("escalate", end));
    expect(guardedAs(leadingTo(["a"], [...two, off("block")])).blocked).toBe(true);
  });

  it("stops a gate that would have waited", () => {
    const guarded = guardedAs(gateOf("GREEN", [failing("escalate"), off("block")]));
    expect(guarded.evaluated.selected_labels).toEqual(["RED"]);
  });
});

describe("a vote", () => {
  it.each([
    ["block", [], []],
    ["escalate", ["stage-review"], ["stage-review"]],
  ] as const)("keeps its decision and confidence on %s", (onFail, targets, labels) => {
    const guarded = guardedAs(voted([failing(onFail)]));
    expect(guarded.evaluated).toMatchObject({
      selected_targets: targets,
      selected_labels: labels,
      outcome: { decision: "approve", confidence: 1 },
    });
    expect(guarded.proposed).toEqual({ proposed_targets: ["stage-approve"], proposed_labels: ["approve"] });
  });
});

describe("a call", () => {
  const call = { tool: "pay", params: { amount: 500 } };

  it.each(["block", "escalate"] as const)(
    "is denied on %s: nothing counts, and no param changes",
    (onFail) => {
      const guarded = guardedAs(excepted([failing(onFail)]), { context: call });
      expect(guarded).toMatchObject({ blocked: onFail === "block", escalated: onFail === "escalate" });
      expect(guarded.proposed).toEqual({ proposed_targets: [], proposed_outcome: "allowed_by_exception" });
      expect(guarded.evaluated).toMatchObject({
        selected_labels: ["denied"],
        because: ["a small one", needed("pay")],
        outcome: {
          allowed: false,
          outcome: "denied",
          reason: needed("pay"),
          params: { amount: 500 },
          set_params: {},
          overrides: [],
          counted: [],
        },
      });
    },
  );

  it("has no params if none were given", () => {
    const guarded = guardedAs(excepted([failing("block")]), { context: { tool: "pay" } });
    expect(guarded.evaluated.outcome).toMatchObject({ params: null });
  });

  it("is changed as the override says on a warning", () => {
    const { evaluated } = guardedAs(excepted([failing("warn")]), { context: call });
    expect(evaluated.outcome).toMatchObject({ allowed: true, params: { amount: 1 } });
    expect(evaluated.warnings).toContain(needed("pay"));
  });

  it("that is denied anyway has no target, and keeps its reason", () => {
    const denied: Definition = {
      id: "calls",
      type: "policy",
      tool: "pay",
      policies: [{ name: "never", conditions: [{ name: "no", expression: "false" }], deny_reason: "never" }],
      guardrails: [failing("block"), { type: "no_disabled_targets" }],
    };
    expect(guardedAs(denied, { context: call })).toMatchObject({ checks: [], blocked: false });
    const hostile = guardedAs({ ...denied, guardrails: [hostileTo] }, { context: call });
    expect(hostile).toMatchObject({ checks: [], evaluated: { outcome: { reason: "never" } } });
  });
});

describe("a gate", () => {
  it.each([
    ["block", "RED", "stop", "treasury"],
    ["escalate", "YELLOW", "review", "stage-review"],
  ] as const)(
    "on %s becomes %s, with nothing left that lets the agent continue",
    (onFail, status, mode, owner) => {
      const guarded = guardedAs(gateOf("GREEN", [failing(onFail)]));
      expect(guarded.proposed).toEqual({ proposed_targets: [], proposed_status: "GREEN" });
      expect(guarded.evaluated).toMatchObject({
        selected_labels: [status],
        because: ["routine", needed("wire.approve")],
        outcome: {
          status,
          work_frame: {
            mode,
            next_action: null,
            allowed_actions: [],
            forbidden_actions: ["wire.cancel"],
            required_output: null,
            missing_evidence: ["invoice"],
            next_human_owner: owner,
          },
        },
      });
    },
  );

  it("keeps its owner if the escalation names none", () => {
    const { evaluated } = guardedAs(gateOf("GREEN", [{ type: "requires_approval", on_fail: "escalate" }]));
    expect(evaluated.outcome).toMatchObject({
      status: "YELLOW",
      work_frame: { next_human_owner: "treasury" },
    });
  });

  it.each(["GREEN-SKIP", "YELLOW"] as const)("that is %s does not open, so nothing has to hold", (status) => {
    const guarded = guardedAs(gateOf(status, [failing("block")]));
    expect(guarded).toMatchObject({ blocked: false, evaluated: { selected_labels: [status] } });
  });
});

/** An environment that throws when it is read. */
const nothingToRead = { targets: { some: 5 } };
const hostileTo: Guardrail = { type: "no_disabled_targets", on_fail: "warn" };

describe("a guardrail that cannot tell", () => {
  it.each<OnFail>(["block", "escalate", "warn"])("blocks, though it was to %s", (on_fail) => {
    const guarded = guardedAs(leadingTo(["a"], [{ ...hostileTo, on_fail, escalate_to: "b" }]), {
      environment: nothingToRead,
    });
    expect(guarded).toMatchObject({ blocked: true, evaluated: { selected_targets: [] } });
    expect(guarded.checks).toMatchObject([{ passed: false, on_fail: "block" }]);
    expect(guarded.checks[0]?.message).toMatch(/^Guardrail could not be checked: /);
  });

  it.each<OnFail>(["escalate", "warn"])("blocks without the fact, though it was to %s", (on_fail) => {
    const drift: Guardrail = { type: "distribution_drift", on_fail, escalate_to: "b" };
    const guarded = guardedAs(split({ A: 1 }, [drift]), { context: { id: "req-1" } });
    expect(guarded).toMatchObject({ blocked: true, escalated: false });
  });

  it("blocks a gate too", () => {
    const guarded = guardedAs(gateOf("GREEN", [hostileTo]), { environment: nothingToRead });
    expect(guarded.evaluated.selected_labels).toEqual(["RED"]);
  });
});

describe("an answer that is already strict", () => {
  const objection = { reason: "no", context: {} };
  const red = guardedAs(gateOf("GREEN", [failing("block")])).evaluated;
  const yellow = guardedAs(gateOf("YELLOW", [])).evaluated;
  const denied = guardedAs(excepted([failing("block")]), { context: { tool: "pay" } }).evaluated;

  it("stays as it is", () => {
    expect(blockAnswer(red, objection).evaluated).toBe(red);
    expect(escalateAnswer(red, { ...objection, to: "desk" }).evaluated).toBe(red);
    expect(escalateAnswer(yellow, { ...objection, to: "desk" }).evaluated).toBe(yellow);
    expect(blockAnswer(denied, objection).evaluated).toBe(denied);
    expect(escalateAnswer(denied, { ...objection, to: "desk" }).evaluated).toBe(denied);
  });

  it("becomes stricter still", () => {
    expect(blockAnswer(yellow, objection).evaluated.selected_labels).toEqual(["RED"]);
  });

  it("has no target if there is no `escalate_to`", () => {
    const { evaluated } = guardedAs(leadingTo(["a"]));
    expect(escalateAnswer(evaluated, { ...objection, to: undefined }).evaluated.selected_targets).toEqual([]);
  });
});

describe("a target that is declared as disabled", () => {
  const environment = { targets: [{ id: "a", disabled: true }, { id: "b" }] };

  it("blocks without any guardrail", () => {
    expect(guardedAs(leadingTo(["a"]), { environment })).toMatchObject({
      blocked: true,
      checks: [{ check_name: "no_disabled_targets", message: "Target 'a' is disabled", on_fail: "block" }],
    });
    expect(guardedAs(leadingTo(["b"]), { environment })).toMatchObject({ blocked: false });
  });

  it("does what a written guardrail says", () => {
    const written: Guardrail = { type: "no_disabled_targets", on_fail: "warn" };
    const guarded = guardedAs(leadingTo(["a"], [written]), { environment });
    expect(guarded).toMatchObject({ blocked: false, evaluated: { warnings: ["Target 'a' is disabled"] } });
  });

  it("does nothing if all is enabled, or nothing is known of it", () => {
    for (const known of [{ targets: [{ id: "a", disabled: false }] }, { targets: [] }, {}]) {
      expect(guardedAs(leadingTo(["a"]), { environment: known }).checks).toEqual([]);
    }
  });
});

describe("guardrails for every decision", () => {
  it("come after those of the decision itself", () => {
    const everywhere = [{ type: "no_disabled_targets", disabled_stages: ["z"] }];
    const { checks } = guardedAs(leadingTo(["a"], [failing("warn")]), {
      environment: { targets: [], guardrails: everywhere },
    });
    expect(checks.map(({ check_name }) => check_name)).toEqual(["requires_approval", "no_disabled_targets"]);
  });

  it("block what the decision itself only warns about", () => {
    const environment = { targets: [], guardrails: [failing("block")] };
    expect(guardedAs(leadingTo(["a"], [failing("warn")]), { environment }).blocked).toBe(true);
  });
});

describe("static checks", () => {
  const failuresOf = (definition: Definition, environment: object = { targets: [] }): unknown =>
    staticChecks(loadedAs(definition, environment)).map(({ failures }) => failures);

  it("checks weights, in a weighted decision only", () => {
    const bounds: Guardrail = { type: "weight_bounds", min_weight: 5 };
    expect(failuresOf(split({ A: 97, B: 3 }, [bounds]))).toEqual([["Weight 3 for 'B' below minimum 5"]]);
    expect(failuresOf(split({ A: 95, B: 5 }, [bounds]))).toEqual([[]]);
    expect(failuresOf(leadingTo(["a"], [bounds]))).toEqual([]);
  });

  it("checks the targets of branches, of the default and of escalations", () => {
    const off: Guardrail = {
      type: "no_disabled_targets",
      disabled_stages: ["a", "stage-d*", "stage-review"],
    };
    expect(failuresOf(leadingTo(["a", "a", "b"], [off, failing("escalate")]))).toEqual([
      ["Target 'a' is disabled", "Target 'stage-default' is disabled", "Target 'stage-review' is disabled"],
    ]);
    expect(failuresOf(voted([{ ...off, disabled_stages: ["stage-approve"] }]))).toEqual([
      ["Target 'stage-approve' is disabled"],
    ]);
  });

  it("checks only the escalations of a gate, which has no targets", () => {
    const off: Guardrail = { type: "no_disabled_targets", disabled_stages: ["stage-review"] };
    expect(failuresOf(gateOf("GREEN", [off]))).toEqual([]);
    expect(failuresOf(gateOf("GREEN", [off, failing("escalate")]))).toEqual([
      ["Target 'stage-review' is disabled"],
    ]);
    expect(failuresOf(gateOf("GREEN", [off, { type: "requires_approval", on_fail: "escalate" }]))).toEqual(
      [],
    );
  });

  it("reports a drift guardrail that cannot be checked", () => {
    const drift: Guardrail = { type: "distribution_drift" };
    expect(failuresOf(split({ A: 1 }, [drift]))).toEqual([]);
    expect(failuresOf(leadingTo(["a"], [drift]))).toEqual([]);
    expect(failuresOf({ ...split({ A: 1 }, [drift]), logging: { log_decision: false } })).toEqual([
      ["Distribution cannot be checked: no decision is recorded"],
    ]);
  });
});
