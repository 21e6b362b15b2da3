import { describe, expect, it } from "vitest";
import { uniqueFetches } from "../../src/definition/fetches.js";
import { prepareLoaded } from "../../src/evaluate/prepare-lazily.js";
import type { OverridePolicy, Policy } from "../../src/model/definition.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { overrideStatuses } from "../../src/record/override-status.js";
import { ReplayableDefinitions } from "../../src/replay/replayable-definitions.js";
import { reevaluate } from "../../src/replay/reevaluate.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";

const policies = (id: string, listed: readonly Policy[], more: object = {}): object => ({
  decision: { id, type: "policy", tool: "t", ...more, policies: listed },
});

const never = (name: string, more: object = {}): Policy => ({
  name,
  version: "1.0.0",
  conditions: [{ name: `${name}_check`, expression: "params.n > 100" }],
  deny_reason: `${name} denies {{ params.n }}`,
  ...more,
});

const override = (name: string, names: readonly string[], more: Partial<OverridePolicy> = {}): Policy => ({
  name,
  version: "2.0.0",
  overrides: names,
  ...more,
});

/** ExceptionApplication of spec 2 and OverrideApplication of spec 4, for every override that was applied. */
describe("lineage.overrides", () => {
  it("keeps every applied override with its description; `override` is the first", async () => {
    const vip = override("vip", ["p"], { description: "Known customers", reason: "vip applies" });
    const late = override("late", ["q"], {
      when: "params.n < 10",
      expires_at: "2027-01-01T00:00:00Z",
      action: "allow_with_warning",
    });
    const unused = override("unused", ["q"]);
    const place = deciding(policies("d", [never("p"), never("q"), vip, late, unused]));
    const { decisions } = await place.check("t", { n: 1 });
    const { lineage } = await place.newest();
    expect(lineage?.overrides).toEqual([
      {
        name: "vip",
        version: "2.0.0",
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        description: "Known customers",
        overrides: ["p"],
        condition: null,
        action: "allow",
        reason: "vip applies",
        expires_at: null,
      },
      {
        name: "late",
        version: "2.0.0",
        hash: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
        description: null,
        overrides: ["q"],
        condition: "params.n < 10",
        action: "allow_with_warning",
        reason: "overridden by `late`",
        expires_at: "2027-01-01T00:00:00Z",
      },
    ]);
    expect(lineage?.override).toEqual(lineage?.overrides?.[0]);
    expect(decisions[0]?.lineage.overrides).toEqual(lineage?.overrides);
  });

  it("keeps those of a call that another denial stops, which `override` does not name", async () => {
    const place = deciding(policies("d", [never("p"), never("q"), override("o", ["p"])]));
    expect(await place.check("t", { n: 1 })).toMatchObject({ allowed: false });
    const { lineage } = await place.newest();
    expect([lineage?.override, lineage?.overrides?.map(({ name }) => name)]).toEqual([null, ["o"]]);
  });

  it("is empty for every other decision", async () => {
    const place = deciding(policies("d", [never("p")]), {
      decision: {
        id: "b",
        type: "binary",
        cases: [{ condition: "true", target: "x" }],
        default: { target: "y" },
      },
    });
    await place.check("t", { n: 101 });
    expect((await place.newest()).lineage?.overrides).toEqual([]);
    await place.decide("b", {});
    expect((await place.newest()).lineage?.overrides).toEqual([]);
  });
});

describe("lineage.conditions", () => {
  it("name their policy or override", async () => {
    const requiring = { name: "r", requires: ["login"], max_calls: { count: 5, per: "session" } };
    const when = override("o", ["p", "r"], { when: "params.n == 1" });
    const place = deciding(policies("d", [never("p"), requiring, when]));
    await place.check("t", { n: 1 });
    const { conditions } = (await place.newest()).lineage ?? {};
    expect(conditions?.map(({ policy, name }) => [policy, name])).toEqual([
      ["p", "p_check"],
      ["r", "requires"],
      ["r", "max_calls"],
      ["o", "o"],
    ]);
  });
});

