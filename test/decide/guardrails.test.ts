import { describe, expect, it } from "vitest";
import type { CheckResult, CheckWorld } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import type { DecisionRequest } from "../../src/decide/decide.js";
import { decide } from "../../src/decide/decide.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { DecisionError } from "../../src/errors.js";
import type { JsonObject } from "../../src/model/json.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Result } from "../../src/model/result.js";
import type { Store } from "../../src/model/store.js";
import { allowedCallCounter, overrideUseCounter } from "../../src/record/counters.js";
import { microsecondsOf, formatTimestamp } from "../../src/record/timestamp.js";
import { newRecordId } from "../../src/record/record-id.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { decideOn, weightedOf } from "../evaluate/definitions.js";

const noon = microsecondsOf("2026-03-02T12:00:00.000000Z");

interface Place {
  readonly store: Store;
  readonly world: CheckWorld;
  /** How often the log was asked how a decision was taken. */
  tallies: number;
  pass(seconds: number): void;
  decide(id: string, context?: JsonObject, more?: Partial<DecisionRequest>): Promise<Result>;
  check(tool: string, params?: JsonObject): Promise<CheckResult>;
  log(): Promise<readonly DecisionRecord[]>;
}

/** A world with these files in it, and the records of an earlier one. */
function place(files: readonly string[], store = openMemoryStore()): Place {
  const read = files.map((file, index) => readDefinitions(`${index}.yaml`, Buffer.from(file)));
  const summaries = read.map(({ summary }) => summary);
  expect(summaries.flatMap(({ diagnostics: problems }) => problems)).toEqual([]);
  const definitions = buildLibrary(summaries, (file, position) => {
    const found = read[Number.parseInt(file, 10)]?.body.definitions[position];
    return found === undefined ? Promise.reject(new Error(file)) : Promise.resolve(found);
  });
  let now = noon;
  const log = {
    ...store.log,
    append: store.log.append.bind(store.log),
    select: store.log.select.bind(store.log),
    counter: store.log.counter.bind(store.log),
    tally: (...asked: Parameters<Store["log"]["tally"]>) => {
      here.tallies++;
      return store.log.tally(...asked);
    },
  };
  const records = new Records(
    { ...store, log, shelf: store.shelf.bind(store), close: store.close.bind(store) },
    {
      newNote: () => ({ record_id: "note", timestamp: formatTimestamp(now) }),
      onWarning: (message) => {
        throw new Error(message);
      },
    },
  );
  const world: CheckWorld = {
    definitions,
    clock: () => formatTimestamp(now),
    newId: (timestamp) => newRecordId(microsecondsOf(timestamp), Math.random),
    records,
  };
  const here: Place = {
    store,
    world,
    tallies: 0,
    pass: (seconds) => (now += seconds * 1_000_000),
    decide: (decision_id, context = {}, more = {}) => decide({ decision_id, context, ...more }, world),
    check: (tool, params = {}) => check({ tool, params, session_id: "s" }, world),
    async log() {
      const found: DecisionRecord[] = [];
      for await (const { record } of store.log.select({ kind: "decision" }))
        if (record.kind === "decision") found.push(record);
      return found;
    },
  };
  return here;
}

const route = (target: string, more = ""): string =>
  `decision:\n  id: route\n  type: switch\n  cases: [{ condition: "true", target: ${target}, label: Go }]\n  default: { target: other }\n${more}`;

const everywhere = (...guardrails: readonly string[]): string =>
  `guardrails:\n${guardrails.map((each) => `  - ${each}\n`).join("")}`;

const off = (stage: string, more = ""): string =>
  `{ type: no_disabled_targets, disabled_stages: [${stage}]${more} }`;

describe("a guarded answer", () => {
  it("is told and recorded with its checks and what was proposed", async () => {
    const here = place([route("a"), everywhere(off("a"))]);
    const result = await here.decide("route");
    const guarded = {
      selected_targets: [],
      selected_labels: [],
      proposed_targets: ["a"],
      proposed_labels: ["Go"],
      blocked: true,
      escalated: false,
      guardrails: [
        {
          check_name: "no_disabled_targets",
          passed: false,
          message: "Target 'a' is disabled",
          on_fail: "block",
        },
      ],
    };
    expect(result).toMatchObject(guarded);
    expect(await here.log()).toMatchObject([{ ...guarded, record_id: result.record_id }]);
  });

  it("is frozen through and through", async () => {
    const result = await place([route("a"), everywhere(off("a"))]).decide("route");
    const parts = [result.proposed_targets, result.proposed_labels, result.guardrails, result.guardrails[0]];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual([true, true, true, true]);
  });

  it("has another deterministic hash than the one that was proposed", async () => {
    const free = await place([route("a")]).decide("route");
    const blocked = await place([route("a"), everywhere(off("a"))]).decide("route");
    expect(blocked.deterministic_hash).not.toBe(free.deterministic_hash);
  });

  it("is guarded in a dry run, which keeps nothing", async () => {
    const here = place([route("a"), everywhere(off("a"))]);
    expect(await here.decide("route", {}, { dry_run: true })).toMatchObject({ blocked: true, dry_run: true });
    expect(await here.log()).toEqual([]);
  });
});

