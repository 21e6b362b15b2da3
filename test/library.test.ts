import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type {
  Composed,
  Configuration,
  DecisionRecord,
  Definition,
  Evaluator,
  Guardrail,
  PrecedentTraits,
  Result,
  ScoredResult,
  ScoringPlugIn,
  Store,
} from "../src/index.js";
import {
  assessConsistency,
  CircuitOpenError,
  circuitBreaker,
  compareWithPayload,
  compile,
  compose,
  Failure,
  InvalidEvaluatorError,
  InvalidScoringStrategyError,
  openStore,
  precedentSimilarity,
  precedentTraits,
  replay,
  ReplayMismatchError,
  scoredAgent,
  validateDecision,
} from "../src/index.js";
import type { DecisionError } from "../src/errors.js";
import { replayRecord } from "../src/replay/replay-record.js";
import { ReplayableDefinitions } from "../src/replay/replayable-definitions.js";
import { storeDirectory } from "./store/jsonl-log.js";

const messageOf = (made: Promise<unknown>): Promise<string> =>
  made.then(
    () => "none",
    (error: unknown) => (error as Error).message,
  );

/** A world with these definitions, and a store in memory unless another one is given. */
async function worldOf(yaml: string, more: Partial<Configuration> = {}): Promise<Composed> {
  const decisions = join(storeDirectory(), "decisions");
  mkdirSync(decisions);
  writeFileSync(join(decisions, "d.yaml"), yaml);
  return compose({ decisions, store: "memory", ...more });
}

async function recordsOf({ records }: Composed): Promise<readonly DecisionRecord[]> {
  const found: DecisionRecord[] = [];
  for await (const { record } of records?.log.select({ kind: "decision" }) ?? [])
    found.push(record as DecisionRecord);
  return found;
}

const routing =
  "decision: { id: r, type: switch, cases: [{ condition: 'n > 1', target: many }], default: { target: few } }";

describe("a store of the program", () => {
  it("is used by several worlds, and stays open when one of them is closed", async () => {
    const store = await openStore("memory");
    const world = await worldOf(routing, { store });
    await world.decide({ decision_id: "r", context: { n: 2 } });
    await world.close();
    const other = await worldOf(routing, { store });
    await other.decide({ decision_id: "r", context: { n: 1 } });
    expect((await recordsOf(other)).map(({ selected_targets }) => selected_targets)).toEqual([
      ["many"],
      ["few"],
    ]);
  });

  it("may be any implementation of the port", async () => {
    const memory = await openStore("memory");
    const appended: string[] = [];
    const append: Store["log"]["append"] = (...entries) => {
      appended.push(...entries.map(({ body }) => body));
      return memory.log.append(...entries);
    };
    const world = await worldOf(routing, { store: { ...memory, log: { ...memory.log, append } } });
    await world.decide({ decision_id: "r", context: { n: 2 } });
    expect(appended).toHaveLength(1);
  });

  it("is refused if it is neither a store nor the place of one", async () => {
    for (const store of [{}, 7, "file", { log: {} }])
      expect(await messageOf(worldOf(routing, { store: store as unknown as Store }))).toMatch(
        "`compose` needs a directory of definitions",
      );
  });
});

describe("a gate", () => {
  const gate = (version: number): string => `
decision:
  id: wire-${version}
  type: gate
  action: { org: acme, domain: payments, name: wire.approve, world_model_version: ${version} }
  rules: [{ id: all, tier: T3, severity: 1, when: "true", status: GREEN }]
`;

  it("is found by its key, in the highest version unless one is given", async () => {
    const world = await worldOf([gate(2), gate(3)].join("---"));
    const key = { org_id: "acme", domain: "payments", action: "wire.approve" };
    expect(await world.findGate(key)).toBe("wire-3");
    expect(await world.findGate({ ...key, world_model_version: 2 })).toBe("wire-2");
    expect(await messageOf(world.findGate({ ...key, action: "wire.reject" }))).toBe(
      "no gate for `acme/payments/wire.reject`",
    );
  });
});

