import { describe, expect, it } from "vitest";
import {
  InvalidAuditAdapterError,
  InvalidConfigurationError,
  InvalidEvaluatorError,
  InvalidScoringStrategyError,
  NoEvaluationsError,
} from "../../src/errors.js";
import type { AuditAdapter, ScoredAgent, ScoredAgentOptions } from "../../src/decide/scored-agent.js";
import { scoredAgent } from "../../src/decide/scored-agent.js";
import type { Evaluator } from "../../src/evaluate/scored/plug-ins.js";
import type { AuditPayload } from "../../src/model/result.js";
import { version } from "../../src/version.js";
import {
  ifRule,
  ruleset,
  says,
  threshold,
  thrownBy,
  unfrozen,
  voting,
  whenRule,
} from "../evaluate/scored/votes.js";

const noon = "2026-03-02T12:00:00.000000Z";

const agentOf = (
  evaluators: ScoredAgentOptions["evaluators"],
  extra: Partial<ScoredAgentOptions> = {},
): ScoredAgent => scoredAgent({ evaluators, clock: () => noon, ...extra });

const house = says("house", "approve", 0.85, "User meets criteria");

const faulty: Evaluator = {
  name: "faulty",
  evaluate() {
    throw new Error("broken");
  },
};

describe("an agent", () => {
  it("decides by votes, and tells all that there is to know", () => {
    const made = agentOf([house]).decide({ user: "alice" });
    const evaluation = {
      decision: "approve",
      weight: 0.85,
      reason: "User meets criteria",
      evaluator_name: "house",
      metadata: { type: "static" },
    };
    expect(made).toEqual({
      decision: "approve",
      confidence: 1,
      evaluations: [evaluation],
      explanations: [
        "Decision: approve (confidence 1)",
        "house voted approve with weight 0.85: User meets criteria",
        "Resolved by weighted_average: the greatest sum of weights decides",
      ],
      scoring_strategy: "weighted_average",
      scoring_parameters: {},
      because: ["User meets criteria"],
      failed_conditions: [],
      explainability: { decision: "approve", because: ["User meets criteria"], failed_conditions: [] },
      audit_payload: {
        timestamp: noon,
        context: { user: "alice" },
        feedback: {},
        evaluations: [evaluation],
        decision: "approve",
        confidence: 1,
        scoring_strategy: "weighted_average",
        scoring_parameters: {},
        agent_version: version,
        deterministic_hash: made.audit_payload.deterministic_hash,
      },
      failures: [],
    });
  });

  it("uses the strategy it was given", () => {
    const { decision, confidence } = agentOf(voting(["approve", 0.5]), { scoring: threshold(0.8) }).decide(
      {},
    );
    expect({ decision, confidence }).toEqual({ decision: "manual_review", confidence: 0.25 });
  });

  it("uses a strategy of one's own, and records its parameters", () => {
    const scoring = {
      name: "last",
      parameters: { threshold: 0.1 },
      score: (evaluations: readonly { readonly decision: string }[]) => ({
        decision: evaluations.at(-1)?.decision ?? "",
        confidence: 0.123456,
      }),
    };
    const { audit_payload } = agentOf(voting(["a", 1], ["b", 0]), { scoring }).decide({});
    expect(audit_payload).toMatchObject({
      decision: "b",
      confidence: 0.1235,
      scoring_strategy: "last",
      scoring_parameters: { threshold: 0.1 },
    });
  });

  it("tells the time of the machine unless it has a clock", () => {
    const { timestamp } = scoredAgent({ evaluators: [house] }).decide({}).audit_payload;
    expect(timestamp).toMatch(/^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}\.\d{6}Z$/);
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
  });

  it("goes on without an evaluator that fails, and tells of it", () => {
    const { decision, evaluations, failures } = agentOf([faulty, house]).decide({});
    expect({ decision, votes: evaluations.length, failures }).toEqual({
      decision: "approve",
      votes: 1,
      failures: [{ evaluator: "faulty", error: "broken" }],
    });
  });

  it("can decide nothing where nobody votes", () => {
    const error = thrownBy(() => agentOf([faulty, { name: "mute", evaluate: () => null }]).decide({}));
    expect(error).toBeInstanceOf(NoEvaluationsError);
    expect((error as Error).message).toBe("No evaluators returned a decision; `faulty` failed: broken");
  });

  it("is frozen in what it gives, through and through", () => {
    const rules = ruleset("r", [ifRule("a", { field: "n", op: "gt", value: [1, 2].length })]);
    const own: Evaluator = {
      name: "own",
      evaluate: () => ({
        decision: "approve",
        weight: 1,
        reason: "",
        metadata: { user: { roles: ["admin"] } },
      }),
    };
    const scoring = { name: "s", parameters: {}, score: () => ({ decision: "approve", confidence: 1 }) };
    const made = agentOf([rules, own, faulty], { scoring }).decide(
      { n: 5 },
      { feedback: { a: [1] }, verbose: true },
    );
    expect(unfrozen(made)).toEqual([]);
  });

  it("leaves the context and the feedback that it was given as they are", () => {
    const context = { list: [{ a: 1 }] };
    const feedback = { from: { who: "me" } };
    const { audit_payload } = agentOf([house]).decide(context, { feedback });
    expect([context, feedback].flatMap((each) => unfrozen(each))).not.toEqual([]);
    context.list.push({ a: 2 });
    feedback.from.who = "you";
    expect(audit_payload).toMatchObject({ context: { list: [{ a: 1 }] }, feedback: { from: { who: "me" } } });
  });

  it("does not let an evaluator change the context", () => {
    const vandal: Evaluator = {
      name: "vandal",
      evaluate(context) {
        (context as Record<string, unknown>)["user"] = "mallory";
        return null;
      },
    };
    const { audit_payload, failures } = agentOf([vandal, house]).decide({ user: "alice" });
    expect(audit_payload.context).toEqual({ user: "alice" });
    expect(failures).toEqual([
      { evaluator: "vandal", error: expect.stringContaining("read only") as string },
    ]);
  });

  it.each([undefined, null, "text", [1], 7])("refuses the context %s", (context) => {
    expect(thrownBy(() => agentOf([house]).decide(context))).toMatchObject({ code: "input_invalid" });
  });

  it.each([null, "text", [1], 7])("refuses the feedback %s", (feedback) => {
    expect(thrownBy(() => agentOf([house]).decide({}, { feedback }))).toMatchObject({
      code: "input_invalid",
    });
  });
});

