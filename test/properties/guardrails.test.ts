import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { runsFor } from "../thoroughness.js";
import { contexts, definitions as routes } from "./arbitraries.js";
import { worldWith } from "./worlds.js";
import { decide } from "../../src/decide/decide.js";
import { DecisionError } from "../../src/errors.js";
import type { Definition, LoadedDefinition, Guardrail, OnFail } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Result } from "../../src/model/result.js";
import { excepted, gateOf, voted } from "../guard/guard-samples.js";

const names = fc.constantFrom(
  "stage-0",
  "stage-1",
  "stage-2",
  "stage-default",
  "stage-approve",
  "wire.approve",
  "pay",
  "end",
  "other",
  "stage-*",
  "*",
);
const lists = fc.uniqueArray(names, { minLength: 1, maxLength: 3 });
const ends = fc.constantFrom("end", "other", "stage-1");

const kinds: fc.Arbitrary<Guardrail> = fc.oneof(
  fc.record({ type: fc.constant("no_disabled_targets" as const), disabled_stages: lists }),
  fc.record(
    {
      type: fc.constant("weight_bounds" as const),
      min_weight: fc.nat(4),
      max_weight: fc.integer({ min: 4, max: 9 }),
    },
    { requiredKeys: ["type"] },
  ),
  fc.record(
    {
      type: fc.constant("requires_approval" as const),
      workflows: fc.constantFrom(["prod-*"], ["*"], ["none"]),
      targets: lists,
      approval_target: ends,
    },
    { requiredKeys: ["type"] },
  ),
  fc.constant({ type: "distribution_drift" as const }),
);

const guardrails: fc.Arbitrary<Guardrail> = fc
  .tuple(kinds, fc.constantFrom<OnFail | undefined>("block", "escalate", "warn", undefined), ends)
  .map(([kind, on_fail, escalate_to]) => ({ ...kind, escalate_to, ...(on_fail && { on_fail }) }));

const several = fc.array(guardrails, { maxLength: 4 });

const others = fc.constantFrom<Definition>(
  voted([]),
  excepted([]),
  gateOf("GREEN", []),
  gateOf("YELLOW", []),
);
const definitions: fc.Arbitrary<Definition> = fc.oneof({ weight: 3, arbitrary: routes }, others);

const targets = fc.array(fc.record({ id: names, disabled: fc.boolean() }), { maxLength: 3 });

interface Asked {
  readonly definition: Definition;
  readonly context: JsonObject;
  readonly targets: readonly { readonly id: string; readonly disabled: boolean }[];
  readonly workflow: string | undefined;
}

const questions: fc.Arbitrary<Asked> = fc.record({
  definition: definitions,
  context: contexts.map((context) => ({ ...context, tool: "pay", params: { amount: 5 } })),
  targets: fc.oneof(fc.constant([]), targets),
  workflow: fc.constantFrom(undefined, "prod-eu", "none"),
});

/** The result, or undefined where there is none. */
async function ask(
  asked: Asked,
  own: readonly Guardrail[],
  forAll: readonly Guardrail[] = [],
): Promise<Result | undefined> {
  const { definition, context, workflow } = asked;
  const world = worldWith({ ...definition, guardrails: own });
  const loaded: LoadedDefinition = {
    ...(await world.definitions.find("")),
    environment: { targets: asked.targets, guardrails: forAll as unknown as Json },
  };
  try {
    const request = {
      decision_id: definition.id,
      context,
      ...(workflow !== undefined && { workflow_id: workflow }),
    };
    return await decide(request, { ...world, definitions: { find: () => Promise.resolve(loaded) } });
  } catch (error) {
    if (error instanceof DecisionError) return undefined;
    throw error;
  }
}

const verdictOf = (result: Result | undefined): unknown => result && [result.blocked, result.escalated];

/** What a result lets an agent do. */
function opens(result: Result): readonly string[] {
  if (result.type === "policy") return result.allowed ? [result.tool] : [];
  if (result.type === "gate") return result.status === "GREEN" ? ["wire.approve"] : [];
  return result.selected_targets;
}

