import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { NoEvaluationsError } from "../../src/errors.js";
import { scoredAgent } from "../../src/decide/scored-agent.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { AuditPayload, Evaluation } from "../../src/model/result.js";
import { compareWithPayload } from "../../src/replay/replay-payload.js";
import { jsonValues } from "../digest/json-values.js";
import { unfrozen } from "../evaluate/scored/votes.js";
import { runsFor } from "../thoroughness.js";
import { anyContext, decisionNames, evaluators, scorings, weights } from "./scored-arbitraries.js";

/** Payloads of decisions by any evaluators and any strategy, as they are after they were kept as JSON. */
const payloads: fc.Arbitrary<AuditPayload> = fc
  .tuple(evaluators, scorings, anyContext, fc.option(anyContext, { nil: undefined }))
  .map(([drawn, scoring, context, feedback]) => {
    const agent = scoredAgent({ evaluators: drawn, scoring, clock: () => "2026-03-02T12:00:00.000000Z" });
    try {
      return JSON.parse(JSON.stringify(agent.decide(context, { feedback }).audit_payload)) as AuditPayload;
    } catch (error) {
      if (error instanceof NoEvaluationsError) return undefined;
      throw error;
    }
  })
  .filter((payload) => payload !== undefined);

const same = (one: unknown, other: unknown): boolean =>
  canonicalJson(one as Json) === canonicalJson(other as Json);

const whatDiffers = (payload: unknown): readonly string[] =>
  compareWithPayload(payload).differences.map(({ what }) => what);

describe("every scored decision", () => {
  it("replays, and its payload is the same again", () => {
    fc.assert(
      fc.property(payloads, (payload) => {
        const { replayed, differences, warnings } = compareWithPayload(payload);
        expect({ differences, warnings }).toEqual({ differences: [], warnings: [] });
        expect(canonicalJson(replayed.audit_payload as unknown as Json)).toBe(
          canonicalJson(payload as unknown as Json),
        );
        expect(unfrozen(replayed)).toEqual([]);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("is noticed to be another one where its decision is, with and without a hash", () => {
    fc.assert(
      fc.property(payloads, decisionNames, (payload, decision) => {
        fc.pre(decision !== payload.decision);
        const { deterministic_hash: hash, ...unhashed } = { ...payload, decision };
        expect(whatDiffers({ ...unhashed, deterministic_hash: hash })).toEqual([
          "decision",
          "deterministic_hash",
        ]);
        expect(whatDiffers(unhashed)).toEqual(["decision"]);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("is noticed to be another one where its confidence is, by the hash even within the tolerance", () => {
    fc.assert(
      fc.property(payloads, weights, (payload, confidence) => {
        fc.pre(confidence !== payload.confidence);
        const { deterministic_hash: hash, ...unhashed } = { ...payload, confidence };
        const isFar = Math.abs(confidence - payload.confidence) > 0.00011;
        expect(whatDiffers({ ...unhashed, deterministic_hash: hash })).toContain("deterministic_hash");
        if (isFar) expect(whatDiffers(unhashed)).toEqual(["confidence"]);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("is noticed to be another one where any part of a vote is", () => {
    const changes: fc.Arbitrary<Partial<Evaluation>> = fc.oneof(
      weights.map((weight) => ({ weight })),
      decisionNames.map((decision) => ({ decision })),
      fc.string().map((reason) => ({ reason })),
      fc.string({ minLength: 1 }).map((evaluator_name) => ({ evaluator_name })),
      anyContext.map((metadata) => ({ metadata })),
    );
    fc.assert(
      fc.property(payloads, fc.nat(), changes, (payload, drawn, change) => {
        const { evaluations } = payload;
        const at = drawn % evaluations.length;
        const changed = evaluations.map((each, index) => (index === at ? { ...each, ...change } : each));
        fc.pre(!same(changed, evaluations));
        expect(whatDiffers({ ...payload, evaluations: changed })).toContain("deterministic_hash");
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("is noticed to be another one where votes are left out, doubled or turned round", () => {
    fc.assert(
      fc.property(payloads, fc.nat(3), (payload, how) => {
        const { evaluations } = payload;
        const changed = [
          evaluations.slice(1),
          [...evaluations, ...evaluations.slice(0, 1)],
          evaluations.toReversed(),
          evaluations.slice(0, -1),
        ][how];
        fc.pre(changed !== undefined && changed.length > 0 && !same(changed, evaluations));
        expect(whatDiffers({ ...payload, evaluations: changed })).toContain("deterministic_hash");
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("is noticed to be another one where its context is", () => {
    const contexts: fc.Arbitrary<(context: JsonObject) => JsonObject> = fc.oneof(
      anyContext.map((other) => () => other),
      fc.tuple(fc.string(), jsonValues).map(([key, value]) => {
        return (context: JsonObject): JsonObject => ({ ...context, [key]: value });
      }),
      fc.constant((context: JsonObject) => Object.fromEntries(Object.entries(context).slice(1))),
      fc.constant((context: JsonObject) =>
        Object.fromEntries(Object.entries(context).map(([key, value]) => [`:${key}`, value])),
      ),
    );
    fc.assert(
      fc.property(payloads, contexts, (payload, change) => {
        const context = change(payload.context);
        fc.pre(!same(context, payload.context));
        expect(whatDiffers({ ...payload, context })).toEqual(["deterministic_hash"]);
      }),
      { numRuns: runsFor(500) },
    );
  });

  it("is noticed to be scored in another way", () => {
    fc.assert(
      fc.property(payloads, scorings, (payload, { strategy }) => {
        fc.pre(strategy !== payload.scoring_strategy);
        const scoring_parameters = { minimum_agreement: 0.5, threshold: 0.5, fallback_decision: "fallback" };
        const changed = { ...payload, scoring_strategy: strategy, scoring_parameters };
        expect(whatDiffers(changed)).toContain("deterministic_hash");
      }),
      { numRuns: runsFor(200) },
    );
  });
});

describe("whatever is not an audit payload", () => {
  it("is refused with one of the contract's errors, or replayed", () => {
    const keys = [
      "context",
      "evaluations",
      "decision",
      "confidence",
      "scoring_strategy",
      "scoring_parameters",
    ];
    const odd = fc.tuple(
      payloads,
      fc.constantFrom(...keys, "feedback", "timestamp"),
      jsonValues,
      fc.boolean(),
    );
    fc.assert(
      fc.property(odd, ([payload, key, value, isInVote]) => {
        const [first, ...others] = payload.evaluations;
        const broken = isInVote
          ? { ...payload, evaluations: [{ ...first, [key]: value, weight: value }, ...others] }
          : { ...payload, [key]: value };
        try {
          expect(unfrozen(compareWithPayload(broken).replayed)).toEqual([]);
        } catch (error) {
          expect((error as Error).name).toMatch(
            /^(InvalidRuleDsl|InvalidWeight|InvalidConfidence|NoEvaluations|InvalidScoringStrategy)Error$/,
          );
        }
      }),
      { numRuns: runsFor(500) },
    );
  });
});
