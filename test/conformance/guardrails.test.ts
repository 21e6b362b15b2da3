import { describe, expect, it } from "vitest";
import type { Definition, Guardrail } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { gateOf, guardedAs, leadingTo, split, voted } from "../guard/guard-samples.js";

/** A check as the specification writes it: whether it passed, and the message. */
type Written = readonly [passed: boolean, message: string];

interface Clause {
  readonly clause: string;
  readonly definition: Definition;
  readonly checks: readonly Written[];
  readonly workflow?: string;
  readonly facts?: JsonObject;
  readonly environment?: JsonObject;
}

const checksOf = ({
  definition,
  workflow,
  facts,
  environment,
}: Omit<Clause, "clause" | "checks">): readonly Written[] =>
  guardedAs(definition, {
    context: { id: "req-1" },
    ...(workflow !== undefined && { workflow }),
    ...(facts && { facts }),
    ...(environment && { environment }),
  }).checks.map(({ passed, message }) => [passed, message]);

function conforms(clauses: readonly Clause[]): void {
  it.each(clauses)("$clause", ({ checks, ...asked }) => {
    expect(checksOf(asked)).toEqual(checks);
  });
}

const disabled = (...stages: readonly string[]): Guardrail => ({
  type: "no_disabled_targets",
  disabled_stages: stages,
});

describe("no_disabled_targets, as specified", () => {
  conforms([
    {
      clause: "a target that is not disabled is allowed",
      definition: leadingTo(["stage-deploy"], [disabled("stage-x")]),
      checks: [[true, "Target 'stage-deploy' is allowed"]],
    },
    {
      clause: "a target that is disabled is not",
      definition: leadingTo(["stage-x"], [disabled("stage-x")]),
      checks: [[false, "Target 'stage-x' is disabled"]],
    },
    {
      clause: "each selected target has a check, in their order",
      definition: leadingTo(["a", "b", "c"], [disabled("b")]),
      checks: [
        [true, "Target 'a' is allowed"],
        [false, "Target 'b' is disabled"],
        [true, "Target 'c' is allowed"],
      ],
    },
    {
      clause: "a target that is selected twice is checked twice",
      definition: leadingTo(["a", "a"], [disabled("a")]),
      checks: [
        [false, "Target 'a' is disabled"],
        [false, "Target 'a' is disabled"],
      ],
    },
    {
      clause: "the default is a target like any other",
      definition: leadingTo([], [disabled("stage-default")]),
      checks: [[false, "Target 'stage-default' is disabled"]],
    },
    {
      clause: "no list disables nothing",
      definition: leadingTo(["a"], [{ type: "no_disabled_targets" }]),
      checks: [[true, "Target 'a' is allowed"]],
    },
    {
      clause: "an empty list disables nothing",
      definition: leadingTo(["a"], [disabled()]),
      checks: [[true, "Target 'a' is allowed"]],
    },
    {
      clause: "part of a name is not the name",
      definition: leadingTo(["stage-x-2"], [disabled("stage-x")]),
      checks: [[true, "Target 'stage-x-2' is allowed"]],
    },
    {
      clause: "upper case is another name",
      definition: leadingTo(["Stage-X"], [disabled("stage-x")]),
      checks: [[true, "Target 'Stage-X' is allowed"]],
    },
    {
      clause: "a glob disables all that fit",
      definition: leadingTo(["prod-eu", "staging"], [disabled("prod-*")]),
      checks: [
        [false, "Target 'prod-eu' is disabled"],
        [true, "Target 'staging' is allowed"],
      ],
    },
    {
      clause: "what is declared as disabled is, too",
      definition: leadingTo(["a", "b"], [disabled()]),
      environment: { targets: [{ id: "a", disabled: true }, { id: "b" }] },
      checks: [
        [false, "Target 'a' is disabled"],
        [true, "Target 'b' is allowed"],
      ],
    },
    {
      clause: "what a vote leads to is checked",
      definition: voted([disabled("stage-approve")]),
      checks: [[false, "Target 'stage-approve' is disabled"]],
    },
    {
      clause: "the action of a gate that opens is checked",
      definition: gateOf("GREEN", [disabled("wire.*")]),
      checks: [[false, "Target 'wire.approve' is disabled"]],
    },
    {
      clause: "a gate that does not open leads nowhere",
      definition: gateOf("YELLOW", [disabled("wire.*")]),
      checks: [],
    },
    {
      clause: "a gate that is skipped leads nowhere",
      definition: gateOf("GREEN-SKIP", [disabled("wire.*")]),
      checks: [],
    },
  ]);
});

