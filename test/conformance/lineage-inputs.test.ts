import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { describe, expect, it } from "vitest";
import { evaluate } from "../../src/evaluate/evaluate.js";
import { prepare } from "../../src/evaluate/prepare.js";
import { buildLineage } from "../../src/lineage/build-lineage.js";
import type { Definition, Policy } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";

/** InputSource of spec 2: source_type, source_name, keys_accessed and digest; InputRecord of spec 4. */

const policies = (listed: readonly Policy[], more: object = {}): object => ({
  decision: { id: "d", type: "policy", tool: "t", ...more, policies: listed },
});

const policy = (name: string, expression: string, more: Partial<Policy> = {}): Policy => ({
  name,
  version: "1.0.0",
  conditions: [{ name: `${name}_check`, expression }],
  ...more,
});

type Read = readonly [source: string, type: string | undefined, ...keys: readonly string[]];

async function readBy(place: Deciding): Promise<readonly Read[]> {
  const { inputs = [] } = (await place.newest()).lineage ?? {};
  return inputs.map(({ source, source_type, keys }) => [source, source_type, ...keys]);
}

async function readByCall(
  listed: readonly Policy[],
  params: JsonObject = {},
  context: JsonObject = {},
): Promise<readonly Read[]> {
  const place = deciding(policies(listed));
  await place.check("t", params, { context });
  return readBy(place);
}

const sha256 = (value: unknown): string =>
  createHash("sha256")
    .update(canonicalize(value) ?? "")
    .digest("hex");

describe("the inputs of a tool call", () => {
  it("have a type: session_state, params, resource or context", async () => {
    const read =
      "params.n > 0 and session.tier == 'gold' and resources.disk.free > 1 and region == 'eu' and tool == 't'";
    const context = { session: { tier: "gold" }, resources: { disk: { free: 2 } }, region: "eu" };
    expect(await readByCall([policy("p", read)], { n: 1 }, context)).toEqual([
      ["params", "params", "n"],
      ["session", "session_state", "tier"],
      ["resources", "resource", "disk.free"],
      ["region", "context"],
      ["tool", "context"],
    ]);
  });

  it("are those of the conditions that ran: an override that was not needed reads nothing", async () => {
    const listed = [
      policy("p", "params.n > 1"),
      { name: "o", version: "1.0.0", overrides: ["p"], when: "session.tier == 'gold'" },
    ];
    const context = { session: { tier: "gold" } };
    expect(await readByCall(listed, { n: 2 }, context)).toEqual([["params", "params", "n"]]);
    expect(await readByCall(listed, { n: 1 }, context)).toEqual([
      ["params", "params", "n"],
      ["session", "session_state", "tier"],
    ]);
  });

  it("are not those of a policy that is not in effect", async () => {
    const listed = [
      policy("p", "params.n > 1"),
      policy("later", "session.tier == 'gold'", { effective_from: "2027-01-01" }),
    ];
    expect(await readByCall(listed, { n: 2 })).toEqual([["params", "params", "n"]]);
  });

  it("are all paths of a condition, whatever part of it decided", async () => {
    expect(
      await readByCall([policy("p", "params.a == 1 and params.b == 2 or session.c == 3")], { a: 1, b: 2 }),
    ).toEqual([
      ["params", "params", "a", "b"],
      ["session", "session_state", "c"],
    ]);
  });

  it("include the state of the session behind `requires`, `max_calls` and `read_before_write`", async () => {
    const listed: readonly Policy[] = [
      { name: "first", version: "1.0.0", requires: ["login", "mail.send"] },
      { name: "few", version: "1.0.0", max_calls: { count: 5, per: "session" } },
      { name: "cheap", version: "1.0.0", max_sum: { of: "params.cost", most: 5, per: "session" } },
      {
        name: "reads",
        version: "1.0.0",
        read_before_write: { read_tools: ["r"], write_tools: ["t"], path: "params.path" },
      },
    ];
    expect(await readByCall(listed, { path: "/a", cost: 1 })).toEqual([
      [
        "facts",
        "session_state",
        "succeeded.login",
        "succeeded['mail.send']",
        "calls.few",
        "sums.cheap",
        "read.reads",
      ],
      ["params", "params", "cost", "path"],
    ]);
  });

  it("have a digest of the state, which changes with it", async () => {
    const place = deciding(
      policies([
        { name: "first", version: "1.0.0", requires: ["t"] },
        { name: "o", overrides: ["first"] },
      ]),
    );
    const digestOf = async (): Promise<string | undefined> =>
      (await place.newest()).lineage?.inputs[0]?.digest;
    await place.check("t", {});
    expect(await digestOf()).toBe(sha256({ "facts.succeeded.t": 0 }));
    await recordToolResult({ tool: "t", session_id: "s-1", ok: true }, place.world);
    await place.check("t", {});
    expect(await digestOf()).toBe(sha256({ "facts.succeeded.t": 1 }));
  });

  it.each([
    ["a key", "get(session, 'k') == 1", ["k"]],
    ["a key of a key", "get(get(session, 'a'), 'b', 0) == 1", ["a.b"]],
    ["a key below a path", "get(session.a, 'x-y') == 1", ["a.x-y"]],
    ["an index", "get(session.list, 0) == 1", ["list.0"]],
    ["a key with a dot", "get(session, 'a.b') == 1", ["['a.b']"]],
    ["the fallback", "get(session, 'k', session.other) == 1", ["k", "other"]],
    ["a key that is not known before", "get(session, params.key) == 1", []],
  ])("record what `get` reads: %s", async (_what, expression, keys) => {
    const read = await readByCall([policy("p", expression)], { key: "k" }, { session: {} });
    expect(read[0]).toEqual(["session", "session_state", ...keys]);
  });

  it("have the digest of the value that `get` reads, not of all values", async () => {
    const digestFor = async (session: JsonObject): Promise<string | undefined> => {
      const place = deciding(policies([policy("p", "get(session, 'a.b') == 1")]));
      await place.check("t", {}, { context: { session } });
      return (await place.newest()).lineage?.inputs[0]?.digest;
    };
    expect(await digestFor({ "a.b": 1, other: 1 })).toBe(sha256({ "session['a.b']": 1 }));
    expect(await digestFor({ "a.b": 1, other: 2 })).toBe(await digestFor({ "a.b": 1 }));
    expect(await digestFor({ "a.b": 2 })).not.toBe(await digestFor({ "a.b": 1 }));
  });

  it("leave the hash of the decision as it was: it covers all that a condition may read", async () => {
    const listed = [policy("p", "get(session, 'k', 1) == 1")];
    const hashFor = async (session: JsonObject): Promise<string> => {
      const { decisions } = await deciding(policies(listed)).check("t", {}, { context: { session } });
      return decisions[0]?.deterministic_hash ?? "";
    };
    expect(await hashFor({ k: 1 })).toBe(await hashFor({ k: 1 }));
    expect(await hashFor({ k: 1, other: 1 })).not.toBe(await hashFor({ k: 1 }));
  });
});

