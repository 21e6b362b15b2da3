import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeEach, describe, expect, it } from "vitest";
import type { BacktestReport } from "../../src/replay/backtest.js";
import { changeLine } from "../replay/changed-line.js";
import { filesIn } from "./files-in.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

let place: Workplace;
beforeEach(() => {
  place = workplace();
});

const backtest = (id: string, ...words: readonly string[]): Promise<Ran> =>
  place.run(["backtest", id, ...words]);

async function report(id: string, ...words: readonly string[]): Promise<BacktestReport & { code: number }> {
  const { code, out } = await backtest(id, ...words, "--json");
  return { ...(JSON.parse(out) as BacktestReport), code };
}

/** A file beside the definitions in use. */
function draft(document: unknown, name = "draft.json"): string {
  const path = join(place.root, name);
  writeFileSync(path, typeof document === "string" ? document : JSON.stringify(document));
  return path;
}

const define = (decision: { readonly id: string; readonly [field: string]: unknown }): void =>
  writeFileSync(join(place.decisions, `${decision.id}.json`), JSON.stringify({ decision }));

/** A sample definition as it stands, changed. */
function sample(name: string, change: (text: string) => string): string {
  return draft(change(readFileSync(join(place.decisions, name), "utf8")), `draft-${name}`);
}

const ask = async (id: string, contexts: readonly object[]): Promise<void> => {
  const stdin = contexts.map((context) => JSON.stringify(context)).join("\n");
  const { code, err } = await place.run(["evaluate", id, "--inputs", "-"], { stdin });
  if (code !== 0) throw new Error(err);
};

const scores = (...all: readonly number[]): Promise<void> =>
  ask(
    "decision-quality-gate",
    all.map((quality_score) => ({ artifact: { quality_score } })),
  );

const lenient = (): string => sample("quality-gate.yaml", (text) => text.replaceAll("0.8", "0.6"));

