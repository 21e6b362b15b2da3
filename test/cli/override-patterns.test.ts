import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import type { SuggestedPatterns } from "../../src/present/pattern-view.js";
import { displayWidth } from "../../src/present/text-width.js";
import type { BacktestReport } from "../../src/replay/backtest.js";
import { plainColumns } from "../acceptance/generated-sections.js";
import { changeLine } from "../replay/changed-line.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const definition = `decision:
  id: payments
  version: 1.0.0
  type: policy
  tool: pay
  policies:
    - name: small_amounts # in euros
      version: 1.0.0
      conditions:
        - { name: small, expression: "params.amount <= 100" }
    - name: known_payee
      version: 1.0.0
      conditions:
        - { name: known, expression: "exists(params.payee)" }
    - { name: rent, version: 1.0.0, overrides: [small_amounts], when: "params.purpose == 'rent'" }
    - { name: tips, version: 1.0.0, overrides: [known_payee], when: "params.amount < 5" }
    - { name: trial, overrides: [known_payee], max_applications: 9 }
`;

const rent = { amount: 900, purpose: "rent", payee: "p-1" };
const tip = { amount: 2, purpose: "tip" };

/** A place in which overrides allowed some calls. */
async function placeWith(...calls: readonly object[]): Promise<Workplace> {
  const place = workplace();
  writeFileSync(join(place.decisions, "payments.yaml"), definition);
  const stdin = calls.map((params) => JSON.stringify({ tool: "pay", params })).join("\n");
  if (calls.length > 0) await place.run(["evaluate", "payments", "--inputs", "-"], { stdin });
  return place;
}

const patterns = (place: Workplace, ...words: readonly string[]): Promise<Ran> =>
  place.run(["overrides", "--patterns", ...words]);

const errorOf = ({ err }: Ran): { message: string; hint: string } =>
  (JSON.parse(err) as { error: { message: string; hint: string } }).error;

describe("overrides --patterns", () => {
  it("suggests the change of a frequent override, which a backtest accepts", async () => {
    const denied = { amount: 900, purpose: "car", payee: "p-1" };
    const place = await placeWith(rent, rent, rent, rent, { ...rent, amount: 800 }, tip, denied);
    const out = join(place.root, "draft.yaml");
    const ran = await patterns(place, "--json", "--out", out);
    const found = JSON.parse(ran.out) as SuggestedPatterns;
    expect(found).toMatchObject({
      calls: 7,
      damaged: 0,
      patterns: [
        {
          override: "rent",
          flips: 5,
          denials: 6,
          reason: null,
          suggestion: { decision_id: "payments", still_overrides: [] },
        },
        { override: "tips", flips: 1, denials: 1, suggestion: null, reason: "fewer than 5 flips (--min)" },
      ],
    });
    expect(ran).toMatchObject({
      code: 0,
      err: `wrote ${out}; to test it: agent-33 decision backtest payments --against ${out}\n`,
    });
    const written = readFileSync(out, "utf8");
    expect(written).toBe(found.patterns[0]?.suggestion?.document);
    expect(written).toContain("name: small_amounts # in euros");
    const backtest = await place.run(["backtest", "payments", "--against", out, "--json"]);
    expect(JSON.parse(backtest.out) as BacktestReport).toMatchObject({
      total: 7,
      not_replayable: 0,
      transitions: [{ from: "allowed_by_exception", to: "allowed", count: 5 }],
    });
  });

  it("describes each pattern within 80 columns", async () => {
    const payee = "p".repeat(100);
    const place = await placeWith(rent, { ...rent, payee }, tip, { ...tip, purpose: null });
    const { out } = await place.run(["overrides", "--patterns", "--min", "2"], {
      terminal: true,
      columns: 80,
    });
    const time = expect.stringMatching(/^ {2}time {6}20[\d-]{8} [\d:]{8}.* UTC$/) as string;
    expect(out.split("\n")).toEqual([
      "rent overrides small_amounts  payments",
      "  flips     2 of 2 denials (100.0 %)",
      time,
      "  reads     params.purpose",
      '            2  "rent"',
      "  change    small_amounts 1.1.0 has new conditions, rent is removed",
      "  condition small: (params.amount <= 100) or (params.purpose == 'rent')",
      "",
      "tips overrides known_payee  payments",
      "  flips     2 of 2 denials (100.0 %)",
      time,
      "  reads     params.amount",
      "            2  2",
      "  change    known_payee 1.1.0 has new conditions, tips is removed",
      "  condition known: (exists(params.payee)) or (params.amount < 5)",
      "",
    ]);
    writeFileSync(
      join(place.decisions, "payments.yaml"),
      definition.replace("params.purpose == 'rent'", "params.payee != 'p-9' and not empty(params.purpose)"),
    );
    const stdin = JSON.stringify({ tool: "pay", params: { ...rent, payee, purpose: undefined } });
    await place.run(["evaluate", "payments", "--inputs", "-"], { stdin: `${stdin}\n` });
    await place.run([
      "evaluate",
      "payments",
      "--input",
      JSON.stringify({ tool: "pay", params: { ...rent, payee } }),
    ]);
    const long = (await place.run(["overrides", "--patterns"], { terminal: true, columns: 80 })).out;
    expect(long).toContain("ppp…");
    expect(long.split("\n").filter((line) => displayWidth(line) > 80)).toEqual([]);
  });

  it("is a line for each pattern as plain text, and in a pipe", async () => {
    const place = await placeWith(rent, tip);
    const plain = (await patterns(place, "--format", "plain")).out.trimEnd().split("\n");
    const documented = plainColumns.find(({ command }) => command === "`overrides --patterns`");
    expect(plain[0]?.split("\t")).toHaveLength(documented?.columns.length ?? NaN);
    expect(plain[0]?.split("\t").toSpliced(8, 2)).toEqual([
      ...["payments", "small_amounts", "rent", "1", "1", "1.0000", "0", "0"],
      "fewer than 5 flips (--min)",
    ]);
    const lines = (await patterns(place)).out.trimEnd().split("\n");
    expect(lines.map((line) => (JSON.parse(line) as { override: string }).override)).toEqual([
      "rent",
      "tips",
    ]);
  });

  it("shows the chosen decision, policy or override", async () => {
    const place = await placeWith(rent, tip);
    const names = async (...words: readonly string[]): Promise<readonly string[]> => {
      const { out } = await patterns(place, "--json", ...words);
      return (JSON.parse(out) as SuggestedPatterns).patterns.map(({ override }) => override);
    };
    expect(await names("--policy", "small_amounts")).toEqual(["rent"]);
    expect(await names("--override", "tips", "--decision-id", "payments")).toEqual(["tips"]);
    expect(await names("--since", "1h")).toEqual(["rent", "tips"]);
    expect(await names("--until", "1h")).toEqual([]);
    const none = await patterns(place, "--override", "trial");
    expect(none).toEqual({ code: 0, out: "", err: "no matching overrides\n" });
  });

  it("says so where no override was used", async () => {
    const place = await placeWith();
    const none = { calls: 0, damaged: 0, patterns: [] };
    expect(await patterns(place, "--json")).toEqual({
      code: 0,
      out: `${JSON.stringify(none, null, 2)}\n`,
      err: "no call was allowed by an override\n",
    });
  });

  it("skips damaged records with a warning", async () => {
    const place = await placeWith(rent, rent, rent);
    changeLine(place.store, 2, (text) => text.replace('"rent"', '"rant"'));
    const { code, out, err } = await patterns(place, "--json");
    expect([code, JSON.parse(out)]).toMatchObject([0, { damaged: 1, patterns: [{ flips: 2 }] }]);
    expect(err).toContain("warning: 1 damaged record skipped\n");
  });

  it("suggests nothing where the definition is gone, or a policy is invalid", async () => {
    const place = await placeWith(rent);
    const reason = async (): Promise<string | null | undefined> => {
      const { out } = await patterns(place, "--json", "--min", "1");
      return (JSON.parse(out) as SuggestedPatterns).patterns[0]?.reason;
    };
    writeFileSync(join(place.decisions, "payments.yaml"), "targets: [x]");
    expect(await reason()).toBe("no decision called `payments`");
    writeFileSync(join(place.decisions, "payments.yaml"), "decision: { id: payments, type: policy }");
    expect(await reason()).toMatch(/payments\.yaml` is not valid, and may have a policy$/);
  });

  let place: Workplace;
  beforeAll(async () => {
    place = await placeWith(rent, tip);
  });

  it.each<[string, readonly string[], string]>([
    [
      "a minimum of nothing",
      ["--patterns", "--min", "0"],
      "--min must be a whole number of 1 or more (got `0`)",
    ],
    ["an unknown policy", ["--patterns", "--policy", "small"], "no policy called `small`"],
    ["an unknown override", ["--patterns", "--override", "rents"], "no override called `rents`"],
    ["an unknown decision", ["--patterns", "--decision-id", "x"], "no decision called `x`"],
    ["a flag of the list", ["--patterns", "--at", "1d"], "--at cannot be combined with --patterns"],
    ["a flag of the patterns", ["--since", "1d"], "--since needs --patterns"],
    ["no file to write", ["--patterns", "--out", ""], "--out must not be empty"],
    ["no change to write", ["--patterns", "--out", "new.yaml"], "there is no change to write with --out"],
    [
      "several changes to write",
      ["--patterns", "--min", "1", "--out", "new.yaml"],
      "--out writes one change, and there are 2",
    ],
    [
      "a file that exists",
      ["--patterns", "--out", "decisions/payments.yaml"],
      "`decisions/payments.yaml` already exists",
    ],
    [
      "a file among the definitions",
      ["--patterns", "--out", "decisions/new.yaml"],
      "`decisions/new.yaml` is in the directory of definitions",
    ],
  ])("exits 2: %s", async (_, words, message) => {
    const ran = await place.run(["overrides", ...words, "--json"]);
    expect([ran.code, ran.out, errorOf(ran).message]).toEqual([2, "", message]);
  });

  it("exits 1 for a file that cannot be written", async () => {
    const place = await placeWith(rent);
    const ran = await patterns(place, "--json", "--min", "1", "--out", "nowhere/new.yaml");
    expect([ran.code, ran.out, errorOf(ran).message]).toEqual([
      1,
      "",
      expect.stringContaining("cannot write `nowhere/new.yaml`"),
    ]);
  });
});
