import { execFileSync } from "node:child_process";
import { mkdirSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import type { CheckResult } from "../../src/decide/check.js";
import type { ToolResult } from "../../src/decide/tool-result.js";
import type { ToolResultRecord } from "../../src/model/record.js";
import { temporaryDirectory } from "../acceptance/command.js";
import { fakeIo } from "./fake-io.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

const session = ["--session-id", "s-1"];
const ceo = JSON.stringify({ session: { query: { audience: "ceo", metric_type: "retention" } } });

const metric = (name: string, ...more: readonly string[]): readonly string[] => [
  "check",
  "select_metric",
  "--params",
  JSON.stringify({ name }),
  "--context",
  ceo,
  ...session,
  ...more,
];
const allowed = metric("revenue_retention");
const denied = metric("logo_retention");
const filter = [
  "check",
  "filter_customers",
  "--params",
  '{"segment":"enterprise"}',
  "--context",
  ceo,
  ...session,
];

const json = ({ out }: Ran): unknown => JSON.parse(out);
const checkOf = (ran: Ran): CheckResult => json(ran) as CheckResult;
const resultOf = (ran: Ran): ToolResult => json(ran) as ToolResult;
const errorOf = ({ err }: Ran): { code: string; message: string; hint: string } =>
  (JSON.parse(err) as { error: { code: string; message: string; hint: string } }).error;

/** A place in which a metric was selected already. */
async function begun(): Promise<Workplace> {
  const place = workplace();
  await place.run(allowed);
  await place.run(["result", "select_metric", ...session, "--ok"]);
  return place;
}

async function logOf(place: Workplace, ...words: readonly string[]): Promise<readonly ToolResultRecord[]> {
  return json(await place.run(["log", "--json", ...words])) as readonly ToolResultRecord[];
}

describe("masked params", () => {
  const policy = `decision:
  id: login
  type: policy
  tool: login
  logging: { mask: [/params/password, /params/keys/*/value] }
  policies:
    - name: never
      conditions: [{ name: no, expression: "params.user == 'root'" }]
      deny_reason: "not with {{ params.password }}"
`;
  const params = { user: "root", password: "hunter22", keys: [{ name: "a", value: "hunter33" }] };
  const login = (user: string, format: string): readonly string[] => [
    "check",
    "login",
    "--params",
    JSON.stringify({ ...params, user }),
    ...session,
    "--format",
    format,
  ];

  it.each(["table", "plain", "reason"])("are hidden from people in the format %s", async (format) => {
    const place = workplace();
    writeFileSync(join(place.decisions, "login.yaml"), policy);
    for (const user of ["root", "guest"]) {
      const { out, err } = await place.run(login(user, format));
      expect(out).not.toBe("");
      expect(out + err).not.toMatch(/hunter/);
    }
  });

  it("are returned to the program that makes the call", async () => {
    const place = workplace();
    writeFileSync(join(place.decisions, "login.yaml"), policy);
    expect(checkOf(await place.run(login("root", "json"))).params).toEqual(params);
  });
});

describe("a check", () => {
  it("exits 0 where the call is allowed, with the params to call with", async () => {
    const ran = await workplace().run(allowed);
    expect([ran.code, ran.err]).toEqual([0, ""]);
    const { decisions, ...said } = checkOf(ran);
    expect(said).toEqual({
      tool: "select_metric",
      allowed: true,
      outcome: "allowed",
      reason: "Revenue retention required for CEO audience",
      params: { name: "revenue_retention" },
      warnings: [],
    });
    expect(decisions).toMatchObject([{ decision_id: "policy-select-metric", type: "policy" }]);
  });

  it("exits 4 where it is denied", async () => {
    const ran = await workplace().run(denied);
    expect(ran.code).toBe(4);
    expect(checkOf(ran)).toMatchObject({
      outcome: "denied",
      reason: "Reports for executives use revenue retention, not logo_retention",
    });
  });

  it("exits 0 where an exception allows it", async () => {
    const ran = await (await begun()).run(filter);
    expect(ran.code).toBe(0);
    expect(checkOf(ran)).toMatchObject({
      outcome: "allowed_by_exception",
      params: { segment: "enterprise", exclude_pilots: true },
    });
  });

  it("exits 0 where no policy is about the tool", async () => {
    const ran = await workplace().run(["check", "anything", ...session]);
    expect([ran.code, checkOf(ran).reason]).toEqual([0, "No policy constraints"]);
  });

  it("denies params that an override changed and another policy does not allow, and explains it", async () => {
    const place = workplace();
    const policies = [
      '{ name: given, conditions: [{ name: given, expression: "exists(params.filter)" }] }',
      '{ name: cap, conditions: [{ name: low, expression: "params.limit <= 100" }] }',
      "{ name: widen, overrides: [given], action: modify_params, params: { limit: 500 } }",
    ];
    writeFileSync(
      join(place.decisions, "list.yaml"),
      `decision: { id: list, type: policy, tool: list, policies: [${policies.join(", ")}] }`,
    );
    const reason = "the params set by `widen` do not pass `cap`: `low` does not hold: params.limit <= 100";
    const ran = await place.run(["check", "list", "--params", '{"limit":5}', ...session]);
    expect([ran.code, checkOf(ran).reason, checkOf(ran).params]).toEqual([4, reason, { limit: 5 }]);
    const context = JSON.stringify({ tool: "list", params: { limit: 5 } });
    const evaluated = await place.run(["evaluate", "list", "--input", context]);
    expect([evaluated.code, json(evaluated)]).toMatchObject([4, { outcome: "denied", reason }]);
    expect((await place.run(["replay", "--all"])).code).toBe(0);
    const { out } = await place.run(["explain", "latest", "--format", "table"]);
    expect(out).toContain("params.limit = 500");
    expect((await place.run(["validate", "--format", "plain"])).out).toContain(
      "`widen` sets `limit`, which `cap` tests",
    );
  });

  it("exits 3 while a file is empty, as every decision does: the file may have contained guardrails", async () => {
    const place = workplace();
    const file = join(place.decisions, "empty.yaml");
    writeFileSync(file, "");
    expect((await place.run(allowed)).code).toBe(3);
    expect((await place.run(["validate"])).code).toBe(3);
    const other = await place.run(["evaluate", "decision-quality-gate", "--input", "{}"]);
    expect([other.code, other.err]).toEqual([3, expect.stringContaining(`${file}:1:1`)]);
    expect((await place.run(["gate", "acme/payments/wire.approve", "--input", "{}"])).code).toBe(3);
    expect((await place.run(["list"])).code).toBe(0);
  });

  it("exits 3 without any policy, unless unknown tools are allowed", async () => {
    const place = workplace();
    for (const { name } of readdirSync(place.decisions, { withFileTypes: true }))
      if (name !== "quality-gate.yaml") rmSync(join(place.decisions, name), { recursive: true });
    const call = ["check", "anything", ...session];
    expect((await place.run(call)).code).toBe(3);
    expect((await place.run([...call, "--unknown-tools", "allow"])).code).toBe(0);
    expect((await place.run(call, { env: { AGENT33_UNKNOWN_TOOLS: "allow" } })).code).toBe(0);
    const event = JSON.stringify({ session_id: "s", tool_name: "Bash", tool_input: {} });
    expect((await place.run(["check", "--event", "-"], { stdin: event })).code).toBe(3);
  });

  it("takes from a project file that unknown tools are denied, not that they are allowed", async () => {
    const place = workplace();
    const call = ["check", "anything", ...session];
    const settings = join(place.root, "agent-33.json");
    writeFileSync(settings, '{ "unknown_tools": "deny" }');
    const ran = await place.run(call);
    expect([ran.code, checkOf(ran).reason]).toEqual([4, "No policy matches the tool anything"]);
    writeFileSync(settings, '{ "unknown_tools": "allow" }');
    const ignored = await place.run(call, { env: { AGENT33_UNKNOWN_TOOLS: "" } });
    expect(ignored.err).toMatch(/ignoring `unknown_tools` in `[^`]+`: a project file can only set `deny`/);
    const denied = await place.run(call, { env: { AGENT33_UNKNOWN_TOOLS: "deny" } });
    expect(denied.code).toBe(4);
  });

  it("exits 3 while any policy is invalid", async () => {
    const place = workplace();
    writeFileSync(join(place.decisions, "broken.yaml"), "decision: { id: x, type: policy, tol: t }");
    for (const words of [allowed, ["check", "anything", ...session]]) {
      const ran = await place.run([...words, "--json"]);
      expect([ran.code, ran.out]).toEqual([3, ""]);
      expect(errorOf(ran)).toMatchObject({
        code: "definition_invalid",
        message: `a policy may be invalid: \`${join(place.decisions, "broken.yaml")}\``,
      });
    }
    expect(await logOf(place)).toEqual([]);
  });

  it("only warns of a broken decision of another type", async () => {
    const place = workplace();
    writeFileSync(join(place.decisions, "broken.yaml"), "decision: { id: x, type: switch }");
    const ran = await place.run(allowed);
    expect(ran.code).toBe(0);
    expect(ran.err).toContain(`warning: ${join(place.decisions, "broken.yaml")}:1:`);
  });

  it("is recorded, and not as a dry run", async () => {
    const place = workplace();
    await place.run([...allowed, "--workflow-id", "w", "--stage-id", "g", "--correlation-id", "c"]);
    const dry = await place.run([...denied, "--dry-run"]);
    expect(dry.code).toBe(4);
    expect(await logOf(place)).toMatchObject([
      { session_id: "s-1", workflow_id: "w", stage_id: "g", correlation_id: "c" },
    ]);
  });

  it("prints the warning of an override on stderr", async () => {
    const words = [
      "check",
      "read_source",
      "--params",
      '{"source":"crm"}',
      "--context",
      '{"session":{"finance_closed":true}}',
      ...session,
    ];
    const ran = await workplace().run(words);
    expect([ran.code, ran.err]).toEqual([
      0,
      "warning: `month_end_close`: Finance is closing the month: numbers from the CRM differ by 2 to 3 %\n",
    ]);
    expect((await workplace().run([...words, "--quiet"])).err).toBe("");
  });

  it("exits 1 under --strict where a condition cannot be evaluated", async () => {
    const words = ["check", "select_metric", ...session];
    expect((await workplace().run(words)).code).toBe(4);
    const ran = await workplace().run([...words, "--strict", "--json"]);
    expect([ran.code, ran.out, errorOf(ran).code]).toEqual([1, "", "condition_errored"]);
  });
});

