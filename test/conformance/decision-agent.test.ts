import { describe, expect, it } from "vitest";
import type { World } from "../../src/decide/decide.js";
import { decide } from "../../src/decide/decide.js";
import type { ScoredAgent, ScoredAgentOptions } from "../../src/decide/scored-agent.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import {
  DecisionError,
  evaluation,
  InvalidAuditAdapterError,
  InvalidConfidenceError,
  InvalidConfigurationError,
  InvalidEvaluatorError,
  InvalidRuleDslError,
  InvalidScoringStrategyError,
  InvalidWeightError,
  NoEvaluationsError,
  ReplayMismatchError,
  scoredAgent,
} from "../../src/index.js";
import type { Evaluator, ScoringPlugIn } from "../../src/evaluate/scored/plug-ins.js";
import { ruleOperators } from "../../src/expression/rule/rule-operators.js";
import type { EvaluatorDefinition, ScoredDefinition, Scoring } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type {
  AuditPayload,
  Evaluation,
  Result,
  ScoredDecision,
  ScoredResult,
} from "../../src/model/result.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { version } from "../../src/version.js";
import {
  answerOf,
  ask,
  detailsOf,
  ifRule,
  ruleset,
  says,
  scoredOf,
  threshold,
  thrownBy,
  unfrozen,
  voting,
  whenRule,
} from "../evaluate/scored/votes.js";
import { worldWith } from "../properties/worlds.js";

const noon = "2026-03-02T12:00:00.000000Z";
const hash = /^[0-9a-f]{64}$/;
const instant = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/;

type Options = Partial<ScoredAgentOptions>;

const agentOf = (evaluators: ScoredAgentOptions["evaluators"], extra: Options = {}): ScoredAgent =>
  scoredAgent({ evaluators, clock: () => noon, ...extra });

const vote = { decision: "approve", weight: 0.85, reason: "User meets criteria" };
const own = (evaluate: Evaluator["evaluate"], name = "own"): Evaluator => ({ name, evaluate });
const alice = says("StaticEvaluator", "approve", 0.85, "User meets criteria");

const credit = ruleset(
  "credit",
  [
    ifRule(
      "good_credit",
      {
        all: [
          { field: "credit.score", op: "gte", value: 700 },
          { field: "fraud", op: "neq", value: true },
        ],
      },
      { decision: "approve", weight: 0.9, reason: "Good credit" },
    ),
    whenRule("poor_credit", "credit.score < 500", { decision: "reject", weight: 0.8 }),
  ],
  { ruleset: "credit_rules" },
);

const loan = scoredOf([credit, says("house_rule", "review", 0.3, "House rule")]);
const goodLoan = { credit: { score: 720 }, fraud: false };

/** Decides as every door does, with a store that only remembers. */
async function recorded(definition: ScoredDefinition, context: JsonObject, feedback?: JsonObject) {
  const store = openMemoryStore();
  const records = new Records(store, {
    newNote: () => ({ record_id: "note", timestamp: noon }),
    onWarning: (message) => expect.fail(message),
  });
  const world: World = {
    ...worldWith(definition, noon),
    newId: (at) => newRecordId(microsecondsOf(at), () => 0.5),
    records,
  };
  const asked = { decision_id: definition.id, context, ...(feedback !== undefined && { feedback }) };
  const result = scoredIn(await decide(asked, world));
  const kept: DecisionRecord[] = [];
  for await (const { record } of store.log.select({ kind: "decision" })) kept.push(record as DecisionRecord);
  const [record] = kept;
  if (record === undefined) throw new Error("nothing was recorded");
  return { result, record };
}

function scoredIn(result: Result): ScoredResult {
  if (result.type !== "scored") throw new Error("the answer is not that of a scored decision");
  return result;
}

const decided = async (definition: ScoredDefinition, context: JsonObject): Promise<ScoredResult> =>
  scoredIn(await decide({ decision_id: definition.id, context }, worldWith(definition, noon)));

/** What the error is, as the contract speaks of it. */
const errorOf = (act: () => unknown): { readonly name: string; readonly message: string } => {
  const { name, message } = thrownBy(act) as Error;
  return { name, message };
};

interface Clause {
  readonly clause: string;
  readonly holds: () => void | Promise<void>;
}

const check = (clauses: readonly Clause[]): void => {
  it.each(clauses.map(({ clause, holds }) => [clause, holds] as const))("%s", async (_clause, holds) => {
    await holds();
  });
};

