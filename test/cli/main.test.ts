import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { temporaryDirectory } from "../acceptance/command.js";
import type { ExitCode } from "../../src/cli/exit-codes.js";
import { main } from "../../src/cli/main.js";
import { fakeIo } from "./fake-io.js";
import { commandNames } from "../../src/cli/program.js";
import { topicAliases, topics } from "../../src/cli/topics/topics.js";
import { decisionTypes } from "../../src/definition/decision-types.js";

type Options = Parameters<typeof fakeIo>[0];

async function run(
  words: readonly string[],
  options: Options = {},
): Promise<{ code: ExitCode; out: string; err: string }> {
  const io = fakeIo(options);
  const code = await main(words, io);
  return { code, ...io.written };
}

const gate = ["decision", "evaluate", "decision-quality-gate"];
const good = [...gate, "--input", '{"artifact":{"quality_score":0.9}}'];

describe("an answer", () => {
  it("leads with the target on a terminal", async () => {
    const { out, code } = await run(good, { terminal: true, env: { NO_COLOR: "1" } });
    expect(out.split("\n")[0]).toBe("stage-deploy  Pass");
    expect(code).toBe(0);
  });

  it("does not repeat a target that has no label", async () => {
    const draw = ["decision", "new", "weighted", "x", "--output", "-"];
    const folder = temporaryDirectory();
    const yaml = (await run(draw)).out.replace(/ *label: .*\n/g, "");
    writeFileSync(join(folder, "x.yaml"), yaml);
    const ask = ["decision", "dry-run", "x", "--decisions", folder, "--input", '{"request":{"id":1}}'];
    const { out } = await run([...ask, "--format", "table"]);
    expect(out.split("\n")[0]).toMatch(/^stage-(control|variant)$/);
  });

  it("is JSON in a pipe", async () => {
    const { out, err } = await run(good);
    expect(JSON.parse(out)).toMatchObject({
      decision_id: "decision-quality-gate",
      selected_targets: ["stage-deploy"],
    });
    expect(err).toBe("");
  });

  it.each(["evaluate", "dry-run"])("of a gate needs its id in %s, and the hint has it", async (verb) => {
    const key = "acme/payments/wire.approve";
    const { code, err } = await run(["decision", verb, key, "--input", "{}", "--format", "target"]);
    expect(code).toBe(2);
    expect(err).toContain(`\`agent-33 decision gate ${key}\`; its id is \`gate-wire-approve\`\n`);
  });

  it("has a warning with a similar name of the context, but not in its JSON", async () => {
    const misspelt = [...gate, "--input", '{"artefact":{"quality_score":0.9}}'];
    const { out, err } = await run([...misspelt, "--json"]);
    const plain =
      "the input could not be evaluated, so the default was taken: `artifact.quality_score` is missing";
    expect(err).toBe(`warning: ${plain}, but there is \`artefact\`\n`);
    expect(JSON.parse(out)).toMatchObject({ warnings: [plain] });
    const strict = await run([...misspelt, "--strict", "--format", "target"]);
    expect(strict.err).toContain("`artifact.quality_score` is missing, but there is `artefact`\nhint: ");
  });

  it("has exactly the documented fields, in their order", async () => {
    const { out } = await run(good);
    expect(Object.keys(JSON.parse(out) as object)).toEqual([
      "record_id",
      "decision_id",
      "decision_name",
      "decision_version",
      "definition_hash",
      "environment_hash",
      "type",
      "selected_targets",
      "selected_labels",
      "input_value",
      "evaluation_details",
      "because",
      "failed_conditions",
      "warnings",
      "guardrails",
      "blocked",
      "escalated",
      "cached",
      "dry_run",
      "timestamp",
      "deterministic_hash",
    ]);
  });

  it.each([
    ["json", /^\{\n {2}"record_id"/],
    ["jsonl", /^\{"record_id".*\}\n$/],
    ["yaml", /^record_id: .{36}\ndecision_id: decision-quality-gate\n/],
    ["plain", /^stage-deploy\tPass\tdecision-quality-gate\tbinary\tinput >= 0.8\n$/],
    ["table", /^stage-deploy {2}Pass\n/],
    ["target", /^stage-deploy\n$/],
  ])("can be written as %s", async (format, shape) => {
    expect((await run([...good, "--format", format])).out).toMatch(shape);
  });

  it("marks a dry run", async () => {
    const { out } = await run(["decision", "dry-run", ...good.slice(2)]);
    expect(JSON.parse(out)).toMatchObject({ dry_run: true });
  });

  it("has its time with six decimals, in UTC", async () => {
    const { timestamp } = JSON.parse((await run(good)).out) as { timestamp: string };
    expect(timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
    expect(Math.abs(Date.parse(timestamp) - Date.now())).toBeLessThan(60_000);
  });

  it("has a hash that depends on what was read, and on nothing else", async () => {
    const hash = async (json: string): Promise<unknown> =>
      (JSON.parse((await run([...gate, "--input", json])).out) as { deterministic_hash: unknown })
        .deterministic_hash;
    const first = await hash('{"artifact":{"quality_score":0.9},"request":1}');
    expect(await hash('{"other":true,"artifact":{"quality_score":0.90}}')).toBe(first);
    expect(await hash('{"artifact":{"quality_score":0.91}}')).not.toBe(first);
  });
});

describe("standard error", () => {
  it("carries warnings, unless quiet is wanted", async () => {
    const missing = [...gate, "--input", "{}", "--format", "target"];
    expect(await run(missing)).toMatchObject({
      out: "stage-rework\n",
      err: "warning: the input could not be evaluated, so the default was taken: `artifact.quality_score` is missing\n",
    });
    expect(await run([...missing, "--quiet"])).toMatchObject({ out: "stage-rework\n", err: "" });
  });

  it("prints timings and the sources of settings with --verbose", async () => {
    const { err } = await run([...good, "--verbose"]);
    expect(err).toMatch(
      /^decisions: decisions \(from the current directory\)\ndefinitions: 14 in [\d.]+ ms .*\nstore: .* \(from AGENT33_HOME\)\ndecided in [\d.]+ ms\n$/,
    );
  });

  it("prints errors as JSON with --json", async () => {
    const { code, out, err } = await run(["decision", "evaluate", "nope", "--input", "{}", "--json"]);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err)).toEqual({
      error: {
        code: "definition_not_found",
        message: "no decision called `nope`",
        hint: "run `agent-33 decision list` to see what is defined",
      },
    });
  });
});