const runs = { numRuns: runsFor(250) };

describe("guardrails", () => {
  it("never let through what a failed check holds back", async () => {
    await fc.assert(
      fc.asyncProperty(questions, several, several, async (asked, own, forAll) => {
        const result = await ask(asked, own, forAll);
        fc.pre(result !== undefined);
        const failed = result.guardrails.filter(({ passed }) => !passed);
        const blocking = failed.filter(({ on_fail }) => on_fail === "block");
        expect(result.blocked).toBe(blocking.length > 0);
        expect(result.escalated).toBe(
          !result.blocked && failed.some(({ on_fail }) => on_fail === "escalate"),
        );
        if (result.blocked) expect(opens(result)).toEqual([]);
        for (const target of result.escalated ? opens(result) : []) {
          expect(["end", "other", "stage-1"]).toContain(target);
          const isOff = asked.targets.some(({ id, disabled }) => disabled && id === target);
          expect([target, isOff]).toEqual([target, false]);
        }
      }),
      runs,
    );
  });

  it("leave an answer as it is where they pass or only warn", async () => {
    const harmless = several.map((all) => all.map((each) => ({ ...each, on_fail: "warn" as const })));
    await fc.assert(
      fc.asyncProperty(questions, harmless, async (asked, added) => {
        const without = await ask({ ...asked, targets: [] }, []);
        const guarded = await ask({ ...asked, targets: [] }, added);
        fc.pre(without !== undefined && guarded !== undefined);
        const errored = guarded.guardrails.some(({ on_fail }) => on_fail === "block");
        expect(guarded.blocked).toBe(errored);
        if (errored) return;
        expect([opens(guarded), guarded.selected_labels]).toEqual([opens(without), without.selected_labels]);
        const failed = guarded.guardrails.filter(({ passed }) => !passed).map(({ message }) => message);
        expect(guarded.warnings).toEqual([...without.warnings, ...failed]);
      }),
      runs,
    );
  });

  it("come to the same in any order, whether they are a decision's own or for all", async () => {
    const orders = several.chain((all) =>
      fc.tuple(fc.constant(all), fc.shuffledSubarray(all, { minLength: all.length }), fc.nat(4)),
    );
    await fc.assert(
      fc.asyncProperty(questions, orders, async (asked, [all, turned, cut]) => {
        const expected = verdictOf(await ask(asked, all));
        expect(verdictOf(await ask(asked, turned))).toEqual(expected);
        expect(verdictOf(await ask(asked, turned.slice(cut), turned.slice(0, cut)))).toEqual(expected);
      }),
      runs,
    );
  });

  it("only ever hold back more when there are more of them", async () => {
    await fc.assert(
      fc.asyncProperty(questions, several, guardrails, async (asked, all, one) => {
        const before = await ask({ ...asked, targets: [] }, all);
        const after = await ask({ ...asked, targets: [] }, [...all, one]);
        fc.pre(before !== undefined && after !== undefined);
        if (before.blocked) expect(after.blocked).toBe(true);
        if (before.escalated) expect(after.blocked || after.escalated).toBe(true);
      }),
      runs,
    );
  });

  it("tell of every answer that they hold back what it would have been", async () => {
    await fc.assert(
      fc.asyncProperty(questions, several, async (asked, all) => {
        const without = await ask({ ...asked, targets: [] }, []);
        const result = await ask({ ...asked, targets: [] }, all);
        fc.pre(without !== undefined && result !== undefined);
        expect(result.proposed_targets !== undefined).toBe(result.blocked || result.escalated);
        if (result.proposed_targets === undefined) return;
        expect(result.proposed_targets).toEqual(without.selected_targets);
        const label = result.proposed_outcome ?? result.proposed_status;
        expect(label === undefined ? result.proposed_labels : [label]).toEqual(without.selected_labels);
        if (result.type === "policy") expect(result.params).toEqual({ amount: 5 });
      }),
      runs,
    );
  });
});