describe("spec 3, 1: the evaluator interface", () => {
  check([
    {
      clause: "1.1 an evaluator is given the context and the feedback",
      holds() {
        const seen: unknown[] = [];
        const evaluator = own((context, options) => (seen.push(context, options), vote));
        agentOf([evaluator]).decide({ user: "alice" }, { feedback: { source: "retry" } });
        expect(seen).toEqual([{ user: "alice" }, { feedback: { source: "retry" } }]);
      },
    },
    {
      clause: "1.1 feedback is an empty map where there is none",
      holds() {
        const seen: unknown[] = [];
        agentOf([own((_context, { feedback }) => (seen.push(feedback), vote))]).decide({});
        expect(seen).toEqual([{}]);
      },
    },
    {
      clause: "1.1 an evaluator returns an evaluation where a decision can be made",
      holds: () => expect(agentOf([own(() => vote)]).decide({}).evaluations).toHaveLength(1),
    },
    {
      clause: "1.1 an evaluator returns nil where none can be made, and has no vote then",
      holds() {
        const { evaluations } = agentOf([own(() => null), own(() => undefined), alice]).decide({});
        expect(evaluations.map((each) => each.evaluator_name)).toEqual(["StaticEvaluator"]);
      },
    },
    {
      clause: "1.2 an evaluation has all its five fields",
      holds: () =>
        expect(agentOf([own(() => vote)]).decide({}).evaluations).toEqual([
          { ...vote, evaluator_name: "own", metadata: {} },
        ]),
    },
    {
      clause: "1.2 the decision is not empty",
      holds: () =>
        expect(errorOf(() => evaluation({ ...vote, decision: "" }, "own"))).toEqual({
          name: "InvalidEvaluatorError",
          message: "the evaluator `own` returned no decision",
        }),
    },
    {
      clause: "1.2 the reason may be empty but must be there",
      holds() {
        expect(evaluation({ ...vote, reason: "" }, "own").reason).toBe("");
        expect(errorOf(() => evaluation({ decision: "approve", weight: 1 }, "own"))).toEqual({
          name: "InvalidEvaluatorError",
          message: "the evaluator `own` returned no reason (it may be empty)",
        });
      },
    },
    {
      clause: "1.2 the evaluator's name is not empty",
      holds: () =>
        expect(errorOf(() => evaluation({ ...vote, evaluator_name: "" }, "own"))).toEqual({
          name: "InvalidEvaluatorError",
          message: "the evaluator `own` has no name",
        }),
    },
    {
      clause: "1.2 metadata is any map, and empty by default",
      holds() {
        expect(evaluation(vote, "own").metadata).toEqual({});
        expect(evaluation({ ...vote, metadata: { any: [1] } }, "own").metadata).toEqual({ any: [1] });
        expect(errorOf(() => evaluation({ ...vote, metadata: "text" }, "own")).name).toBe(
          "InvalidEvaluatorError",
        );
      },
    },
    {
      clause: "1.3 rule-based evaluators name the rule, the ruleset and their type",
      holds: () =>
        expect(answerOf(loan, goodLoan).evaluations[0]?.metadata).toEqual({
          rule_id: "good_credit",
          ruleset: "credit_rules",
          type: "rule",
        }),
    },
    {
      clause: "1.3 a ruleset without a name is called after its evaluator",
      holds: () =>
        expect(
          answerOf(scoredOf([ruleset("mine", [whenRule("r", "true")])])).evaluations[0]?.metadata,
        ).toEqual({
          rule_id: "r",
          ruleset: "mine",
          type: "rule",
        }),
    },
    {
      clause: "1.3 evaluators may add fields such as a type and a version, and votes may replace them",
      holds() {
        const reject = { decision: "reject", metadata: { version: "2.1" } };
        const definition = scoredOf([
          {
            ...ruleset("mine", [whenRule("r", "true", reject)]),
            metadata: { type: "json_rule", version: "2.0" },
          },
          { name: "house", static: { decision: "approve", metadata: { owner: { team: "risk" } } } },
        ]);
        expect(answerOf(definition).evaluations.map(({ metadata }) => metadata)).toEqual([
          { rule_id: "r", ruleset: "mine", type: "json_rule", version: "2.1" },
          { type: "static", owner: { team: "risk" } },
        ]);
      },
    },
    {
      clause: "1.3 the rule of a vote is always the one that matched",
      holds: () =>
        expect(
          answerOf(
            scoredOf([{ ...ruleset("mine", [whenRule("r", "true")]), metadata: { rule_id: "other" } }]),
          ).evaluations[0]?.metadata,
        ).toMatchObject({ rule_id: "r" }),
    },
    {
      clause: "1.4 a vote without a weight has weight 1.0, as in the reference",
      holds: () =>
        expect(
          answerOf(
            scoredOf([
              ruleset("rules", [whenRule("r", "true", { decision: "approve" })]),
              { name: "house", static: { decision: "approve" } },
            ]),
          ).evaluations.map(({ weight }) => weight),
        ).toEqual([1, 1]),
    },
    ...[0, 0.0001, 0.5, 1].map((weight) => ({
      clause: `1.4 a weight of ${weight} is within bounds`,
      holds: () => expect(evaluation({ ...vote, weight }, "own").weight).toBe(weight),
    })),
    ...[-0.1, 1.5, 1.0000001, Number.NaN, Infinity].map((weight) => ({
      clause: `1.4 a weight of ${weight} raises InvalidWeightError`,
      holds() {
        const expected = {
          name: "InvalidWeightError",
          message: `Weight must be between 0.0 and 1.0, got: ${weight}`,
        };
        expect(errorOf(() => evaluation({ ...vote, weight }, "own"))).toEqual(expected);
        expect(errorOf(() => agentOf([says("s", "approve", weight)]))).toEqual(expected);
        expect(errorOf(() => ask(scoredOf([says("s", "approve", weight)])))).toEqual(expected);
      },
    })),
    {
      clause: "1.5 (1, 2) whatever has a name and `evaluate` is an evaluator, and nothing else",
      holds() {
        expect(agentOf([own(() => vote)]).decide({}).decision).toBe("approve");
        expect(errorOf(() => agentOf([{ name: "odd" } as Evaluator])).name).toBe("InvalidEvaluatorError");
      },
    },
    {
      clause: "1.5 (3) an evaluator that raises has no vote, and the decision is made without it",
      holds() {
        const broken = own(() => {
          throw new Error("broken");
        }, "broken");
        const { decision, evaluations, failures } = agentOf([broken, alice]).decide({});
        expect({ decision, votes: evaluations.length, failures }).toEqual({
          decision: "approve",
          votes: 1,
          failures: [{ evaluator: "broken", error: "broken" }],
        });
      },
    },
    {
      clause: "1.5 (3) rules never raise, whatever the context is",
      holds: () => expect(ask(loan, { credit: "none", fraud: [] }).selected_labels).toEqual(["review"]),
    },
    {
      clause: "1.5 (4) the same input has the same output",
      holds() {
        const agent = agentOf([credit, alice]);
        expect(agent.decide(goodLoan)).toEqual(agent.decide(goodLoan));
      },
    },
    {
      clause: "1.5 (5) the evaluator's name identifies it",
      holds: () =>
        expect(answerOf(loan, goodLoan).evaluations.map((each) => each.evaluator_name)).toEqual([
          "credit",
          "house_rule",
        ]),
    },
  ]);
});

