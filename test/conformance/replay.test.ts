import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it, vi } from "vitest";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import { compareWithPayload, replay, ReplayMismatchError, scoredAgent } from "../../src/index.js";
import type { EvaluatorDefinition, Scoring } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { AuditPayload } from "../../src/model/result.js";
import { ifRule, ruleset, says, threshold, thrownBy, unfrozen, voting } from "../evaluate/scored/votes.js";
import { casesFor } from "../thoroughness.js";

const noon = "2026-03-02T12:00:00.000000Z";

type Loose = Readonly<Record<string | symbol, unknown>>;

const payloadOf = (
  evaluators: readonly EvaluatorDefinition[],
  { scoring, feedback }: { readonly scoring?: Scoring; readonly feedback?: JsonObject } = {},
): AuditPayload =>
  scoredAgent({ evaluators, clock: () => noon, ...(scoring !== undefined && { scoring }) }).decide(
    { user: "alice", score: 85 },
    { feedback },
  ).audit_payload;

const approvals = ruleset(
  "approvals",
  [
    ifRule(
      "auto_approve",
      { field: "score", op: "gte", value: 80 },
      { decision: "approve", weight: 0.9, reason: "High score" },
    ),
  ],
  { ruleset: "approval" },
);

const made = payloadOf([approvals, says("house", "reject", 0.3, "House rule")], {
  feedback: { source: "retry" },
});

const without = (payload: object, ...keys: readonly string[]): Loose =>
  Object.fromEntries(Object.entries(payload).filter(([key]) => !keys.includes(key)));

const unhashed = without(made, "deterministic_hash");

const vote = {
  decision: "approve",
  weight: 0.9,
  reason: "Test",
  evaluator_name: "TestEvaluator",
  metadata: {},
};

/** A payload as the contract's own library writes it, with one vote and no hash. */
const foreign = { context: { test: true }, evaluations: [vote], decision: "approve", confidence: 1 };

const hashed = (payload: object): Loose => {
  const { context, evaluations, decision, confidence, scoring_strategy } = payload as AuditPayload;
  const said = { context, evaluations, decision, confidence, scoring_strategy };
  return { ...payload, deterministic_hash: sha256Hex(canonicalJson(said as unknown as Json)) };
};

/** The keys of a map, and of all maps in it, as Ruby writes symbols. */
function symbolised(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(symbolised);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, part]) => [`:${key}`, symbolised(part)]));
}

/** With symbols for its own keys and those of its evaluations. */
const withSymbols = (payload: object): Loose => {
  const keyed = (object: object): Loose =>
    Object.fromEntries(Object.entries(object).map(([key, part]) => [Symbol(key), part as unknown]));
  const { evaluations } = payload as AuditPayload;
  return keyed({ ...payload, evaluations: evaluations.map(keyed) });
};

/** What came of a replay that is not strict, and what it told. */
function leniently(payload: unknown) {
  const told: string[] = [];
  const replayed = replay(payload, { strict: false, warn: (text) => told.push(text) });
  return { replayed, told };
}

function mismatchOf(payload: unknown): ReplayMismatchError {
  const error = thrownBy(() => replay(payload, { warn: () => undefined }));
  if (error instanceof ReplayMismatchError) return error;
  throw error;
}

/** The error, which is the same whether the replay is strict or not. */
function errorOf(payload: unknown): { readonly name: string; readonly message: string } {
  const [one, other] = [true, false].map((strict) => {
    const { name, message } = thrownBy(() =>
      replay(payload, { strict, warn: (text) => expect.fail(text) }),
    ) as Error;
    return { name, message };
  });
  expect(one).toEqual(other);
  return one!;
}

const whatDiffers = (payload: unknown): readonly string[] =>
  compareWithPayload(payload).differences.map(({ what }) => what);

interface Clause {
  readonly clause: string;
  readonly holds: () => void;
}

const check = (clauses: readonly Clause[]): void => {
  it.each(clauses.map(({ clause, holds }) => [clause, holds] as const))("%s", (_clause, holds) => {
    holds();
  });
};

afterEach(() => {
  vi.restoreAllMocks();
});

describe("spec 3, 4.1: the signature", () => {
  check([
    {
      clause: "it takes an audit payload and returns a decision",
      holds() {
        const { decision, confidence, evaluations, explanations, because } = replay(made);
        expect({ decision, confidence, evaluations }).toEqual({
          decision: "approve",
          confidence: 0.75,
          evaluations: made.evaluations,
        });
        expect(explanations).toEqual([
          "Decision: approve (confidence 0.75)",
          "approvals voted approve with weight 0.9: High score",
          "house voted reject with weight 0.3 and was overruled: House rule",
          "Resolved by weighted_average: the greatest sum of weights decides",
        ]);
        expect(because).toEqual(["High score"]);
      },
    },
    {
      clause: "it is strict unless told otherwise",
      holds: () =>
        expect(thrownBy(() => replay({ ...unhashed, decision: "reject" }))).toBeInstanceOf(
          ReplayMismatchError,
        ),
    },
    {
      clause: "it never asks a rule again: the votes alone decide",
      holds() {
        const changed = without({ ...made, context: { score: 10 } }, "deterministic_hash");
        expect(replay(changed).decision).toBe("approve");
      },
    },
  ]);
});

