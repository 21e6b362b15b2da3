import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import { runInProcess } from "./in-process.js";

const fees = `decision:
  id: fees
  type: rule_table
  hit_policy: unique
  rules:
    - { condition: "amount < 100", target: small, label: Small }
    - { condition: "amount >= 90 and amount < 200", target: medium, label: Medium }
  default: { target: review }
`;
const channel = `decision:
  id: channel
  type: switch
  cases:
    - { condition: "kind == 'bug'", target: engineering, label: Bug }
    - { condition: "kind in ('bug', 'incident')", target: operations, label: Incident }
  default: { target: support }
`;
const split = `decision:
  id: split
  type: weighted
  input: "{{ user }}"
  cases: [{ target: a, weight: 50 }, { target: b, weight: 50 }]
  default: { target: a }
`;
const wider = channel.replace("kind == 'bug'", "kind in ('bug', 'crash')");

/** Runs commands in a folder with definitions and drafts of them. */
function place(files: Readonly<Record<string, string>>): typeof runInProcess {
  const cwd = temporaryDirectory();
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, name)), { recursive: true });
    writeFileSync(join(cwd, name), text);
  }
  const env = { AGENT33_STORE: join(cwd, "store") };
  return (words) => runInProcess(words, { cwd, env });
}

const run = place({
  "decisions/fees.yaml": fees,
  "decisions/channel.yaml": channel,
  "decisions/split.yaml": split,
  "empty/notes.txt": "",
  "weighted/split.yaml": split,
  "broken/fees.yaml": fees.replace("amount < 100", "amount <"),
  "partly/partly.yaml": channel
    .replace("id: channel", "id: partly")
    .replace(
      "kind == 'bug'\", target: engineering, label: Bug",
      'kind == lower(other)", target: odd, label: Odd',
    ),
  "drafts/channel.yaml": wider,
  "drafts/same.yaml": channel.replace("kind in ('bug', 'incident')", "kind == 'bug' or kind == 'incident'"),
  "drafts/other.yaml": channel.replace("id: channel", "id: other"),
});
const analyze = (...words: readonly string[]): ReturnType<typeof run> =>
  run(["decision", "analyze", ...words]);
const compare = (...words: readonly string[]): ReturnType<typeof run> =>
  run(["decision", "compare", ...words]);