describe("the traces of an agent", () => {
  const rules = ruleset("r", [whenRule("a", "n > 1"), ifRule("b", { field: "n", op: "eq", value: 1 })]);

  it("are there only where all is wanted", () => {
    expect(agentOf([rules]).decide({ n: 1 }).explainability).not.toHaveProperty("rule_traces");
    expect(agentOf([rules]).decide({ n: 1 }, { verbose: true }).explainability.rule_traces).toEqual([
      { evaluator: "r", rule_id: "a", result: false, conditions: [{ expression: "n > 1", result: false }] },
      {
        evaluator: "r",
        rule_id: "b",
        result: true,
        conditions: [{ field: "n", operator: "eq", expected: 1, actual: 1, result: true }],
      },
    ]);
  });

  it("are those of both evaluators where two have one name", () => {
    const { rule_traces } = agentOf([rules, rules]).decide({ n: 2 }, { verbose: true }).explainability;
    expect(rule_traces?.map(({ evaluator, rule_id }) => `${evaluator} ${rule_id}`)).toEqual(["r a", "r a"]);
  });
});

describe("an audit adapter", () => {
  const told: AuditPayload[] = [];
  class Book implements AuditAdapter {
    readonly pages = told;
    record(payload: AuditPayload): void {
      this.pages.push(payload);
    }
  }

  it("is told of every decision, as the method it is", () => {
    const agent = agentOf([house], { audit: new Book() });
    const made = [agent.decide({ n: 1 }), agent.decide({ n: 2 })];
    expect(told).toEqual(made.map(({ audit_payload }) => audit_payload));
  });

  it("is not told where nothing was decided", () => {
    told.length = 0;
    expect(thrownBy(() => agentOf([faulty], { audit: new Book() }).decide({}))).toBeInstanceOf(
      NoEvaluationsError,
    );
    expect(told).toEqual([]);
  });

  it("that fails fails the decision, as it would be one without a trail", () => {
    const audit = {
      record: () => {
        throw new Error("disk full");
      },
    };
    expect(() => agentOf([house], { audit }).decide({})).toThrow("disk full");
  });
});