const made: ScoredDecision = agentOf([credit, says("house_rule", "review", 0.3, "House rule")]).decide(
  goodLoan,
);

const payloadOf = (context: unknown, extra: Options = {}, feedback?: unknown): AuditPayload =>
  agentOf([credit, alice], extra).decide(context, { feedback }).audit_payload;

const hashOf = (...given: Parameters<typeof payloadOf>): string => payloadOf(...given).deterministic_hash;

describe("spec 3, 2: the decision object", () => {
  check([
    {
      clause: "2.1 it exposes all eight attributes",
      holds: () =>
        expect(Object.keys(made)).toEqual(
          expect.arrayContaining([
            "decision",
            "confidence",
            "evaluations",
            "explanations",
            "audit_payload",
            "because",
            "failed_conditions",
            "explainability",
          ]),
        ),
    },
    {
      clause: "2.1 so does the result of a definition",
      async holds() {
        const {
          decision,
          confidence,
          evaluations,
          explanations,
          because,
          failed_conditions,
          explainability,
        } = await decided(loan, goodLoan);
        expect({
          decision,
          confidence,
          evaluations,
          explanations,
          because,
          failed_conditions,
          explainability,
        }).toEqual({
          decision: made.decision,
          confidence: made.confidence,
          evaluations: made.evaluations,
          explanations: made.explanations,
          because: made.because,
          failed_conditions: made.failed_conditions,
          explainability: made.explainability,
        });
      },
    },
    {
      clause: "2.1 the attributes are read-only",
      holds: () => expect(() => Object.assign(made, { decision: "reject" })).toThrow(TypeError),
    },
    {
      clause: "2.2 the decision is not empty: a strategy may not give an empty one",
      holds() {
        const scoring: ScoringPlugIn = { name: "empty", score: () => ({ decision: "", confidence: 1 }) };
        expect(errorOf(() => agentOf([alice], { scoring }).decide({}))).toEqual({
          name: "InvalidScoringStrategyError",
          message: "the strategy `empty` returned no decision",
        });
      },
    },
    {
      clause: "2.2 evaluations, explanations and because are not empty",
      holds: () =>
        expect([made.evaluations.length, made.explanations.length, made.because.length]).toEqual([2, 4, 2]),
    },
    {
      clause: "2.2 failed conditions may be empty",
      holds: () => expect(made.failed_conditions).toEqual([]),
    },
    {
      clause: "2.2 the audit payload and the explainability data are frozen",
      holds: () => expect([...unfrozen(made.audit_payload), ...unfrozen(made.explainability)]).toEqual([]),
    },
    ...(
      [
        ["timestamp", noon],
        ["context", goodLoan],
        ["feedback", {}],
        ["evaluations", made.evaluations],
        ["decision", "approve"],
        ["confidence", 0.75],
        ["scoring_strategy", "weighted_average"],
        ["agent_version", version],
        ["deterministic_hash", expect.stringMatching(hash)],
      ] as const
    ).map(([field, value]) => ({
      clause: `2.3 the audit payload has \`${field}\``,
      async holds() {
        expect(made.audit_payload[field]).toEqual(value);
        expect((await decided(loan, goodLoan)).audit_payload[field]).toEqual(value);
      },
    })),
    {
      clause:
        "2.3 beyond those it has the parameters of the strategy, so that a replay reproduces them, and nothing else",
      holds() {
        const { audit_payload } = agentOf([alice], { scoring: threshold(0.9) }).decide({});
        expect(audit_payload.scoring_parameters).toEqual({
          threshold: 0.9,
          fallback_decision: "manual_review",
        });
        expect(Object.keys(audit_payload).toSorted()).toEqual([
          "agent_version",
          "confidence",
          "context",
          "decision",
          "deterministic_hash",
          "evaluations",
          "feedback",
          "scoring_parameters",
          "scoring_strategy",
          "timestamp",
        ]);
      },
    },
    {
      clause: "2.3 the audit payload is what is recorded",
      async holds() {
        const { result, record } = await recorded(loan, goodLoan, { source: "retry" });
        expect((record as unknown as ScoredResult).audit_payload).toEqual(result.audit_payload);
        expect(result.audit_payload.feedback).toEqual({ source: "retry" });
      },
    },
    {
      clause: "2.4 the timestamp is ISO 8601 in UTC with six decimals",
      holds() {
        expect(scoredAgent({ evaluators: [alice] }).decide({}).audit_payload.timestamp).toMatch(instant);
        expect("2025-01-15T10:30:45.123456Z").toMatch(instant);
      },
    },
    {
      clause: "2.4 the record has the same timestamp",
      async holds() {
        const { result, record } = await recorded(loan, goodLoan);
        expect([result.timestamp, result.audit_payload.timestamp, record.timestamp]).toEqual([
          noon,
          noon,
          noon,
        ]);
      },
    },
    {
      clause: "2.5 the hash is 64 hexadecimal characters in lower case",
      holds: () => expect(made.audit_payload.deterministic_hash).toMatch(hash),
    },
    {
      clause: "2.5 the hash is SHA-256 of the canonical JSON of exactly the five fields",
      async holds() {
        const { context, evaluations, decision, confidence, scoring_strategy } = made.audit_payload;
        const hashed = { context, evaluations, decision, confidence, scoring_strategy } as unknown as Json;
        const expected = sha256Hex(canonicalJson(hashed));
        expect(made.audit_payload.deterministic_hash).toBe(expected);
        expect(await decided(loan, goodLoan)).toMatchObject({
          deterministic_hash: expected,
          audit_payload: { deterministic_hash: expected },
        });
      },
    },
    {
      clause: "2.5 the hash of the same input is the same",
      holds: () => expect(hashOf(goodLoan)).toBe(hashOf({ ...goodLoan })),
    },
    {
      clause: "2.5 the hash excludes the timestamp",
      holds: () =>
        expect(hashOf(goodLoan, { clock: () => "2031-01-01T00:00:00.000000Z" })).toBe(hashOf(goodLoan)),
    },
    {
      clause: "2.5 the hash excludes the feedback",
      holds: () => expect(hashOf(goodLoan, {}, { source: "retry" })).toBe(hashOf(goodLoan)),
    },
    {
      clause: "2.5 the hash does not depend on the order of keys, at any depth",
      holds: () =>
        expect(hashOf({ a: { x: 1, y: [{ p: 1, q: 2 }] }, b: 2 })).toBe(
          hashOf({ b: 2, a: { y: [{ q: 2, p: 1 }], x: 1 } }),
        ),
    },
    {
      clause: "2.5 the hash differs where the order of a list does",
      holds: () => expect(hashOf({ list: [1, 2] })).not.toBe(hashOf({ list: [2, 1] })),
    },
    ...(
      [
        ["a value", { a: 2 }],
        ["the type of a value", { a: "1" }],
        ["a key", { b: 1 }],
        ["a missing and a null value", { a: 1, b: null }],
      ] as const
    ).map(([what, other]) => ({
      clause: `2.5 the hash differs where ${what} does`,
      holds: () => expect(hashOf(other)).not.toBe(hashOf({ a: 1 })),
    })),
    {
      clause: "2.5 the hash differs where the evaluations, the decision or the strategy do",
      holds() {
        const variants: readonly [readonly EvaluatorDefinition[], Scoring?][] = [
          [voting(["approve", 0.5])],
          [voting(["approve", 0.6])],
          [voting(["reject", 0.5])],
          [[says("e1", "approve", 0.5, "why")]],
          [[says("other", "approve", 0.5)]],
          [voting(["approve", 0.5]), { strategy: "consensus" }],
          [voting(["approve", 0.5]), threshold(0.9)],
        ];
        const hashes = variants.map(
          ([evaluators, scoring]) =>
            agentOf(evaluators, scoring && { scoring }).decide({}).audit_payload.deterministic_hash,
        );
        expect(new Set(hashes).size).toBe(variants.length);
      },
    },
    {
      clause: "2.6 each evaluation of the payload has the five fields",
      holds: () =>
        expect(made.audit_payload.evaluations[0]).toEqual({
          decision: "approve",
          weight: 0.9,
          reason: "Good credit",
          evaluator_name: "credit",
          metadata: { rule_id: "good_credit", ruleset: "credit_rules", type: "rule" },
        }),
    },
    ...[0, 0.5, 1].map((confidence) => ({
      clause: `2.7 a confidence of ${confidence} is within bounds`,
      holds: () => expect(sureBy(confidence).confidence).toBe(confidence),
    })),
    ...[-0.1, 1.5, Number.NaN].map((confidence) => ({
      clause: `2.7 a confidence of ${confidence} raises InvalidConfidenceError`,
      holds: () =>
        expect(errorOf(() => sureBy(confidence))).toEqual({
          name: "InvalidConfidenceError",
          message: `Confidence must be between 0.0 and 1.0, got: ${confidence}`,
        }),
    })),
  ]);
});