describe("backtest", () => {
  it("finds that nothing changes against the definition of today", async () => {
    await scores(0.9, 0.7, 0.5);
    expect(await report("decision-quality-gate")).toMatchObject({
      code: 0,
      decision_id: "decision-quality-gate",
      total: 3,
      changed: 0,
      change_rate: 0,
      not_replayable: 0,
      transitions: [],
      examples: [],
    });
  });

  it("finds what another definition would have changed, with examples", async () => {
    await scores(0.9, 0.7, 0.65, 0.61, 0.7, 0.5);
    const found = await report("decision-quality-gate", "--against", lenient());
    expect(found).toMatchObject({
      code: 0,
      total: 6,
      changed: 4,
      transitions: [{ from: "Fail", to: "Pass", count: 4 }],
    });
    expect(found.change_rate).toBeCloseTo(4 / 6);
    expect(found.examples.map(({ seq, from, to }) => [seq, from, to])).toEqual([
      [2, "Fail", "Pass"],
      [3, "Fail", "Pass"],
      [4, "Fail", "Pass"],
    ]);
  });

  it("reads only the requested time range", async () => {
    await scores(0.9, 0.7);
    const draftPath = lenient();
    expect((await report("decision-quality-gate", "--against", draftPath, "--since", "1h")).total).toBe(2);
    expect((await report("decision-quality-gate", "--against", draftPath, "--until", "1h")).total).toBe(0);
  });

  it("takes another directory as it is, with its own targets", async () => {
    await scores(0.9, 0.7);
    const other = join(place.root, "other");
    mkdirSync(other);
    const text = readFileSync(join(place.decisions, "quality-gate.yaml"), "utf8");
    writeFileSync(join(other, "gate.yaml"), text);
    writeFileSync(
      join(other, "targets.yaml"),
      "targets: [{ id: stage-deploy, disabled: true }, stage-rework]",
    );
    expect((await report("decision-quality-gate", "--against", other)).transitions).toEqual([
      { from: "Pass", to: "blocked", count: 1 },
    ]);
  });

  it("puts a file in the place of the definition, where guardrails and targets go on to count", async () => {
    await scores(0.9, 0.7);
    writeFileSync(
      join(place.decisions, "everywhere.yaml"),
      "guardrails: [{ type: no_disabled_targets, disabled_stages: [stage-deploy] }]",
    );
    expect((await report("decision-quality-gate", "--against", lenient())).transitions).toEqual([
      { from: "Pass", to: "blocked", count: 1 },
      { from: "Fail", to: "blocked", count: 1 },
    ]);
    const inPlace = join(place.decisions, "quality-gate.yaml");
    expect((await report("decision-quality-gate", "--against", inPlace)).transitions).toEqual([
      { from: "Pass", to: "blocked", count: 1 },
    ]);
  });

  it("takes a file of guardrails alone", async () => {
    await scores(0.9);
    const path = draft({ guardrails: [{ type: "no_disabled_targets", disabled_stages: ["stage-deploy"] }] });
    expect((await report("decision-quality-gate", "--against", path)).transitions).toEqual([
      { from: "Pass", to: "blocked", count: 1 },
    ]);
  });

  it("compares targets if the labels are equal", async () => {
    await scores(0.9);
    const path = sample("quality-gate.yaml", (text) =>
      text.replace("target: stage-deploy", "target: stage-ship"),
    );
    expect((await report("decision-quality-gate", "--against", path)).transitions).toEqual([
      { from: "Pass (stage-deploy)", to: "Pass (stage-ship)", count: 1 },
    ]);
  });

  it("compares outputs if the labels and targets are equal", async () => {
    const parcel = (weight_kg: number): object => ({ parcel: { weight_kg }, destination: { country: "DE" } });
    await ask("decision-shipping-fee", [1, 5, 6].map(parcel));
    const path = sample("shipping-fee.yaml", (text) => text.replace("output: 9.9", "output: 8"));
    expect(await report("decision-shipping-fee", "--against", path)).toMatchObject({
      changed: 2,
      transitions: [{ from: "Parcel (9.9)", to: "Parcel (8)", count: 2 }],
    });
  });

  it("takes a definition of another type", async () => {
    await scores(0.9, 0.7);
    const path = draft({
      decision: {
        id: "decision-quality-gate",
        type: "gate",
        action: { org: "acme", domain: "quality", name: "ship" },
        rules: [
          { id: "good", tier: "T2", severity: 1, when: "artifact.quality_score > 0.8", status: "GREEN" },
        ],
      },
    });
    expect((await report("decision-quality-gate", "--against", path)).transitions).toEqual([
      { from: "Pass", to: "GREEN", count: 1 },
      { from: "Fail", to: "YELLOW", count: 1 },
    ]);
  });

  it("counts records on which the definition fails as changed, with the error", async () => {
    await scores(0.9, 0.7);
    const path = sample("quality-gate.yaml", (text) =>
      text
        .replace("input >= 0.8", "input >= 0.8 and artifact.approved")
        .replace("type: binary", "type: binary\n  on_error: fail"),
    );
    const { transitions, changed } = await report("decision-quality-gate", "--against", path);
    expect(changed).toBe(1);
    expect(transitions).toEqual([
      {
        from: "Pass",
        to: expect.stringContaining("error: `decision-quality-gate`: `Pass`") as string,
        count: 1,
      },
    ]);
  });

  it("rolls again by other weights", async () => {
    const ids = Array.from({ length: 200 }, (_, index) => ({ request: { id: `r-${index}` } }));
    await ask("decision-ab-prompt-variant", ids);
    const path = sample("prompt-ab-test.yaml", (text) =>
      text.replace("weight: 70", "weight: 50").replace("weight: 20", "weight: 40"),
    );
    const found = await report("decision-ab-prompt-variant", "--against", path);
    expect(found.transitions.map(({ from, to }) => [from, to])).toEqual([["Control (v1)", "Variant A (v2)"]]);
    expect(found.change_rate).toBeGreaterThan(0.12);
    expect(found.change_rate).toBeLessThan(0.28);
  });

  it("does not count what cannot be read any more, nor what was changed", async () => {
    await scores(0.5, 0.7, 0.55);
    changeLine(place.store, 3, (text) => text.replace('"context":{', '"context":['));
    changeLine(place.store, 2, (text) => text.replace('"quality_score":0.7', '"quality_score":0.9'));
    const found = await report("decision-quality-gate", "--against", lenient());
    expect(found).toMatchObject({ total: 3, changed: 0, not_replayable: 2 });
    expect(found.reasons.map(({ reason }) => reason).sort()).toEqual([
      "it cannot be read",
      "it was changed after it was written",
    ]);
  });

  it("writes only derived files", async () => {
    await scores(0.9, 0.7);
    const path = lenient();
    const files = (): unknown => filesIn(place.root).filter(([name]) => !name.startsWith("store/log/index/"));
    const before = files();
    await backtest("decision-quality-gate", "--against", path);
    await backtest("decision-quality-gate");
    expect(files()).toEqual(before);
  });

  it("fails with --max-change where nothing is recorded, unless --allow-empty is given", async () => {
    const words = ["decision-quality-gate", "--max-change", "0"] as const;
    const { code, err } = await backtest(...words);
    expect(code).toBe(6);
    expect(err).toMatch(/^error: nothing to check: there are no matching records\nhint: add --allow-empty/);
    expect((await backtest(...words, "--allow-empty")).code).toBe(0);
  });

  it("has nothing to compare where nothing is recorded, and makes no store", async () => {
    expect(await backtest("decision-quality-gate")).toMatchObject({ code: 0, err: "no matching records\n" });
    expect(filesIn(place.root).some(([name]) => name.startsWith("store"))).toBe(false);
  });
});

