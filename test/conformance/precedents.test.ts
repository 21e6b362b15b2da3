import { describe, expect, it } from "vitest";
import { assessConsistency } from "../../src/lineage/deviations.js";
import { choosePrecedents } from "../../src/lineage/precedents.js";
import type { PrecedentOptions } from "../../src/lineage/precedents.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Entity, Lineage } from "../../src/model/lineage.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { deciding } from "../decide/deciding.js";
import type { Decided } from "../store/entries.js";
import { decided } from "../store/entries.js";

/** Entities as `type:id`, what was read, and the names of the params of a tool call. */
interface Traits {
  readonly about: readonly string[];
  readonly reads: readonly string[];
  readonly params?: readonly string[];
  readonly tool?: string;
}

interface Earlier extends Traits {
  readonly decision?: string;
  readonly labels?: readonly string[];
}

const entity = (text: string): Entity => {
  const [type = "", id = ""] = text.split(":");
  return { type, id };
};

const entitiesIn = ({ about }: Traits): readonly Entity[] => about.map(entity);

const lineageOf = (traits: Traits): Lineage =>
  ({
    entities: entitiesIn(traits),
    inputs: traits.reads.map((source) => ({ source, keys: [], digest: "" })),
    ...(traits.params !== undefined && { param_names: traits.params }),
  }) as unknown as Lineage;

/** Which of the earlier ones are found (counted from 1, as they were recorded), and how similar they are. */
async function found(
  asked: Traits,
  earlier: readonly Earlier[],
  wanted: PrecedentOptions = {},
): Promise<readonly (readonly [number, number])[]> {
  const { log } = openMemoryStore();
  for (const each of earlier) {
    const { decision: decision_id = "d", labels: selected_labels = ["Pass"], tool } = each;
    const call = { type: "policy", tool, allowed: true, outcome: "allowed", reason: "", params: {} };
    const fields = { decision_id, selected_labels, lineage: lineageOf(each), ...(tool && call) };
    await log.append({ body: decided(fields as Decided) });
  }
  const entities = entitiesIn(asked);
  const { tool, reads: sources, params = [] } = asked;
  const neighbours = await log.neighbours({ decision_id: "d", tool }, entities, 1000);
  const traits = { entities, sources, params, labels: ["Pass"], targets: ["to-Pass"] };
  const chosen = await choosePrecedents(traits, neighbours, wanted);
  return chosen.map(({ precedent, record }) => [record.seq, precedent.similarity] as const);
}

interface Case {
  readonly clause: string;
  readonly asked: Traits;
  readonly earlier: readonly Earlier[];
  readonly wanted?: PrecedentOptions;
  readonly expected: readonly (readonly [number, number])[];
}

const any = { minSimilarity: 0 };

/**
 * find_similar of spec 2, worked out by hand: (shared entities + shared sources + shared names of params) / (union of
 * all three).
 */