function sureBy(confidence: number): ScoredDecision {
  return agentOf([alice], {
    scoring: { name: "sure", score: () => ({ decision: "approve", confidence }) },
  }).decide({});
}

interface Scored {
  readonly clause: string;
  readonly votes: readonly (readonly [string, number])[];
  readonly scoring?: Scoring;
  readonly decision: string;
  readonly confidence: number;
}

const average: Scoring = { strategy: "weighted_average" };
const heaviest: Scoring = { strategy: "max_weight" };
const consensus = (least: number): Scoring => ({ strategy: "consensus", minimum_agreement: least });

const strategies: readonly Scored[] = [
  {
    clause: "3.1 weighted average: the example, of which all agree",
    votes: [
      ["approve", 0.8],
      ["approve", 0.7],
    ],
    scoring: average,
    decision: "approve",
    confidence: 1,
  },
  {
    clause: "3.1 weighted average: the highest total weight wins, over the weights of all",
    votes: [
      ["approve", 0.9],
      ["reject", 0.6],
      ["reject", 0.5],
    ],
    scoring: average,
    decision: "reject",
    confidence: 0.55,
  },
  {
    clause: "3.1 weighted average: is what is done where no strategy is named",
    votes: [
      ["approve", 0.75],
      ["reject", 0.25],
    ],
    decision: "approve",
    confidence: 0.75,
  },
  {
    clause: "3.2 max weight: the highest individual weight wins",
    votes: [
      ["approve", 0.9],
      ["reject", 0.6],
      ["reject", 0.5],
    ],
    scoring: heaviest,
    decision: "approve",
    confidence: 0.9,
  },
  {
    clause: "3.2 max weight: the confidence is that weight, not normalized",
    votes: [["approve", 0.4]],
    scoring: heaviest,
    decision: "approve",
    confidence: 0.4,
  },
  {
    clause: "3.3 consensus: the share of evaluators that agree, where it reaches the minimum",
    votes: [
      ["approve", 0.1],
      ["approve", 0.1],
      ["approve", 0.1],
      ["reject", 1],
    ],
    scoring: consensus(0.75),
    decision: "approve",
    confidence: 0.75,
  },
  {
    clause: "3.3 consensus: a confidence of 0.0 below the minimum",
    votes: [
      ["approve", 1],
      ["approve", 1],
      ["reject", 1],
      ["reject", 1],
      ["review", 1],
    ],
    scoring: consensus(0.5),
    decision: "approve",
    confidence: 0,
  },
  {
    clause: "3.4 threshold: the winner with its weight where that reaches the threshold",
    votes: [
      ["approve", 0.8],
      ["reject", 0.3],
    ],
    scoring: threshold(0.8),
    decision: "approve",
    confidence: 0.8,
  },
  {
    clause: "3.4 threshold: the example, of a weight below the threshold",
    votes: [["approve", 0.5]],
    scoring: threshold(0.8),
    decision: "manual_review",
    confidence: 0.25,
  },
];