describe("a cached answer", () => {
  const cached = route("a", "  cache: { enabled: true, ttl: 1h }\n");

  it("is guarded again", async () => {
    const store = openMemoryStore();
    expect(await place([cached], store).decide("route")).toMatchObject({ selected_targets: ["a"] });
    const again = await place([cached, "targets: [{ id: a, disabled: true }, other]\n"], store).decide(
      "route",
    );
    expect(again).toMatchObject({ cached: true, blocked: true, selected_targets: [] });
  });

  it("is what was evaluated, not what was held back", async () => {
    const store = openMemoryStore();
    expect(await place([cached, everywhere(off("a"))], store).decide("route")).toMatchObject({
      blocked: true,
    });
    const again = await place([cached], store).decide("route");
    expect(again).toMatchObject({ cached: true, blocked: false, selected_targets: ["a"], warnings: [] });
  });

  it("keeps no warning of a guardrail", async () => {
    const store = openMemoryStore();
    const warning = everywhere(off("a", ", on_fail: warn"));
    expect((await place([cached, warning], store).decide("route")).warnings).toHaveLength(1);
    expect(await place([cached], store).decide("route")).toMatchObject({ cached: true, warnings: [] });
  });
});

const calls = `decision:
  id: calls
  type: policy
  tool: pay
  policies:
    - { name: few, max_calls: { count: 1, per: session }, conditions: [{ name: small, expression: "params.amount < 10" }] }
    - { name: but, overrides: [few], action: modify_params, params: { amount: 1 }, reason: made small, max_applications: 1 }
`;

describe("a call that is held back", () => {
  const here = (...guardrails: readonly string[]): Place => place([calls, everywhere(...guardrails)]);

  it.each([
    ["blocked", off("pay"), "Target 'pay' is disabled"],
    ["escalated", off("pay", ", on_fail: escalate, escalate_to: desk"), "Target 'pay' is disabled"],
  ])("is denied with the params it had, and counts nothing: %s", async (_how, guardrail, reason) => {
    const held = here(guardrail);
    const result = await held.check("pay", { amount: 500 });
    expect(result).toMatchObject({ allowed: false, outcome: "denied", reason, params: { amount: 500 } });
    expect(result.decisions).toMatchObject([
      { params: { amount: 500 }, proposed_outcome: "allowed_by_exception", lineage: { override: null } },
    ]);
    await held.check("pay", { amount: 5 });
    const { log } = held.store;
    expect((await log.counter(overrideUseCounter({ decision: "calls", policy: "but" }))).count).toBe(0);
    const few = allowedCallCounter({ decision: "calls", policy: "few" }, "s");
    expect((await log.counter(few)).count).toBe(0);
    expect((await held.log()).map(({ counted }) => counted)).toEqual([undefined, undefined]);
  });

  it("is counted once nothing holds it back", async () => {
    const store = openMemoryStore();
    await place([calls, everywhere(off("pay"))], store).check("pay", { amount: 500 });
    const free = place([calls], store);
    expect(await free.check("pay", { amount: 500 })).toMatchObject({ allowed: true, params: { amount: 1 } });
    expect((await store.log.counter(overrideUseCounter({ decision: "calls", policy: "but" }))).count).toBe(1);
  });

  it("is not what a result is a result of", async () => {
    const held = here(off("pay"));
    await held.check("pay", { amount: 5 });
    const result = await recordToolResult({ tool: "pay", session_id: "s", ok: true }, held.world);
    expect(result.decision_records).toEqual([]);
  });

  it("is held back by one of several decisions for all of them", async () => {
    const other = calls.replace("id: calls", `id: others\n  guardrails: [${off("pay")}]`);
    const held = place([calls, other]);
    expect(await held.check("pay", { amount: 5 })).toMatchObject({ allowed: false });
    const few = allowedCallCounter({ decision: "calls", policy: "few" }, "s");
    expect((await held.store.log.counter(few)).count).toBe(0);
  });

  it("is held back where no policy is about it", async () => {
    const other = "decision: { id: other, type: policy, tool: other, policies: [] }";
    const held = place([route("a"), other, everywhere(off("rm*"))]);
    const result = await held.check("rm_all");
    expect(result).toMatchObject({ allowed: false, reason: "Target 'rm_all' is disabled" });
    expect(result.decisions).toMatchObject([{ decision_id: "none", blocked: true }]);
    expect(await held.check("ls")).toMatchObject({ allowed: true });
  });
});