const cases: readonly Case[] = [
  {
    clause: "all is shared: 2 of 2",
    asked: { about: ["c:1"], reads: ["params"] },
    earlier: [{ about: ["c:1"], reads: ["params"] }],
    expected: [[1, 1]],
  },
  {
    clause: "entity overlap: 1 + 2 of 3 + 2",
    asked: { about: ["c:1", "c:2"], reads: ["params", "session"] },
    earlier: [{ about: ["c:1", "c:3"], reads: ["params", "session"] }],
    wanted: any,
    expected: [[1, 0.6]],
  },
  {
    clause: "source overlap: 1 + 1 of 1 + 3",
    asked: { about: ["c:1"], reads: ["params", "session"] },
    earlier: [{ about: ["c:1"], reads: ["params", "resources"] }],
    wanted: any,
    expected: [[1, 0.5]],
  },
  {
    clause: "what only the earlier one has counts too: 1 + 0 of 3 + 1",
    asked: { about: ["c:1"], reads: [] },
    earlier: [{ about: ["c:1", "c:2", "c:3"], reads: ["params"] }],
    wanted: any,
    expected: [[1, 0.25]],
  },
  {
    clause: "what only the one asked about has counts too: 1 + 0 of 3 + 1",
    asked: { about: ["c:1", "c:2", "c:3"], reads: ["params"] },
    earlier: [{ about: ["c:1"], reads: [] }],
    wanted: any,
    expected: [[1, 0.25]],
  },
  {
    clause: "a source that is named twice counts once: 1 + 1 of 1 + 1",
    asked: { about: ["c:1"], reads: ["params", "params"] },
    earlier: [{ about: ["c:1"], reads: ["params", "params", "params"] }],
    expected: [[1, 1]],
  },
  {
    clause: "nothing is read by either: entities alone, 1 of 1",
    asked: { about: ["c:1"], reads: [] },
    earlier: [{ about: ["c:1"], reads: [] }],
    expected: [[1, 1]],
  },
  {
    clause: "an entity is its type and its id",
    asked: { about: ["c:1"], reads: [] },
    earlier: [
      { about: ["c:2"], reads: [] },
      { about: ["d:1"], reads: [] },
    ],
    wanted: any,
    expected: [],
  },
  {
    clause: "a similarity of 0.7 itself is enough: 3 + 4 of 6 + 4",
    asked: { about: ["c:1", "c:2", "c:3", "c:4"], reads: ["a", "b", "e", "f"] },
    earlier: [{ about: ["c:1", "c:2", "c:3", "c:5", "c:6"], reads: ["a", "b", "e", "f"] }],
    expected: [[1, 0.7]],
  },
  {
    clause: "less than 0.7 is not: 2 of 3",
    asked: { about: ["c:1"], reads: ["a", "b"] },
    earlier: [{ about: ["c:1"], reads: ["a"] }],
    expected: [],
  },
  {
    clause: "another threshold, itself included: 2 of 3",
    asked: { about: ["c:1"], reads: ["a", "b"] },
    earlier: [{ about: ["c:1"], reads: ["a"] }],
    wanted: { minSimilarity: 2 / 3 },
    expected: [[1, 0.6667]],
  },
  {
    clause: "5 at most, the newest of equals first",
    asked: { about: ["c:1"], reads: ["a"] },
    earlier: Array.from({ length: 7 }, () => ({ about: ["c:1"], reads: ["a"] })),
    expected: [7, 6, 5, 4, 3].map((seq) => [seq, 1]),
  },
  {
    clause: "another limit",
    asked: { about: ["c:1"], reads: ["a"] },
    earlier: Array.from({ length: 7 }, () => ({ about: ["c:1"], reads: ["a"] })),
    wanted: { limit: 2 },
    expected: [
      [7, 1],
      [6, 1],
    ],
  },
  {
    clause: "the most similar first, however old",
    asked: { about: ["c:1", "c:2"], reads: ["a", "b"] },
    earlier: [
      { about: ["c:1", "c:2"], reads: ["a"] },
      { about: ["c:1", "c:2"], reads: ["a", "b"] },
      { about: ["c:1"], reads: ["a", "b"] },
      { about: ["c:1", "c:2"], reads: ["a", "b", "e"] },
    ],
    expected: [
      [2, 1],
      [4, 0.8],
      [3, 0.75],
      [1, 0.75],
    ],
  },
  {
    clause: "other decisions are left aside",
    asked: { about: ["c:1"], reads: ["a"] },
    earlier: [
      { about: ["c:1"], reads: ["a"], decision: "other" },
      { about: ["c:1"], reads: ["a"] },
    ],
    expected: [[2, 1]],
  },
  {
    clause: "calls of other tools are left aside (decision.tool_name != tool_name)",
    asked: { about: ["c:1"], reads: ["a"], params: ["p"], tool: "t" },
    earlier: [
      { about: ["c:1"], reads: ["a"], params: ["p"], tool: "u" },
      { about: ["c:1"], reads: ["a"], params: ["p"], tool: "t" },
      { about: ["c:1"], reads: ["a"] },
    ],
    wanted: any,
    expected: [[2, 1]],
  },
  {
    clause: "parameter patterns: 1 + 1 + 1 of 1 + 1 + 3",
    asked: { about: ["c:1"], reads: ["params"], params: ["p", "q"], tool: "t" },
    earlier: [{ about: ["c:1"], reads: ["params"], params: ["q", "r"], tool: "t" }],
    wanted: any,
    expected: [[1, 0.6]],
  },
  {
    clause: "names of params that only one of both has count too: 1 + 1 + 0 of 1 + 1 + 2",
    asked: { about: ["c:1"], reads: ["params"], params: [], tool: "t" },
    earlier: [{ about: ["c:1"], reads: ["params"], params: ["p", "q"], tool: "t" }],
    wanted: any,
    expected: [[1, 0.5]],
  },
  {
    clause: "at least one entity is shared, however much else is",
    asked: { about: ["c:1"], reads: ["a", "b", "e", "f", "g", "h"] },
    earlier: [{ about: ["c:2"], reads: ["a", "b", "e", "f", "g", "h"] }],
    wanted: any,
    expected: [],
  },
  {
    clause: "where nothing is known of either, nothing is similar (total == 0)",
    asked: { about: [], reads: [] },
    earlier: [{ about: [], reads: [] }],
    wanted: any,
    expected: [],
  },
];