const differences: readonly Scored[] = [
  {
    clause: "rounding to 4 decimals: two thirds are 0.6667",
    votes: [
      ["approve", 1],
      ["approve", 1],
      ["reject", 1],
    ],
    scoring: average,
    decision: "approve",
    confidence: 0.6667,
  },
  {
    clause: "rounding to 4 decimals: of a consensus too",
    votes: [
      ["approve", 1],
      ["reject", 1],
      ["review", 1],
    ],
    scoring: consensus(0.3333),
    decision: "approve",
    confidence: 0.3333,
  },
  {
    clause: "rounding to 4 decimals: of half of a weight too",
    votes: [["approve", 0.33333]],
    scoring: threshold(0.8),
    decision: "manual_review",
    confidence: 0.1667,
  },
  ...[average, heaviest, consensus(0.5), threshold(0.5)].map((scoring) => ({
    clause: `ties: the decision seen first, by ${scoring.strategy}`,
    votes: [
      ["reject", 0.5],
      ["approve", 0.5],
    ] as const,
    scoring,
    decision: "reject",
    confidence: 0.5,
  })),
  {
    clause: "ties: sums that are equal but for floating point are equal",
    votes: [
      ["approve", 0.3],
      ["reject", 0.1],
      ["reject", 0.2],
    ],
    scoring: average,
    decision: "approve",
    confidence: 0.5,
  },
  {
    clause: "threshold: the highest single weight is compared, and not the sum of weights",
    votes: [
      ["approve", 0.6],
      ["approve", 0.6],
    ],
    scoring: threshold(0.8),
    decision: "manual_review",
    confidence: 0.3,
  },
  {
    clause: "threshold: the highest single weight decides, and not the greatest sum",
    votes: [
      ["approve", 0.7],
      ["approve", 0.7],
      ["reject", 0.9],
    ],
    scoring: threshold(0.8),
    decision: "reject",
    confidence: 0.9,
  },
  {
    clause: "threshold: the fallback gets half of the highest weight, whoever voted for what",
    votes: [
      ["manual_review", 0.1],
      ["approve", 0.7],
    ],
    scoring: threshold(0.8),
    decision: "manual_review",
    confidence: 0.35,
  },
  {
    clause: "consensus: the share of the votes that were cast",
    votes: [
      ["approve", 0.2],
      ["approve", 0.2],
      ["reject", 0.9],
    ],
    scoring: consensus(0.6),
    decision: "approve",
    confidence: 0.6667,
  },
];