describe("validateDecision", () => {
  const route = (guardrails: readonly Guardrail[] = []): Definition => ({
    id: "route",
    type: "weighted",
    cases: [
      { label: "A", weight: 90, target: "stage-a" },
      { label: "B", weight: 10, target: "stage-b" },
    ],
    default: { target: "stage-a" },
    guardrails,
  });
  const leading = { type: "weighted", selected_targets: ["stage-a", "stage-b"] } as unknown as Result;
  const check = { decision_id: "route", check_name: "no_disabled_targets" };

  it("returns one check for each target, with the decision", () => {
    expect(
      validateDecision(route(), leading, [{ type: "no_disabled_targets", disabled_stages: ["stage-b"] }]),
    ).toEqual([
      { ...check, passed: true, message: "Target 'stage-a' is allowed" },
      { ...check, passed: false, message: "Target 'stage-b' is disabled", on_fail: "block" },
    ]);
  });

  it("returns one check for each weight", () => {
    const checks = validateDecision(route(), leading, [{ type: "weight_bounds", min_weight: 20 }]);
    expect(checks.map(({ passed, message }) => [passed, message])).toEqual([
      [true, "Weight 90 for 'A' is within bounds"],
      [false, "Weight 10 for 'B' below minimum 20"],
    ]);
  });

  it("uses the guardrails of the definition, the workflow, declared targets and facts", () => {
    const guardrails: readonly Guardrail[] = [
      { type: "requires_approval", workflows: ["prod-*"], targets: ["stage-b"] },
      { type: "no_disabled_targets" },
      { type: "distribution_drift", minimum: 10 },
    ];
    const options = {
      workflow_id: "prod-1",
      targets: [{ id: "stage-a", disabled: true }],
      facts: { distribution: { sample: 5, p_value: null } },
    };
    const failed = validateDecision(route(guardrails), leading, undefined, options).filter(
      ({ passed }) => !passed,
    );
    expect(failed.map(({ message }) => message)).toEqual([
      "Target 'stage-b' requires approval in workflow 'prod-1'",
      "Target 'stage-a' is disabled",
    ]);
  });

  it.each(["binary", "switch", "rule_table", "scored"] as const)(
    "checks the targets of a %s result",
    (type) => {
      const result = { ...leading, type } as unknown as Result;
      const checks = validateDecision(route(), result, [
        { type: "no_disabled_targets", disabled_stages: ["stage-b"] },
      ]);
      expect(checks.map(({ passed }) => passed)).toEqual([true, false]);
    },
  );

  it("checks the tool of an allowed call, and nothing of a denied one", () => {
    const calls = { id: "calls", type: "policy", tool: "rm" } as Definition;
    const guardrails: readonly Guardrail[] = [{ type: "no_disabled_targets", disabled_stages: ["rm"] }];
    const call = { type: "policy", tool: "rm", selected_targets: [] };
    const passed = (allowed: boolean): readonly boolean[] =>
      validateDecision(calls, { ...call, allowed } as unknown as Result, guardrails).map(
        (each) => each.passed,
      );
    expect([passed(true), passed(false)]).toEqual([[false], []]);
  });

  it("checks the action of a GREEN gate, and nothing of another one", () => {
    const gate = { id: "wire", type: "gate", action: { name: "wire.approve" } } as unknown as Definition;
    const guardrails: readonly Guardrail[] = [
      { type: "no_disabled_targets", disabled_stages: ["wire.approve"] },
    ];
    const passed = (status: string, definition = gate): readonly boolean[] =>
      validateDecision(definition, { type: "gate", status } as unknown as Result, guardrails).map(
        (each) => each.passed,
      );
    expect([passed("GREEN"), passed("YELLOW"), passed("GREEN", route())]).toEqual([[false], [], []]);
  });

  it("returns no checks without guardrails", () => {
    const unguarded = { ...route(), guardrails: undefined } as unknown as Definition;
    expect(validateDecision(unguarded, leading)).toEqual([]);
  });

  it("fails a guardrail that cannot be checked, and rejects an unknown one", () => {
    const checks = validateDecision(route(), leading, [{ type: "distribution_drift" }]);
    expect(checks.map(({ passed }) => passed)).toEqual([false]);
    expect(checks[0]?.message).toMatch("could not be checked");
    expect(() =>
      validateDecision(route(), leading, [{ type: "weight_bound" } as unknown as Guardrail]),
    ).toThrow("unknown guardrail `weight_bound`");
    const typo = (type: string): unknown => {
      try {
        return validateDecision(route(), leading, [{ type } as unknown as Guardrail]);
      } catch (error) {
        return (error as DecisionError).hint;
      }
    };
    expect(typo("weight_bound")).toContain("`weight_bounds`");
    expect(typo("xyz")).toContain("choose one of no_disabled_targets");
  });
});