describe("--json next to --format", () => {
  const formatError = { code: "usage", hint: "remove one of them: --json is --format json" };

  it.each([
    { words: [...good, "--json", "--format", "target"], format: "target" },
    { words: ["decision", "validate", "--format=github", "--json"], format: "github" },
    { words: ["decision", "list", "--format", "jsonl", "--json"], format: "jsonl" },
  ])("is refused for another format: $format", async ({ words, format }) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(JSON.parse(err)).toEqual({
      error: { ...formatError, message: `--json and --format ${format} cannot be combined` },
    });
  });

  it("may say the same", async () => {
    const { code, out } = await run(["decision", "validate", "--format", "json", "--json"]);
    expect({ code, ...(JSON.parse(out) as object) }).toMatchObject({ code: 0, valid: true });
  });
});

describe("a request that is wrong", () => {
  it.each([
    ["an unknown command", ["decision", "evalute"], "unknown command `evalute`", "did you mean `evaluate`?"],
    ["an unknown group", ["decison"], "unknown command `decison`", "did you mean `decision`?"],
    ["an abbreviated command", ["decision", "eval"], "unknown command `eval`", "did you mean `evaluate`?"],
    ["a command of `decision`", ["log"], "unknown command `log`", "did you mean `agent-33 decision log`?"],
    ["a word of other tools", ["run"], "unknown command `run`", "did you mean `agent-33 decision evaluate`?"],
    ["the version", ["version"], "unknown command `version`", "did you mean `agent-33 --version`?"],
    ["an unknown flag of the program", ["--foo"], "unknown option `--foo`", "see `agent-33 --help`"],
    [
      "a flag before the command",
      ["--quiet", "decision", "list"],
      "unknown option `--quiet`",
      "put flags after",
    ],
    ["an unknown flag", [...good, "--formt", "json"], "unknown option `--formt`", "did you mean `--format`?"],
    ["an unknown format", [...good, "--format", "tabel"], "unknown format `tabel`", "did you mean `table`?"],
    [
      "a missing id",
      ["decision", "show"],
      "missing required argument `id`",
      "see `agent-33 decision show --help`",
    ],
    [
      "a misspelt id",
      ["decision", "show", "decision-qualitygate"],
      "no decision called `decision-qualitygate`",
      "did you mean `decision-quality-gate`?",
    ],
    ["a missing context", gate, "specify a context", "use --input JSON"],
    [
      "an input that is no JSON",
      [...gate, "--input", "{oops}"],
      "--input is not valid JSON",
      "quote the JSON for the shell",
    ],
    [
      "an input with a comma at its end",
      [...gate, "--input", '{"a": 1,}'],
      "--input is not valid JSON: unexpected `}` after `,` (column 9)",
      "remove the `,` before it",
    ],
    [
      "an input that is a list",
      [...gate, "--input", "[1]"],
      "the context must be a JSON object (got a list)",
      "name the values",
    ],
    [
      "an input that is null",
      [...gate, "--input", "null"],
      "the context must be a JSON object (got null)",
      "name the values",
    ],
    [
      "an input file that is not there",
      [...gate, "--input", "@/nowhere.json"],
      "cannot read `/nowhere.json`",
      "",
    ],
    [
      "an input from a terminal",
      [...gate, "--input", "-"],
      "standard input: it is a terminal",
      "pipe the JSON in",
    ],
    [
      "inputs from a terminal",
      [...gate, "--inputs", "-"],
      "standard input: it is a terminal",
      "pipe the JSON in",
    ],
    ["input and inputs", [...good, "--inputs", "-"], "--input and --inputs cannot be combined", ""],
    [
      "inputs as a table",
      [...gate, "--inputs", "-", "--format", "yaml"],
      "--inputs cannot be printed as `yaml`",
      "use jsonl, plain, target, output or audit",
    ],
    [
      "a directory that is not there",
      [...good, "--decisions", "/nowhere"],
      "the directory `/nowhere` does not exist",
      "--decisions DIR",
    ],
    [
      "a path to validate that is not there",
      ["decision", "validate", "/nowhere"],
      "no such file or directory: `/nowhere`",
      "",
    ],
    [
      "an unknown topic",
      ["help", "expresions"],
      "there is no help on `expresions`",
      "did you mean `expressions`?",
    ],
    [
      "a misspelt command to explain",
      ["help", "evalute"],
      "there is no help on",
      "agent-33 decision evaluate",
    ],
    ["help on the version", ["help", "version"], "there is no help on `version`", "agent-33 --version"],
    ["an unknown shell", ["completion", "bsh"], "unknown shell `bsh`", "did you mean `bash`?"],
    [
      "an unknown type",
      ["decision", "new", "swtch", "x"],
      "unknown decision type `swtch`",
      "did you mean `switch`?",
    ],
    ["an id that is none", ["decision", "new", "switch", "../x"], "invalid id `../x`", "letters, digits"],
  ])("ends in exit code 2 and a hint: %s", async (_name, words, message, hint) => {
    const { code, out, err } = await run(words);
    expect({ code, out }).toEqual({ code: 2, out: "" });
    expect(err).toMatch(/^error: /);
    expect(err).toContain(message);
    if (hint !== "") expect(err.split("\nhint: ")[1]).toContain(hint);
  });

  it("reports a missing directory of definitions with a hint", async () => {
    const { code, err } = await run(good, { cwd: "/" });
    expect(code).toBe(2);
    expect(err).toContain("no directory of definitions found");
    expect(err).toContain("agent-33 decision new");
  });
});