const checkScored = (cases: readonly Scored[]): void => {
  it.each(cases.map((each) => [each.clause, each] as const))("%s", (_clause, each) => {
    const { votes, scoring, decision, confidence } = each;
    const expected = { decision, confidence, scoring_strategy: scoring?.strategy ?? "weighted_average" };
    expect(answerOf(scoredOf(voting(...votes), scoring && { scoring }))).toMatchObject(expected);
    expect(agentOf(voting(...votes), scoring && { scoring }).decide({})).toMatchObject(expected);
  });
};

describe("spec 3, 3: the scoring strategies", () => {
  checkScored(strategies);
});

describe("DESIGN §6: what we do otherwise, on purpose", () => {
  checkScored(differences);

  it.each(["weighted_average", "max_weight", "consensus", "threshold"] as const)(
    "strategy names are ours: %s",
    (strategy) => {
      const scoring = strategy === "threshold" ? threshold(0.1) : { strategy };
      expect(agentOf([alice], { scoring }).decide({}).audit_payload.scoring_strategy).toBe(strategy);
    },
  );

  it("strategy names are ours: the specification's are refused where a decision is made", () => {
    const scoring = { strategy: "DecisionAgent::Scoring::Threshold" } as unknown as Scoring;
    expect(errorOf(() => agentOf([alice], { scoring })).name).toBe("InvalidScoringStrategyError");
  });

  it.each([...ruleOperators().values()].map(({ name, example }) => [name, example.condition.value] as const))(
    "a missing field is false for every operator but blank: %s",
    (op, value) => {
      const condition = { field: "missing.field", op, ...(value !== undefined && { value }) };
      const definition = scoredOf([ruleset("r", [ifRule("rule", condition)]), says("s", "other", 1)]);
      expect(detailsOf(ask(definition, { missing: {} }))["r"]?.result).toBe(op === "blank");
    },
  );

  it("because is never empty: a static evaluator's reason stands there", () => {
    expect(agentOf([alice]).decide({}).because).toEqual(["User meets criteria"]);
    expect(agentOf(voting(["approve", 0.5])).decide({}).because).toEqual(["e1 says approve"]);
  });

  it("because is never empty: a fallback says why", () => {
    expect(agentOf(voting(["approve", 0.5]), { scoring: threshold(0.8) }).decide({}).because).toEqual([
      "the highest weight 0.5 is below the threshold 0.8",
    ]);
  });

  it("evaluator fails: it counts as no vote, and a consensus is of those that were cast", () => {
    const broken = own(() => ({ ...vote, weight: 7 }), "broken");
    const { confidence, failures } = agentOf([broken, alice], { scoring: consensus(1) }).decide({});
    expect({ confidence, failures }).toEqual({
      confidence: 1,
      failures: [{ evaluator: "broken", error: "Weight must be between 0.0 and 1.0, got: 7" }],
    });
  });

  it("evaluator fails: an expression that cannot be evaluated is recorded, and counts as no vote", async () => {
    const { result, record } = await recorded(scoredOf([ruleset("r", [whenRule("w", "n > 1")]), alice]), {});
    expect(result.decision).toBe("approve");
    expect(record.evaluation_details).toMatchObject({
      r: { result: false, rules: [{ rule_id: "w", conditions: [{ error: "`n` is missing" }] }] },
    });
  });

  it("no votes at all: the error no_evaluations, and nothing is recorded", async () => {
    const definition = scoredOf([ruleset("r", [whenRule("w", "false")])]);
    await expect(recorded(definition, {})).rejects.toMatchObject({
      name: "NoEvaluationsError",
      code: "no_evaluations",
    });
  });
});

