import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NoEvaluationsError } from "../../src/errors.js";
import { decide } from "../../src/decide/decide.js";
import { scoredAgent } from "../../src/decide/scored-agent.js";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import { tallyVotes } from "../../src/evaluate/scored/tally-votes.js";
import { strategyFor } from "../../src/evaluate/scored/scoring.js";
import type { ScoredDefinition, Scoring } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Evaluation, ScoredResult } from "../../src/model/result.js";
import { scopeOf } from "../evaluate/definitions.js";
import { outcomeOf, scoredOf, unfrozen, votes } from "../evaluate/scored/votes.js";
import { runsFor } from "../thoroughness.js";
import { anyContext, decisionNames, evaluators, scorings, weights } from "./scored-arbitraries.js";
import { worldWith } from "./worlds.js";

const drawnVotes: fc.Arbitrary<readonly Evaluation[]> = fc
  .array(fc.tuple(decisionNames, weights), { minLength: 1, maxLength: 8 })
  .map((drawn) => votes(...drawn));

const tally = (evaluations: readonly Evaluation[], scoring: Scoring) =>
  tallyVotes(
    evaluations.map((evaluation) => ({
      name: evaluation.evaluator_name,
      evaluation,
      detail: { result: true, rules: [] },
      evaluatedRules: [],
    })),
    strategyFor(scoring),
  );

/** What each decision has got, as the strategy compares it. */
function standings(evaluations: readonly Evaluation[], { strategy }: Scoring): readonly number[] {
  const decisions = new Set(evaluations.map(({ decision }) => decision));
  return [...decisions].map((each) => {
    const given = evaluations.filter(({ decision }) => decision === each).map(({ weight }) => weight);
    if (strategy === "consensus") return given.length;
    if (strategy !== "weighted_average") return Math.max(...given);
    return given.reduce((sum, weight) => sum + weight, 0);
  });
}

/** Whether more than one decision is first, or is so but for the last digits of a sum. */
function isTie(evaluations: readonly Evaluation[], scoring: Scoring): boolean {
  const [first = 0, second = -1] = standings(evaluations, scoring).toSorted((a, b) => b - a);
  return first - second <= first * 1e-9;
}