describe("the formats of a check", () => {
  it("has the reason alone, for the hook of an agent", async () => {
    const ran = await workplace().run([...denied, "--format", "reason"]);
    expect([ran.code, ran.out]).toEqual([
      4,
      "Reports for executives use revenue retention, not logo_retention\n",
    ]);
  });

  it.each([{ format: "plain" }, { format: "table" }])(
    "keeps the reason to its line, whatever the params hold: $format",
    async ({ format }) => {
      const { out } = await workplace().run([...metric("a\n\tb\u001b[31m"), "--format", format]);
      expect(out.split("\n")[0]).toMatch(
        /Reports for executives use revenue retention, not a b\\u001b\[31m$/,
      );
    },
  );

  it("prints a reason on one line, without terminal control characters", async () => {
    const { out } = await workplace().run([...metric("a\nb\u001b[31m"), "--format", "reason"]);
    expect(out).toBe("Reports for executives use revenue retention, not a b\\u001b[31m\n");
  });

  it("is plain text with a column for each thing", async () => {
    const { out } = await workplace().run([...allowed, "--format", "plain"]);
    expect(out).toBe("allowed\tselect_metric\tRevenue retention required for CEO audience\n");
  });

  it("is a table on a terminal, which leads with the answer", async () => {
    const { out } = await (await begun()).run(filter, { terminal: true });
    const [first, ...rest] = out.split("\n");
    expect(first).toMatch(/^allowed_by_exception {2}Excluding pilot accounts/);
    const shown = rest.join("\n").replaceAll(/\n {4,}/g, " ");
    expect(shown).toContain('params    {"segment":"enterprise","exclude_pilots":true}');
    expect(shown).toContain("decision  policy-filter-customers allowed_by_exception");
    expect(shown).toContain(
      "customer_inclusion 3.0.0 denies, overridden by exclude_pilots_from_retention: Must specify customer filter criteria",
    );
    expect(shown).toContain("override  exclude_pilots_from_retention 2.0.0 (modify_params)");
  });

  it("names the record that was kept, if one was", async () => {
    const place = workplace();
    expect((await place.run(allowed, { terminal: true })).out).toMatch(/^ {2}record {4}[0-9a-f-]{36}$/m);
    const dry = await place.run([...denied, "--dry-run"], { terminal: true });
    expect(dry.out).toMatch(/^denied {2}/);
    expect(dry.out).not.toMatch(/^ {2}record /m);
  });

  it("shows every condition with --explain", async () => {
    const { out } = await workplace().run([...denied, "--explain"], { terminal: true });
    expect(out).toContain("audience_check");
    expect((await workplace().run(denied, { terminal: true })).out).not.toContain("audience_check");
  });

  it("cannot be a target", async () => {
    const ran = await workplace().run([...allowed, "--format", "target"]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
  });
});

describe("the state of a session", () => {
  it("is sent once, and later checks of the session use it", async () => {
    const place = workplace();
    await place.run([
      ...allowed.slice(0, 2),
      "--params",
      '{"name":"revenue_retention"}',
      ...session,
      "--context",
      ceo,
    ]);
    const ran = await place.run(["check", "select_metric", "--params", '{"name":"churn"}', ...session]);
    expect([ran.code, checkOf(ran).reason]).toEqual([
      4,
      "Reports for executives use revenue retention, not churn",
    ]);
    expect(await logOf(place)).toMatchObject([{}, { context: JSON.parse(ceo) as object }]);
    expect((await place.run(["replay", "2"])).code).toBe(0);
  });
});

describe("an invalid check", () => {
  const params = (text: string): readonly string[] => ["check", "t", "--params", text, ...session];

  it.each<[string, readonly string[], string]>([
    ["no tool", ["check", ...session], "specify a tool"],
    [
      "no session, which a policy needs",
      ["check", "filter_customers", "--params", "{}"],
      "policy `metric_first` of `policy-filter-customers` needs a session",
    ],
    ["an empty session", ["check", "t", "--session-id", ""], "specify a session"],
    ["an empty tool", ["check", "", ...session], "specify a tool"],
    ["params that are no JSON", params("{name: x}"), "--params is not valid JSON"],
    ["params with a rounded integer", params('{"id":9007199254740993}'), "--params cannot be used: `9007"],
    ["params with a key twice", params('{"id":1,"id":2}'), "--params cannot be used: an object has a"],
    [
      "a context with a rounded integer",
      [...params("{}"), "--context", '{"session":{"id":9007199254740993}}'],
      "--context cannot be used: `9007",
    ],
    [
      "an event with a rounded integer",
      ["check", "--event", '{"session_id":"s","tool_name":"t","tool_input":{"id":9007199254740993}}'],
      "--event cannot be used: `9007",
    ],
    ["params that are text", params('"x"'), "the params must be a JSON object"],
    ["params that are a list", params("[]"), "the params must be a JSON object"],
    ["params that are null", params("null"), "the params must be a JSON object"],
    ["a context that is no JSON", [...params("{}"), "--context", "x"], "--context is not valid JSON"],
    ["a context that is a list", [...params("{}"), "--context", "[]"], "the context must be a JSON object"],
    [
      "a context with a tool",
      [...params("{}"), "--context", '{"tool":"u"}'],
      "the context of a check cannot hold `tool`",
    ],
    [
      "a context with params",
      [...params("{}"), "--context", '{"params":{}}'],
      "the context of a check cannot hold `params`",
    ],
    ["a file that is not there", params("@nowhere.json"), "cannot read `nowhere.json`"],
  ])("exits 2: %s", async (_what, words, message) => {
    const place = workplace();
    const ran = await place.run([...words, "--json"]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(errorOf(ran).message).toContain(message);
    expect(await logOf(place)).toEqual([]);
  });

  it("suggests a similar command", async () => {
    const ran = await workplace().run(["chekc", "t"]);
    expect([ran.code, ran.err.includes("check")]).toEqual([2, true]);
  });
});

describe("a misspelt environment variable", () => {
  const env = { AGENT33_UNKNOWN_TOOL: "deny" };

  it.each([["check", "send", "--json"], ["validate"], ["config", "list"]].map((words) => ({ words })))(
    "is warned about once by $words",
    async ({ words }) => {
      const { err } = await workplace().run(words, { env });
      const warnings = err.split("\n").filter((line) => line.includes("AGENT33_"));
      expect(warnings).toEqual([
        "warning: unknown environment variable `AGENT33_UNKNOWN_TOOL`; did you mean `AGENT33_UNKNOWN_TOOLS`?",
      ]);
      expect((await workplace().run([...words, "--quiet"], { env })).err).not.toContain("AGENT33_");
    },
  );
});

describe("a parameter with another name", () => {
  it("is named in the warning about the missing one", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "w.yaml"),
      "decision: { id: w, type: policy, tool: w, policies: [{ name: p, conditions: [{ name: c, expression: \"params.path == 'a'\" }] }] }",
    );
    const { err } = await place.run(["check", "w", "--params", '{"file_path": "a"}', ...session]);
    expect(err).toContain("`params.path` is missing, but there is `params.file_path` (so it denies)\n");
  });
});