describe("similar earlier decisions", () => {
  it.each(cases)("$clause", async ({ asked, earlier, wanted, expected }) => {
    expect(await found(asked, earlier, wanted)).toEqual(expected);
  });

  it("the newest 1,000 that share an entity are looked at, and none before them", async () => {
    const asked = { about: ["c:1", "c:2"], reads: ["a"] };
    const twin = { about: ["c:1", "c:2"], reads: ["a"] };
    const akin = Array.from({ length: 1000 }, () => ({ about: ["c:1"], reads: ["a"] }));
    const first = { minSimilarity: 0.7, limit: 1 };
    expect(await found(asked, [twin, ...akin.slice(1)], first)).toEqual([[1, 1]]);
    expect(await found(asked, [twin, ...akin], first)).toEqual([]);
    // Those that share none do not count.
    const strangers = Array.from({ length: 1000 }, () => ({ about: ["c:9"], reads: ["a"] }));
    expect(await found(asked, [twin, ...strangers], first)).toEqual([[1, 1]]);
  });
});

const routed = (fields: object): object => ({
  decision: {
    id: "d",
    entities: [{ type: "c", id: "{{ c }}" }],
    default: { target: "elsewhere" },
    cases: [
      { label: "High", condition: "n > 10", target: "up" },
      { label: "Low", condition: "n < 5", target: "down" },
    ],
    ...fields,
  },
});

const closed = (on_fail: string): object => ({
  guardrails: [
    {
      type: "no_disabled_targets",
      disabled_stages: ["up"],
      on_fail,
      ...(on_fail === "escalate" && { escalate_to: "people" }),
    },
  ],
});

const table = (hit_policy: string): object => ({ type: "rule_table", hit_policy });

const scored = (more: object = {}): object => ({
  decision: {
    id: "d",
    type: "scored",
    entities: [{ type: "c", id: "{{ c }}" }],
    evaluators: [
      {
        name: "e",
        rules: [
          { id: "high", when: "n > 10", then: { decision: "approve", weight: 0.9 } },
          { id: "rest", when: "true", then: { decision: "reject", weight: 0.9 } },
        ],
      },
    ],
    targets: { approve: "up", reject: "down" },
    ...more,
  },
});

const policy = (more: object = {}): object => ({
  decision: {
    id: "d",
    type: "policy",
    tool: "t",
    entities: [{ type: "c", id: "{{ c }}" }],
    policies: [
      { name: "p", conditions: [{ name: "high", expression: "n > 10" }] },
      { name: "o", overrides: ["p"], when: "n < 5" },
    ],
    ...more,
  },
});

const gate = (more: object = {}): object => ({
  decision: {
    id: "d",
    type: "gate",
    action: { org: "o", domain: "d", name: "act" },
    entities: [{ type: "c", id: "{{ c }}" }],
    rules: [
      { id: "r", tier: "T2", severity: 30, when: "n > 10", status: "RED" },
      { id: "y", tier: "T2", severity: 20, when: "n < 5", status: "YELLOW" },
      { id: "s", tier: "T3", severity: 15, when: "n == 7", status: "GREEN-SKIP" },
      { id: "g", tier: "T3", severity: 10, when: "true", status: "GREEN" },
    ],
    ...more,
  },
});