describe("the similarity of precedents", () => {
  const segment = { type: "segment", id: "enterprise" };
  const traits: PrecedentTraits = { entities: [segment], sources: ["params", "session"], params: ["name"] };

  it.each<[string, Partial<PrecedentTraits>, number]>([
    ["the same", {}, 1],
    ["another source", { sources: ["params", "other"] }, 0.6],
    ["no params", { params: [] }, 0.75],
    ["another entity", { entities: [{ type: "segment", id: "smb" }] }, 0.6],
    ["nothing", { entities: [], sources: [], params: [] }, 0],
  ])("with %s is the shared traits divided by all", (_name, other, similarity) => {
    expect(precedentSimilarity(traits, { ...traits, ...other })).toBe(similarity);
    expect(precedentSimilarity({ ...traits, ...other }, traits)).toBe(similarity);
  });

  it("is that of recorded precedents, and the observer reports their deviations", async () => {
    const world = await worldOf(`
decision:
  id: r
  type: switch
  cases: [{ label: many, condition: "n > 1", target: many }]
  default: { target: few }
  entities: [{ type: customer, id: "{{ id }}" }]
`);
    await world.decide({ decision_id: "r", context: { n: 2, id: "c" } });
    await world.decide({ decision_id: "r", context: { n: 1, id: "c" } });
    const [first, second] = await recordsOf(world);
    if (first === undefined || second === undefined || world.records === undefined) throw new Error();
    expect(second.lineage?.precedents[0]?.similarity).toBe(
      precedentSimilarity(precedentTraits(first), precedentTraits(second)),
    );
    expect(await assessConsistency([second, first], world.records.log)).toMatchObject({
      observer: "precedent_consistency",
      severity: "caution",
      decisions: 2,
      deviations: [{ record_id: second.record_id, deviation_type: "outcome_differs" }],
    });
  });
});

describe("a circuit breaker", () => {
  const fails = (): Promise<never> => Promise.reject(new Error("down"));

  it("opens after failures, lets one call through after its timeout, and closes after successes", async () => {
    let now = 0;
    const options = { failure_threshold: 2, timeout: "10s", success_threshold: 1, now: () => now };
    const breaker = circuitBreaker(options);
    expect(await breaker.call(() => "up")).toBe("up");
    for (const state of ["CLOSED", "OPEN"]) {
      expect(await messageOf(breaker.call(fails))).toBe("down");
      expect(breaker.state).toBe(state);
    }
    await expect(breaker.call(() => "up")).rejects.toThrow(CircuitOpenError);
    await expect(breaker.call(() => "up")).rejects.toThrow(
      "the circuit is open until 1970-01-01T00:00:10.000Z",
    );
    now = 10_000;
    let answer: (text: string) => void = () => undefined;
    const probe = breaker.call(() => new Promise<string>((resolve) => (answer = resolve)));
    expect(breaker.state).toBe("HALF_OPEN");
    await expect(breaker.call(() => "up")).rejects.toThrow(CircuitOpenError);
    answer("up");
    expect([await probe, breaker.state]).toEqual(["up", "CLOSED"]);
  });

  it("ignores errors that say nothing about the service, and can be reset", async () => {
    const breaker = circuitBreaker({
      failure_threshold: 1,
      isFailure: (error) => (error as Error).message === "down",
    });
    const rejects = (message: string): Promise<string> =>
      messageOf(breaker.call(() => Promise.reject(new Error(message))));
    await rejects("not found");
    expect(breaker.state).toBe("CLOSED");
    await rejects("down");
    expect(breaker.state).toBe("OPEN");
    breaker.reset();
    expect(breaker.state).toBe("CLOSED");
  });

  it.each([
    [{ failure_threshold: 0 }, "`failure_threshold` must be a whole number of at least 1 (got `0`)"],
    [{ success_threshold: 1.5 }, "`success_threshold` must be a whole number of at least 1 (got `1.5`)"],
    [{ timeout: "soon" }, "`soon` is not a duration"],
  ])("rejects %j", (options, message) => {
    expect(() => circuitBreaker(options)).toThrow(message);
  });
});