describe("--strict", () => {
  it("ends in exit code 1 where a condition cannot be evaluated", async () => {
    const { code, out, err } = await run([...gate, "--input", "{}", "--strict"]);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(err).toContain(
      "error: `decision-quality-gate`: the input could not be evaluated: `artifact.quality_score` is missing",
    );
  });
});

describe("help", () => {
  it.each([
    [[]],
    [["decision"]],
    [["--help"]],
    [["decision", "--help"]],
    [["decision", "evaluate", "--help"]],
    [["help"]],
    [["help", "decision", "list"]],
    [["decision", "help"]],
    [["decision", "help", "list"]],
  ])("is the answer to %j", async (words) => {
    const { code, out, err } = await run(words);
    expect({ code, err }).toEqual({ code: 0, err: "" });
    expect(out).toMatch(/^Usage: agent-33/);
  });

  it("groups the commands", async () => {
    const { out } = await run(["decision"]);
    expect(out).toMatch(/\nDecide:\n {2}evaluate[\s\S]*\nDefine:\n {2}list/);
  });

  it("lists every page that is a topic", async () => {
    const { out } = await run(["help"]);
    const listed = (/\nTopics: ([^:]+)$/.exec(out)?.[1] ?? "").trim().split(/,\s+/);
    const pages = Object.keys(topics).filter((name) => name === topics[name]?.page);
    expect(pages.length).toBeGreaterThan(15);
    expect(listed).toEqual(expect.arrayContaining(pages));
    expect(Object.keys(topics)).toEqual(expect.arrayContaining(listed));
  });

  it.each([...decisionTypes, ...Object.keys(topics), ...Object.keys(topicAliases)])(
    "has the topic %s, 80 columns wide",
    async (topic) => {
      const { code, out } = await run(["help", topic], { terminal: true, columns: 80 });
      expect(code).toBe(0);
      expect(out).toMatch(/^[A-Z_ -]+\n\n {1,2}\S|^In CI\n/);
      const prose = out.split("\n").filter((line) => !line.startsWith("    "));
      expect(prose.filter((line) => line.length > 80)).toEqual([]);
      expect(out).not.toMatch(/<!--|\]\(|\*\*/);
    },
  );

  it.each([[["help", "gates"]], [["decision", "evaluate", "--help"]]])(
    "fits the terminal of a pager: %j",
    async (words) => {
      const { written, ...io } = fakeIo({ terminal: true, columns: 80 });
      await main(words, { ...io, out: { ...io.out, isTerminal: false, columns: Infinity } });
      const lines = written.out.split("\n").filter((line) => !line.startsWith("    "));
      expect(lines.length).toBeGreaterThan(10);
      expect(lines.filter((line) => line.length > 80)).toEqual([]);
    },
  );

  it.each([
    [["gate"], "Flags: `agent-33 decision gate --help`"],
    [["endpoints"], "Flags: `agent-33 decision endpoints --help`"],
    [["gates"], "See also: `agent-33 help routing`, `agent-33 help expressions`"],
    [["exit", "codes"], "See also: `agent-33 help http`"],
    [["ab", "test"], "EXPERIMENTS"],
    [["operators"], "See also: `agent-33 help expressions`"],
    [["starts_with"], "FUNCTIONS"],
    [["gte"], "RULE OPERATORS"],
    [["guardrail"], "GUARDRAILS"],
    [["session"], "SESSIONS"],
  ])("on %j has %s", async (words, text) => {
    expect((await run(["help", ...words])).out).toContain(text);
  });

  it.each(commandNames)("shows the command %s, with or without `decision`", async (name) => {
    const { code, out } = await run(["help", "decision", name]);
    expect(code).toBe(0);
    expect(out).toContain(`Usage: agent-33 decision ${name}`);
    if (!Object.hasOwn(topics, name)) expect((await run(["help", name])).out).toBe(out);
  });

  it.each([[], ["decision"], ...commandNames.map((name) => ["decision", name])].map((words) => ({ words })))(
    "of $words fits in 80 columns",
    async ({ words }) => {
      const { out } = await run([...words, "--help"], { terminal: true, columns: 80 });
      expect(out.split("\n").filter((line) => line.length > 80)).toEqual([]);
    },
  );
});