describe("spec 3, 4.2: strict mode", () => {
  check([
    {
      clause: "another decision raises ReplayMismatchError, with both sides of it",
      holds() {
        const { expected, actual, differences } = mismatchOf({ ...unhashed, decision: "reject" });
        expect({ expected, actual, differences }).toEqual({
          expected: { decision: "reject", confidence: 0.75 },
          actual: { decision: "approve", confidence: 0.75 },
          differences: ["decision mismatch (expected: reject, got: approve)"],
        });
      },
    },
    {
      clause: "another confidence raises ReplayMismatchError",
      holds() {
        const { expected, actual, differences } = mismatchOf({ ...unhashed, confidence: 0.82 });
        expect({ expected, actual, differences }).toEqual({
          expected: { decision: "approve", confidence: 0.82 },
          actual: { decision: "approve", confidence: 0.75 },
          differences: ["confidence mismatch (expected: 0.82, got: 0.75)"],
        });
      },
    },
    ...[0.7499, 0.75005, 0.7501].map((confidence) => ({
      clause: `a confidence of ${confidence} is within the tolerance of 0.75`,
      holds: () => expect(replay({ ...unhashed, confidence }).confidence).toBe(confidence),
    })),
    ...[0.7498, 0.74989, 0.75011, 0, 1].map((confidence) => ({
      clause: `a confidence of ${confidence} is not within the tolerance of 0.75`,
      holds: () => expect(whatDiffers({ ...unhashed, confidence })).toEqual(["confidence"]),
    })),
    {
      clause: "a stored hash that does not fit what the payload says is one more difference",
      holds() {
        const { expected, actual, differences } = mismatchOf({ ...made, context: { user: "mallory" } });
        const fits = hashed({ ...made, context: { user: "mallory" } })["deterministic_hash"];
        expect(expected).toEqual({
          decision: "approve",
          confidence: 0.75,
          deterministic_hash: made.deterministic_hash,
        });
        expect(actual).toEqual({ decision: "approve", confidence: 0.75, deterministic_hash: fits });
        expect(differences).toEqual([
          `deterministic_hash mismatch (expected: ${made.deterministic_hash}, got: ${String(fits)})`,
        ]);
      },
    },
    {
      clause: "a hash that was made anew does not hide another decision",
      holds: () =>
        expect(whatDiffers(hashed({ ...made, decision: "reject", confidence: 0.9 }))).toEqual([
          "decision",
          "confidence",
        ]),
    },
    ...[undefined, null].map((deterministic_hash) => ({
      clause: `a hash that is ${deterministic_hash} is not compared`,
      holds: () => expect(whatDiffers({ ...unhashed, deterministic_hash, context: {} })).toEqual([]),
    })),
    {
      clause: "a decision, a confidence and a hash may all differ at once",
      holds: () =>
        expect(whatDiffers({ ...made, decision: "reject", confidence: 0.9 })).toEqual([
          "decision",
          "confidence",
          "deterministic_hash",
        ]),
    },
  ]);
});

describe("spec 3, 4.3: non-strict mode", () => {
  const other = { ...unhashed, decision: "reject", confidence: 0.82 };

  check([
    {
      clause: "differences are no error: the replayed decision is returned",
      holds() {
        const { decision, confidence, audit_payload } = leniently(other).replayed;
        expect({ decision, confidence }).toEqual({ decision: "approve", confidence: 0.75 });
        expect(audit_payload).toEqual(made);
      },
    },
    {
      clause: "differences are told in the format of the contract",
      holds: () =>
        expect(leniently(other).told).toEqual([
          "[DecisionAgent::Replay] Non-strict mode differences detected:\n" +
            "  - Decision changed: reject -> approve\n" +
            "  - Confidence changed: 0.82 -> 0.75",
        ]),
    },
    {
      clause: "a hash that does not fit has a line of its own",
      holds: () =>
        expect(leniently({ ...made, deterministic_hash: "abc123" }).told).toEqual([
          "[DecisionAgent::Replay] Non-strict mode differences detected:\n" +
            `  - Deterministic hash changed: abc123 -> ${made.deterministic_hash}`,
        ]),
    },
    {
      clause: "nothing is told where nothing differs",
      holds: () => expect(leniently(made).told).toEqual([]),
    },
    {
      clause: "differences go to stderr unless somebody else is to be told",
      holds() {
        const written = vi.spyOn(process.stderr, "write").mockReturnValue(true);
        replay(other, { strict: false });
        expect(written.mock.calls).toEqual([[`${leniently(other).told.join("\n")}\n`]]);
      },
    },
    {
      clause: "a decision cannot look like a line of its own, nor act on a terminal",
      holds: () =>
        expect(
          leniently({ ...unhashed, decision: "a\n  - Confidence changed: 0 -> 1\u001b[2J" }).told[0]?.split(
            "\n",
          ),
        ).toEqual([
          "[DecisionAgent::Replay] Non-strict mode differences detected:",
          "  - Decision changed: a\\n  - Confidence changed: 0 -> 1\\u001b[2J -> approve",
        ]),
    },
  ]);
});

