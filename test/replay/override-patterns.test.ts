import { describe, expect, it } from "vitest";
import type { OverridePolicy, Policy } from "../../src/model/definition.js";
import type { AuthenticatedCaller, PolicyRecord } from "../../src/model/record.js";
import type { Store } from "../../src/model/store.js";
import type { OverridePattern } from "../../src/replay/override-patterns.js";
import { findOverridePatterns } from "../../src/replay/override-patterns.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";

const policies = (id: string, listed: readonly Policy[], more: object = {}): object => ({
  decision: { id, type: "policy", tool: "t", ...more, policies: listed },
});

const large = (name: string, more: object = {}): Policy => ({
  name,
  conditions: [{ name: "large", expression: "params.n > 100" }],
  ...more,
});

const override = (name: string, more: Partial<OverridePolicy> = {}): Policy => ({
  name,
  overrides: ["p"],
  ...more,
});

const patternsIn = async (store: Store): Promise<readonly OverridePattern[]> =>
  (await findOverridePatterns(store, {})).patterns;

const patternsOf = ({ world }: Deciding): Promise<readonly OverridePattern[]> =>
  patternsIn(world.records.store);

/** The store with its records changed, with valid hashes. */
function changedStore(store: Store, change: (record: PolicyRecord) => object): Store {
  const select: Store["log"]["select"] = async function* (...query) {
    for await (const line of store.log.select(...query)) {
      const { record } = line;
      if (record.kind !== "decision" || record.type !== "policy") continue;
      yield { ...line, record: change(record) as PolicyRecord };
    }
  };
  const log = Object.create(store.log, { select: { value: select } }) as Store["log"];
  return { ...store, log, shelf: (name) => store.shelf(name) };
}