/** should_override(tool, params, denial) of spec 4. */
describe("`denial` in an override", () => {
  it("is the denial in question, in `when` and `reason`", async () => {
    const when =
      "denial.policy == 'q' and 'q_check' in denial.failed_conditions and denial.version == '1.0.0'";
    const reason = "despite: {{ denial.reason }}";
    const o = override("o", ["p", "q"], { when, reason });
    const place = deciding(policies("d", [never("p"), never("q"), o]));
    const { allowed, reason: standing } = await place.check("t", { n: 1 });
    expect([allowed, standing]).toEqual([false, "p denies 1"]);
    const { lineage } = await place.newest();
    expect(lineage?.overrides).toMatchObject([{ overrides: ["q"], reason: "despite: q denies 1" }]);
    expect(lineage?.policies.map(({ override: name }) => name)).toEqual([null, "o"]);
    const other = deciding(policies("d", [never("q"), override("o", ["q"], { when, reason })]));
    expect(await other.check("t", { n: 1 })).toMatchObject({ allowed: true, reason: "despite: q denies 1" });
  });

  it("is replayed", async () => {
    const o = override("o", ["p"], { when: "denial.reason == 'p denies 1'", reason: "{{ denial.policy }}" });
    const place = deciding(policies("d", [never("p"), o]));
    await place.check("t", { n: 1 });
    expect(await replayed(place)).toMatchObject({ allowed: true, reason: "p" });
  });
});

/** Evaluates the newest record again, from the store alone. */
async function replayed(place: Deciding): Promise<unknown> {
  const line = await place.world.records.store.log.find({ latest: true });
  if (!("record" in line)) throw new Error("nothing is recorded");
  const record = line.record as DecisionRecord;
  const definition = await new ReplayableDefinitions(place.world.records.store).get(record);
  if ("unavailable" in definition) throw new Error(definition.unavailable);
  const again = reevaluate({ ...line, record }, definition);
  return "notReplayable" in again ? again : again.guarded.evaluated.outcome;
}

/** Exceptions are registered separately from policies in spec 2: `applies_to_policies` names any of them. */
describe("an override in another document than the policy", () => {
  const bases = policies("bases", [never("p"), never("local"), override("own", ["local"])], {
    tool: ["t", "u"],
  });
  const foreign = (more: Partial<OverridePolicy> = {}, tool: string | readonly string[] = "t"): object =>
    policies("exceptions", [override("o", ["p"], { reason: "o applies", ...more })], { tool });

  it("flips the denial, and is recorded with the decision that declares it", async () => {
    const place = deciding(bases, foreign({ description: "An exception" }));
    expect(await place.check("t", { n: 1 })).toMatchObject({
      allowed: true,
      outcome: "allowed_by_exception",
      reason: "o applies",
    });
    const [record, ...others] = await place.records();
    expect(others).toEqual([]);
    expect(record).toMatchObject({
      decision_id: "bases",
      lineage: {
        overrides: [
          { name: "o", decision: "exceptions", description: "An exception", overrides: ["p"] },
          { name: "own", overrides: ["local"] },
        ],
        policies: [
          { name: "p", override: "o" },
          { name: "local", override: "own" },
        ],
      },
    });
    expect(await replayed(place)).toMatchObject({ allowed: true, reason: "o applies" });
  });

  it("applies to the tools of both documents only", async () => {
    const place = deciding(bases, foreign({}, ["t", "v"]));
    expect(await place.check("t", { n: 1 })).toMatchObject({ allowed: true });
    expect(await place.check("u", { n: 1 })).toMatchObject({ allowed: false });
    const { evaluation_details } = await place.newest();
    expect(evaluation_details).toMatchObject({
      o: { result: false, left_out: "it is not about the tool `u`" },
    });
  });

  it("does not make a tool known", async () => {
    const place = deciding(bases, foreign({}, "*"));
    const world = { ...place.world, unknownTools: "deny" as const };
    expect(await deciding(bases, foreign({}, "*")).check("v", { n: 1 })).toMatchObject({ allowed: true });
    const { check } = await import("../../src/decide/check.js");
    expect(await check({ tool: "v", params: {}, session_id: "s" }, world)).toMatchObject({
      allowed: false,
      reason: "No policy matches the tool v",
    });
  });

  it("flips no policy of the same name where its own document has one", async () => {
    const place = deciding(
      policies("bases", [never("p")]),
      policies("exceptions", [never("p"), override("o", ["p"])]),
    );
    expect(await place.check("t", { n: 1 })).toMatchObject({ allowed: false });
    const flips = (await place.records()).map(({ lineage }) =>
      lineage?.policies.map((each) => each.override),
    );
    expect(flips).toEqual([[null], ["o"]]);
  });

  it("counts its uses once per call, whatever number of decisions it takes part in", async () => {
    const place = deciding(
      policies("a", [never("p")]),
      policies("b", [never("p")]),
      foreign({ max_applications: 2 }),
    );
    const outcomes: boolean[] = [];
    for (let calls = 0; calls < 3; calls++) outcomes.push((await place.check("t", { n: 1 })).allowed);
    expect(outcomes).toEqual([true, true, false]);
    const { definition } = await place.world.definitions.find("exceptions");
    if (definition.type !== "policy") throw new Error("it is a policy");
    const { log } = place.world.records;
    const [status] = await overrideStatuses(definition, { log, now: Date.now(), records: 9 });
    const [first, , third] = await place.records();
    expect(status).toMatchObject({
      status: "used_up",
      uses: 2,
      uses_left: 0,
      records: [third?.record_id, first?.record_id],
    });
  });

  it("is part of the environment, so that a change of it is a change of the decision", async () => {
    const hashOf = async (...documents: readonly object[]): Promise<string> =>
      (await deciding(bases, ...documents).world.definitions.find("bases")).environment_hash;
    const unrelated = policies("x", [never("q"), override("r", ["q"])]);
    const [alone, related] = [await hashOf(), await hashOf(foreign())];
    expect(related).not.toBe(alone);
    expect(await hashOf(foreign({ when: "true" }))).not.toBe(related);
    expect(await hashOf(unrelated)).toBe(alone);
    const loaded = await deciding(bases, foreign()).world.definitions.find("bases");
    const ready = {
      loaded,
      prepared: await prepareLoaded(loaded),
      fetches: uniqueFetches(loaded.definition),
    };
    expect(ready.prepared.needs?.uses).toEqual([
      { override: "own", decision: undefined, most: undefined },
      { override: "o", decision: "exceptions", most: undefined },
    ]);
  });
});