describe("the event of a hook", () => {
  const event = { session_id: "s-9", tool_name: "select_metric", tool_input: { name: "logo_retention" } };
  const words = ["check", "--event", "-", "--context", ceo];

  it("provides tool, parameters and session", async () => {
    const place = workplace();
    const ran = await place.run(words, { stdin: JSON.stringify(event) });
    expect(ran.code).toBe(4);
    expect(checkOf(ran)).toMatchObject({
      tool: "select_metric",
      params: { name: "logo_retention" },
    });
    expect(await logOf(place)).toMatchObject([{ session_id: "s-9", tool: "select_metric" }]);
  });

  it("may lack the session, which a flag then names, and the input", async () => {
    const place = workplace();
    const ran = await place.run(["check", "--event", '{"tool_name":"t"}', ...session]);
    expect([ran.code, checkOf(ran).params]).toEqual([0, {}]);
    expect(await logOf(place)).toMatchObject([{ session_id: "s-1" }]);
  });

  it("goes before the flag where both name a session", async () => {
    const place = workplace();
    await place.run([...words, ...session], { stdin: JSON.stringify(event) });
    expect(await logOf(place)).toMatchObject([{ session_id: "s-9" }]);
  });

  it("is not allowed by an override that changes the params", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "safe.yaml"),
      "decision: { id: safe, type: policy, tool: w, policies: [{ name: never, conditions: [{ name: c, expression: 'false' }] }, " +
        "{ name: move, overrides: [never], action: modify_params, params: { path: /safe } }] }",
    );
    expect((await place.run(["check", "w", ...session])).code).toBe(0);
    const ran = await place.run(["check", "--event", '{"tool_name":"w"}', ...session]);
    expect([ran.code, checkOf(ran).params]).toEqual([4, {}]);
  });

  it.each([
    { name: "a response", more: { tool_response: {} } },
    { name: "a name", more: { hook_event_name: "PostToolUse" } },
  ])("is refused if $name says that the call was made", async ({ more }) => {
    const stdin = JSON.stringify({ ...event, ...more });
    const ran = await workplace().run(["check", "--event", "-", "--json"], { stdin });
    expect(ran.code).toBe(2);
    expect(errorOf(ran)).toMatchObject({
      message: "the event is from after the call, so the call cannot be checked",
      hint: "send the event from before the call; `agent-33 decision result --event -` accepts this one",
    });
  });

  it("is counted in the store of the user, not in one that the project chooses", async () => {
    const place = workplace();
    const env = { AGENT33_STORE: "", AGENT33_HOME: place.store };
    const run = (...words: string[]): Promise<Ran> => place.run(words, { env });
    writeFileSync(
      join(place.decisions, "limit.yaml"),
      "decision: { id: limit, type: policy, tool: w, policies: [{ name: p, max_calls: { count: 1, per: session } }] }",
    );
    const check = ["check", "--event", '{"tool_name":"w"}', ...session];
    expect(await run(...check)).toMatchObject({ code: 0, err: "" });
    writeFileSync(join(place.root, "agent-33.json"), '{ "store": "fresh" }');
    const ran = await run(...check);
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(
      /^warning: --event ignores `store` in `[^`]+agent-33\.json`: .*; use --store DIR\n$/,
    );
    const result = await run("result", "--event", '{"tool_name":"w"}', ...session, "--ok", "--json");
    expect(resultOf(result).linked).toBe(true);
    const fresh = join(place.root, "fresh");
    expect(await run(...check, "--store", fresh)).toMatchObject({ code: 0, err: "" });
    expect((await run("check", "w", ...session)).code).toBe(4);
  });

  it("does not wait for a signing key that the project chooses", async () => {
    const place = workplace();
    execFileSync("mkfifo", [join(place.root, "key.pem")]);
    writeFileSync(join(place.root, "agent-33.json"), '{ "signing_key": "key.pem", "checkpoint_every": 1 }');
    const ran = await place.run(["check", "--event", '{"tool_name":"t"}', ...session]);
    expect(ran.code).toBe(0);
    expect(ran.err).toMatch(
      /^warning: ignoring `signing_key` in `[^`]+`: only the user's own settings can set it\n$/,
    );
  });

  it("is decided by the definitions of the user, not by those that the project chooses", async () => {
    const place = workplace();
    // Paths within the directory of the command are relative to that of the process.
    rmSync(place.decisions, { recursive: true });
    const mine = temporaryDirectory();
    const other = join(place.root, "other");
    const env = { AGENT33_DECISIONS: "", AGENT33_HOME: place.store };
    mkdirSync(other);
    for (const [folder, condition] of [
      [mine, "false"],
      [other, "true"],
    ] as const) {
      const policy = `{ name: p, conditions: [{ name: c, expression: "${condition}" }] }`;
      writeFileSync(
        join(folder, "rm.yaml"),
        `decision: { id: p, type: policy, tool: rm, policies: [${policy}] }`,
      );
    }
    const choose = (folder: string): void =>
      writeFileSync(join(place.root, "agent-33.json"), JSON.stringify({ decisions: folder }));
    const check = ["check", "--event", '{"tool_name":"rm"}', ...session];
    choose("other");
    const missing = await place.run([...check, "--json", "--quiet"], { env });
    expect(errorOf(missing).code).toBe("definitions_missing");
    expect(missing.code).toBe(2);
    await place.run(["config", "set", "decisions", mine], { env });
    const ran = await place.run(check, { env });
    expect(ran.code).toBe(4);
    expect(ran.err).toMatch(
      /^warning: --event ignores `decisions` in `[^`]+agent-33\.json`: .*; use --decisions DIR\n/,
    );
    const named = [...check, "--decisions", other];
    expect(await place.run(named, { env })).toMatchObject({ code: 0, err: "" });
    choose(mine);
    expect(await place.run(check, { env })).toMatchObject({ code: 4, err: "" });
  });

  it("comes from a file too, and may begin with a byte order mark", async () => {
    const place = workplace();
    const file = join(place.root, "event.json");
    writeFileSync(file, `\ufeff${JSON.stringify(event)}`);
    expect((await place.run(["check", "--event", `@${file}`, "--context", ceo])).code).toBe(4);
  });

  it.each<[string, readonly string[], string | undefined, string]>([
    [
      "a tool beside it",
      ["check", "t", "--event", "-"],
      JSON.stringify(event),
      "--event cannot be combined with a tool or --params",
    ],
    [
      "params beside it",
      ["check", "--event", "-", "--params", "{}"],
      JSON.stringify(event),
      "--event cannot be combined",
    ],
    ["no tool in it", ["check", "--event", "{}", ...session], undefined, "the event has no `tool_name`"],
    [
      "a tool that is no text",
      ["check", "--event", '{"tool_name":7}', ...session],
      undefined,
      "the event has no `tool_name`",
    ],
    ["null", ["check", "--event", "null", ...session], undefined, "the event must be a JSON object"],
    ["text", ["check", "--event", '"x"', ...session], undefined, "the event must be a JSON object"],
    ["no session", ["check", "--event", '{"tool_name":"t"}'], undefined, "specify a session"],
    [
      "an empty session",
      ["check", "--event", '{"tool_name":"t","session_id":""}'],
      undefined,
      "specify a session",
    ],
    [
      "input that is no object",
      ["check", "--event", '{"tool_name":"t","tool_input":[1]}', ...session],
      undefined,
      "the params must be a JSON object",
    ],
    ["nothing on standard input", ["check", "--event", "-"], "", "standard input is empty"],
    ["no JSON", ["check", "--event", "-"], "{", "standard input is not valid JSON"],
    ["a terminal", ["check", "--event", "-"], undefined, "standard input"],
  ])("exits 2: %s", async (_what, asked, stdin, message) => {
    const ran = await workplace().run([...asked, "--json"], stdin === undefined ? {} : { stdin });
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(errorOf(ran).message).toContain(message);
  });
});

describe("the result of a call", () => {
  const succeeded = ["result", "select_metric", ...session, "--ok"];

  it("is linked to the check that allowed it", async () => {
    const place = workplace();
    const [id] = checkOf(await place.run(allowed)).decisions.map(({ record_id }) => record_id);
    const ran = await place.run(succeeded);
    expect([ran.code, ran.err]).toEqual([0, ""]);
    expect(resultOf(ran)).toMatchObject({
      kind: "tool_result",
      tool: "select_metric",
      ok: true,
      session_id: "s-1",
      decision_records: [id],
      parent_record_id: id,
    });
  });

  it("may name the record, by its id, the beginning of it, its number or `latest`", async () => {
    for (const form of ["id", "beginning", "1", "latest"]) {
      const place = workplace();
      const [id = ""] = checkOf(await place.run(allowed)).decisions.map(({ record_id }) => record_id);
      const reference = { id, beginning: id.slice(0, 18) }[form] ?? form;
      const ran = await place.run([...succeeded, "--record", reference]);
      expect([reference, ran.code, resultOf(ran).decision_records]).toEqual([reference, 0, [id]]);
    }
  });

  it("has the digest of its params and the value, also when it is explained", async () => {
    const place = workplace();
    await place.run(allowed);
    const ran = await place.run([...succeeded, "--value", "-"], { stdin: '{"rows": 12}' });
    const { record_id, params_digest, value } = resultOf(ran);
    expect([params_digest, value]).toEqual([expect.stringMatching(/^[0-9a-f]{64}$/), { rows: 12 }]);
    const explained = await place.run(["explain", record_id, "--format", "plain"]);
    expect(explained.out).toContain(`params\tSHA-256 ${params_digest ?? ""}\nvalue\t{"rows":12}\n`);
  });

  it("needs no session if it names the record of the check", async () => {
    const place = workplace();
    const [id = ""] = checkOf(await place.run(allowed)).decisions.map(({ record_id }) => record_id);
    const ran = await place.run(["result", "select_metric", "--ok", "--record", id]);
    expect(resultOf(ran)).toMatchObject({ linked: true, session_id: "s-1" });
    const call = ["check", "send_note", "--params", "{}"];
    const [other = ""] = checkOf(await place.run(call)).decisions.map(({ record_id }) => record_id);
    expect(resultOf(await place.run(["result", "send_note", "--failed", "--record", other]))).toMatchObject({
      linked: true,
      decision_records: [other],
    });
  });

  it("warns where no call was open", async () => {
    const ran = await workplace().run(succeeded);
    expect(ran.code).toBe(0);
    const warning =
      "no open call of `select_metric` was allowed in session `s-1`; the result is recorded, but does not count";
    expect(ran.err).toBe(`warning: ${warning}\n`);
    expect(resultOf(ran)).toMatchObject({ decision_records: [], linked: false, warnings: [warning] });
  });

  it("is a sentence for people", async () => {
    const place = workplace();
    await place.run(allowed);
    const { out } = await place.run(succeeded, { terminal: true });
    expect(out).toMatch(/^select_metric succeeded; allowed by record [0-9a-f-]{36}\n$/);
    const unlinked = await place.run(["result", "other", ...session, "--failed", "--format", "plain"]);
    expect(unlinked.out).toBe("other failed; not linked to an allowed call\n");
    const odd = await place.run(["result", "a\nb", ...session, "--ok", "--format", "plain"]);
    expect(odd.out).toBe("a b succeeded; not linked to an allowed call\n");
  });

  it("lets later calls pass that rest on it", async () => {
    const place = workplace();
    const before = await place.run(filter);
    expect([before.code, checkOf(before).reason]).toEqual([
      4,
      "`select_metric` must succeed in the session first",
    ]);
    await place.run(denied);
    await place.run(succeeded);
    expect((await place.run(filter)).code).toBe(4);
    await place.run(allowed);
    await place.run(["result", "select_metric", ...session, "--failed"]);
    await place.run(succeeded);
    expect((await place.run(filter)).code).toBe(4);
    await place.run(allowed);
    await place.run(succeeded);
    expect((await place.run(filter)).code).toBe(0);
    expect((await place.run(filter.map((word) => (word === "s-1" ? "s-2" : word)))).code).toBe(4);
  });

  it("may come as the event of a hook, with what was read", async () => {
    const place = workplace();
    writeFileSync(
      join(place.decisions, "files.yaml"),
      "decision: { id: files, type: policy, tool: write, policies: [{ name: looked, read_before_write: { read_tools: [read], write_tools: [write], path: params.path } }] }",
    );
    const write = ["check", "write", "--params", '{"path":"./a.txt"}', ...session];
    expect((await place.run(write)).code).toBe(4);
    const stdin = JSON.stringify({ session_id: "s-1", tool_name: "read", tool_input: { path: "a.txt" } });
    expect((await place.run(["check", "--event", "-"], { stdin })).code).toBe(0);
    expect((await place.run(["result", "--event", "-", "--ok"], { stdin })).code).toBe(0);
    expect((await place.run(write)).code).toBe(0);
  });

  it("is what the event says, unless a flag says it", async () => {
    const place = workplace();
    const after = (tool_response: object): string =>
      JSON.stringify({ session_id: "s-1", tool_name: "read", tool_input: {}, tool_response });
    const okOf = async (response: object, ...flags: string[]): Promise<boolean> =>
      resultOf(await place.run(["result", "--event", "-", "--quiet", ...flags], { stdin: after(response) }))
        .ok;
    expect(await okOf({ content: "x" })).toBe(true);
    expect(await okOf({ is_error: true })).toBe(false);
    expect(await okOf({ is_error: true }, "--ok")).toBe(true);
    const before = await place.run(["result", "--event", '{"tool_name":"t"}', ...session, "--json"]);
    expect(errorOf(before)).toMatchObject({
      message: "the event has no `tool_response`",
      hint: "send the event from after the call, not the one from before it, or use --ok or --failed",
    });
  });

  it.each<[string, readonly string[], string]>([
    ["both --ok and --failed", [...succeeded, "--failed"], "--ok and --failed cannot be combined"],
    ["neither", ["result", "t", ...session], "specify the result of the call"],
    ["no session", ["result", "t", "--ok"], "specify a session"],
    [
      "a value that is no JSON",
      ["result", "t", ...session, "--ok", "--value", "{"],
      "--value is not valid JSON",
    ],
    [
      "a value that is too large",
      ["result", "t", ...session, "--ok", "--value", JSON.stringify("x".repeat(70_000))],
      "the value is too large: 70002 bytes as JSON, at most 65536",
    ],
    ["no tool", ["result", "--ok", ...session], "specify a tool"],
    ["a record that is not there", [...succeeded, "--record", "99"], "record `99` not found"],
    ["params that are no JSON", [...succeeded, "--params", "x"], "--params is not valid JSON"],
  ])("exits 2: %s", async (_what, words, message) => {
    const ran = await workplace().run([...words, "--json"]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(errorOf(ran).message).toContain(message);
  });

  it.each<[string, readonly string[], string]>([
    ["of another tool", ["check", "other", ...session], "is about `other`, not about `select_metric`"],
    ["of another session", [...allowed.slice(0, -1), "s-2"], "belongs to another session"],
    ["that denied the call", denied, "belongs to a call that was denied"],
    [
      "of a routing decision",
      ["evaluate", "decision-quality-gate", "--input", "{}", ...session],
      "is not a decision about a tool call",
    ],
    ["of a result", ["result", "select_metric", ...session, "--ok"], "is not a decision"],
  ])("exits 2 with a record %s", async (_what, before, message) => {
    const place = workplace();
    await place.run(before);
    const ran = await place.run([...succeeded, "--record", "1", "--json"]);
    expect([ran.code, ran.out]).toEqual([2, ""]);
    expect(errorOf(ran).message).toContain(message);
  });
});

describe("calls among the records", () => {
  async function lived(): Promise<Workplace> {
    const place = workplace();
    await place.run(allowed);
    await place.run(["result", "select_metric", ...session, "--ok"]);
    await place.run(denied);
    await place.run(["result", "other", ...session, "--failed"]);
    return place;
  }

  it("are shown as results by `log --kind tool_result`", async () => {
    const place = await lived();
    expect(await logOf(place, "--kind", "tool_result")).toMatchObject([
      { seq: 2, tool: "select_metric", ok: true, linked: true },
      { seq: 4, tool: "other", ok: false, linked: false },
    ]);
    expect((await logOf(place)).map(({ seq }) => seq)).toEqual([1, 3]);
    expect((await logOf(place, "--kind", "all")).map(({ seq }) => seq)).toEqual([1, 2, 3, 4]);
  });

  it("are shown as results in a table and as plain text", async () => {
    const place = await lived();
    for (const format of ["table", "plain"]) {
      const { out } = await place.run(["log", "--kind", "tool_result", "--format", format]);
      expect(out).toContain("select_metric");
      expect(out).toContain("failed (not linked)");
    }
  });

  it("are explained, the result of one too", async () => {
    const place = await lived();
    const { out, code } = await place.run(["explain", "2"], { terminal: true });
    expect(code).toBe(0);
    expect(out).toMatch(/^select_metric succeeded; allowed by record /);
    expect(out).toContain("s-1");
    expect(json(await place.run(["explain", "4", "--json"]))).toMatchObject({
      explanation: { answer: "other failed; not linked to an allowed call", intact: true },
    });
    expect((await place.run(["explain", "3"], { terminal: true })).out).toMatch(
      /^policy-select-metric on select_metric\n├─ ✗ denied: Reports for executives use revenue retention, not logo_retention\n/,
    );
  });

  it("are counted by outcome in the distribution of a policy", async () => {
    const place = await lived();
    await place.run(allowed);
    const ran = await place.run(["distribution", "policy-select-metric", "--json"]);
    expect(ran.code).toBe(0);
    expect(json(ran)).toMatchObject({ total: 3, counts: { allowed: 2, denied: 1 } });
  });

  it("leave the log sound", async () => {
    expect((await (await lived()).run(["verify"])).code).toBe(0);
  });
});

describe("the completion of a call", () => {
  const complete = async (...words: readonly string[]): Promise<readonly string[]> => {
    const { decisions, store, root } = workplace();
    const io = fakeIo({ cwd: root, env: { AGENT33_DECISIONS: decisions, AGENT33_STORE: store } });
    await main(["__complete", "--", "decision", ...words], io);
    return io.written.out.trimEnd().split("\n");
  };

  it("knows the tools that policies are about", async () => {
    expect(await complete("check", "")).toEqual([
      "select_metric",
      "select_period",
      "filter_customers",
      "read_source",
    ]);
    expect(await complete("result", "sel")).toEqual(["select_metric", "select_period"]);
  });

  it("knows the keys of gates", async () => {
    expect(await complete("gate", "")).toEqual(["acme/payments/wire.approve@3"]);
    expect(await complete("gate", "acme/pay")).toEqual(["acme/payments/wire.approve@3"]);
  });

  it("knows the formats of a check", async () => {
    expect(await complete("check", "t", "--format", "re")).toEqual(["reason"]);
  });
});