describe("the patterns of overrides", () => {
  it("count the flips of each policy by each override, the most frequent first", async () => {
    const listed = [large("p"), large("q"), override("small", { when: "params.n < 2" }), override("rest")];
    const place = deciding(policies("d", [...listed, override("of_q", { overrides: ["q"] })]));
    for (const n of [1, 5, 6, 200]) await place.check("t", { n });
    const progress: number[][] = [];
    const found = await findOverridePatterns(place.world.records.store, {}, (...each) => progress.push(each));
    expect(found).toMatchObject({ calls: 4, damaged: 0 });
    expect(progress).toEqual([1, 2, 3, 4].map((calls) => [calls, calls / 4]));
    expect(found.patterns.map((each) => [each.override, each.policy, each.flips, each.denials])).toEqual([
      ["of_q", "q", 3, 3],
      ["rest", "p", 2, 3],
      ["small", "p", 1, 3],
    ]);
    expect(found.patterns[1]?.share).toBeCloseTo(2 / 3);
  });

  it("count denials that no override flipped", async () => {
    const place = deciding(policies("d", [large("p"), override("o", { when: "params.n == 1" })]));
    for (const n of [1, 2, 3, 200]) await place.check("t", { n });
    expect(await patternsOf(place)).toMatchObject([{ flips: 1, denials: 3 }]);
  });

  it("have the time, the sessions and the callers of the flips", async () => {
    const place = deciding(policies("d", [large("p"), override("o")]));
    const caller = (subject: string, org?: string): { caller: AuthenticatedCaller } => ({
      caller: {
        subject,
        issuer: "i",
        scopes: [],
        delegated: false,
        actors: [],
        ...(org !== undefined && { org_id: org }),
      },
    });
    await place.check("t", { n: 1 }, { session_id: "a" });
    await place.check("t", { n: 2 }, { session_id: "a", ...caller("ada") });
    await place.check("t", { n: 3 }, { session_id: "a", ...caller("ada", "acme") });
    await place.check("t", { n: 4 }, { session_id: "b", ...caller("bob", "acme") });
    await place.check("t", { n: 500 }, { session_id: "c" });
    const records = await place.records();
    expect(await patternsOf(place)).toMatchObject([
      {
        flips: 4,
        // The same id of an organisation is another session.
        sessions: 3,
        callers: 2,
        first: records[0]?.timestamp,
        last: records[3]?.timestamp,
        examples: [records[3], records[2], records[1]].map((each) => each?.record_id),
      },
    ]);
  });

  it("are those of a time range", async () => {
    const place = deciding(policies("d", [large("p"), override("o")]));
    for (const n of [1, 2, 3]) await place.check("t", { n });
    const [, second] = await place.records();
    const since = Date.parse(second?.timestamp ?? "") * 1000;
    const { patterns } = await findOverridePatterns(place.world.records.store, { since });
    expect(patterns).toMatchObject([{ flips: 2, denials: 2 }]);
  });

  it("leave out calls that another policy or another decision denied", async () => {
    const place = deciding(
      policies("a", [large("p"), large("q"), override("o", { when: "params.a" })]),
      policies("b", [{ name: "r", conditions: [{ name: "b", expression: "params.b" }] }]),
    );
    await place.check("t", { n: 1, a: true, b: true });
    expect(await patternsOf(place)).toEqual([]);
    const other = place.redefine(
      policies("a", [large("p"), override("o", { when: "params.a" })]),
      policies("b", [{ name: "r", conditions: [{ name: "b", expression: "params.b" }] }]),
    );
    await other.check("t", { n: 1, a: true, b: false });
    await other.check("t", { n: 1, a: true, b: true });
    expect(await patternsOf(other)).toMatchObject([{ override: "o", flips: 1, denials: 3 }]);
  });

  it("name the decision that declares the override, and count it in each decision of the call", async () => {
    const place = deciding(
      policies("a", [large("p")]),
      policies("b", [large("p")]),
      policies("exceptions", [override("o", { when: "params.n < 10" })]),
    );
    for (const n of [1, 2]) await place.check("t", { n });
    expect(await patternsOf(place)).toMatchObject([
      { decision_id: "a", override_decision_id: "exceptions", override: "o", flips: 2, denials: 2 },
      { decision_id: "b", override_decision_id: "exceptions", override: "o", flips: 2, denials: 2 },
    ]);
  });

  it("count flips of calls for which a condition of the policy could not be evaluated", async () => {
    const place = deciding(policies("d", [large("p"), override("o")]));
    await place.check("t", { n: 1 });
    await place.check("t", { n: "text" });
    expect(await patternsOf(place)).toMatchObject([{ flips: 2, errors: 1 }]);
  });

  it("count no errors where the evaluation is not recorded", async () => {
    const silent = { logging: { include_evaluation: false } };
    const place = deciding(policies("d", [large("p"), override("o")], silent));
    await place.check("t", { n: "text" });
    expect(await patternsOf(place)).toMatchObject([{ flips: 1, errors: 0 }]);
  });

  it("are those of tool calls, not of other decisions", async () => {
    const cases = [{ condition: "n == 1", target: "x" }];
    const routing = { decision: { id: "r", type: "switch", cases, default: { target: "y" } } };
    const place = deciding(policies("d", [large("p"), override("o")]), routing);
    await place.decide("r", { n: 1 });
    await place.check("t", { n: 1 });
    const found = await findOverridePatterns(place.world.records.store, {});
    expect(found).toMatchObject({ calls: 1, damaged: 0, patterns: [{ flips: 1, denials: 1 }] });
  });

  it("count the flips of policies that limit the calls of an hour", async () => {
    const limited = { name: "rare", max_calls: { count: 2, per: "1h" } };
    const place = deciding(policies("d", [limited, large("p"), override("o")]));
    for (const n of [1, 2, 3]) await place.check("t", { n });
    expect(await patternsOf(place)).toMatchObject([{ flips: 2, denials: 3 }]);
  });

  it("come from the deciding override where a record lists no others", async () => {
    const place = deciding(policies("d", [large("p"), override("o", { when: "params.n == 1" })]));
    for (const n of [1, 2]) await place.check("t", { n });
    const store = changedStore(place.world.records.store, (record) => ({
      ...record,
      lineage: { ...record.lineage, overrides: undefined },
    }));
    expect(await patternsIn(store)).toMatchObject([{ override: "o", flips: 1, denials: 2 }]);
  });

  it("ignore a count that is malformed", async () => {
    const place = deciding(policies("d", [large("p"), override("o")]));
    await place.check("t", { n: 1 });
    const { store } = place.world.records;
    const changed = changedStore(store, (record) => ({
      ...record,
      counted: [1, {}, ...(record.counted ?? [])],
    }));
    expect(await patternsIn(changed)).toMatchObject([{ flips: 1 }]);
  });
});