describe("spec 3, 5: errors", () => {
  const mismatch = new ReplayMismatchError({
    expected: { decision: "approve" },
    actual: { decision: "reject" },
    differences: ["decision mismatch (expected: approve, got: reject)"],
  });
  const errors: readonly [string, DecisionError][] = [
    ["InvalidRuleDslError", new InvalidRuleDslError("m")],
    ["NoEvaluationsError", new NoEvaluationsError()],
    ["ReplayMismatchError", mismatch],
    ["InvalidConfigurationError", new InvalidConfigurationError("m")],
    ["InvalidEvaluatorError", new InvalidEvaluatorError("m")],
    ["InvalidScoringStrategyError", new InvalidScoringStrategyError("m")],
    ["InvalidAuditAdapterError", new InvalidAuditAdapterError("m")],
    ["InvalidConfidenceError", new InvalidConfidenceError(2)],
    ["InvalidWeightError", new InvalidWeightError(2)],
  ];
  const muted = agentOf([own(() => null)]);
  const malformed = ruleset("r", [ifRule("a", { field: "n", op: "is_bigger", value: 1 })]);

  check([
    ...errors.map(([name, error]) => ({
      clause: `5.1 ${name} is one of the library's errors`,
      holds() {
        expect(error).toBeInstanceOf(DecisionError);
        expect(error.name).toBe(name);
      },
    })),
    {
      clause: "5.2 NoEvaluationsError: no evaluator returned a decision",
      holds: () =>
        expect(errorOf(() => muted.decide({}))).toEqual({
          name: "NoEvaluationsError",
          message: "No evaluators returned a decision",
        }),
    },
    {
      clause: "5.2 InvalidRuleDslError: malformed rules",
      holds: () =>
        expect(errorOf(() => agentOf([malformed]))).toEqual({
          name: "InvalidRuleDslError",
          message: "the rule `a` of `r`: unknown operator `is_bigger`",
        }),
    },
    {
      clause: "5.2 ReplayMismatchError has `expected`, `actual` and `differences`",
      holds: () =>
        expect(mismatch).toMatchObject({
          expected: { decision: "approve" },
          actual: { decision: "reject" },
          differences: ["decision mismatch (expected: approve, got: reject)"],
        }),
    },
    ...(
      [
        ["Weight must be between 0.0 and 1.0, got: 1.5", new InvalidWeightError(1.5)],
        ["Confidence must be between 0.0 and 1.0, got: -0.1", new InvalidConfidenceError(-0.1)],
        ["Replay mismatch detected: decision mismatch (expected: approve, got: reject)", mismatch],
      ] as const
    ).map(([message, error]) => ({
      clause: `5.3 "${message}"`,
      holds: () => expect(error.message).toBe(message),
    })),
  ]);
});

describe("spec 3, 6: immutability", () => {
  const metadata = { user: { role: "admin" }, tags: ["urgent"] };
  const annotated = agentOf([own(() => ({ ...vote, metadata }))]);

  check([
    {
      clause: "6.1 the audit payload is frozen",
      async holds() {
        expect(unfrozen(made.audit_payload)).toEqual([]);
        expect(unfrozen((await decided(loan, goodLoan)).audit_payload)).toEqual([]);
      },
    },
    {
      clause: "6.1 every field of an evaluation is frozen",
      holds() {
        const [given] = made.evaluations;
        const fields: readonly (keyof Evaluation)[] = ["decision", "reason", "evaluator_name", "metadata"];
        for (const field of fields) expect(() => Object.assign(given!, { [field]: "x" })).toThrow(TypeError);
      },
    },
    {
      clause: "6.1 the context is frozen, as evaluators see it and as it is recorded",
      holds() {
        const seen: unknown[] = [];
        const { audit_payload } = agentOf([own((context) => (seen.push(context), vote))]).decide({
          a: { b: [1] },
        });
        expect(seen.flatMap((each) => unfrozen(each))).toEqual([]);
        expect(unfrozen(audit_payload.context)).toEqual([]);
      },
    },
    {
      clause: "6.1 the whole result of a definition is frozen",
      async holds() {
        expect(unfrozen(await decided(loan, goodLoan))).toEqual([]);
      },
    },
    {
      clause: "6.2 the metadata of the example is frozen at every depth",
      holds() {
        const frozen = annotated.decide({}).evaluations[0]?.metadata;
        expect(frozen).toEqual(metadata);
        expect(unfrozen(frozen)).toEqual([]);
      },
    },
    {
      clause: "6.2 what a caller handed in stays the caller's",
      holds() {
        annotated.decide({});
        expect([Object.isFrozen(metadata), Object.isFrozen(metadata.user)]).toEqual([false, false]);
      },
    },
    {
      clause: "6.3 evaluators do not modify the context, as they cannot",
      holds() {
        const vandal = own(
          (context) => ({ ...vote, metadata: Object.assign(context, { user: "mallory" }) }),
          "vandal",
        );
        const { audit_payload, failures } = agentOf([vandal, alice]).decide({ user: "alice" });
        expect(audit_payload.context).toEqual({ user: "alice" });
        expect(failures.map(({ evaluator }) => evaluator)).toEqual(["vandal"]);
      },
    },
    {
      clause: "6.3 the same definition and context give the same, whatever was asked in between",
      async holds() {
        const before = await decided(loan, goodLoan);
        await decided(loan, { credit: { score: 100 } });
        expect(await decided(loan, goodLoan)).toEqual(before);
      },
    },
  ]);
});

