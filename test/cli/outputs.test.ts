import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { BacktestReport } from "../../src/replay/backtest.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

type Fields = Readonly<Record<string, unknown>>;

let place: Workplace;
beforeEach(() => {
  place = workplace();
  for (const decision of [fee, tiers, gate, chain]) define(decision);
});

const define = (decision: Fields): void =>
  writeFileSync(join(place.decisions, `${String(decision["id"])}.json`), JSON.stringify({ decision }));

const fee = {
  id: "fee",
  type: "rule_table",
  hit_policy: "collect",
  aggregate: "sum",
  rules: [
    { condition: "weight > 0", output: 4.9 },
    { condition: "weight > 10", output: "{{ weight * 0.1 }}" },
  ],
  default: { output: 0 },
};
const fees = { ...fee, id: "fees", aggregate: undefined };

const tiers = {
  id: "tiers",
  type: "switch",
  input: "{{ tier }}",
  cases: [
    { condition: "input == 'gold'", output: { discount: 20, to: "{{ email }}" } },
    { condition: "input == 'text'", output: "{{ text }}" },
    { condition: "input == 'route'", target: "stage-a" },
  ],
  default: { target: "stage-b" },
  logging: { mask: ["/email"] },
};

const gate = {
  id: "gate-out",
  type: "gate",
  action: { org: "acme", domain: "pay", name: "out" },
  rules: [{ id: "ok", tier: "T3", severity: 1, when: "true", status: "GREEN", output: { limit: "{{ n }}" } }],
};

const chain = {
  id: "chain",
  type: "switch",
  cases: [{ condition: "weight < 100", target: "fee" }],
  default: { target: "stage-too-heavy" },
};

const evaluate = (id: string, context: object, ...words: readonly string[]): Promise<Ran> =>
  place.run(["evaluate", id, "--input", JSON.stringify(context), ...words]);

const output = async (id: string, context: object, ...words: readonly string[]): Promise<string> => {
  const { code, out, err } = await evaluate(id, context, "--format", "output", ...words);
  expect({ code, err }).toEqual({ code: 0, err: "" });
  return out;
};

const records = async (): Promise<readonly DecisionRecord[]> => {
  const { out } = await place.run(["log", "--format", "jsonl"]);
  return out
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as DecisionRecord);
};

describe("--format output", () => {
  it.each<[string, string, object, string]>([
    ["a number", "fee", { weight: 20 }, "6.9\n"],
    ["the default's value", "fee", { weight: 0 }, "0\n"],
    ["an object", "tiers", { tier: "gold" }, '{"discount":20,"to":"[masked]"}\n'],
    ["text as it is", "tiers", { tier: "text", text: 'say "hi", {x}' }, 'say "hi", {x}\n'],
    ["text with a line break as JSON", "tiers", { tier: "text", text: "a\nb" }, '"a\\nb"\n'],
    ["null for a branch without one", "tiers", { tier: "route" }, "null\n"],
    ["null for a default without one", "tiers", { tier: "none" }, "null\n"],
  ])("prints %s", async (_what, id, context, expected) => {
    expect(await output(id, context)).toBe(expected);
  });

  it("prints a list for a table that selects several rules, even for one match", async () => {
    define(fees);
    expect(await output("fees", { weight: 20 })).toBe("[4.9,2]\n");
    expect(await output("fees", { weight: 1 })).toBe("[4.9]\n");
    expect(await output("fees", { weight: 0 })).toBe("[0]\n");
  });

  it("prints the output of a gate", async () => {
    const { code, out } = await place.run([
      "gate",
      "acme/pay/out",
      "--input",
      '{"n":5}',
      "--format",
      "output",
    ]);
    expect({ code, out }).toEqual({ code: 0, out: '{"limit":5}\n' });
  });

  it("prints that of the last decision with --follow", async () => {
    expect(await output("chain", { weight: 20 }, "--follow")).toBe("6.9\n");
    const { code, err } = await evaluate("chain", { weight: 200 }, "--follow", "--format", "output");
    expect({ code, err }).toMatchObject({
      code: 2,
      err: expect.stringContaining("declares no output") as string,
    });
  });

  it("prints one line per input, and an empty one for an error", async () => {
    const lines = ['{"weight":1}', '{"weight":"x"}', '{"weight":20}', "7"];
    const { code, out, err } = await place.run(["evaluate", "fee", "--inputs", "-", "--format", "output"], {
      stdin: lines.join("\n"),
    });
    expect({ code, out }).toEqual({ code: 1, out: "4.9\n0\n6.9\n\n" });
    expect(err).toContain("error: line 4:");
  });

  it("prints nothing for a blocked decision, which exits with 4", async () => {
    const rules = fee.rules.map((rule) => ({ ...rule, target: "stage-pay" }));
    define({ ...fee, rules, guardrails: [{ type: "requires_approval" }] });
    const { code, out, err } = await evaluate("fee", { weight: 1 }, "--format", "output");
    expect({ code, out, err }).toEqual({
      code: 4,
      out: "\n",
      err: "warning: blocked: Target 'stage-pay' requires approval\n",
    });
  });

  it("is refused before anything is decided where the definition declares no output", async () => {
    const { code, out, err } = await evaluate("decision-quality-gate", {}, "--format", "output");
    expect({ code, out, err }).toEqual({
      code: 2,
      out: "",
      err:
        "error: `decision-quality-gate` declares no output\n" +
        "hint: add `output` to its branches, or use --format target\n",
    });
    expect((await place.run(["log"])).out).toBe("");
  });
});