describe("spec 3, 4.4: required fields", () => {
  const invalid = (message: string) => ({ name: "InvalidRuleDslError", message });

  check([
    ...(["context", "evaluations", "decision", "confidence"] as const).flatMap((key) => [
      {
        clause: `a payload without \`${key}\` raises InvalidRuleDslError`,
        holds: () =>
          expect(errorOf(without(made, key))).toEqual(invalid(`Audit payload missing required key: ${key}`)),
      },
      {
        clause: `so does one whose \`${key}\` is undefined`,
        holds: () =>
          expect(errorOf({ ...made, [key]: undefined })).toEqual(
            invalid(`Audit payload missing required key: ${key}`),
          ),
      },
    ]),
    {
      clause: "what is missing is told before what is out of bounds",
      holds: () =>
        expect(errorOf({ evaluations: [{ ...vote, weight: 7 }], decision: "", confidence: 9 })).toEqual(
          invalid("Audit payload missing required key: context"),
        ),
    },
    ...(["decision", "weight", "evaluator_name"] as const).map((key) => ({
      clause: `an evaluation without \`${key}\` raises InvalidRuleDslError`,
      holds: () =>
        expect(errorOf({ ...foreign, evaluations: [vote, without(vote, key)] })).toEqual(
          invalid(`Audit payload missing required key: evaluations[1].${key}`),
        ),
    })),
    ...[undefined, null].map((none) => ({
      clause: `an evaluation whose reason and metadata are ${none} has empty ones`,
      holds: () =>
        expect(
          replay({ ...foreign, evaluations: [{ ...vote, reason: none, metadata: none }] }).evaluations,
        ).toEqual([{ ...vote, reason: "", metadata: {} }]),
    })),
    ...(["scoring_strategy", "scoring_parameters", "feedback", "timestamp", "agent_version"] as const).map(
      (key) => ({
        clause: `\`${key}\` may be absent`,
        holds: () => expect(whatDiffers(without(made, key))).toEqual([]),
      }),
    ),
    {
      clause: "a time and a version that the payload does not tell are not made up",
      holds: () =>
        expect(Object.keys(replay(foreign).audit_payload).toSorted()).toEqual([
          "confidence",
          "context",
          "decision",
          "deterministic_hash",
          "evaluations",
          "feedback",
          "scoring_parameters",
          "scoring_strategy",
        ]),
    },
    {
      clause: "a payload without votes raises NoEvaluationsError",
      holds: () =>
        expect(errorOf({ ...made, evaluations: [] })).toEqual({
          name: "NoEvaluationsError",
          message: "No evaluators returned a decision",
        }),
    },
  ]);
});

describe("spec 3, 4.5: keys", () => {
  const mixed = { ...withSymbols(made), ...without(made, "decision", "evaluations") };

  check([
    {
      clause: "strings and symbols as Ruby writes them come to the same",
      holds: () => expect(replay(rubyKeys(made))).toEqual(replay(made)),
    },
    { clause: "so do symbols", holds: () => expect(replay(withSymbols(made))).toEqual(replay(made)) },
    { clause: "so do both kinds in one payload", holds: () => expect(replay(mixed)).toEqual(replay(made)) },
    {
      clause: "of several spellings the plain one counts, and then the written one",
      holds() {
        const spelled = {
          [Symbol("decision")]: "symbol",
          ":decision": "written",
          decision: "approve",
          [Symbol("feedback")]: { symbol: true },
          ":feedback": { written: true },
        };
        const { replayed, told } = leniently({ ...without(unhashed, "feedback", "decision"), ...spelled });
        expect([replayed.audit_payload.feedback, told]).toEqual([{ written: true }, []]);
      },
    },
    {
      clause: "a missing key is missed in every spelling",
      holds: () =>
        expect(errorOf({ ":evaluations": [], [Symbol()]: {}, ":": 1, context: {} }).message).toBe(
          "Audit payload missing required key: decision",
        ),
    },
    {
      clause: "parameters of the strategy may be written with symbols too",
      holds() {
        const payload = rubyKeys(payloadOf(voting(["approve", 0.6]), { scoring: threshold(0.9) }));
        expect(replay(payload).decision).toBe("manual_review");
      },
    },
    {
      clause: "the context and the metadata keep their keys, whichever way they are written",
      holds() {
        const context = { ":user": "alice", list: [{ ":a": 1, a: 2 }] };
        const metadata = { ":rule_id": "r", rule_id: "s" };
        const payload = { ...foreign, context, evaluations: [{ ...vote, metadata }] };
        const { audit_payload, evaluations } = replay(payload);
        expect([audit_payload.context, evaluations[0]?.metadata]).toEqual([context, metadata]);
      },
    },
    {
      clause: "a payload that is written with symbols throughout has the hash of its plain names",
      holds() {
        const payload = { ...(symbolised(made) as Loose), ":deterministic_hash": made.deterministic_hash };
        const { audit_payload } = replay(payload);
        expect(audit_payload.context).toEqual({ ":user": "alice", ":score": 85 });
        expect(audit_payload.deterministic_hash).toBe(made.deterministic_hash);
      },
    },
    {
      clause:
        "elsewhere a symbol is not its plain name: a key of the context that is written anew is noticed",
      holds: () =>
        expect(whatDiffers({ ...made, context: symbolised(made.context) })).toEqual(["deterministic_hash"]),
    },
    {
      clause: "nothing hides behind a plain name that is taken",
      holds: () =>
        expect(whatDiffers(rubyKeys({ ...made, context: { ...made.context, ":user": "mallory" } }))).toEqual([
          "deterministic_hash",
        ]),
    },
  ]);
});

