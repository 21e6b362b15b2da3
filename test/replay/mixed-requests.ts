import type { CheckRequest } from "../../src/decide/check.js";
import type { DecisionRequest } from "../../src/decide/request.js";
import type { ToolResultRequest } from "../../src/decide/tool-result.js";

/** What is asked of the world: a decision, about a call, or to note how one went. */
export type Asked =
  | { readonly decide: DecisionRequest }
  | { readonly check: CheckRequest }
  | { readonly result: Omit<ToolResultRequest, "decision"> };

/** A whole number below `below` that looks random and is not. */
const drawn = (index: number, below: number, step = 7919): number => (index * step + (index >> 3)) % below;

const pick = <T>(items: readonly [T, ...T[]], index: number): T =>
  items[Math.abs(index) % items.length] ?? items[0];

/** Values on which implementations of JSON, hashing or sorting come apart. */
const oddities = [
  -0,
  1e308,
  5e-324,
  2 ** 53 + 2,
  0.1 + 0.2,
  "Zoë 👩‍👩‍👧 \u2028\u0000",
  "\ud800 alone",
  "é",
  "e\u0301",
  '"quotes" and \\ and \n lines',
  "[masked]",
  [],
  {},
  null,
  { "": "", ключ: [1, [2, [3]]], constructor: 1, "a.b": 2, 10: "ten", 9: "nine" },
  JSON.parse('{"__proto__": {"polluted": true}, "b": 1, "a": 2}') as unknown,
  nested(100),
  "x".repeat(3000),
] as const;

function nested(depth: number): unknown {
  let value: unknown = "deep";
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { down: value };
  return value;
}

const scores = [-0, 0, 0.1 + 0.2, 0.8, 0.7999999999999999, 1e308, "0.9", null] as const;
const kinds = ["stop", "deploy", "notify", "something else", "Stop"] as const;
const paths = ["/notes/a", "/notes/../notes/a", "/notes/ü", "/notes/b"] as const;
const texts = ["Straße", "STRASSE", "ẞ", "ss", ""] as const;

const decided = (decision_id: string, context: object, more: Partial<DecisionRequest> = {}): Asked => ({
  decide: { decision_id, context, ...more },
});

const person = (index: number): object => ({
  person: { email: `somebody-${index}@example.com`, score: index % 9 },
});

const credit = (index: number): object => ({
  credit: {
    score: drawn(index, 900),
    open: index % 3 === 0,
    note: pick(oddities, index),
  },
  income: drawn(index, 5000),
  secret: `s-${index}`,
});

const payment = (index: number): object => ({
  amount: pick([5, 10_000, 10_000.01, 1e15, "much", -1], drawn(index, 97)),
  ...(index % 11 !== 0 && {
    payee: { country: pick(["DE", "XX", "FR"], index), name: pick(["", "Zoë"], index) },
  }),
  ...(index % 5 === 0 && { paid: index % 2 === 0 }),
});

const session = (index: number): string => `session-${drawn(index, 40)}`;

const callParams = (index: number): object => ({
  path: pick(paths, drawn(index, 31)),
  size: drawn(index, 200),
  odd: pick(oddities, index),
});

const call = (tool: string, index: number): Asked => ({
  check: {
    tool,
    params: callParams(index),
    context: {
      session: {
        name: `Sitzung ${index % 7}`,
        trusted: index % 3 === 0,
        asked: index % 2 === 0,
        urgent: index % 13 === 0,
      },
    },
    ...(index % 10 !== 9 && { session_id: session(index) }),
    ...(index % 6 === 0 && { fixed_params: true }),
    ...(index % 4 === 0 && { workflow_id: "prod-1", correlation_id: `c-${index}` }),
  },
});

const table = (name: string, index: number): Asked =>
  decided(`table-${name}`, { n: drawn(index, 25), text: pick(texts, index), odd: pick(oddities, index) });

/** One kind after the other; every so-manieth of its kind differs from those before. */
const makers: readonly ((index: number) => Asked)[] = [
  (index) =>
    decided(
      "binary",
      { artifact: { id: `a-${index % 50}`, score: pick(scores, drawn(index, 101)) } },
      { feedback: { source: "retry", odd: pick(oddities, index) } },
    ),
  (index) =>
    index % 2 === 0
      ? decided("brief", { artifact: { score: pick(scores, index) }, odd: pick(oddities, index) })
      : decided("answers", { n: drawn(index, 25), text: pick(texts, index), odd: pick(oddities, index) }),
  (index) =>
    decided("guarded", { kind: pick(kinds, index) }, { workflow_id: pick(["prod-eu", "test"], index >> 2) }),
  (index) =>
    decided("split", { user: { id: index % 17 === 0 ? pick(oddities, index) : `u-${index % 500}` } }),
  (index) => decided("salted", { user: { id: index, beta: index % 2 === 0, odd: pick(oddities, index) } }),
  (index) => table("first", index),
  (index) => table(index % 2 === 0 ? "collect" : "rule_order", index),
  (index) => table("priority", index),
  (index) => table("unique", index),
  (index) => table(index % 2 === 0 ? "any" : "output_order", index),
  (index) => decided("masked-unread", { n: index % 12, ...person(index), secrets: [1, { two: "2" }] }),
  (index) => decided("scored-weighted_average", credit(index), { feedback: { by: "Zoë" } }),
  (index) => decided("scored-max_weight", credit(index)),
  (index) => decided("scored-consensus", credit(index), { session_id: session(index) }),
  (index) => decided("scored-threshold", credit(index)),
  (index) => call("read_file", index),
  // Of the call before: requests that are made together come in any order.
  (index) => ({
    result: {
      tool: "read_file",
      session_id: session(index - 1),
      ok: index % 5 !== 0,
      ...(index % 2 === 0 && { params: callParams(index - 1) }),
    },
  }),
  (index) => call("write_file", index),
  (index) => call("drop_table", index),
  (index) => call("summarise", index),
  (index) => call("nobody_knows", index),
  (index) => decided(index % 2 === 0 ? "gate" : "gate-answers", payment(index)),
  (index) => decided("gate-held", payment(index)),
  (index) => decided("gate-timed", payment(index)),
  (index) => decided("gate-limited", payment(index)),
];

/** Those that are not replayable. */
const unreplayable: readonly ((index: number) => Asked)[] = [
  (index) => decided("unlogged", { artifact: { score: pick(scores, index) } }),
  (index) => decided("masked", { artifact: { score: pick(scores, index) } }),
  (index) => decided("masked-way", { n: index % 12, ...person(index) }),
  (index) => decided("gate-masked", { amount: index * 3000, payee: { country: "DE" } }),
];

export function requestAt(index: number): Asked {
  const maker = makers[index % makers.length];
  if (maker === undefined) throw new Error("there are makers");
  return maker(Math.floor(index / makers.length));
}

export const unreplayableAt = (index: number): Asked =>
  pick(unreplayable as [(at: number) => Asked], index)(index);