const guardedTool = (on_fail: string): object => ({
  guardrails: [{ type: "no_disabled_targets", disabled_stages: ["t", "act"], on_fail }],
});

interface Outcomes {
  readonly type: string;
  readonly document: object;
  /** What `n` leads to. */
  readonly outcomes: Readonly<Record<number, readonly string[]>>;
}

/** Every outcome that each type may have; those of one line are compared each with each. */
const outcomes: readonly Outcomes[] = [
  {
    type: "binary",
    document: routed({ type: "binary" }),
    outcomes: { 12: ["High"], 11: ["High"], 1: ["Low"], 7: ["default"] },
  },
  {
    type: "binary that blocks",
    document: routed({ type: "binary", ...closed("block") }),
    outcomes: { 12: [], 11: [], 1: ["Low"], 7: ["default"] },
  },
  {
    type: "binary that escalates",
    document: routed({ type: "binary", ...closed("escalate") }),
    outcomes: { 12: ["people"], 11: ["people"], 1: ["Low"], 7: ["default"] },
  },
  {
    type: "switch",
    document: routed({ type: "switch" }),
    outcomes: { 12: ["High"], 1: ["Low"], 7: ["default"] },
  },
  {
    type: "weighted",
    document: routed({
      type: "weighted",
      input: "{{ n }}",
      cases: [
        { label: "A", target: "up", weight: 50, condition: "n < 100" },
        { label: "B", target: "down", weight: 50, condition: "n >= 50 and n < 100" },
      ],
    }),
    outcomes: { 1: ["A"], 2: ["A"], 100: ["default"] },
  },
  {
    type: "rule table, all that match",
    document: routed({
      ...table("collect"),
      cases: undefined,
      rules: [
        { label: "A", condition: "n > 1", target: "a" },
        { label: "B", condition: "n > 2", target: "b" },
        { label: "C", condition: "n < 0", target: "c" },
      ],
    }),
    outcomes: { 2: ["A"], 3: ["A", "B"], 4: ["A", "B"], [-1]: ["C"], 0: ["default"] },
  },
  {
    type: "scored",
    document: scored(),
    outcomes: { 12: ["approve"], 13: ["approve"], 1: ["reject"] },
  },
  {
    type: "scored that blocks",
    document: scored(closed("block")),
    outcomes: { 12: [], 13: [], 1: ["reject"] },
  },
  {
    type: "scored that escalates",
    document: scored(closed("escalate")),
    outcomes: { 12: ["people"], 13: ["people"], 1: ["reject"] },
  },
  {
    type: "policy",
    document: policy(),
    outcomes: { 12: ["allowed"], 13: ["allowed"], 7: ["denied"], 8: ["denied"], 1: ["allowed_by_exception"] },
  },
  {
    type: "policy that blocks",
    document: policy(guardedTool("block")),
    outcomes: { 12: ["denied"], 7: ["denied"], 1: ["denied"] },
  },
  {
    type: "policy that escalates",
    document: policy(guardedTool("escalate")),
    outcomes: { 12: ["denied"], 7: ["denied"] },
  },
  {
    type: "gate",
    document: gate(),
    outcomes: { 12: ["RED"], 13: ["RED"], 1: ["YELLOW"], 7: ["GREEN-SKIP"], 8: ["GREEN"] },
  },
  {
    type: "gate that blocks",
    document: gate(guardedTool("block")),
    outcomes: { 12: ["RED"], 1: ["YELLOW"], 8: ["RED"] },
  },
  {
    type: "gate that escalates",
    document: gate(guardedTool("escalate")),
    outcomes: { 12: ["RED"], 1: ["YELLOW"], 8: ["YELLOW"] },
  },
];

/** A call that is allowed by exception is allowed. */
const permission = (labels: readonly string[]): string =>
  labels.join().replace("allowed_by_exception", "allowed");