/** With Ruby's spelling for the keys of the payload, of its evaluations and of its parameters only. */
function rubyKeys(payload: object): Loose {
  const keyed = (object: object): Loose =>
    Object.fromEntries(Object.entries(object).map(([key, part]) => [`:${key}`, part as unknown]));
  const { evaluations, scoring_parameters } = payload as AuditPayload;
  return keyed({
    ...payload,
    evaluations: evaluations.map(keyed),
    scoring_parameters: keyed(scoring_parameters),
  });
}

describe("spec 3, 4.6: metadata", () => {
  const nested = {
    user: { id: 123, role: "admin" },
    tags: ["urgent", "important"],
    history: [{ action: "created", by: null }],
  };

  check([
    ...[{ rule_id: "auto_approve", custom: "value" }, {}, { type: "static" }, nested].map((metadata) => ({
      clause: `it is preserved: ${JSON.stringify(metadata)}`,
      holds: () =>
        expect(replay({ ...foreign, evaluations: [{ ...vote, metadata }] }).evaluations[0]?.metadata).toEqual(
          metadata,
        ),
    })),
    {
      clause: "that of rules is preserved",
      holds: () =>
        expect(replay(made).evaluations[0]?.metadata).toEqual({
          rule_id: "auto_approve",
          ruleset: "approval",
          type: "rule",
        }),
    },
    {
      clause: "whatever else an evaluation has is preserved, as the hash covers it",
      holds() {
        const payload = hashed({
          ...foreign,
          scoring_strategy: "max_weight",
          confidence: 0.9,
          evaluations: [{ ...vote, model: { name: "m" } }],
        });
        const { evaluations, audit_payload } = replay(payload);
        expect(evaluations).toEqual([{ ...vote, model: { name: "m" } }]);
        expect(audit_payload.deterministic_hash).toBe(payload["deterministic_hash"]);
      },
    },
    {
      clause: "whatever else a payload has is left out, as the hash does not cover it",
      holds: () => expect(replay({ ...made, signed_by: "x" }).audit_payload).toEqual(made),
    },
  ]);
});

describe("spec 3, 4.7: evaluators that no longer exist", () => {
  check([
    {
      clause: "the replay works, and their names are preserved",
      holds() {
        const names = ["DeletedCustomEvaluator", "NonExistentMLEvaluator"];
        const evaluations = names.map((evaluator_name) => ({ ...vote, evaluator_name }));
        expect(replay({ ...foreign, evaluations }).evaluations.map((each) => each.evaluator_name)).toEqual(
          names,
        );
      },
    },
    {
      clause: "two may have one name",
      holds: () => expect(replay({ ...foreign, evaluations: [vote, vote] }).evaluations).toHaveLength(2),
    },
  ]);
});