describe("decision analyze", () => {
  it("prints gaps and overlaps with inputs that show them", async () => {
    const { stdout, exitCode } = await analyze("fees", "--json");
    expect(exitCode).toBe(0);
    const { decisions } = JSON.parse(stdout) as { decisions: readonly Record<string, unknown>[] };
    expect(decisions).toEqual([
      {
        decision_id: "fees",
        gaps: expect.arrayContaining([{ region: "amount >= 200", input: { amount: 200 } }]) as unknown,
        overlaps: [{ rules: ["Small", "Medium"], region: "90 <= amount < 100", input: { amount: 90 } }],
        masked: [],
        unreachable: [],
        not_analysed: [],
      },
    ]);
  });

  it("names file and line of a finding", async () => {
    const { stdout } = await analyze("fees", "--format", "plain");
    expect(stdout).toContain("decisions/fees.yaml:7");
  });

  it("annotates a pull request", async () => {
    const { stdout, exitCode } = await analyze("fees", "channel", "--check", "--format", "github");
    expect(exitCode).toBe(6);
    expect(stdout.split("\n")).toEqual(
      expect.arrayContaining([
        '::warning file=decisions/fees.yaml,line=7,col=1::overlap in fees: `Small` and `Medium` can both match where `90 <= amount < 100`; with `hit_policy: unique` that is an error (for example {"amount":90})',
        '::warning file=decisions/fees.yaml,line=8,col=1::gap in fees: no rule matches where `amount >= 200`, so the default is taken (for example {"amount":200})',
        "::notice file=decisions/channel.yaml,line=7,col=1::gap in channel: no rule matches where `kind is missing`, so the default is taken (for example {})",
        "",
      ]),
    );
  });

  it("annotates what cannot be analysed, and invalid definitions", async () => {
    const skipped = await analyze("partly", "--decisions", "partly", "--format", "github");
    expect(skipped.stdout).toMatch(
      /^::notice file=partly\/partly\.yaml,line=1,col=1::not analysed in partly: `Odd`: /m,
    );
    const { stdout, exitCode } = await analyze("--check", "--decisions", "broken", "--format", "github");
    expect(exitCode).toBe(3);
    expect(stdout).toMatch(/^::error file=broken\/fees\.yaml,line=6,/);
  });

  it.each([
    {
      id: "channel",
      shown: "✓ no findings  1 decision, 2 conditions, 2 regions of input lead to the default",
    },
    { id: "fees", shown: "✗ 2 findings  1 decision, 2 conditions, 1 region of input leads to the default" },
  ])("says what was found: $shown", async ({ id, shown }) => {
    const { stdout } = await analyze(id, "--format", "table");
    expect(stdout.split("\n")[0]).toBe(shown);
  });

  it.each([
    { name: "findings", words: ["fees", "--check"], exitCode: 6 },
    { name: "a gap that the default is for", words: ["channel", "--check"], exitCode: 0 },
    { name: "findings without --check", words: ["fees"], exitCode: 0 },
    { name: "decisions without conditions", words: ["--check", "--decisions", "weighted"], exitCode: 6 },
    {
      name: "decisions without conditions, which are allowed",
      words: ["--check", "--allow-empty", "--decisions", "weighted"],
      exitCode: 0,
    },
    { name: "an unknown decision", words: ["fee"], exitCode: 2, message: "did you mean `fees`" },
    { name: "an invalid decision", words: ["fees", "--decisions", "broken"], exitCode: 3 },
    { name: "invalid decisions", words: ["--check", "--decisions", "broken"], exitCode: 3 },
    { name: "an empty directory", words: ["--check", "--decisions", "empty"], exitCode: 6 },
  ])("exits with $exitCode for $name", async ({ words, exitCode, message = "" }) => {
    const ran = await analyze(...words);
    expect(ran.exitCode).toBe(exitCode);
    expect(ran.stderr).toContain(message);
  });
});

describe("decision compare", () => {
  it("prints the inputs that a draft answers differently", async () => {
    const { stdout, exitCode } = await compare("channel", "--against", "drafts/channel.yaml", "--json");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({
      equivalent: false,
      differences: [{ from: "default", to: "Bug", region: "kind == 'crash'", input: { kind: "crash" } }],
      not_compared: [],
    });
  });

  it("proves that a draft gives the same answers", async () => {
    const { stdout, exitCode } = await compare(
      "channel",
      "--against",
      "drafts/same.yaml",
      "--check",
      "--json",
    );
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toEqual({ equivalent: true, differences: [], not_compared: [] });
  });

  it("writes a table for a pull request", async () => {
    const { stdout } = await compare("channel", "--against", "drafts/channel.yaml", "--format", "markdown");
    expect(stdout).toContain("`kind == 'crash'`");
    expect(stdout).toContain("| --- |");
  });

  it.each([
    { name: "a difference", words: ["channel", "--against", "drafts/channel.yaml", "--check"], exitCode: 6 },
    {
      name: "a draft of another decision",
      words: ["channel", "--against", "drafts/other.yaml"],
      exitCode: 2,
    },
    { name: "a missing draft", words: ["channel", "--against", "drafts/none.yaml"], exitCode: 2 },
    { name: "an invalid draft", words: ["fees", "--against", "broken"], exitCode: 3 },
    { name: "an unknown decision", words: ["chanel", "--against", "drafts"], exitCode: 2 },
    { name: "no draft", words: ["channel"], exitCode: 2 },
  ])("exits with $exitCode for $name", async ({ words, exitCode }) => {
    const ran = await compare(...words);
    expect(ran).toMatchObject({ exitCode });
    expect(ran.stderr.startsWith(exitCode === 6 ? "" : "error: ")).toBe(true);
  });
});