const contextFor = (n: number): JsonObject => ({ c: "1", n, tool: "t", params: {} });

describe("outcome_matched", () => {
  it.each(outcomes)(
    "is told rightly of every outcome of a $type",
    async ({ document, outcomes: expected }) => {
      for (const [first, before] of Object.entries(expected)) {
        for (const [second, after] of Object.entries(expected)) {
          const place = deciding(document);
          const earlier = await place.decide("d", contextFor(Number(first)));
          expect(earlier.selected_labels).toEqual(before);
          await place.decide("d", contextFor(Number(second)));
          expect((await place.newest()).selected_labels).toEqual(after);
          expect(await place.precedents()).toEqual([
            expect.objectContaining({
              record_id: earlier.record_id,
              similarity: 1,
              outcome_matched: permission(before) === permission(after),
            }),
          ]);
        }
      }
    },
  );

  it("does not depend on the order in which labels stand", async () => {
    const rule = (label: string): object => ({ label, condition: "true", target: label });
    const collecting = (...labels: readonly string[]): object =>
      routed({ ...table("collect"), cases: undefined, rules: labels.map(rule) });
    const place = deciding(collecting("a", "b"));
    await place.decide("d", { c: "1" });
    const turned = place.redefine(collecting("b", "a"));
    await turned.decide("d", { c: "1" });
    expect((await turned.precedents())[0]).toMatchObject({ outcome_matched: true });
  });
});

describe("precedents of a tool call", () => {
  const calls = policy({ tool: ["t", "u"], entities: [{ type: "c", id: "{{ params.c }}" }] });

  /** The precedents of a call of `t` with the params c and n, after another call. */
  const after = async (tool: string, params: JsonObject): Promise<readonly (readonly [number, string])[]> => {
    const place = deciding(calls);
    await place.check(tool, params, { context: { n: 12 } });
    await place.check("t", { c: "1", n: 1 }, { context: { n: 12 } });
    return (await place.precedents()).map(({ similarity, match_reason }) => [similarity, match_reason]);
  };

  it.each([
    {
      name: "the same tool and the same names, whatever the values",
      tool: "t",
      params: { n: 2, c: "1" },
      found: [[1, "same c:1; both read n; both have params c, n"]],
    },
    { name: "another tool", tool: "u", params: { c: "1", n: 1 }, found: [] },
    {
      name: "one more name: 1 + 1 + 2 of 1 + 1 + 3",
      tool: "t",
      params: { c: "1", n: 1, o: 1 },
      found: [[0.8, "same c:1; both read n; both have params c, n"]],
    },
    {
      name: "two other names: 1 + 1 + 1 of 1 + 1 + 4, too few",
      tool: "t",
      params: { c: "1", o: 1, p: 1 },
      found: [],
    },
  ])("$name", async ({ tool, params, found: expected }) => {
    expect(await after(tool, params)).toEqual(expected);
  });

  it("records the names of the params as requested, in order", async () => {
    const place = deciding(calls);
    await place.check("t", { n: 1, c: "1" }, { context: { n: 12 } });
    expect((await place.newest()).lineage?.param_names).toEqual(["c", "n"]);
    const other = deciding(routed({ type: "binary" }));
    await other.decide("d", { c: "1", n: 1, params: { a: 1 } });
    expect((await other.newest()).lineage).not.toHaveProperty("param_names");
  });

  it("reads the names of older records from their params", async () => {
    const place = deciding(calls);
    await place.check("t", { c: "1", n: 1 }, { context: { n: 12 } });
    const newest = await place.newest();
    const older = {
      ...newest,
      record_id: newest.record_id.replace(/^./, "f"),
      lineage: { ...newest.lineage, param_names: undefined },
    };
    const chained = new Set(["seq", "prev_hash", "hash"]);
    const fields = Object.fromEntries(Object.entries(older).filter(([name]) => !chained.has(name)));
    await place.world.records.log.append({ body: JSON.stringify(fields).slice(1, -1) });
    await place.check("t", { c: "1", n: 2 }, { context: { n: 12 } });
    expect((await place.precedents()).map(({ similarity }) => similarity)).toEqual([1, 1]);
  });
});

