import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type {
  AuthenticatedCaller,
  Composed,
  Configuration,
  DecisionRecord,
  Guardrail,
  LogRecord,
  RoutingDefinition,
  ScoredResult,
  ScoringPlugIn,
  Store,
} from "../../src/index.js";
import {
  assessConsistency,
  CircuitOpenError,
  circuitBreaker,
  compile,
  compose,
  Failure,
  openStore,
  precedentSimilarity,
  precedentTraits,
  replay,
  ReplayMismatchError,
  scoredAgent,
  validateDecision,
} from "../../src/index.js";
import { storeDirectory } from "../store/jsonl-log.js";

/** A world with these definitions; JSON is YAML too. */
async function worldOf(documents: readonly object[], more: Partial<Configuration> = {}): Promise<Composed> {
  const decisions = join(storeDirectory(), "decisions");
  mkdirSync(decisions);
  writeFileSync(join(decisions, "d.yaml"), documents.map((each) => JSON.stringify(each)).join("\n---\n"));
  return compose({ decisions, store: "memory", ...more });
}

async function decisionsIn(log: Store["log"]): Promise<readonly DecisionRecord[]> {
  const found: LogRecord[] = [];
  for await (const { record } of log.select({ kind: "decision" })) found.push(record);
  return found as readonly DecisionRecord[];
}

const split: RoutingDefinition = {
  id: "split",
  type: "weighted",
  cases: [
    { label: "A", weight: 97, target: "stage-a" },
    { label: "B", weight: 3, target: "stage-b" },
  ],
  default: { target: "stage-a" },
};

const guardrails: readonly Guardrail[] = [
  { type: "no_disabled_targets", disabled_stages: ["stage-b"] },
  { type: "weight_bounds", min_weight: 5 },
];

describe("spec 1: validate_decision", () => {
  const checks = [
    ["no_disabled_targets", true, "Target 'stage-a' is allowed"],
    ["weight_bounds", true, "Weight 97 for 'A' is within bounds"],
    ["weight_bounds", false, "Weight 3 for 'B' below minimum 5"],
  ].map(([check_name, passed, message]) => ({ decision_id: "split", check_name, passed, message }));

  it("answers with the checks of a decision, each with decision_id, check_name, passed and message", async () => {
    const result = await (await worldOf([{ decision: split }])).decide({ decision_id: "split", context: {} });
    expect(validateDecision(split, result, guardrails)).toMatchObject(checks);
  });

  it("is run for every decision, whose checks carry its id", async () => {
    const world = await worldOf([{ decision: { ...split, guardrails } }]);
    const result = await world.decide({ decision_id: "split", context: {} });
    expect(result.guardrails).toMatchObject(checks);
  });
});

const routed = {
  decision: {
    id: "route",
    type: "switch",
    cases: [{ label: "many", condition: "n > 1", target: "stage-many" }],
    default: { target: "stage-few" },
    entities: [{ type: "customer", id: "{{ customer }}" }],
  },
};

describe("spec 2 and 4: precedents of any store", () => {
  it("the precedent store is a protocol: any store of the program is accepted, and several worlds share it", async () => {
    const memory = await openStore("memory");
    const bodies: string[] = [];
    const append: Store["log"]["append"] = (...entries) => {
      bodies.push(...entries.map(({ body }) => body));
      return memory.log.append(...entries);
    };
    const store: Store = { ...memory, log: { ...memory.log, append } };
    for (const n of [2, 3]) {
      const world = await worldOf([routed], { store });
      await world.decide({ decision_id: "route", context: { n, customer: "acme" } });
      await world.close();
    }
    expect(bodies).toHaveLength(2);
    const [first, second] = await decisionsIn(store.log);
    expect(second?.lineage?.precedents).toMatchObject([{ record_id: first?.record_id, similarity: 1 }]);
  });

  it("find_similar scores entity, source and param overlap", () => {
    const entity = (id: string): { type: string; id: string } => ({ type: "customer", id });
    const a = { entities: [entity("1"), entity("2")], sources: ["params", "session"], params: ["name"] };
    // 1 of 3 entities, 1 of 3 sources and 1 of 1 names.
    const b = { entities: [entity("1"), entity("3")], sources: ["params", "resources"], params: ["name"] };
    expect(precedentSimilarity(a, b)).toBe(0.4286);
    expect(precedentSimilarity(a, a)).toBe(1);
  });

  it("PrecedentConsistencyObserver assesses the last decisions, and scores as the records do", async () => {
    const world = await worldOf([routed]);
    for (const n of [2, 1]) await world.decide({ decision_id: "route", context: { n, customer: "acme" } });
    const { records } = world;
    if (records === undefined) throw new Error("there is a store");
    const [first, second] = await decisionsIn(records.log);
    if (first === undefined || second === undefined) throw new Error("there are two records");
    expect(second.lineage?.precedents).toMatchObject([
      { similarity: precedentSimilarity(precedentTraits(first), precedentTraits(second)) },
    ]);
    expect(await assessConsistency([second, first], records.log)).toMatchObject({
      observer: "precedent_consistency",
      severity: "caution",
      summary: "1 of 2 decisions deviated from precedent",
      deviations: [{ deviation_type: "outcome_differs", explanation: "`default` now, `many` before" }],
    });
  });
});