describe("colour", () => {
  const escape = "\u001b[";
  it.each([
    ["a terminal", { terminal: true }, [], true],
    ["a pipe", {}, [], false],
    ["a pipe with FORCE_COLOR", { env: { FORCE_COLOR: "1" } }, [], true],
    ["NO_COLOR", { terminal: true, env: { NO_COLOR: "1" } }, [], false],
    ["an empty NO_COLOR", { terminal: true, env: { NO_COLOR: "" } }, [], true],
    ["--no-color", { terminal: true }, ["--no-color"], false],
    ["TERM=dumb", { terminal: true, env: { TERM: "dumb" } }, [], false],
  ] as const)("follows %s", async (_name, options, flags, coloured) => {
    const { out } = await run([...good, "--format", "table", ...flags], options);
    expect(out.includes(escape)).toBe(coloured);
  });
});

describe("--inputs", () => {
  const ask = ["decision", "evaluate", "decision-artifact-type-router", "--inputs", "-"];
  const lines = '{"artifact":{"type":"prompt"}}\n\nnot json\n[1]\n{"artifact":{"type":"agent"}}';

  it("answers in order, and a bad line with its number", async () => {
    const { code, out } = await run(ask, { stdin: lines });
    expect(code).toBe(1);
    const answers = out
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    expect(answers).toMatchObject([
      { selected_targets: ["stage-prompt-validation"] },
      { line: 3, error: { code: "input_invalid" } },
      { line: 4, error: { code: "input_invalid" } },
      { selected_targets: ["stage-agent-validation"] },
    ]);
  });

  it("gives one line per input as targets", async () => {
    const { code, out, err } = await run([...ask, "--format", "target"], { stdin: lines });
    expect({ code, out }).toEqual({ code: 1, out: "stage-prompt-validation\n\n\nstage-agent-validation\n" });
    expect(err).toMatch(
      /^error: line 3: .*\nerror: line 4: .*\nerror: 2 of 4 lines failed; first: line 3\n$/,
    );
  });

  const failed = `1 of 2 lines failed; first: line 2: the line is not valid JSON: unexpected \`o\` (column 1)`;
  it.each([
    { name: "JSON lines", flags: [], err: `error: ${failed}\n` },
    {
      name: "JSON lines that are asked for",
      flags: ["--json"],
      err: `${JSON.stringify({ error: { code: "input_invalid", message: failed } })}\n`,
    },
    { name: "nothing with --quiet", flags: ["--quiet"], err: "" },
  ])("says at the end how many lines failed: $name", async ({ flags, err }) => {
    const stdin = '{"artifact":{"type":"prompt"}}\noops\n';
    expect(await run([...ask, ...flags], { stdin })).toMatchObject({ code: 1, err });
  });

  it.each([
    { name: "an empty input", stdin: "", flags: [], source: "standard input" },
    { name: "blank lines", stdin: "\n \n", flags: ["--format", "target"], source: "standard input" },
    { name: "an empty file", stdin: "", flags: ["--inputs", "/dev/null"], source: "`/dev/null`" },
  ])("warns that nothing was decided: $name", async ({ stdin, flags, source }) => {
    const err = `warning: no inputs in ${source}, so nothing was decided\n`;
    expect(await run([...ask, ...flags], { stdin })).toEqual({ code: 0, out: "", err });
    expect(await run([...ask, ...flags, "--quiet"], { stdin })).toEqual({ code: 0, out: "", err: "" });
  });

  it("ends in 0 where every line was good", async () => {
    expect(await run(ask, { stdin: '{"artifact":{"type":"prompt"}}\r\n' })).toMatchObject({ code: 0 });
  });

  it("makes a line under --strict an error line", async () => {
    const { code, out } = await run([...ask, "--strict"], { stdin: "{}\n" });
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ line: 1, error: { code: "condition_errored" } });
  });
});