const bounds = (limits: { readonly min_weight?: number; readonly max_weight?: number } = {}): Guardrail => ({
  type: "weight_bounds",
  ...limits,
});

describe("weight_bounds, as specified", () => {
  conforms([
    {
      clause: "every case is checked, whichever was chosen",
      definition: split({ A: 70, B: 20, C: 10 }, [bounds({ min_weight: 5, max_weight: 90 })]),
      checks: [
        [true, "Weight 70 for 'A' is within bounds"],
        [true, "Weight 20 for 'B' is within bounds"],
        [true, "Weight 10 for 'C' is within bounds"],
      ],
    },
    {
      clause: "a weight may be too small",
      definition: split({ A: 97, B: 3 }, [bounds({ min_weight: 5 })]),
      checks: [
        [true, "Weight 97 for 'A' is within bounds"],
        [false, "Weight 3 for 'B' below minimum 5"],
      ],
    },
    {
      clause: "a weight may be too large",
      definition: split({ A: 91, B: 9 }, [bounds({ min_weight: 5, max_weight: 90 })]),
      checks: [
        [false, "Weight 91 for 'A' above maximum 90"],
        [true, "Weight 9 for 'B' is within bounds"],
      ],
    },
    {
      clause: "both bounds are within",
      definition: split({ A: 90, B: 5 }, [bounds({ min_weight: 5, max_weight: 90 })]),
      checks: [
        [true, "Weight 90 for 'A' is within bounds"],
        [true, "Weight 5 for 'B' is within bounds"],
      ],
    },
    {
      clause: "the least is 0 where it is not said, and there is no most",
      definition: split({ A: 0, B: 1e9 }, [bounds()]),
      checks: [
        [true, "Weight 0 for 'A' is within bounds"],
        [true, "Weight 1000000000 for 'B' is within bounds"],
      ],
    },
    {
      clause: "a missing weight is 0",
      definition: split({ A: 1, B: undefined }, [bounds({ min_weight: 0.5 })]),
      checks: [
        [true, "Weight 1 for 'A' is within bounds"],
        [false, "Weight 0 for 'B' below minimum 0.5"],
      ],
    },
    {
      clause: "weights that are no integers are written as they are",
      definition: split({ A: 0.1, B: 33.3 }, [bounds({ min_weight: 0.2 })]),
      checks: [
        [false, "Weight 0.1 for 'A' below minimum 0.2"],
        [true, "Weight 33.3 for 'B' is within bounds"],
      ],
    },
    {
      clause: "a case without a label goes by its target",
      definition: {
        ...split({}, [bounds()]),
        cases: [
          { target: "stage-a", weight: 1 },
          { target: "stage-a", weight: 2 },
        ],
      },
      checks: [
        [true, "Weight 1 for 'stage-a' is within bounds"],
        [true, "Weight 2 for 'stage-a#2' is within bounds"],
      ],
    },
    {
      clause: "other types have no weights to check",
      definition: leadingTo(["a"], [bounds({ min_weight: 5 })]),
      checks: [],
    },
  ]);
});

const approval = (more: Partial<Extract<Guardrail, { type: "requires_approval" }>> = {}): Guardrail => ({
  type: "requires_approval",
  ...more,
});

const deploy = { targets: ["stage-deploy"], approval_target: "stage-approval" } as const;