describe("an agent is refused", () => {
  it.each<[string, unknown, abstract new (...given: never[]) => Error, string]>([
    ["without evaluators", {}, InvalidConfigurationError, "an agent needs at least one evaluator"],
    [
      "with an empty list of them",
      { evaluators: [] },
      InvalidConfigurationError,
      "an agent needs at least one evaluator",
    ],
    [
      "with one that is not in a list",
      { evaluators: house },
      InvalidConfigurationError,
      "an agent needs at least one evaluator",
    ],
    ["with one that is none", { evaluators: [null] }, InvalidEvaluatorError, "an evaluator needs a name"],
    [
      "with a strategy that is none",
      { evaluators: [house], scoring: {} },
      InvalidScoringStrategyError,
      "a scoring strategy needs a name and a function `score`",
    ],
    [
      "with an audit adapter that is none",
      { evaluators: [house], audit: {} },
      InvalidAuditAdapterError,
      "an audit adapter has a function `record`",
    ],
    [
      "with null for an audit adapter",
      { evaluators: [house], audit: null },
      InvalidAuditAdapterError,
      "an audit adapter has a function `record`",
    ],
  ])("%s", (_how, options, type, message) => {
    const error = thrownBy(() => scoredAgent(options as ScoredAgentOptions));
    expect(error).toBeInstanceOf(type);
    expect((error as Error).message).toBe(message);
  });
});

describe("an agent with asynchronous evaluators", () => {
  const later = (name: string, decision: string, weight: number): Evaluator => ({
    name,
    evaluate: () => Promise.resolve({ decision, weight, reason: `${name} says so` }),
  });
  const failing: Evaluator = { name: "failing", evaluate: () => Promise.reject(new Error("no connection")) };

  it("waits for their votes, and decides as with synchronous ones", async () => {
    const made = await agentOf([later("a", "approve", 0.9), house]).decideAsync({ user: "alice" });
    const same = agentOf([
      { name: "a", evaluate: () => ({ decision: "approve", weight: 0.9, reason: "a says so" }) },
      house,
    ]).decide({ user: "alice" });
    expect(made).toEqual(same);
    expect(Object.isFrozen(made)).toBe(true);
  });

  it("keeps the order of the evaluators, whichever votes first", async () => {
    const answers: (() => void)[] = [];
    const waiting = (name: string): Evaluator => ({
      name,
      evaluate: async () => {
        await new Promise<void>((resolve) => answers.push(resolve));
        return { decision: "approve", weight: 0.5, reason: name };
      },
    });
    const deciding = agentOf([waiting("a"), waiting("b")]).decideAsync({});
    for (const answer of answers.toReversed()) {
      answer();
      await Promise.resolve();
    }
    expect((await deciding).evaluations.map(({ reason }) => reason)).toEqual(["a", "b"]);
  });

  it("counts a rejection as no vote", async () => {
    const made = await agentOf([failing, house]).decideAsync({});
    expect(made.failures).toEqual([{ evaluator: "failing", error: "no connection" }]);
    await expect(agentOf([failing]).decideAsync({})).rejects.toThrow(NoEvaluationsError);
  });

  it("waits for the audit adapter, too", async () => {
    const recorded: AuditPayload[] = [];
    const audit: AuditAdapter = {
      record: async (payload) => {
        await Promise.resolve();
        recorded.push(payload);
      },
    };
    const made = await agentOf([house], { audit }).decideAsync({});
    expect(recorded).toEqual([made.audit_payload]);
    const broken: AuditAdapter = { record: () => Promise.reject(new Error("full")) };
    await expect(agentOf([house], { audit: broken }).decideAsync({})).rejects.toThrow("full");
  });

  it("has no vote of theirs if it is asked synchronously", () => {
    const { failures } = agentOf([later("a", "approve", 0.9), failing, house]).decide({});
    expect(failures.map(({ error }) => error)).toEqual([
      "the evaluator `a` returned a promise, for which only `decideAsync` waits",
      "the evaluator `failing` returned a promise, for which only `decideAsync` waits",
    ]);
  });
});