describe("what was held back and would be let through", () => {
  it("comes first, of gates and of calls", async () => {
    const wires = [
      ...Array<object>(3).fill({ amount: 50_000, payee: { country: "DE" } }),
      ...Array<object>(5).fill({ amount: 5, payee: { country: "DE" } }),
      { amount: 5, payee: { country: "XX" } },
    ];
    await ask("gate-wire-approve", wires);
    const gate = sample("wire-transfer.yaml", (text) =>
      text.replace("in ('XX', 'YY')", "in ('YY', 'DE')").replace("amount > 10000", "amount > 90000"),
    );
    const turned = (await report("gate-wire-approve", "--against", gate)).transitions;
    expect(turned).toEqual([
      { from: "RED", to: "GREEN", count: 1 },
      { from: "GREEN", to: "RED", count: 5 },
      { from: "YELLOW", to: "RED", count: 3 },
    ]);

    for (const source of ["finance", "finance", "crm"])
      await place.run(["check", "read_source", "--params", JSON.stringify({ source }), "--session-id", "s"]);
    const calls = sample("data-science-agent.yaml", (text) =>
      text.replace("params.source == 'finance'", "params.source == 'crm'"),
    );
    expect((await report("policy-read-source", "--against", calls)).transitions).toEqual([
      { from: "denied", to: "allowed", count: 1 },
      { from: "allowed", to: "denied", count: 2 },
    ]);
  });

  it("differs from a decision that is blocked in another way", async () => {
    define({ id: "careful", type: "policy", tool: "drop", policies: [] });
    await place.run(["check", "drop", "--params", "{}", "--session-id", "s"]);
    const guarded = draft({
      decision: {
        id: "careful",
        type: "policy",
        tool: "drop",
        policies: [{ name: "never", version: "1.0.0", conditions: [{ name: "no", expression: "false" }] }],
      },
    });
    expect((await report("careful", "--against", guarded)).transitions).toEqual([
      { from: "allowed", to: "denied", count: 1 },
    ]);
    define({
      id: "careful",
      type: "policy",
      tool: "drop",
      policies: [],
      guardrails: [{ type: "no_disabled_targets", disabled_stages: ["drop"] }],
    });
    await place.run(["check", "drop", "--params", "{}", "--session-id", "s"]);
    expect((await report("careful", "--against", guarded)).transitions).toContainEqual({
      from: "denied (blocked)",
      to: "denied (as decided)",
      count: 1,
    });
  });
});