describe("guardrails for every decision", () => {
  const hashes = async (...files: readonly string[]): Promise<readonly string[]> => {
    const { definition_hash, environment_hash } = await place(files).decide("route");
    return [definition_hash, environment_hash];
  };

  it("are part of the environment's hash, and not of the definition's", async () => {
    const [definition, environment] = await hashes(route("a"));
    const [same, guarded] = await hashes(route("a"), everywhere(off("x")));
    const [still, changed] = await hashes(route("a"), everywhere(off("y")));
    expect([same, still]).toEqual([definition, definition]);
    expect(new Set([environment, guarded, changed]).size).toBe(3);
    expect(await hashes(route("a"), everywhere(off("x")))).toEqual([same, guarded]);
  });

  it("are part of the definition's hash where they are its own", async () => {
    const [free] = await hashes(route("a"));
    const [own] = await hashes(route("a", `  guardrails: [${off("x")}]\n`));
    expect(own).not.toBe(free);
  });

  it("are kept under the hash that a record names", async () => {
    const here = place([route("a"), everywhere(off("x"))]);
    const { environment_hash } = await here.decide("route");
    const kept = await here.store.shelf("environments").get(environment_hash);
    expect(kept?.value).toEqual({
      targets: [],
      guardrails: [{ type: "no_disabled_targets", disabled_stages: ["x"] }],
    });
  });

  it("add up over documents, after the decision's own", async () => {
    const files = [
      everywhere(off("x"), "{ type: weight_bounds }"),
      route("a", "  guardrails: [{ type: requires_approval, targets: [a], on_fail: warn }]\n"),
      everywhere(off("y")),
    ];
    const { guardrails } = await place(files).decide("route");
    expect(guardrails.map(({ check_name }) => check_name)).toEqual([
      "requires_approval",
      "no_disabled_targets",
      "no_disabled_targets",
    ]);
  });

  it("watch decisions of every type", async () => {
    const files = [
      "decision: { id: split, type: weighted, input: id, cases: [{ target: a, weight: 1 }], default: { target: a } }\n",
      "decision: { id: table, type: rule_table, rules: [{ condition: 'true', target: a }], default: { target: a } }\n",
      "decision: { id: pair, type: binary, cases: [{ condition: 'true', target: a }], default: { target: a } }\n",
      "decision: { id: vote, type: scored, evaluators: [{ name: e, static: { decision: d, weight: 1 } }], targets: { d: a } }\n",
      "decision: { id: gate, type: gate, action: { org: o, domain: d, name: a }, rules: [{ id: r, tier: T3, severity: 1, when: 'true', status: GREEN }] }\n",
      "decision: { id: call, type: policy, tool: a, policies: [] }\n",
      everywhere(off("a")),
    ];
    const here = place(files);
    const results = await Promise.all(
      here.world.definitions.ids.map((id) => here.decide(id, { id: "i", tool: "a" })),
    );
    expect(results.map(({ decision_id, blocked }) => [decision_id, blocked])).toEqual(
      ["split", "table", "pair", "vote", "gate", "call"].map((id) => [id, true]),
    );
  });
});

/** Ids that are rolled to the first half, which is what chance would never do. */
function skewed(count: number): readonly string[] {
  const cases = [
    { target: "a", label: "A", weight: 50 },
    { target: "b", label: "B", weight: 50 },
  ];
  const definition = weightedOf(cases, { input: "{{ id }}" });
  const ids: string[] = [];
  for (let next = 0; ids.length < count; next++) {
    if (decideOn(definition, { id: `i-${next}` }).selected_labels[0] === "A") ids.push(`i-${next}`);
  }
  return ids;
}

const halves = (guardrail: string): string =>
  `decision:\n  id: split\n  type: weighted\n  input: "{{ id }}"\n  guardrails: [${guardrail}]\n  cases: [{ target: a, label: A, weight: 50 }, { target: b, label: B, weight: 50 }]\n  default: { target: a }\n`;

/** A world where so many distinct inputs were all led to A. */
async function drifted(guardrail: string, count: number): Promise<Place> {
  const here = place([halves(guardrail)]);
  await Promise.all(skewed(count).map((id) => here.decide("split", { id })));
  here.pass(2);
  return here;
}