describe("a failed expression", () => {
  it("is a Failure with the reason", () => {
    const value = compile("a.b > 1").evaluate({ context: {}, input: undefined, facts: {}, system: {} });
    expect(value).toBeInstanceOf(Failure);
    expect((value as Failure).message).toBe("`a.b` is missing");
  });
});

describe("a custom scoring strategy", () => {
  const lowest = (parameters?: ScoringPlugIn["parameters"]): ScoringPlugIn => ({
    name: "lowest",
    ...(parameters && { parameters }),
    score: (evaluations) => {
      const [first] = evaluations.toSorted((a, b) => a.weight - b.weight);
      return { decision: first?.decision ?? "", confidence: first?.weight ?? 0 };
    },
  });
  const agent = scoredAgent({
    evaluators: [
      { name: "a", static: { decision: "approve", weight: 0.9 } },
      { name: "b", static: { decision: "reject", weight: 0.2 } },
    ],
    scoring: lowest(),
  });
  const { audit_payload: payload } = agent.decide({});
  const warned: string[] = [];
  const warn = (text: string): number => warned.push(text);

  it("can be given to a replay, which otherwise does not know it", () => {
    expect(replay(payload, { strategies: [lowest()], warn }).decision).toBe("reject");
    expect(warned).toEqual([]);
    expect(() => replay(payload, { warn })).toThrow(ReplayMismatchError);
    expect(compareWithPayload(payload, { strategies: [lowest()] }).differences).toEqual([]);
    expect(compareWithPayload(payload).differences).not.toEqual([]);
  });

  it("warns if the payload was made with other parameters", () => {
    const { warnings } = compareWithPayload(payload, { strategies: [lowest({ threshold: 0.5 })] });
    expect(warnings).toEqual(["the payload was made with other parameters of `lowest`"]);
  });

  it.each<[string, unknown, string]>([
    [
      "that takes the place of a built-in one",
      { ...lowest(), name: "max_weight" },
      "built-in scoring strategy",
    ],
    ["without a function", { name: "lowest" }, "needs a name and a function `score`"],
  ])("is refused %s", (_name, strategy, message) => {
    const strategies = [strategy as ScoringPlugIn];
    expect(() => replay(payload, { strategies })).toThrow(InvalidScoringStrategyError);
    expect(() => replay(payload, { strategies })).toThrow(message);
  });
});