describe("spec 3, 4.8: scoring strategies", () => {
  const votes = [
    { ...vote, decision: "reject", weight: 0.75 },
    { ...vote, decision: "approve", weight: 0.5 },
    { ...vote, decision: "approve", weight: 0.5 },
  ];
  const scored = (scoring_strategy: unknown, scoring_parameters?: unknown) => {
    const { replayed, told } = leniently({
      ...foreign,
      evaluations: votes,
      scoring_strategy,
      scoring_parameters,
    });
    return { decision: replayed.decision, confidence: replayed.confidence, warnings: told.slice(0, -1) };
  };
  const never = { threshold: 0.9, fallback_decision: "later" };

  check([
    ...(
      [
        ["weighted_average", "WeightedAverage", {}, "approve", 0.5714],
        ["max_weight", "MaxWeight", {}, "reject", 0.75],
        ["consensus", "Consensus", { minimum_agreement: 0.6 }, "approve", 0.6667],
        ["consensus", "Consensus", { minimum_agreement: 0.7 }, "approve", 0],
        ["consensus", "Consensus", {}, "approve", 0.6667],
        ["threshold", "Threshold", { ...never, threshold: 0.75 }, "reject", 0.75],
        ["threshold", "Threshold", never, "later", 0.375],
      ] as const
    ).flatMap(([name, className, parameters, decision, confidence]) =>
      [name, className, `DecisionAgent::Scoring::${className}`].map((each) => ({
        clause: `${each} ${JSON.stringify(parameters)}: ${decision}, ${confidence}`,
        holds: () => expect(scored(each, parameters)).toEqual({ decision, confidence, warnings: [] }),
      })),
    ),
    ...[undefined, null].map((strategy) => ({
      clause: `a strategy that is ${strategy} is weighted_average`,
      holds: () =>
        expect(scored(strategy)).toEqual({ decision: "approve", confidence: 0.5714, warnings: [] }),
    })),
    ...["DecisionAgent::Scoring::DeprecatedBayesianStrategy", "toString", "Max_Weight", "own", ""].map(
      (strategy) => ({
        clause: `an unknown one, \`${strategy}\`, is weighted_average with a warning`,
        holds: () =>
          expect(scored(strategy, { alpha: 1 })).toEqual({
            decision: "approve",
            confidence: 0.5714,
            warnings: [
              `[DecisionAgent::Replay] the scoring strategy \`${strategy}\` is unknown, so \`weighted_average\` was used`,
            ],
          }),
      }),
    ),
    {
      clause: "an unknown one may cause a mismatch in strict mode",
      holds: () =>
        expect(mismatchOf({ ...foreign, confidence: 0.9, scoring_strategy: "Bayesian" }).differences).toEqual(
          ["confidence mismatch (expected: 0.9, got: 1)"],
        ),
    },
    {
      clause: "an unknown one is warned of in strict mode too",
      holds() {
        const told: string[] = [];
        replay({ ...foreign, scoring_strategy: "Bayesian" }, { warn: (text) => told.push(text) });
        expect(told).toEqual([
          "[DecisionAgent::Replay] the scoring strategy `Bayesian` is unknown, so `weighted_average` was used",
        ]);
      },
    },
    {
      clause: "an unknown one stays in the payload, with its parameters",
      holds() {
        const bayesian = { scoring_strategy: "Bayesian", scoring_parameters: { alpha: 1 } };
        const { replayed } = leniently({ ...foreign, ...bayesian });
        expect(replayed.audit_payload).toMatchObject(bayesian);
        expect(replayed.scoring_strategy).toBe("weighted_average");
      },
    },
    {
      clause: "a threshold that is not told is that of the contract's own library, with a warning",
      holds() {
        expect(scored("DecisionAgent::Scoring::Threshold")).toEqual({
          decision: "reject",
          confidence: 0.75,
          warnings: [
            "[DecisionAgent::Replay] the payload has no `threshold`, so `0.7` was used",
            "[DecisionAgent::Replay] the payload has no `fallback_decision`, so `no_decision` was used",
          ],
        });
        expect(scored("Threshold", { threshold: 0.8 })).toMatchObject({
          decision: "no_decision",
          confidence: 0.375,
        });
      },
    },
    {
      clause: "what was assumed is in the payload of the replay",
      holds: () =>
        expect(
          leniently({ ...foreign, scoring_strategy: "Threshold" }).replayed.audit_payload.scoring_parameters,
        ).toEqual({ threshold: 0.7, fallback_decision: "no_decision" }),
    },
    ...(
      [
        [
          "threshold",
          { ...never, threshold: 1.5 },
          "the strategy `threshold` needs a `threshold` from 0 to 1",
        ],
        [
          "threshold",
          { ...never, threshold: "0.5" },
          "the strategy `threshold` needs a `threshold` from 0 to 1",
        ],
        [
          "threshold",
          { ...never, fallback_decision: 1 },
          "the strategy `threshold` needs a `fallback_decision`",
        ],
        [
          "consensus",
          { minimum_agreement: -1 },
          "the strategy `consensus` needs a `minimum_agreement` from 0 to 1",
        ],
      ] as const
    ).map(([scoring_strategy, scoring_parameters, message]) => ({
      clause: `${scoring_strategy} ${JSON.stringify(scoring_parameters)} raises InvalidScoringStrategyError`,
      holds: () =>
        expect(errorOf({ ...foreign, scoring_strategy, scoring_parameters })).toEqual({
          name: "InvalidScoringStrategyError",
          message,
        }),
    })),
  ]);
});