describe("a split that has drifted", () => {
  it.each([
    ["warn", { blocked: false, selected_targets: ["a"] }],
    ["block", { blocked: true, selected_targets: [] }],
  ])("%ss from 500 distinct inputs on", async (onFail, answer) => {
    const here = await drifted(`{ type: distribution_drift, on_fail: ${onFail} }`, 500);
    const [again = ""] = skewed(1);
    const result = await here.decide("split", { id: again });
    expect(result).toMatchObject(answer);
    expect(result.guardrails).toMatchObject([
      { check_name: "distribution_drift", passed: false, on_fail: onFail },
    ]);
    expect(result.guardrails[0]?.message).toMatch(
      /^Distribution has drifted from the weights \(e [\d.]+e\+\d+, p [\d.]+e-\d+ over 500 distinct inputs, e is at least 1000\)$/,
    );
    expect(result.warnings.length).toBe(onFail === "warn" ? 1 : 0);
  });

  it("is not judged before, nor by inputs that come again", async () => {
    const here = await drifted("{ type: distribution_drift }", 499);
    const [again = ""] = skewed(1);
    const result = await here.decide("split", { id: again });
    expect(result.guardrails).toMatchObject([
      { passed: true, message: "Distribution is not tested yet: 499 of 500 distinct inputs" },
    ]);
    here.pass(2);
    expect((await here.decide("split", { id: again })).guardrails[0]?.message).toContain("499 of 500");
  });

  it("is escalated where that is said", async () => {
    const guardrail = "{ type: distribution_drift, minimum: 40, on_fail: escalate, escalate_to: b }";
    const here = await drifted(guardrail, 40);
    expect(await here.decide("split", { id: "x" })).toMatchObject({
      escalated: true,
      selected_targets: ["b"],
    });
  });

  it("is in the record as a fact, so that it need not be found out again", async () => {
    const here = await drifted("{ type: distribution_drift, minimum: 40, on_fail: warn }", 40);
    await here.decide("split", { id: "x" });
    const last = (await here.log()).at(-1);
    expect(last?.facts).toEqual({
      distribution: {
        sample: 40,
        p_value: expect.any(Number) as number,
        e_value: expect.closeTo(2 ** 40 / 41, -4) as number,
      },
    });
  });

  it("is seen in a dry run", async () => {
    const here = await drifted("{ type: distribution_drift, minimum: 40 }", 40);
    expect(await here.decide("split", { id: "x" }, { dry_run: true })).toMatchObject({ blocked: true });
  });

  it("is as new as nothing where nothing is recorded", async () => {
    const { world } = place([halves("{ type: distribution_drift }")]);
    const result = await decide(
      { decision_id: "split", context: { id: "x" } },
      { ...world, records: undefined },
    );
    expect(result.guardrails[0]?.message).toBe("Distribution is not tested yet: 0 of 500 distinct inputs");
  });
});

describe("how a decision was taken so far", () => {
  const guardrail = "{ type: distribution_drift, on_fail: warn }";

  it("is found out once for all that are decided at one time", async () => {
    const here = place([halves(guardrail)]);
    await Promise.all(Array.from({ length: 256 }, (_, index) => here.decide("split", { id: `i-${index}` })));
    expect(here.tallies).toBe(1);
    for (let index = 0; index < 50; index++) await here.decide("split", { id: `j-${index}` });
    expect(here.tallies).toBe(1);
  });

  it("is found out anew after a second, and after a hundred decisions", async () => {
    const here = place([halves(guardrail)]);
    await here.decide("split", { id: "1" });
    here.pass(1);
    await here.decide("split", { id: "2" });
    expect(here.tallies).toBe(2);
    for (let index = 0; index < 101; index++) await here.decide("split", { id: `i-${index}` });
    expect(here.tallies).toBe(3);
  });

  it("is asked again where it could not be told", async () => {
    const here = place([halves(guardrail)]);
    const { log } = here.store;
    const tally = log.tally.bind(log);
    log.tally = () => Promise.reject(new DecisionError("log_damaged", "the log is damaged"));
    await expect(here.decide("split", { id: "1" })).rejects.toMatchObject({ code: "log_damaged" });
    log.tally = tally;
    expect(await here.decide("split", { id: "1" })).toMatchObject({ blocked: false });
  });

  it("is not asked where no guardrail wants to know", async () => {
    const here = place([halves("{ type: weight_bounds }"), everywhere("{ type: no_disabled_targets }")]);
    await here.decide("split", { id: "1" });
    expect(here.tallies).toBe(0);
    expect((await here.log())[0]?.facts).toEqual({});
  });
});