describe("an evaluator that is registered for definition files", () => {
  const loan = (more = ""): string => `
decision:
  id: loan
  type: scored
  evaluators:
    - { name: model, custom: credit_model, metadata: { team: risk } }
    - { name: caution, static: { decision: review, weight: 0.3 } }
  scoring: { strategy: max_weight }
  targets: { approve: stage-approve, review: stage-review }
${more}`;
  const model: Evaluator = {
    name: "credit_model",
    evaluate: async ({ score }, { feedback }) =>
      Promise.resolve({
        decision: Number(score) > 600 ? "approve" : "review",
        weight: 0.9,
        reason: `score ${JSON.stringify(score)}`,
        metadata: { model: "v3", feedback },
      }),
  };
  const asked = { decision_id: "loan", context: { score: 700 }, feedback: { source: "retry" } };

  it("votes with the context and the feedback, also if it is asynchronous", async () => {
    const world = await worldOf(loan(), { evaluators: [model] });
    const result = (await world.decide(asked)) as ScoredResult;
    expect(result).toMatchObject({ decision: "approve", selected_targets: ["stage-approve"], warnings: [] });
    expect(result.evaluations[0]).toEqual({
      decision: "approve",
      weight: 0.9,
      reason: "score 700",
      evaluator_name: "model",
      metadata: { type: "custom", team: "risk", model: "v3", feedback: { source: "retry" } },
    });
  });

  it("is recorded with its vote, so that a replay needs no code", async () => {
    const world = await worldOf(loan(), { evaluators: [model] });
    await world.decide(asked);
    const line = await world.records?.log.find({ seq: 1 });
    if (line === undefined || !("record" in line) || line.record.kind !== "decision") throw new Error();
    const { record } = line;
    expect(record.facts["votes"]).toMatchObject({ credit_model: { decision: "approve", weight: 0.9 } });
    const store = world.records?.store;
    if (store === undefined) throw new Error();
    const definition = await new ReplayableDefinitions(store).get(record);
    expect(replayRecord({ ...line, record }, definition)).toEqual({ status: "matched" });
  });

  it.each<[string, Evaluator["evaluate"], string | undefined]>([
    ["returns nothing", () => undefined, undefined],
    [
      "throws",
      () => {
        throw new Error("no connection");
      },
      "no connection",
    ],
    ["rejects", () => Promise.reject(new Error("no connection")), "no connection"],
    [
      "returns an invalid vote",
      () => ({ decision: "approve", weight: 2, reason: "" }),
      "Weight must be between 0.0 and 1.0, got: 2",
    ],
  ])("has no vote if it %s", async (_name, evaluate, error) => {
    const world = await worldOf(loan(), { evaluators: [{ name: "credit_model", evaluate }] });
    const result = (await world.decide(asked)) as ScoredResult;
    expect(result.decision).toBe("review");
    expect(result.warnings).toEqual(error === undefined ? [] : [`\`model\` has no vote: ${error}`]);
    await (error === undefined
      ? world.decide({ ...asked, strict: true })
      : expect(world.decide({ ...asked, strict: true })).rejects.toMatchObject({
          code: "condition_errored",
        }));
  });

  it("must be registered: without it, no decision is made", async () => {
    for (const more of [{}, { evaluators: [{ ...model, name: "other" }] }]) {
      const world = await worldOf(loan(), more);
      await expect(world.decide(asked)).rejects.toMatchObject({
        code: "invalid_evaluator",
        message: "the evaluator `credit_model` of `loan` is not registered",
      });
      expect(await recordsOf(world)).toEqual([]);
    }
  });

  it("does not bring masked values into the record", async () => {
    const mask = "  logging: { mask: [/ssn] }\n";
    const evaluate: Evaluator["evaluate"] = ({ ssn }) => ({
      decision: "approve",
      weight: 0.9,
      reason: `checked ${JSON.stringify(ssn)}`,
      metadata: { ssn: ssn ?? null, n: 1 },
    });
    const world = await worldOf(loan(mask), { evaluators: [{ name: "credit_model", evaluate }] });
    const result = await world.decide({ decision_id: "loan", context: { ssn: "123-45-6789" } });
    const [record] = await recordsOf(world);
    expect(JSON.stringify([result, record])).not.toContain("6789-");
    expect(JSON.stringify([result, record])).not.toContain("123-45");
    expect(record?.facts["votes"]).toMatchObject({ credit_model: { metadata: { ssn: "[masked]", n: 1 } } });
  });

  it.each<[string, unknown, string]>([
    ["no list", {}, "`evaluators` must be a list"],
    ["one without a name", [{ evaluate: () => null }], "an evaluator needs a name"],
    ["one without a function", [{ name: "x" }], "the evaluator `x` has no function `evaluate`"],
    ["two with one name", [model, model], "the evaluator `credit_model` is registered twice"],
  ])("is checked when the world is composed: %s", async (_name, evaluators, message) => {
    const composed = worldOf(loan(), { evaluators: evaluators as readonly Evaluator[] });
    await expect(composed).rejects.toThrow(InvalidEvaluatorError);
    await expect(composed).rejects.toThrow(message);
  });
});