describe("requires_approval", () => {
  conforms([
    {
      clause: "a target of its own needs approval",
      definition: leadingTo(["stage-deploy"], [approval(deploy)]),
      checks: [[false, "Target 'stage-deploy' requires approval via 'stage-approval'"]],
    },
    {
      clause: "a target of its own needs approval in its workflows",
      definition: leadingTo(["stage-deploy"], [approval({ ...deploy, workflows: ["prod-*", "live"] })]),
      workflow: "prod-eu",
      checks: [[false, "Target 'stage-deploy' requires approval via 'stage-approval' in workflow 'prod-eu'"]],
    },
    {
      clause: "another workflow needs none",
      definition: leadingTo(["stage-deploy"], [approval({ ...deploy, workflows: ["prod-*"] })]),
      workflow: "staging",
      checks: [[true, "Target 'stage-deploy' needs no approval in workflow 'staging'"]],
    },
    {
      clause: "no workflow is none of those that are named",
      definition: leadingTo(["stage-deploy"], [approval({ ...deploy, workflows: ["*"] })]),
      checks: [[true, "Target 'stage-deploy' needs no approval: no workflow was given"]],
    },
    {
      clause: "without a list of workflows it holds in all",
      definition: leadingTo(["stage-deploy"], [approval(deploy)]),
      workflow: "any",
      checks: [[false, "Target 'stage-deploy' requires approval via 'stage-approval' in workflow 'any'"]],
    },
    {
      clause: "other targets are none of its business",
      definition: leadingTo(["stage-test"], [approval(deploy)]),
      checks: [],
    },
    {
      clause: "targets may be globs",
      definition: leadingTo(["deploy-eu", "test"], [approval({ targets: ["deploy-*"] })]),
      checks: [[false, "Target 'deploy-eu' requires approval"]],
    },
    {
      clause: "without a list of targets it is about all but the approval",
      definition: leadingTo(["a", "b"], [approval()]),
      checks: [
        [false, "Target 'a' requires approval"],
        [false, "Target 'b' requires approval"],
      ],
    },
    {
      clause: "what leads to the approval too is approved",
      definition: leadingTo(["stage-deploy", "stage-approval"], [approval(deploy)]),
      checks: [[true, "Target 'stage-deploy' is approved via 'stage-approval'"]],
    },
    {
      clause: "the approval itself needs none",
      definition: leadingTo(["stage-approval"], [approval({ approval_target: "stage-approval" })]),
      checks: [],
    },
    {
      clause: "the action of a gate may need one",
      definition: gateOf("GREEN", [approval({ targets: ["wire.*"] })]),
      checks: [[false, "Target 'wire.approve' requires approval"]],
    },
  ]);
});

const drift = (more: { readonly p_value?: number; readonly minimum?: number } = {}): Guardrail => ({
  type: "distribution_drift",
  ...more,
});

const taken = (sample: number | null, p: number | null, e?: number): { readonly facts: JsonObject } => ({
  facts: { distribution: { sample, p_value: p, ...(e !== undefined && { e_value: e }) } },
});

const halves = { A: 50, B: 50 };