const routed = (fields: object): object => ({ decision: { id: "d", default: { target: "z" }, ...fields } });

interface Case {
  readonly name: string;
  readonly document: object;
  readonly context: JsonObject;
  readonly read: readonly Read[];
}

const gateAction = { org: "o", domain: "d", name: "n" };

/** What each type of decision reads. */
const cases: readonly Case[] = [
  {
    name: "a switch ends with the first match",
    document: routed({
      type: "switch",
      cases: [
        { condition: "a == 1", target: "x" },
        { condition: "b.c == 1", target: "y" },
      ],
    }),
    context: { a: 1, b: { c: 1 } },
    read: [["a", "context"]],
  },
  {
    name: "a switch without a match reads all",
    document: routed({
      type: "switch",
      cases: [
        { condition: "a == 1", target: "x" },
        { condition: "b.c == 1", target: "y" },
      ],
    }),
    context: { a: 2, b: { c: 2 } },
    read: [
      ["a", "context"],
      ["b", "context", "c"],
    ],
  },
  {
    name: "`input` stands for what it reads",
    document: routed({
      type: "binary",
      input: "{{ a.b }}",
      cases: [{ condition: "input.c > 1", target: "x" }],
    }),
    context: { a: { b: { c: 2 } } },
    read: [["a", "context", "b", "b.c"]],
  },
  {
    name: "a rule table evaluates every rule",
    document: routed({
      type: "rule_table",
      rules: [
        { condition: "a == 1", target: "x" },
        { condition: "b == 1", target: "y" },
      ],
    }),
    context: { a: 1, b: 1 },
    read: [
      ["a", "context"],
      ["b", "context"],
    ],
  },
  {
    name: "a split without an input reads the whole context",
    document: routed({ type: "weighted", cases: [{ target: "x", weight: 1 }] }),
    context: { a: 1 },
    read: [["context", "context"]],
  },
  {
    name: "the rules of an evaluator end with the first match",
    document: {
      decision: {
        id: "d",
        type: "scored",
        evaluators: [
          {
            name: "e",
            rules: [
              { id: "r", if: { field: "a", op: "eq", value: 1 }, then: { decision: "yes", weight: 1 } },
              { id: "s", when: "get(b, 'k') == 1", then: { decision: "no", weight: 1 } },
            ],
          },
          { name: "f", rules: [{ id: "t", when: "get(c, 'k') == 1", then: { decision: "no", weight: 1 } }] },
        ],
      },
    },
    context: { a: 1, b: { k: 1 }, c: { k: 1 } },
    read: [
      ["a", "context"],
      ["c", "context", "k"],
    ],
  },
  {
    name: "a rule of a gate that does not apply reads only `applies_when`; computed values stand for what they read",
    document: {
      decision: {
        id: "d",
        type: "gate",
        action: gateAction,
        computed: { is_large: "amount > 10" },
        rules: [
          { id: "r", tier: "T2", severity: 2, applies_when: "a == 2", when: "b == 1", status: "RED" },
          { id: "s", tier: "T3", severity: 1, when: "not is_large", status: "GREEN" },
        ],
        max_calls: { count: 9, per: "session" },
      },
    },
    context: { a: 1, b: 1, amount: 5, params: { x: 1 } },
    read: [
      ["a", "context"],
      ["amount", "context"],
      ["facts", "session_state", "calls.d"],
    ],
  },
  {
    name: "the time of the request",
    document: routed({ type: "binary", cases: [{ condition: "system.request_time > '2026'", target: "x" }] }),
    context: {},
    read: [["system", "context", "request_time"]],
  },
];