describe("what a decision is about", () => {
  const about = (entities: readonly object[], more: object = {}): object =>
    routed({ type: "binary", entities, ...more });

  const entitiesOf = async (document: object, context: JsonObject): Promise<unknown> => {
    const place = deciding(document);
    await place.decide("d", context);
    return (await place.newest()).lineage?.entities;
  };

  it("counts each entity once", async () => {
    const twice = [
      { type: "c", id: "{{ c }}" },
      { type: "c", id: "{{ c }}" },
      { type: "c", id: "1" },
    ];
    expect(await entitiesOf(about(twice), { c: "1", n: 1 })).toEqual([{ type: "c", id: "1" }]);
  });

  it("keeps apart what only looks alike when written in a row", async () => {
    const alike = [
      { type: "a b", id: "c" },
      { type: "a", id: "b c" },
    ];
    expect(await entitiesOf(about(alike), { n: 1 })).toEqual(alike);
  });

  it("may be told by the input", async () => {
    const byInput = about([{ type: "n", id: "{{ input }}" }], { input: "{{ n }}" });
    expect(await entitiesOf(byInput, { n: 1 })).toEqual([{ type: "n", id: "1" }]);
  });

  it.each([
    ["as it is", "{{ c }}", {}],
    ["within a text", "customer {{ c }}", {}],
    ["changed", "{{ upper(c) }}", {}],
    ["measured", "{{ length(c) }}", {}],
    ["as a part of something", "{{ all }}", { mask: ["/all/c"] }],
    ["through the input", "{{ input }}", { input: "{{ lower(c) }}" }],
  ])("leads to nothing where it is masked: %s", async (_, id, { mask = ["/c"], ...more }: JsonObject) => {
    const document = about([{ type: "c", id }], { ...more, logging: { mask } });
    const place = deciding(document);
    for (const c of ["first", "other"]) await place.decide("d", { c, n: 1, all: { c } });
    expect((await place.newest()).lineage).toMatchObject({ entities: [], precedents: [] });
  });

  it("is no matter of masks elsewhere", async () => {
    const document = about([{ type: "c", id: "customer {{ c }}" }], { logging: { mask: ["/secret"] } });
    const place = deciding(document);
    for (const secret of ["x", "y"]) await place.decide("d", { c: "1", n: 1, secret });
    expect(await place.precedents()).toHaveLength(1);
  });
});