describe("spec 3, 4.9: the deterministic hash", () => {
  const scorings: readonly Scoring[] = [
    { strategy: "weighted_average" },
    { strategy: "max_weight" },
    { strategy: "consensus" },
    { strategy: "consensus", minimum_agreement: 1 },
    threshold(0.5),
    threshold(0.95),
  ];

  check([
    ...scorings.map((scoring) => ({
      clause: `it is the original one: ${JSON.stringify(scoring)}`,
      holds() {
        const payload = payloadOf(voting(["approve", 0.9], ["reject", 0.8], ["review", 0.3]), { scoring });
        expect(replay(payload).audit_payload).toEqual(payload);
      },
    })),
    ...["DecisionAgent::Scoring::MaxWeight", "MaxWeight"].map((scoring_strategy) => ({
      clause: `it covers the name of the strategy as it is stored: ${scoring_strategy}`,
      holds() {
        const payload = hashed({ ...foreign, confidence: 0.9, scoring_strategy });
        const { audit_payload } = replay(payload);
        expect(audit_payload).toMatchObject({
          scoring_strategy,
          deterministic_hash: payload["deterministic_hash"],
        });
      },
    })),
    {
      clause: "it holds for an unknown strategy whose decision and confidence match",
      holds() {
        const payload = hashed({ ...foreign, scoring_strategy: "Bayesian" });
        expect(leniently(payload).replayed.audit_payload.deterministic_hash).toBe(
          payload["deterministic_hash"],
        );
      },
    },
    {
      clause: "it holds for a confidence that was not rounded",
      holds() {
        const evaluations = [vote, vote, { ...vote, decision: "reject" }];
        const payload = hashed({
          ...foreign,
          evaluations,
          confidence: 2 / 3,
          scoring_strategy: "weighted_average",
        });
        const { confidence, audit_payload } = replay(payload);
        expect([confidence, audit_payload.deterministic_hash]).toEqual([
          2 / 3,
          payload["deterministic_hash"],
        ]);
      },
    },
    {
      clause: "it is made over what is there: a vote without a reason was hashed without one",
      holds: () =>
        expect(
          whatDiffers(
            hashed({
              ...foreign,
              scoring_strategy: "weighted_average",
              evaluations: [without(vote, "reason", "metadata")],
            }),
          ),
        ).toEqual([]),
    },
    {
      clause: "it ignores the time, the feedback and the version",
      holds: () =>
        expect(
          whatDiffers({ ...made, timestamp: "yesterday", feedback: { x: 1 }, agent_version: "9.9.9" }),
        ).toEqual([]),
    },
    {
      clause: "it is made anew where the decision is another one, and then fits",
      holds() {
        const { audit_payload } = leniently({ ...made, decision: "reject" }).replayed;
        expect(audit_payload).toEqual(made);
        expect(whatDiffers(audit_payload)).toEqual([]);
      },
    },
    {
      clause: "a payload of a replay replays",
      holds() {
        const once = leniently({ ...foreign, confidence: 0.2, scoring_strategy: "Bayesian" }).replayed;
        const { replayed, told } = leniently(once.audit_payload);
        expect(replayed.audit_payload).toEqual(once.audit_payload);
        expect(told).toHaveLength(1);
      },
    },
    {
      clause: "the time, the feedback and the version of the original are preserved",
      holds: () =>
        expect(replay(made).audit_payload).toMatchObject({
          timestamp: noon,
          feedback: { source: "retry" },
          agent_version: made.agent_version,
        }),
    },
  ]);
});

describe("spec 3, 5.3: error messages", () => {
  check([
    ...[1.5, -0.1, Number.NaN, Infinity, 1e308, "0.5", null, [0.5], true, 10n].map((weight) => ({
      clause: `a weight of ${String(weight)}`,
      holds: () =>
        expect(errorOf({ ...foreign, evaluations: [{ ...vote, weight }] })).toEqual({
          name: "InvalidWeightError",
          message: `Weight must be between 0.0 and 1.0, got: ${String(weight)}`,
        }),
    })),
    ...[-0.1, 1.5, Number.NaN, -Infinity, "1", null].map((confidence) => ({
      clause: `a confidence of ${confidence}`,
      holds: () =>
        expect(errorOf({ ...foreign, confidence })).toEqual({
          name: "InvalidConfidenceError",
          message: `Confidence must be between 0.0 and 1.0, got: ${confidence}`,
        }),
    })),
    {
      clause: "bounds are looked at before anything is compared",
      holds: () =>
        expect(errorOf({ ...made, decision: "reject", evaluations: [{ ...vote, weight: 1.5 }] }).name).toBe(
          "InvalidWeightError",
        ),
    },
    {
      clause: "one mismatch",
      holds: () =>
        expect(mismatchOf({ ...foreign, evaluations: [{ ...vote, decision: "reject" }] }).message).toBe(
          "Replay mismatch detected: decision mismatch (expected: approve, got: reject)",
        ),
    },
    {
      clause: "several mismatches",
      holds: () =>
        expect(mismatchOf({ ...unhashed, decision: "reject", confidence: 0.82 }).message).toBe(
          "Replay mismatch detected: decision mismatch (expected: reject, got: approve); " +
            "confidence mismatch (expected: 0.82, got: 0.75)",
        ),
    },
  ]);
});