describe("the inputs of a pattern", () => {
  it("are the most frequent values that `when` read", async () => {
    const place = deciding(policies("d", [large("p"), override("o", { when: "exists(params.n)" })]));
    for (const n of [1, 2, 2, 3, 4, 5, 6, 7, 7]) await place.check("t", { n });
    expect((await patternsOf(place))[0]?.inputs).toEqual([
      {
        path: "params.n",
        values: [
          { value: 2, count: 2 },
          { value: 7, count: 2 },
          { value: 1, count: 1 },
          { value: 3, count: 1 },
          { value: 4, count: 1 },
        ],
        distinct: 7,
        other: 2,
        missing: 0,
        not_recorded: 0,
      },
    ]);
  });

  it("follow the definition that each call was decided with", async () => {
    const before = deciding(
      policies("d", [large("p"), override("o", { when: "input.a" })], { input: "params" }),
    );
    await before.check("t", { n: 1, a: true });
    const after = before.redefine(policies("d", [large("p"), override("o", { when: "empty(params.b)" })]));
    await after.check("t", { n: 1 });
    await after.check("t", { n: 1, b: [] });
    expect((await patternsOf(after))[0]?.inputs).toMatchObject([
      { path: "params.a", values: [{ value: true, count: 1 }], missing: 0 },
      { path: "params.b", values: [{ value: [], count: 1 }], missing: 1 },
    ]);
  });

  it("may be the denial", async () => {
    const when = "denial.policy == 'p' and 'large' in denial.failed_conditions";
    const place = deciding(policies("d", [large("p"), override("o", { when })]));
    await place.check("t", { n: 1 });
    expect((await patternsOf(place))[0]?.inputs).toMatchObject([
      { path: "denial.policy", values: [{ value: "p", count: 1 }] },
      { path: "denial.failed_conditions", values: [{ value: ["large"], count: 1 }] },
    ]);
  });

  it("stay masked, and are counted where they were not recorded", async () => {
    const listed = [large("p"), override("o", { when: "params.secret != ''" })];
    const place = deciding(policies("d", listed, { logging: { mask: ["/params/secret"] } }));
    for (const secret of ["a", "b"]) await place.check("t", { n: 1, secret });
    const silent = place.redefine(policies("d", listed, { logging: { include_inputs: false } }));
    await silent.check("t", { n: 1, secret: "c" });
    expect((await patternsOf(silent))[0]?.inputs).toEqual([
      {
        path: "params.secret",
        values: [{ value: "[masked]", count: 2 }],
        distinct: 1,
        other: 0,
        missing: 0,
        not_recorded: 1,
      },
    ]);
  });

  it("are named as in the override where the definition is no longer stored", async () => {
    const listed = [large("p"), override("o", { when: "input.n == 1" })];
    const place = deciding(policies("d", listed, { input: "params" }));
    await place.check("t", { n: 1 });
    const expected = { values: [{ value: 1, count: 1 }], missing: 0 };
    expect((await patternsOf(place))[0]?.inputs).toMatchObject([{ path: "params.n", ...expected }]);
    const moved = await place.move();
    expect((await patternsOf(moved))[0]?.inputs).toMatchObject([{ path: "input.n", ...expected }]);
  });

  it("are none where the override always applies", async () => {
    const place = deciding(policies("d", [large("p"), override("o")]));
    await place.check("t", { n: 1 });
    expect((await patternsOf(place))[0]?.inputs).toEqual([]);
  });
});