describe("facts that were not recorded", () => {
  const policy = (rules: object): object => ({
    decision: {
      id: "files",
      type: "policy",
      tool: "*_file",
      policies: [
        {
          name: "first",
          version: "1.0.0",
          conditions: [{ name: "named", expression: "exists(params.path)" }],
          ...rules,
        },
      ],
    },
  });
  const reading = (path: string): object => ({
    read_before_write: { read_tools: ["read_file"], write_tools: ["write_file"], path },
  });
  const call = async (tool: string): Promise<void> => {
    await place.run(["check", tool, "--params", '{"path":"/a","to":"/b"}', "--session-id", "s"]);
  };

  it.each([
    { name: "needs what succeeded", recorded: {}, now: { requires: ["login"] }, why: ["login"] },
    {
      name: "adds up amounts",
      recorded: {},
      now: { max_sum: { of: "1", most: 1, per: "session" } },
      why: ["first"],
    },
    { name: "counts calls", recorded: {}, now: { max_calls: { count: 1, per: "session" } }, why: ["first"] },
    {
      name: "counts calls of another time",
      recorded: { max_calls: { count: 5, per: "session" } },
      now: { max_calls: { count: 5, per: "1h" } },
      why: ["first"],
    },
    {
      name: "reads another path",
      recorded: reading("params.path"),
      now: reading("params.to"),
      why: ["first"],
    },
  ])("are named where another definition $name", async ({ recorded, now, why }) => {
    writeFileSync(join(place.decisions, "files.json"), JSON.stringify(policy(recorded)));
    await call("write_file");
    const found = await report("files", "--against", draft(policy(now)));
    expect(found).toMatchObject({ code: 0, total: 1, changed: 0, change_rate: 0, not_replayable: 1 });
    expect(found.reasons).toEqual([
      { reason: `it has no facts about ${why.join(", ")}`, count: 1, examples: [expect.any(String)] },
    ]);
  });

  it.each([
    {
      name: "counts up to another number",
      recorded: { max_calls: { count: 5, per: "session" } },
      now: { max_calls: { count: 1, per: "session" } },
    },
    { name: "asks only those that write", recorded: {}, now: reading("params.path") },
  ])("are not missed where another definition $name", async ({ recorded, now }) => {
    writeFileSync(join(place.decisions, "files.json"), JSON.stringify(policy(recorded)));
    await call("read_file");
    const found = await report("files", "--against", draft(policy(now)));
    expect(found).toMatchObject({ total: 1, not_replayable: 0 });
  });

  it("are reported if only the shared guardrails differ", async () => {
    await ask("decision-ab-prompt-variant", [{ request: { id: "r" } }]);
    const path = draft({ guardrails: [{ type: "distribution_drift" }] });
    const found = await report("decision-ab-prompt-variant", "--against", path);
    expect(found.reasons.map(({ reason }) => reason)).toEqual(["it has no facts about the distribution"]);
  });
});

describe("--max-change", () => {
  beforeEach(() => scores(...Array<number>(19).fill(0.9), 0.7));

  it.each([
    { most: "5%", code: 0 },
    { most: "0.05", code: 0 },
    { most: "4.9%", code: 6 },
    { most: "0.049", code: 6 },
    { most: "0", code: 6 },
    { most: "0%", code: 6 },
    { most: "1", code: 0 },
    { most: "100%", code: 0 },
  ])("of $most exits with $code where 1 of 20 changes", async ({ most, code }) => {
    expect((await backtest("decision-quality-gate", "--against", lenient(), "--max-change", most)).code).toBe(
      code,
    );
  });

  it("of 0 is kept where nothing changes", async () => {
    expect((await backtest("decision-quality-gate", "--max-change", "0")).code).toBe(0);
  });

  it.each(["5 %%", "-1", "1.5", "101%", "some", "", "NaN", "1e-2"])("refuses `%s`", async (most) => {
    const { code, out, err } = await backtest("decision-quality-gate", `--max-change=${most}`);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toContain(`--max-change must be a share from 0 to 1 or a percentage (got \`${most}\`)`);
  });

  it("is exceeded if no record could be replayed", async () => {
    const decision = {
      id: "secretive",
      type: "binary",
      input: "{{ n }}",
      cases: [{ condition: "input > 1", target: "many" }],
      default: { target: "few" },
      logging: { include_inputs: false },
    };
    define(decision);
    await ask("secretive", [{ n: 2 }]);
    const { code, err } = await backtest("secretive", "--max-change", "100%");
    expect({ code, err }).toEqual({
      code: 6,
      err: "warning: 1 of 1 could not be replayed: its inputs were not logged (1)\n",
    });
    expect((await backtest("secretive")).code).toBe(0);
  });
});