describe("distribution_drift", () => {
  conforms([
    {
      clause: "of fewer than 500 distinct inputs nothing is said",
      definition: split(halves, [drift()]),
      ...taken(499, 0),
      checks: [[true, "Distribution is not tested yet: 499 of 500 distinct inputs"]],
    },
    {
      clause: "an e-value of 1,000 is a drift, whatever p is",
      definition: split(halves, [drift()]),
      ...taken(500, 0.5, 1000),
      checks: [
        [
          false,
          "Distribution has drifted from the weights (e 1000, p 0.5 over 500 distinct inputs, e is at least 1000)",
        ],
      ],
    },
    {
      clause: "an e-value below 1,000 is no drift, whatever p is",
      definition: split(halves, [drift()]),
      ...taken(500, 0.0001, 999),
      checks: [[true, "Distribution matches the weights (e 999, p 0.0001 over 500 distinct inputs)"]],
    },
    {
      clause: "the bound of the e-value is 1 / p_value",
      definition: split(halves, [drift({ p_value: 0.05 })]),
      ...taken(500, 0.5, 1e308),
      checks: [
        [
          false,
          "Distribution has drifted from the weights (e 1.0e+308, p 0.5 over 500 distinct inputs, e is at least 20)",
        ],
      ],
    },
    {
      clause: "without an e-value, as in older records, p decides, and 500 are enough",
      definition: split(halves, [drift()]),
      ...taken(500, 0.0009),
      checks: [
        [false, "Distribution has drifted from the weights (p 0.0009 over 500 distinct inputs, below 0.001)"],
      ],
    },
    {
      clause: "0.001 itself is no drift",
      definition: split(halves, [drift()]),
      ...taken(500, 0.001),
      checks: [[true, "Distribution matches the weights (p 0.001 over 500 distinct inputs)"]],
    },
    {
      clause: "a tiny p is written short",
      definition: split(halves, [drift()]),
      ...taken(1000, 3.21e-40),
      checks: [
        [
          false,
          "Distribution has drifted from the weights (p 3.2e-40 over 1000 distinct inputs, below 0.001)",
        ],
      ],
    },
    {
      clause: "an ordinary p is rounded",
      definition: split(halves, [drift()]),
      ...taken(1000, 0.123456),
      checks: [[true, "Distribution matches the weights (p 0.123 over 1000 distinct inputs)"]],
    },
    {
      clause: "how many are enough can be said",
      definition: split(halves, [drift({ minimum: 10 })]),
      ...taken(9, 0),
      checks: [[true, "Distribution is not tested yet: 9 of 10 distinct inputs"]],
    },
    {
      clause: "the least p can be said",
      definition: split(halves, [drift({ minimum: 10, p_value: 0.05 })]),
      ...taken(10, 0.049),
      checks: [
        [false, "Distribution has drifted from the weights (p 0.049 over 10 distinct inputs, below 0.05)"],
      ],
    },
    {
      clause: "other types have no split",
      definition: leadingTo(["a"], [drift()]),
      checks: [],
    },
    {
      clause: "a fact that was not gathered is no pass",
      definition: split(halves, [drift()]),
      checks: [[false, "Guardrail could not be checked: the distribution is unknown"]],
    },
    {
      clause: "inputs that cannot be told apart are no pass",
      definition: split(halves, [drift()]),
      ...taken(null, null),
      checks: [[false, "Guardrail could not be checked: the distribution is unknown"]],
    },
    {
      clause: "a split without an expectation is no pass",
      definition: split(halves, [drift()]),
      ...taken(500, null),
      checks: [[false, "Guardrail could not be checked: there is no expected distribution"]],
    },
    {
      clause: "a decision that is not recorded is no pass",
      definition: { ...split(halves, [drift()]), logging: { log_decision: false } },
      ...taken(0, null),
      checks: [[false, "Guardrail could not be checked: no decision is recorded"]],
    },
    {
      clause: "a masked input is no pass",
      definition: { ...split(halves, [drift()]), logging: { mask: ["/id"] } },
      ...taken(0, null),
      checks: [
        [false, "Guardrail could not be checked: the input is masked, so inputs cannot be distinguished"],
      ],
    },
    {
      clause: "weights of 0 are no pass",
      definition: split({ A: 0 }, [drift()]),
      ...taken(0, null),
      checks: [[false, "Guardrail could not be checked: no case has a weight, so there is no split"]],
    },
    {
      clause: "conditions beside the weights are no pass",
      definition: {
        ...split({}, [drift()]),
        cases: [{ target: "a", condition: "true", weight: 1 }],
      },
      ...taken(0, null),
      checks: [
        [
          false,
          "Guardrail could not be checked: cases have conditions, so the weights do not determine the split",
        ],
      ],
    },
  ]);
});

describe("the checks of several guardrails", () => {
  it("stand in their order, each under its name, with the decision", () => {
    const guardrails = [bounds({ min_weight: 60 }), disabled("stage-A"), drift()];
    const { checks } = guardedAs(split(halves, guardrails), { context: { id: "req-1" }, ...taken(0, null) });
    expect(checks).toEqual([
      {
        decision_id: "split",
        check_name: "weight_bounds",
        passed: false,
        message: "Weight 50 for 'A' below minimum 60",
        on_fail: "block",
      },
      {
        decision_id: "split",
        check_name: "weight_bounds",
        passed: false,
        message: "Weight 50 for 'B' below minimum 60",
        on_fail: "block",
      },
      {
        decision_id: "split",
        check_name: "no_disabled_targets",
        passed: false,
        message: "Target 'stage-A' is disabled",
        on_fail: "block",
      },
      {
        decision_id: "split",
        check_name: "distribution_drift",
        passed: true,
        message: "Distribution is not tested yet: 0 of 500 distinct inputs",
      },
    ]);
  });
});