describe("deviations from precedent", () => {
  const assess = async (place: ReturnType<typeof deciding>): ReturnType<typeof assessConsistency> =>
    assessConsistency((await place.records()).toReversed(), place.world.records.log);

  it("None where there are none: no suggestions", async () => {
    const place = deciding(routed({ type: "binary" }));
    for (const n of [12, 13, 14]) await place.decide("d", { c: "1", n });
    expect(await assess(place)).toEqual({
      observer: "precedent_consistency",
      summary: "0 of 3 decisions deviated from precedent",
      severity: "info",
      suggestions: [],
      decisions: 3,
      deviations: [],
    });
  });

  it("outcome_differs: a decision counts once, however many precedents it deviates from", async () => {
    const place = deciding(routed({ type: "binary" }));
    for (const n of [12, 13, 1]) await place.decide("d", { c: "1", n });
    const [first, second, third] = await place.records();
    const assessment = await assess(place);
    expect(assessment).toMatchObject({
      summary: "1 of 3 decisions deviated from precedent",
      severity: "caution",
      deviations: [
        { record_id: third?.record_id, precedent_id: second?.record_id, deviation_type: "outcome_differs" },
        { record_id: third?.record_id, precedent_id: first?.record_id, deviation_type: "outcome_differs" },
      ],
    });
    expect(assessment.deviations[0]?.explanation).toBe("`Low` now, `High` before");
    expect(assessment.suggestions).toHaveLength(2);
  });

  it.each([
    {
      type: "policy: the condition that failed",
      document: policy({
        policies: [
          {
            name: "p",
            conditions: [
              { name: "one", expression: "n != 1" },
              { name: "two", expression: "n != 2" },
            ],
            deny_reason: "Not {{ n }}",
          },
        ],
      }),
      explanation: "`denied` both times, but because of `Not 2` now, because of `Not 1` before",
    },
    {
      type: "policy: the condition that failed, with the same text",
      document: policy({
        policies: [{ name: "p", conditions: [{ name: "q", expression: "n > 9" }], deny_reason: "Too few" }],
      }),
      then: policy({
        policies: [{ name: "p", conditions: [{ name: "q", expression: "n > 8" }], deny_reason: "Too few" }],
      }),
      explanation: "`denied` both times, but because of `p: n > 8` now, because of `p: n > 9` before",
    },
    {
      type: "policy: the policy that denied",
      document: policy({ policies: [{ name: "p", conditions: [{ name: "q", expression: "false" }] }] }),
      then: policy({ policies: [{ name: "r", conditions: [{ name: "q", expression: "false" }] }] }),
      explanation: "`denied` both times",
    },
    {
      type: "policy: the policies that allowed",
      document: policy({ policies: [{ name: "p", conditions: [{ name: "q", expression: "n < 9" }] }] }),
      then: policy({ policies: [{ name: "p", conditions: [{ name: "q", expression: "n < 8" }] }] }),
      explanation: "`allowed` both times, but because of `p: n < 8` now, because of `p: n < 9` before",
    },
    {
      type: "policy: the override",
      document: policy(),
      then: policy({
        policies: [
          { name: "p", conditions: [{ name: "high", expression: "n > 10" }] },
          { name: "another", overrides: ["p"], reason: "So it is" },
        ],
      }),
      explanation: "`allowed_by_exception` both times",
    },
    {
      type: "binary: the condition",
      document: routed({ type: "binary" }),
      then: routed({
        type: "binary",
        cases: [
          { label: "High", condition: "n > 10", target: "up" },
          { label: "Low", condition: "n < 6", target: "down" },
        ],
      }),
      explanation: "`Low` both times, but because of `n < 6` now, because of `n < 5` before",
    },
    {
      type: "scored: what the evaluators said",
      document: scored(),
      then: scored({
        evaluators: [
          { name: "e", rules: [{ id: "low", when: "n < 9", then: { decision: "reject", weight: 0.9 } }] },
        ],
        targets: { reject: "down" },
      }),
      explanation: "`reject` both times",
    },
    {
      type: "gate: the rules that decided",
      document: gate(),
      then: gate({ rules: [{ id: "other", tier: "T2", severity: 1, when: "n < 9", status: "YELLOW" }] }),
      explanation: "`YELLOW` both times",
    },
    {
      type: "blocked: what the guardrails had against it",
      document: routed({ type: "binary", ...closed("block"), cases: [{ condition: "true", target: "up" }] }),
      then: routed({
        type: "binary",
        cases: [{ condition: "true", target: "down" }],
        guardrails: [{ type: "no_disabled_targets", disabled_stages: ["down"] }],
      }),
      explanation:
        "`blocked` both times, but because of `Target 'down' is disabled` now, because of `Target 'up' is disabled` before",
    },
  ])("rationale_differs where only the reasons differ. $type", async ({ document, then, explanation }) => {
    const place = deciding(document);
    await place.decide("d", contextFor(1));
    const later = then === undefined ? place : place.redefine(then);
    await later.decide("d", contextFor(2));
    const { deviations, severity } = await assess(later);
    expect(deviations).toMatchObject([{ deviation_type: "rationale_differs" }]);
    expect(deviations[0]?.explanation).toContain(explanation);
    expect(severity).toBe("caution");
  });

  it.each([
    {
      name: "of a denial",
      document: policy({
        policies: [
          { name: "p", conditions: [{ name: "q", expression: "false" }], deny_reason: "It is {{ n }}" },
        ],
      }),
      values: [1, 2],
    },
    {
      name: "of a permission",
      document: policy({ policies: [{ name: "p", reason: "It is {{ n }}" }] }),
      values: [1, 2],
    },
    {
      name: "of an exception",
      document: policy({
        policies: [
          { name: "p", conditions: [{ name: "q", expression: "false" }] },
          { name: "o", overrides: ["p"], reason: "It is {{ n }}" },
        ],
      }),
      values: [1, 2],
    },
    {
      name: "of a gate's rule",
      document: gate({
        rules: [
          { id: "y", tier: "T2", severity: 1, when: "true", status: "YELLOW", reason: "It is {{ n }}" },
        ],
      }),
      values: [1, 2],
    },
    {
      name: "of a fallback, which names the highest weight",
      document: scored({
        evaluators: [
          {
            name: "e",
            rules: [
              { id: "a", when: "n > 10", then: { decision: "approve", weight: 0.3 } },
              { id: "b", when: "true", then: { decision: "approve", weight: 0.2 } },
            ],
          },
        ],
        scoring: { strategy: "threshold", threshold: 0.9, fallback_decision: "reject" },
      }),
      values: [1, 12],
    },
  ])("a templated reason is no other rationale: $name", async ({ document, values }) => {
    const place = deciding(document);
    for (const n of values) await place.decide("d", contextFor(n));
    const because = (await place.records()).map((record) => record.because.join());
    expect(new Set(because).size).toBe(2);
    expect((await assess(place)).deviations).toEqual([]);
  });

  it("an exception is no deviation from a permission, nor a permission from an exception", async () => {
    for (const [first, second] of [
      [1, 12],
      [12, 1],
    ] as const) {
      const place = deciding(policy());
      for (const n of [first, second]) await place.decide("d", contextFor(n));
      expect((await assess(place)).deviations).toEqual([]);
      await place.decide("d", contextFor(7));
      expect((await assess(place)).deviations.map((each) => each.explanation)).toEqual(
        expect.arrayContaining([
          "`denied` now, `allowed` before",
          "`denied` now, `allowed_by_exception` before",
        ]),
      );
    }
  });

  it("a long reason is shortened", async () => {
    const denying = (name: string): object =>
      policy({
        policies: [{ name, conditions: [{ name: "q", expression: "false" }], deny_reason: "{{ long }}" }],
      });
    const place = deciding(denying("p"));
    await place.decide("d", { ...contextFor(1), long: `${"x".repeat(299)}😀` });
    const later = place.redefine(denying("r"));
    await later.decide("d", { ...contextFor(1), long: "y" });
    expect((await assess(later)).deviations[0]?.explanation).toBe(
      `\`denied\` both times, but because of \`y\` now, because of \`${"x".repeat(299)}…\` before`,
    );
  });

  it("the roll of a weighted decision is no rationale", async () => {
    const place = deciding(
      routed({ type: "weighted", input: "{{ n }}", cases: [{ label: "A", target: "up", weight: 1 }] }),
    );
    for (const n of [1, 2, 3]) await place.decide("d", { c: "1", n });
    const because = (await place.records()).map((record) => record.because.join());
    expect(new Set(because).size).toBe(3);
    expect((await assess(place)).deviations).toEqual([]);
  });

  it("where the precedent is gone, what was noted of it stands", async () => {
    const place = deciding(routed({ type: "binary" }));
    for (const n of [12, 1, 13]) await place.decide("d", { c: "1", n });
    const { log } = place.world.records;
    await place.world.records.prune(await log.prunable({ keep: 1 }), {});
    expect((await assess(place)).deviations).toMatchObject([
      {
        deviation_type: "outcome_differs",
        explanation: "`High` now, another outcome before (that record is gone)",
      },
    ]);
  });

  it("what a precedent's record says wins over what was noted of it", async () => {
    const place = deciding(routed({ type: "binary" }));
    for (const n of [12, 13]) await place.decide("d", { c: "1", n });
    const [first, second] = await place.records();
    if (first === undefined || second?.lineage === undefined) throw new Error("two were decided");
    const precedents = second.lineage.precedents.map((each) => ({ ...each, outcome_matched: false }));
    const forged = { ...second, lineage: { ...second.lineage, precedents } };
    expect((await assessConsistency([forged], place.world.records.log)).deviations).toEqual([]);
  });
});