describe("spec 3, 9: compliance and audit", () => {
  const mixed = { credit: { score: 600 }, fraud: true };
  const verbose = agentOf([credit, alice]).decide(mixed, { verbose: true });

  check([
    {
      clause: "9.2 the context is complete",
      async holds() {
        const { record } = await recorded(loan, { ...goodLoan, unread: { deep: [null] } });
        expect((record as unknown as ScoredResult).audit_payload.context).toEqual({
          ...goodLoan,
          unread: { deep: [null] },
        });
      },
    },
    {
      clause: "9.2 all details of the evaluations are preserved",
      async holds() {
        const { result, record } = await recorded(loan, goodLoan);
        const { evaluations, audit_payload } = record as unknown as ScoredResult;
        expect(evaluations).toEqual(result.evaluations);
        expect(audit_payload.evaluations).toEqual(result.evaluations);
      },
    },
    {
      clause: "9.2 the record has the deterministic hash and the timestamp",
      async holds() {
        const { result, record } = await recorded(loan, goodLoan);
        expect(record).toMatchObject({
          timestamp: noon,
          deterministic_hash: result.audit_payload.deterministic_hash,
        });
      },
    },
    {
      clause: "9.3 explanations are for people, and show which evaluators contributed",
      holds: () =>
        expect(made.explanations.slice(0, 3)).toEqual([
          "Decision: approve (confidence 0.75)",
          "credit voted approve with weight 0.9: Good credit",
          "house_rule voted review with weight 0.3 and was overruled: House rule",
        ]),
    },
    {
      clause: "9.3 the resolution of a conflict is explained",
      holds: () =>
        expect(made.explanations.at(-1)).toBe(
          "Resolved by weighted_average: the greatest sum of weights decides",
        ),
    },
    {
      clause: "9.3 chains of reasoning are preserved: every rule that was asked is in the record",
      async holds() {
        const { record } = await recorded(loan, mixed);
        expect(record.evaluation_details).toMatchObject({
          credit: { result: false, rules: [{ rule_id: "good_credit" }, { rule_id: "poor_credit" }] },
          house_rule: { result: true },
        });
      },
    },
    {
      clause: "9.3 explainability data is for machines",
      holds: () =>
        expect(made.explainability).toEqual({
          decision: "approve",
          because: ["credit.score >= 700", "fraud != true"],
          failed_conditions: [],
        }),
    },
    {
      clause: "9.3 because tracks the conditions that led to the decision",
      holds: () => expect(made.because).toEqual(["credit.score >= 700", "fraud != true"]),
    },
    {
      clause: "9.3 failed_conditions tracks those that failed",
      holds: () =>
        expect(verbose.failed_conditions).toEqual([
          "credit.score >= 700",
          "fraud != true",
          "credit.score < 500",
        ]),
    },
    {
      clause: "9.3 traces of conditions have actual and expected values",
      holds: () =>
        expect(verbose.explainability.rule_traces?.[0]).toEqual({
          evaluator: "credit",
          rule_id: "good_credit",
          result: false,
          conditions: [
            { field: "credit.score", operator: "gte", expected: 700, actual: 600, result: false },
            { field: "fraud", operator: "neq", expected: true, actual: true, result: false },
          ],
        }),
    },
    {
      clause: "9.3 explanations are short unless they are wanted verbose",
      holds() {
        expect(agentOf([credit, alice]).decide(mixed).explainability).not.toHaveProperty("rule_traces");
        expect(verbose.explainability.rule_traces).toHaveLength(2);
      },
    },
    {
      clause: "9.3 the structure of the example: because, failed_conditions and rule_traces",
      holds() {
        const risk = ruleset("risk", [
          ifRule(
            "hold",
            { field: "credit_hold", op: "eq", value: true },
            { decision: "rejected", weight: 1 },
          ),
          ifRule(
            "safe",
            {
              all: [
                { field: "risk_score", op: "lt", value: 0.7 },
                { field: "account_age", op: "gt", value: 180 },
              ],
            },
            { decision: "approved", weight: 1 },
          ),
        ]);
        const context = { risk_score: 0.2, account_age: 400, credit_hold: false };
        const { rule_traces, ...short } = agentOf([risk]).decide(context, { verbose: true }).explainability;
        expect(short).toEqual({
          decision: "approved",
          because: ["risk_score < 0.7", "account_age > 180"],
          failed_conditions: ["credit_hold = true"],
        });
        expect(rule_traces?.map(({ rule_id }) => rule_id)).toEqual(["hold", "safe"]);
      },
    },
  ]);
});

describe("spec 3, appendix A", () => {
  it("decides as the complete example does", () => {
    const trail: AuditPayload[] = [];
    const agent = scoredAgent({
      evaluators: [
        {
          name: "StaticEvaluator",
          static: { decision: "approve", weight: 0.85, reason: "User meets criteria" },
        },
      ],
      scoring: { strategy: "weighted_average" },
      audit: { record: (payload) => void trail.push(payload) },
    });
    const result = agent.decide({ user: "alice" });
    expect(result.decision).toBe("approve");
    expect(result.confidence).toBe(1);
    expect(result.explanations[0]).toMatch(/^Decision: approve/);
    expect(result.audit_payload.deterministic_hash).toMatch(hash);
    expect(trail).toEqual([result.audit_payload]);
  });
});