describe("an output that cannot be evaluated", () => {
  it("exits with 1, and nothing is recorded", async () => {
    const { code, out, err } = await evaluate("tiers", { tier: "text" });
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain("the output of `rule-2` could not be evaluated: `text` is missing");
    expect((await place.run(["log"])).out).toBe("");
  });
});

describe("the outputs of a decision", () => {
  it("are recorded, shown, replayed and verified, without a masked value", async () => {
    await evaluate("fee", { weight: 20 });
    const secret = "eve@example.com";
    const { out: answer } = await evaluate("tiers", { tier: "gold", email: secret });
    expect(answer).not.toContain(secret);
    const all = await records();
    expect(all.map(({ outputs }) => outputs)).toEqual([[6.9], [{ discount: 20, to: "[masked]" }]]);
    expect(all[0]?.aggregate).toEqual({ function: "sum", value: 6.9, of: [4.9, 2] });
    expect(JSON.stringify(all)).not.toContain(secret);
    const { out: explained } = await place.run(["explain", all[0]?.record_id ?? "", "--format", "table"]);
    expect(explained).toContain("output        6.9 (sum of 4.9, 2)");
    const { code, out } = await place.run(["replay", "--all", "--format", "plain"]);
    expect({ code, out }).toEqual({ code: 0, out: "replayed\t2\t2\t0\t0\n" });
    expect((await place.run(["verify"])).code).toBe(0);
    const { out: csv } = await place.run(["export", "--format", "csv"]);
    expect(csv).toContain(",[6.9]\r\n");
  });

  it("come from the cache only for the same values that they read", async () => {
    define({
      ...fee,
      input: "{{ weight }}",
      cache: { enabled: true },
      rules: [{ condition: "weight > 0", output: "{{ weight + get(extra, 'fee', 0) }}" }],
    });
    const answers = [{ fee: 1 }, { fee: 1 }, { fee: 2 }].map((extra) => ({ weight: 3, extra }));
    const printed: unknown[] = [];
    for (const context of answers) {
      const { outputs, cached, aggregate } = JSON.parse(
        (await evaluate("fee", context)).out,
      ) as DecisionRecord;
      printed.push([outputs, cached, aggregate?.value]);
    }
    expect(printed).toEqual([
      [[4], false, 4],
      [[4], true, 4],
      [[5], false, 5],
    ]);
    expect((await place.run(["replay", "--all"])).code).toBe(0);
  });

  it("count as a change in a backtest", async () => {
    await evaluate("fee", { weight: 20 });
    await evaluate("fee", { weight: 1 });
    const draft = join(place.root, "draft.json");
    const rules = fee.rules.map((rule, index) => (index === 1 ? { ...rule, output: 3 } : rule));
    writeFileSync(draft, JSON.stringify({ decision: { ...fee, rules } }));
    const { code, out } = await place.run(["backtest", "fee", "--against", draft, "--json"]);
    expect(code).toBe(0);
    expect(JSON.parse(out) as BacktestReport).toMatchObject({
      total: 2,
      changed: 1,
      transitions: [{ from: "rule-1, rule-2 (6.9)", to: "rule-1, rule-2 (7.9)", count: 1 }],
    });
  });

  it("are columns of `show`, and a node of `graph`", async () => {
    const { out } = await place.run(["show", "fee", "--format", "plain"]);
    expect(out).toContain("rule-2\tweight > 10\t{{ weight * 0.1 }}\t0\n");
    const { out: graph } = await place.run(["graph", "tiers", "--format", "plain"]);
    expect(graph).toContain("tiers\trule-1, rule-2\toutput:tiers\tanswers\n");
    expect(graph).toContain("tiers\tstage-a\tstage-a\tleads_to\n");
  });
});