/** policy_version of spec 2: a semantic version or a commit hash. */
describe("a commit hash as the version of a policy", () => {
  it("is recorded and named like any version", async () => {
    const place = deciding(policies("d", [never("p", { version: "3f2a1c9" })]));
    const { reason } = await place.check("t", { n: 101 });
    expect(reason).toBe("Allowed by p@3f2a1c9");
    expect((await place.newest()).lineage?.policies).toMatchObject([{ name: "p", version: "3f2a1c9" }]);
  });
});

/** all_for_policy(name) and find_applicable(…, now) of spec 2. */
describe("the overrides of a policy at a time", () => {
  it("have the status and the uses of that time", async () => {
    const limited = override("o", ["p"], { max_applications: 2, expires_at: "2026-06-01T00:00:00Z" });
    const place = deciding(policies("d", [never("p"), limited]));
    for (let calls = 0; calls < 2; calls++) await place.check("t", { n: 1 });
    const { definition } = await place.world.definitions.find("d");
    if (definition.type !== "policy") throw new Error("it is a policy");
    const [first, second] = await place.records();
    const statusAt = async (time: string): Promise<readonly unknown[]> => {
      const { log } = place.world.records;
      const [found] = await overrideStatuses(definition, { log, now: Date.parse(time), records: 9 });
      return [found?.status, found?.uses, found?.uses_left, found?.records, found?.last_used];
    };
    const ids = [second?.record_id, first?.record_id];
    expect(await statusAt(second?.timestamp ?? "")).toEqual(["used_up", 2, 0, ids, second?.timestamp]);
    expect(await statusAt(first?.timestamp ?? "")).toEqual([
      "live",
      1,
      1,
      [first?.record_id],
      first?.timestamp,
    ]);
    expect(await statusAt("2026-01-01T00:00:00Z")).toEqual(["live", 0, 2, [], null]);
    expect((await statusAt("2026-07-01T00:00:00Z"))[0]).toBe("expired");
  });
});

/** Storage growth of spec 2: retention and a move to another store must not reset what was counted. */
describe("a log that was pruned and moved to another store", () => {
  it("counts the applications, calls and sums of all its records", async () => {
    const call = { name: "c", max_calls: { count: 2, per: "session" } };
    const sum = { name: "s", max_sum: { of: "params.n", most: 5, per: "session" } };
    const place = deciding(
      policies("d", [never("p"), override("o", ["p"], { max_applications: 2 })]),
      policies("calls", [call], { tool: "u" }),
      policies("sums", [sum as unknown as Policy], { tool: "v" }),
    );
    for (const tool of ["t", "u", "v"]) await place.check(tool, { n: 2 });
    await place.world.records.prune(await place.world.records.log.prunable({ keep: 0 }), {});
    const moved = await place.move();
    for (const tool of ["t", "u", "v"]) {
      const outcomes = [await moved.check(tool, { n: 2 }), await moved.check(tool, { n: 2 })];
      expect([tool, ...outcomes.map(({ allowed }) => allowed)]).toEqual([tool, true, false]);
    }
  });
});