describe("spec 3, 6: immutability", () => {
  check([
    {
      clause: "6.1 a replayed decision is frozen through and through",
      holds() {
        expect(unfrozen(replay(structuredClone(made)))).toEqual([]);
        expect(unfrozen(leniently({ ...foreign, scoring_strategy: "Threshold" }).replayed)).toEqual([]);
      },
    },
    {
      clause: "6.2 what a caller handed in stays the caller's",
      holds() {
        const payload = structuredClone(made) as unknown as { context: { user: string } };
        const { audit_payload } = replay(payload);
        payload.context.user = "mallory";
        expect(audit_payload.context).toEqual(made.context);
      },
    },
  ]);
});

/*
 * Made once by version 0.1.0: `agent-33 decision evaluate ID --inputs FILE --format jsonl`, of each answer its
 * `audit_payload`. Never made anew: they stand for what is in the logs of those who use that version.
 */
const kept = readFileSync(new URL("../fixtures/replay/payloads-0.1.0.jsonl", import.meta.url), "utf8")
  .trimEnd()
  .split("\n");

describe("spec 3, 8.3: payloads of earlier versions", () => {
  it("are of every strategy", () => {
    const strategies = kept.map((line) => (JSON.parse(line) as AuditPayload).scoring_strategy);
    expect(new Set(strategies)).toEqual(
      new Set(["weighted_average", "max_weight", "consensus", "threshold"]),
    );
    expect(kept).toHaveLength(40);
  });

  it.each(kept.map((line, index) => [index + 1, line] as const))("replay: 0.1.0, line %d", (_line, text) => {
    const payload = JSON.parse(text) as AuditPayload;
    const { replayed, differences, warnings } = compareWithPayload(payload);
    expect({ differences, warnings }).toEqual({ differences: [], warnings: [] });
    expect(canonicalJson(replayed.audit_payload as unknown as Json)).toBe(
      canonicalJson(payload as unknown as Json),
    );
  });
});