describe("scoring", () => {
  it("is sure by 0 to 1, with at most four decimals", () => {
    fc.assert(
      fc.property(drawnVotes, scorings, (evaluations, scoring) => {
        const { confidence } = tally(evaluations, scoring);
        expect(confidence).toBeGreaterThanOrEqual(0);
        expect(confidence).toBeLessThanOrEqual(1);
        expect(Number(confidence.toFixed(4))).toBe(confidence);
      }),
      { numRuns: runsFor(1000) },
    );
  });

  it("decides for what somebody voted for, or for the fallback", () => {
    fc.assert(
      fc.property(drawnVotes, scorings, (evaluations, scoring) => {
        const possible = evaluations.map(({ decision }) => decision);
        const fallback = scoring.strategy === "threshold" ? ["fallback"] : [];
        expect([...possible, ...fallback]).toContain(tally(evaluations, scoring).decision);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("comes to the same in whichever order the votes are, unless there is a tie", () => {
    const shuffled = drawnVotes.chain((given) =>
      fc.tuple(fc.constant(given), fc.shuffledSubarray([...given], { minLength: given.length })),
    );
    fc.assert(
      fc.property(shuffled, scorings, ([given, other], scoring) => {
        fc.pre(!isTie(given, scoring));
        const one = tally(given, scoring);
        const another = tally(other, scoring);
        expect([another.decision, another.confidence]).toEqual([one.decision, one.confidence]);
      }),
      { numRuns: runsFor(1000) },
    );
  });

  it("is as sure in whichever order the votes are, where there is a tie", () => {
    const tied = fc.tuple(
      fc.array(fc.constantFrom("approve", "reject", "review"), { minLength: 1, maxLength: 6 }),
      weights,
    );
    fc.assert(
      fc.property(tied, scorings, ([names, weight], scoring) => {
        const given = votes(...[...new Set(names)].map((name) => [name, weight] as const));
        const one = tally(given, scoring);
        const another = tally(given.toReversed(), scoring);
        expect(another.confidence).toBe(one.confidence);
        if (one.decision !== "fallback") {
          expect([one.decision, another.decision]).toEqual([given[0]?.decision, given.at(-1)?.decision]);
        }
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("always says why", () => {
    fc.assert(
      fc.property(drawnVotes, scorings, (evaluations, scoring) => {
        const { because, explanations } = tally(evaluations, scoring);
        expect(because.length).toBeGreaterThan(0);
        expect(because.every((reason) => reason !== "")).toBe(true);
        expect(explanations).toHaveLength(evaluations.length + 2);
      }),
    );
  });

  it("is all sure of a decision that nobody is against, by its average", () => {
    fc.assert(
      fc.property(drawnVotes, (evaluations) => {
        const agreed = evaluations.map((each) => ({ ...each, decision: "approve" }));
        const { decision, confidence } = tally(agreed, { strategy: "weighted_average" });
        const isWeightless = agreed.every(({ weight }) => weight === 0);
        expect([decision, confidence]).toEqual(["approve", isWeightless ? 0 : 1]);
      }),
    );
  });
});

const definitions: fc.Arbitrary<ScoredDefinition> = fc
  .tuple(evaluators, scorings, fc.constantFrom(undefined, "{{ n }}", "t", "context"))
  .map(([drawn, scoring, input]) =>
    scoredOf(drawn, {
      scoring,
      targets: { approve: "stage-approve", fallback: "stage-fallback" },
      ...(input !== undefined && { input }),
    }),
  );

/** The same value with the keys of every map turned round. */
function turned(value: Json): Json {
  if (Array.isArray(value)) return (value as readonly Json[]).map(turned);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).map(([key, part]): [string, Json] => [key, turned(part)]);
  return Object.fromEntries(entries.toReversed());
}

const decided = async (
  definition: ScoredDefinition,
  context: JsonObject,
): Promise<ScoredResult | undefined> => {
  try {
    const asked = { decision_id: definition.id, context };
    return (await decide(asked, worldWith(definition))) as ScoredResult;
  } catch (error) {
    if (error instanceof NoEvaluationsError) return undefined;
    throw error;
  }
};

describe("a scored decision", () => {
  it("never fails, whatever the context is, unless nobody votes", () => {
    fc.assert(
      fc.property(definitions, anyContext, (definition, context) => {
        const prepared = prepare(definition);
        try {
          const { decision, evaluations } = outcomeOf(evaluate(prepared, scopeOf(context)));
          expect(decision).not.toBe("");
          expect(evaluations.length).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(NoEvaluationsError);
        }
      }),
      { numRuns: runsFor(1000) },
    );
  });

  it("is frozen through and through", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, anyContext, async (definition, context) => {
        expect(unfrozen(await decided(definition, context))).toEqual([]);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("has the same hash in whichever order the keys of the context are", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, anyContext, async (definition, context) => {
        const one = await decided(definition, context);
        const other = await decided(definition, turned(context) as JsonObject);
        expect(other?.deterministic_hash).toBe(one?.deterministic_hash);
        expect(one?.audit_payload.deterministic_hash).toBe(one?.deterministic_hash);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("comes to the same as an agent with the same evaluators", async () => {
    await fc.assert(
      fc.asyncProperty(evaluators, scorings, anyContext, async (drawn, scoring, context) => {
        const result = await decided(scoredOf(drawn, { scoring }), context);
        if (result === undefined) return;
        const agent = scoredAgent({ evaluators: drawn, scoring, clock: () => result.timestamp });
        const made = agent.decide(context);
        expect(made.audit_payload).toEqual(result.audit_payload);
        expect([made.because, made.explanations]).toEqual([result.because, result.explanations]);
        expect(unfrozen(made)).toEqual([]);
      }),
      { numRuns: runsFor(300) },
    );
  });
});