describe("the inputs of a decision", () => {
  it.each(cases)("$name", async ({ document, context, read }) => {
    const place = deciding(document);
    await place.decide("d", context, { session_id: "s" });
    expect(await readBy(place)).toEqual(read);
  });

  it("are the same for an answer from the cache", async () => {
    const place = deciding(
      routed({
        type: "switch",
        cache: { enabled: true },
        cases: [
          { condition: "a == 1", target: "x" },
          { condition: "b == 1", target: "y" },
        ],
      }),
    );
    await place.decide("d", { a: 1, b: 1 });
    const first = await place.newest();
    await place.decide("d", { a: 1, b: 1 });
    const second = await place.newest();
    expect([first.cached, second.cached]).toEqual([false, true]);
    expect(second.lineage?.inputs).toEqual(first.lineage?.inputs);
  });

  it("are external where the data was fetched, also next to values that the caller supplied", () => {
    const definition: Definition = {
      id: "d",
      type: "binary",
      enrich: [{ endpoint: "bureau", into: "customer.credit" }],
      cases: [{ condition: "customer.credit.score > 1 and customer.age > 18", target: "x" }],
      default: { target: "z" },
    };
    const prepared = prepare(definition);
    const context = { customer: { age: 20, credit: { score: 2 } } };
    const scope = { context, input: undefined, facts: {}, system: {} };
    const { inputs } = buildLineage(prepared, scope, evaluate(prepared, scope));
    expect(inputs.map(({ source, source_type, keys }) => [source, source_type, ...keys])).toEqual([
      ["customer", "external", "credit.score"],
      ["customer", "context", "age"],
    ]);
  });

  it("are bounded in memory: any number of combinations of rules is handled", async () => {
    const rules = Array.from({ length: 12 }, (_, at) => ({
      id: `r${at}`,
      tier: "T3",
      severity: 1,
      applies_when: `get(on, '${at}', false)`,
      when: `v${at} == 1`,
      status: "GREEN",
    }));
    const place = deciding({ decision: { id: "d", type: "gate", action: gateAction, rules } });
    for (const number of [0, 1, 4095, ...Array.from({ length: 300 }, (_, at) => at * 13)]) {
      const bits = Array.from({ length: 12 }, (_, at) => (number >> at) & 1);
      const on = Object.fromEntries(bits.map((bit, at) => [String(at), bit === 1]));
      await place.decide("d", { on, ...Object.fromEntries(bits.map((_, at) => [`v${at}`, 1])) });
      const values = (await readBy(place)).map(([source]) => source).filter((each) => each.startsWith("v"));
      expect(values).toEqual(bits.flatMap((bit, at) => (bit === 1 ? [`v${at}`] : [])));
    }
  });
});