describe("what is no audit payload", () => {
  const cyclic: Record<string, unknown> = {};
  cyclic["self"] = cyclic;
  const deep = JSON.parse(`${'{"a":'.repeat(5000)}1${"}".repeat(5000)}`) as unknown;
  const polluting = JSON.parse(
    '{"__proto__": {"context": {}, "evaluations": [], "decision": "x"}}',
  ) as unknown;
  const stubborn = JSON.parse('{"toString": 1, "valueOf": 1}') as unknown;

  it.each<[string, unknown, string, string?]>([
    ...(
      [
        ["nothing", undefined],
        ["null", null],
        ["a number", 7],
        ["text", JSON.stringify(made)],
        ["a boolean", true],
        ["an empty list", []],
        ["a list of payloads", [made]],
        ["a function", () => made],
      ] as const
    ).map(([what, given]): [string, unknown, string] => [what, given, "Audit payload must be an object"]),
    ["an empty object", {}, "Audit payload missing required key: context"],
    ["a map", new Map(Object.entries(made)), "Audit payload missing required key: context"],
    ["keys in the prototype only", Object.create(made), "Audit payload missing required key: context"],
    ["keys in `__proto__` only", polluting, "Audit payload missing required key: context"],
    [
      "evaluations that are a map",
      { ...foreign, evaluations: {} },
      "Audit payload key must be a list: evaluations",
    ],
    [
      "evaluations that are text",
      { ...foreign, evaluations: "[]" },
      "Audit payload key must be a list: evaluations",
    ],
    [
      "evaluations of null",
      { ...foreign, evaluations: null },
      "Audit payload key must be a list: evaluations",
    ],
    [
      "an evaluation that is null",
      { ...foreign, evaluations: [vote, null] },
      "Audit payload key must be an object: evaluations[1]",
    ],
    [
      "a hole among the evaluations",
      { ...foreign, evaluations: Array.from({ length: 2 }) },
      "Audit payload key must be an object: evaluations[0]",
    ],
    [
      "an evaluation with an empty decision",
      { ...foreign, evaluations: [{ ...vote, decision: "" }] },
      "Audit payload key must be text that is not empty: evaluations[0].decision",
    ],
    [
      "an evaluation with a decision that is no text",
      { ...foreign, evaluations: [{ ...vote, decision: {} }] },
      "Audit payload key must be text that is not empty: evaluations[0].decision",
    ],
    [
      "an evaluator without a name",
      { ...foreign, evaluations: [{ ...vote, evaluator_name: "" }] },
      "Audit payload key must be text that is not empty: evaluations[0].evaluator_name",
    ],
    [
      "a reason that is no text",
      { ...foreign, evaluations: [{ ...vote, reason: 1 }] },
      "Audit payload key must be text: evaluations[0].reason",
    ],
    [
      "metadata that is a list",
      { ...foreign, evaluations: [{ ...vote, metadata: [] }] },
      "Audit payload key must be an object: evaluations[0].metadata",
    ],
    [
      "metadata that is no JSON",
      { ...foreign, evaluations: [{ ...vote, metadata: { at: new Date(0) } }] },
      "Audit payload key must be JSON (only plain objects are JSON): evaluations[0].metadata",
    ],
    [
      "something in an evaluation that is no JSON",
      { ...foreign, evaluations: [{ ...vote, later: () => 1 }] },
      "Audit payload key must be JSON (a value of type `function` is not JSON): evaluations[0].later",
    ],
    [
      "a weight that cannot be told",
      { ...foreign, evaluations: [{ ...vote, weight: stubborn }] },
      "Weight must be between 0.0 and 1.0, got: an object",
      "InvalidWeightError",
    ],
    ["a context of null", { ...foreign, context: null }, "Audit payload key must be an object: context"],
    ["a context that is a list", { ...foreign, context: [] }, "Audit payload key must be an object: context"],
    [
      "a context with NaN in it",
      { ...foreign, context: { n: Number.NaN } },
      "Audit payload key must be JSON (`NaN` is not a JSON number): context",
    ],
    [
      "a context that holds itself",
      { ...foreign, context: cyclic },
      "Audit payload key must be JSON (it is nested deeper than 128): context",
    ],
    [
      "a context nested too deep",
      { ...foreign, context: deep },
      "Audit payload key must be JSON (it is nested deeper than 128): context",
    ],
    [
      "an empty decision",
      { ...foreign, decision: "" },
      "Audit payload key must be text that is not empty: decision",
    ],
    [
      "a decision of null",
      { ...foreign, decision: null },
      "Audit payload key must be text that is not empty: decision",
    ],
    [
      "feedback that is text",
      { ...foreign, feedback: "none" },
      "Audit payload key must be an object: feedback",
    ],
    [
      "a strategy that is no text",
      { ...foreign, scoring_strategy: {} },
      "Audit payload key must be text: scoring_strategy",
    ],
    [
      "parameters that are a list",
      { ...foreign, scoring_parameters: [] },
      "Audit payload key must be an object: scoring_parameters",
    ],
    ["a time that is no text", { ...foreign, timestamp: 0 }, "Audit payload key must be text: timestamp"],
    [
      "a version that is no text",
      { ...foreign, agent_version: 1 },
      "Audit payload key must be text: agent_version",
    ],
    [
      "a hash that is no text",
      { ...foreign, deterministic_hash: [made.deterministic_hash] },
      "Audit payload key must be text: deterministic_hash",
    ],
  ])("is refused: %s", (_what, payload, message, name = "InvalidRuleDslError") => {
    expect(errorOf(payload)).toEqual({ name, message });
  });
});

describe("an odd audit payload", () => {
  it("may have `__proto__` for a key wherever a key is anything", () => {
    const odd = '{"__proto__": {"polluted": true}, "constructor": null}';
    const text = `{"__proto__": {"decision": "reject"}, "context": ${odd}, "feedback": ${odd},
      "evaluations": [{"decision": "__proto__", "weight": 0.5, "evaluator_name": "e", "metadata": ${odd}}],
      "scoring_parameters": ${odd}, "decision": "__proto__", "confidence": 1}`;
    const { replayed, differences } = compareWithPayload(JSON.parse(text));
    expect(differences).toEqual([]);
    const { context, feedback } = replayed.audit_payload;
    for (const part of [context, feedback, replayed.evaluations[0]?.metadata]) {
      expect(JSON.stringify(part)).toBe(JSON.stringify(JSON.parse(odd)));
    }
    expect(({} as Loose)["polluted"]).toBeUndefined();
  });

  it.each(casesFor(["weighted_average", "threshold"], 1))(
    "may hold very many votes: %s",
    (scoring_strategy) => {
      const evaluations = Array.from({ length: 150_000 }, () => vote);
      const { decision } = leniently({ ...foreign, evaluations, scoring_strategy }).replayed;
      expect(decision).toBe("approve");
    },
  );

  it("may hold very long texts", () => {
    const long = "ä".repeat(1_000_000);
    const payload = hashed({
      ...foreign,
      context: { long },
      decision: long,
      evaluations: [{ ...vote, decision: long, reason: long }],
      scoring_strategy: "weighted_average",
    });
    expect(whatDiffers(payload)).toEqual([]);
  });

  it("may be as deep as a context may be", () => {
    let context: JsonObject = {};
    for (let depth = 1; depth < 128; depth++) context = { in: context };
    const agent = scoredAgent({ evaluators: voting(["approve", 1]) });
    expect(whatDiffers(agent.decide(context).audit_payload)).toEqual([]);
  });
});
