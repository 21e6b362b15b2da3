import { writeFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { main } from "../../src/cli/main.js";
import { cleanEnvironment, temporaryDirectory } from "../acceptance/command.js";
import { fakeIo } from "../cli/fake-io.js";

/** Clears the screen, sets the title and a colour, hides text, reverses it, and starts a line of its own. */
const hostile =
  "\u001b[31m\u001b[2J\u001b]0;owned\u0007\u001b[8m\u009b31m\u009d\u007f\u0008\u202e\u2066\u200e\u061c\u200b\ufeff\u2028\u2029\r\nINJECTED";

const quoted = JSON.stringify(hostile);

/** The part of it that names in definitions may have. */
const sly = JSON.stringify("\u202e\u2066\u200e\u061c\u200b\ufeff sly");

const folder = temporaryDirectory();

const definitions = `
decision:
  id: route
  name: ${quoted}
  description: ${quoted}
  version: "1.0.0"
  type: switch
  input: "{{ a }}"
  cases:
    - { condition: ${JSON.stringify("a == '\u202e\u009b2J'")}, target: t, label: ${sly} }
    - { condition: "missing_path == 1", target: t, label: other }
  default: { target: t }
  entities: [{ type: customer, id: "{{ a }}" }]
  artifacts: ["{{ a }}"]
---
decision:
  id: split
  type: weighted
  input: "{{ a }}"
  cases: [{ target: t, weight: 50, label: ${sly} }, { target: u, weight: 50, label: b }]
  default: { target: t }
---
decision:
  id: votes
  type: scored
  scoring: { strategy: max_weight }
  evaluators:
    - { name: ${sly}, static: { decision: ${sly}, weight: 1, reason: ${quoted} } }
---
decision:
  id: tools
  type: policy
  tool: "*"
  policies:
    - name: ${sly}
      version: 1.0.0
      conditions: [{ name: ${sly}, expression: "params.a == 1" }]
      deny_reason: "{{ params.a }} is wrong"
    - name: exempt
      version: 1.0.0
      overrides: [${sly}]
      when: "params.a == 2"
      action: allow_with_warning
      reason: "{{ params.b }}"
---
decision:
  id: gate
  type: gate
  action: { org: acme, domain: d, name: a }
  rules:
    - { id: red, tier: T2, severity: 1, when: "exists(a)", status: YELLOW, reason: "{{ a }}", work_frame: { next_action: ${sly}, missing_evidence: [${sly}] } }
    - { id: green, tier: T3, severity: 0, when: "false", status: GREEN }
`;

const broken = `
decision:
  id: ${quoted}
  type: ${quoted}
  ${quoted}: 1
  cases: [{ condition: ${JSON.stringify(`a == '${hostile}`)}, target: t }]
`;

const input = JSON.stringify({ a: hostile, [hostile]: hostile });
const params = JSON.stringify({ a: hostile });
const exempt = JSON.stringify({ a: 2, b: hostile });
const noted = [
  "--workflow-id",
  hostile,
  "--stage-id",
  hostile,
  "--session-id",
  hostile,
  "--correlation-id",
  hostile,
];

interface Streams {
  readonly out: string;
  readonly err: string;
}

async function run(
  args: readonly string[],
  terminal: boolean,
  more: { readonly color?: boolean } = {},
): Promise<Streams> {
  const env = cleanEnvironment({
    AGENT33_STORE: join(folder, "store"),
    AGENT33_DECISIONS: join(folder, "decisions"),
    ...(more.color && { FORCE_COLOR: "1" }),
  }) as Record<string, string>;
  const io = fakeIo({ cwd: folder, terminal, env, stdin: "" });
  await main(["decision", ...args], io);
  return io.written;
}

const deciding: readonly (readonly string[])[] = [
  ["evaluate", "route", "--input", input, ...noted],
  ["evaluate", "route", "--input", input, ...noted, "--explain"],
  ["evaluate", "split", "--input", input, "--explain"],
  ["evaluate", "votes", "--input", input, "--explain"],
  ["evaluate", "votes", "--input", input, "--format", "audit"],
  ["evaluate", "votes", "--input", input, "--format", "target"],
  ["dry-run", "route", "--input", input],
  ["gate", "acme/d/a", "--input", input, "--explain"],
  ["check", hostile, "--params", params, "--session-id", hostile],
  ["check", hostile, "--params", params, "--session-id", hostile, "--explain"],
  ["check", hostile, "--params", exempt, "--session-id", hostile, "--explain"],
  ["check", hostile, "--params", params, "--session-id", hostile, "--format", "reason"],
  ["result", hostile, "--params", exempt, "--session-id", hostile, "--ok"],
];

const reading: readonly (readonly string[])[] = [
  ["list"],
  ["show", "route"],
  ["show", "split"],
  ["show", "votes"],
  ["show", "tools"],
  ["show", "gate"],
  ["validate"],
  ["validate", join(folder, "broken")],
  ["graph"],
  ["log"],
  ["log", "--kind", "all"],
  ["log", "--session-id", hostile],
  ["explain", "latest"],
  ["explain", "--session-id", hostile],
  ["distribution", "route"],
  ["distribution", "split"],
  ["lineage", "latest"],
  ["precedents", "route", "--input", input],
  ["overrides"],
  ["replay", "--all"],
  ["backtest", "route"],
  ["verify"],
  ["cache", "status"],
  ["config"],
];

/** Commands that fail, with the user's value in the message. */
const failing: readonly (readonly string[])[] = [
  ["evaluate", hostile, "--input", "{}"],
  ["evaluate", "route", "--input", hostile],
  ["evaluate", "route", "--input", `@${hostile}`],
  ["evaluate", "route", `--${hostile}`],
  ["evaluate", "route", "--format", hostile],
  ["evaluate", "route", "--input", "{}", "--strict"],
  ["log", "--since", hostile],
  ["explain", hostile],
  ["show", hostile],
  ["replay", hostile],
  ["replay", "--payload", JSON.stringify({ context: hostile })],
  ["precedents", "route", "--entity", hostile],
  ["list", "--decisions", hostile],
  ["log", "--store", hostile],
  ["config", "get", hostile],
  ["new", hostile, hostile],
  [hostile],
];

const escape = "\u001b";
const ownCodes = new RegExp(`${escape}\\[(?:1|2|22|31|32|33|36|39)m|\\r\\n`, "g");
const controls = /(?!\n|\t)[\p{Cc}\p{Cf}\u2028\u2029]/u;

function leaks({ out, err }: Streams, hasColours = true): readonly string[] {
  return [out, err].flatMap((text) => {
    const shown = hasColours ? text.replaceAll(ownCodes, (code) => (code === "\r\n" ? "\n" : "")) : text;
    const at = shown.search(controls);
    const line = /^INJECTED.*$/m.exec(shown)?.[0];
    return [
      ...(at === -1 ? [] : [JSON.stringify(shown.slice(Math.max(0, at - 60), at + 20))]),
      ...(line === undefined ? [] : [line]),
    ];
  });
}

/** The command without the hostile text, which would confuse the terminal of the tester. */
const nameOf = (args: readonly string[]): string =>
  args.map((each) => (each.includes("INJECTED") ? "…" : each)).join(" ");

beforeAll(async () => {
  mkdirSync(join(folder, "decisions"));
  mkdirSync(join(folder, "broken"));
  writeFileSync(join(folder, "decisions/all.yaml"), definitions);
  writeFileSync(join(folder, "broken/a.yaml"), broken);
  for (const args of deciding) {
    const { out, err } = await run(args, false);
    if (out === "") throw new Error(err);
  }
});

describe("hostile text in definitions, input and flags", () => {
  it.each([...deciding, ...reading, ...failing].map((args) => [nameOf(args), args] as const))(
    "does not control the terminal: %s",
    async (_name, args) => {
      const written = await run(args, true, { color: true });
      expect(leaks(written)).toEqual([]);
      expect({ hasAnswer: written.out !== "" }).toEqual({ hasAnswer: !failing.includes(args) });
    },
  );

  it.each(
    [...deciding, ...reading]
      .filter((args) => !args.includes("--format"))
      .map((args) => [nameOf(args), args] as const),
  )("is escaped in a table and in plain text in a pipe, too: %s", async (_name, args) => {
    expect(leaks(await run([...args, "--format", "table"], false), false)).toEqual([]);
    expect(leaks(await run([...args, "--format", "plain"], false), false)).toEqual([]);
  });

  it.each(["json", "jsonl", "yaml"])("does not control the terminal in the format %s", async (format) => {
    for (const args of [...deciding, ...reading].filter((each) => !each.includes("--format"))) {
      expect(leaks(await run([...args, "--format", format], true))).toEqual([]);
    }
  });

  it("does not control the terminal in errors as JSON", async () => {
    for (const args of failing) expect(leaks(await run([...args, "--json"], true))).toEqual([]);
  });

  it("has the same JSON value on a terminal", async () => {
    const args = ["show", "route", "--json"];
    const shown = (await run(args, true)).out;
    expect(shown).toContain("\\u202e");
    expect(JSON.parse(shown)).toEqual(JSON.parse((await run(args, false)).out));
  });

  it.each(["csv", "jsonl"])("does not control the terminal in an export as %s", async (format) => {
    expect(leaks(await run(["export", "--format", format], true))).toEqual([]);
  });

  it("is exported to a pipe as it is", async () => {
    const { out } = await run(["export", "--format", "csv"], false);
    expect(out).toContain("\u202e");
    expect(out).toContain("\nINJECTED");
  });

  it.each(["mermaid", "dot"])("does not control the terminal in a graph as %s", async (format) => {
    expect(leaks(await run(["graph", "--format", format], true))).toEqual([]);
    expect(leaks(await run(["lineage", "latest", "--format", format], true))).toEqual([]);
  });
});