describe("what cannot be backtested", () => {
  const invalid = { decision: { id: "decision-quality-gate", type: "binary", cases: [], defualt: {} } };

  it.each([
    {
      name: "an unknown decision",
      id: "decision-quality-gat",
      words: () => [],
      code: 2,
      message: "did you mean `decision-quality-gate`?",
    },
    {
      name: "a path that is none",
      id: "decision-quality-gate",
      words: () => ["--against", "nowhere.yaml"],
      code: 2,
      message: "no such file or directory: `nowhere.yaml`",
    },
    {
      name: "a draft of something else",
      id: "decision-loan-approval",
      words: () => ["--against", lenient()],
      code: 2,
      message: "defines no decision called `decision-loan-approval`",
    },
    {
      name: "a draft that is not valid",
      id: "decision-quality-gate",
      words: () => ["--against", draft(invalid)],
      code: 3,
      message: "`defualt`",
    },
    {
      name: "a draft that is no YAML",
      id: "decision-quality-gate",
      words: () => ["--against", draft("decision: {id: x\n", "draft.yaml")],
      code: 3,
      message: "draft.yaml:1:11",
    },
    {
      name: "a directory without it",
      id: "decision-quality-gate",
      words: () => ["--against", place.store],
      code: 2,
      message: "no decision called `decision-quality-gate`",
    },
  ])("is $name", async ({ id, words, code, message }) => {
    await scores(0.9);
    const ran = await backtest(id, ...words());
    expect({ code: ran.code, out: ran.out }).toEqual({ code, out: "" });
    expect(ran.err).toContain(message);
  });

  it("is a draft with an undeclared target", async () => {
    await scores(0.9);
    writeFileSync(join(place.decisions, "targets.yaml"), "targets: [stage-deploy, stage-rework]");
    const path = sample("quality-gate.yaml", (text) =>
      text.replace("target: stage-deploy", "target: stage-shop"),
    );
    const { code, err } = await backtest("decision-quality-gate", "--against", path, "--json");
    expect(code).toBe(3);
    const { error } = JSON.parse(err) as {
      error: { code: string; details: { problems: { file: string }[] } };
    };
    expect(error.code).toBe("definition_invalid");
    expect(error.details.problems.map(({ file }) => file)).toEqual([path]);
  });

  it("takes a draft where there is no directory of definitions", async () => {
    await scores(0.7);
    const path = lenient();
    rmSync(place.decisions, { recursive: true });
    expect((await report("decision-quality-gate", "--against", path)).changed).toBe(1);
  });
});

describe("the formats of backtest", () => {
  beforeEach(() => scores(0.9, 0.7));

  const against = (format: string): Promise<Ran> =>
    backtest("decision-quality-gate", "--against", lenient(), "--format", format);

  it("are plain, YAML and JSON lines", async () => {
    expect((await against("plain")).out).toBe(
      "backtest\tdecision-quality-gate\t2\t1\t0.5\t0\nchange\tFail\tPass\t1\n",
    );
    expect((await against("yaml")).out).toContain("change_rate: 0.5\n");
    const { out } = await against("jsonl");
    expect(
      out
        .trimEnd()
        .split("\n")
        .map((line) => (JSON.parse(line) as BacktestReport).changed),
    ).toEqual([1]);
  });

  it("are a table that leads with the answer", async () => {
    const words = ["backtest", "decision-quality-gate", "--against", lenient()];
    const { out } = await place.run(words, { terminal: true });
    expect(out).toMatch(/^50 % would change {2}1 of 2 decisions\n/);
    expect(out).toMatch(/Fail +→ Pass +1 +█{6}░{6} +[0-9a-f-]{36}/);
    const same = await place.run(["backtest", "decision-quality-gate"], { terminal: true });
    expect(same.out).toMatch(/^✓ nothing would change {2}0 of 2 decisions\n/);
  });
});