describe("spec 3: what a program plugs in", () => {
  const cautious: ScoringPlugIn = {
    name: "cautious",
    score(evaluations) {
      const [least] = evaluations.toSorted((a, b) => a.weight - b.weight);
      return { decision: least?.decision ?? "", confidence: least?.weight ?? 0 };
    },
  };
  const votes = [
    { name: "a", static: { decision: "approve", weight: 0.9 } },
    { name: "b", static: { decision: "reject", weight: 0.2 } },
  ];

  it("4.8 and 10: a custom scoring strategy replays its payloads; without it, weighted_average may not match", () => {
    const { audit_payload: payload } = scoredAgent({ evaluators: votes, scoring: cautious }).decide({});
    expect(payload).toMatchObject({ scoring_strategy: "cautious", decision: "reject", confidence: 0.2 });
    const warned: string[] = [];
    const warn = (text: string): number => warned.push(text);
    const replayed = replay(payload, { strategies: [cautious], warn });
    expect([replayed.decision, replayed.confidence, warned]).toEqual(["reject", 0.2, []]);
    expect(replayed.audit_payload.deterministic_hash).toBe(payload.deterministic_hash);
    expect(() => replay(payload, { warn })).toThrow(ReplayMismatchError);
    expect(warned).toEqual([expect.stringContaining("`cautious`")]);
  });

  it("1.5 and 10: a custom evaluator votes for a definition file, and may be asynchronous", async () => {
    const loan = {
      id: "loan",
      type: "scored",
      evaluators: [{ name: "model", custom: "credit_model" }, ...votes.slice(1)],
    };
    const credit_model = {
      name: "credit_model",
      evaluate: async (
        { score }: { readonly score?: unknown },
        { feedback }: { readonly feedback: object },
      ) => {
        await Promise.resolve();
        return {
          decision: Number(score) > 600 ? "approve" : "refer",
          weight: 0.9,
          reason: JSON.stringify(feedback),
        };
      },
    };
    const world = await worldOf([{ decision: loan }], { evaluators: [credit_model] });
    const request = { decision_id: "loan", context: { score: 700 }, feedback: { retry: true } };
    const result = (await world.decide(request)) as ScoredResult;
    expect(result).toMatchObject({ decision: "approve", warnings: [] });
    expect(result.evaluations[0]).toMatchObject({ evaluator_name: "model", reason: '{"retry":true}' });
  });

  it("6.6 CircuitBreaker.new(failure_threshold: 5, timeout: 60, success_threshold: 2)", async () => {
    let now = 0;
    const breaker = circuitBreaker({
      failure_threshold: 5,
      timeout: "60s",
      success_threshold: 2,
      now: () => now,
    });
    const states: string[] = [];
    const call = async (answer: () => Promise<string>): Promise<unknown> => {
      const settled = await breaker.call(answer).catch((error: unknown) => error);
      states.push(breaker.state);
      return settled;
    };
    const up = (): Promise<string> => Promise.resolve("up");
    const down = (): Promise<string> => Promise.reject(new Error("down"));
    for (let failures = 0; failures < 5; failures++) await call(down);
    expect(states.splice(0)).toEqual(["CLOSED", "CLOSED", "CLOSED", "CLOSED", "OPEN"]);
    now = 59_999;
    expect(await call(up)).toBeInstanceOf(CircuitOpenError);
    now = 60_000;
    expect([await call(up), await call(up)]).toEqual(["up", "up"]);
    expect(states).toEqual(["OPEN", "HALF_OPEN", "CLOSED"]);
  });
});

describe("spec 5: execution in a program", () => {
  const gate = (version: number, when = "true"): object => ({
    decision: {
      id: `wire-${version}`,
      type: "gate",
      action: { org: "acme", domain: "pay", name: "wire", world_model_version: version },
      rules: [{ id: "r", tier: "T3", severity: 1, when, status: "GREEN" }],
    },
  });

  it("phase 2: the routing key resolves to a gate, without a version to the highest", async () => {
    const world = await worldOf([gate(2), gate(10), gate(9)]);
    const key = { org_id: "acme", domain: "pay", action: "wire" };
    expect(await world.findGate(key)).toBe("wire-10");
    expect(await world.findGate({ ...key, world_model_version: 2 })).toBe("wire-2");
    await expect(world.findGate({ ...key, org_id: "umbrella" })).rejects.toMatchObject({
      code: "definition_not_found",
    });
  });

  it("phase 1: authenticated_caller is system-generated context, also of a program's own authentication", async () => {
    const caller: AuthenticatedCaller = {
      subject: "alice",
      issuer: "https://id.example",
      scopes: ["decide"],
      delegated: true,
      actors: [{ subject: "agent-7" }],
    };
    const world = await worldOf([gate(1, "system.authenticated_caller.actors.0.subject == 'agent-7'")]);
    const result = await world.decide({ decision_id: "wire-1", context: {}, caller });
    expect(result).toMatchObject({ type: "gate", status: "GREEN" });
    const [record] = world.records === undefined ? [] : await decisionsIn(world.records.log);
    expect(record?.facts["authenticated_caller"]).toEqual(caller);
  });

  it("phase 4: a predicate that cannot be evaluated is a Failure with its reason, not an exception", () => {
    const value = compile("amount > 10").evaluate({
      context: { amount: "11" },
      input: undefined,
      facts: {},
      system: {},
    });
    expect(value).toBeInstanceOf(Failure);
    expect((value as Failure).message).toContain("text");
  });
});
