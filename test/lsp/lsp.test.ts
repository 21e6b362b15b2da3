import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type {
  CompletionItem,
  DocumentSymbol,
  Hover,
  Location,
  Position,
  TextEdit,
} from "vscode-languageserver-protocol";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { run, temporaryDirectory } from "../acceptance/command.js";
import { EditorClient } from "./editor-client.js";

const workspace = temporaryDirectory();

const targets = `targets:
  - stage-a
  - { id: stage-b, kind: stage, disabled: false }
`;

const routing = `decision:
  id: refund
  type: switch
  cases:
    - { condition: "order.total > 100", target: stage-a, label: large }
    - condition: "contains(order.tags, 'x') and order.total > 10"
      target: stage-b
  default: { target: stage-a }
`;

const policies = `decision:
  id: writes
  type: policy
  tool: write_file
  policies:
    - name: base-rule
      conditions: [{ name: small, expression: "params.size < 10" }]
    - name: exception
      overrides: [base-rule]
      action: allow
`;

const gate = `decision:
  id: deploy
  type: gate
  action: { org: acme, domain: release, name: deploy }
  rules:
    - { id: frozen, tier: T1, severity: 100, when: "frozen", status: RED }
    - { id: routine, tier: T3, severity: 10, when: "risk < 5", status: GREEN, suppresses: [ready] }
    - { id: ready, tier: T3, severity: 5, when: "risk > 3", status: GREEN }
`;

const tests = `tests:
  - decision: refund
    input: { order: { total: 1, tags: [] } }
    expect: { label: stage-a }
`;

const enriched = `endpoints:
  bureau: { url: "https://bureau.example/score" }
---
decision:
  id: loan
  type: switch
  enrich:
    - { endpoint: bureau, into: credit }
  cases: [{ condition: "credit.score > 1", target: stage-a }]
  default: { target: stage-b }
`;

const files = {
  "targets.yaml": targets,
  "refund.yaml": routing,
  "writes.yaml": policies,
  "deploy.yaml": gate,
  "refund.test.yaml": tests,
  "loan.yaml": enriched,
};

/** Returns the text without its `|`, and the position of it. */
function cursorIn(marked: string): { readonly text: string; readonly position: Position } {
  const offset = marked.indexOf("|");
  const before = marked.slice(0, offset).split("\n");
  const position = { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
  return { text: marked.slice(0, offset) + marked.slice(offset + 1), position };
}

/** Returns the position in the first occurrence of a text. */
function positionOf(text: string, part: string, skip = 0): Position {
  const before = text.slice(0, text.indexOf(part) + skip).split("\n");
  return { line: before.length - 1, character: before.at(-1)?.length ?? 0 };
}

let editor: EditorClient;

beforeAll(async () => {
  mkdirSync(join(workspace, "decisions"));
  for (const [name, text] of Object.entries(files)) writeFileSync(join(workspace, "decisions", name), text);
  editor = new EditorClient(workspace, ["--decisions", "decisions", "--stdio"]);
  const { serverInfo } = await editor.start();
  expect(serverInfo?.name).toBe("agent-33");
  for (const [name, text] of Object.entries(files)) await editor.open(`decisions/${name}`, text);
}, 60_000);

afterAll(() => editor.kill());

const isEmpty = (problems: readonly unknown[]): boolean => problems.length === 0;
const hasSome = (problems: readonly unknown[]): boolean => problems.length > 0;

describe("problems", () => {
  it("appear while a file is edited, with the range of the text, and go when it is fixed", async () => {
    await editor.change("decisions/refund.yaml", routing.replace('order.total > 10"', 'order.total >"'));
    const [problem] = await editor.problems("decisions/refund.yaml", hasSome);
    expect(problem).toMatchObject({ severity: 1, source: "agent-33" });
    expect(problem?.range.start.line).toBe(5);
    await editor.change("decisions/refund.yaml", routing);
    await editor.problems("decisions/refund.yaml", isEmpty);
  });

  it.each([
    { name: "a wrong value", from: "type: switch", to: "type: swich", line: 2, text: "swich" },
    { name: "an unknown key", from: "  default", to: "  🦊: 1\n  defaul", line: 7, text: "🦊" },
    {
      name: "a value after an emoji",
      from: "type: switch",
      to: 'name: "🦊🦊"\n  type: swich',
      line: 3,
      text: "swich",
    },
  ])("underline $name exactly", async ({ from, to, line, text }) => {
    const edited = routing.replace(from, to);
    await editor.change("decisions/refund.yaml", edited);
    const found = await editor.problems("decisions/refund.yaml", hasSome);
    const shown = found.map(({ range }) =>
      edited.split("\n")[range.start.line]?.slice(range.start.character, range.end.character),
    );
    expect(found.map(({ range }) => range.start.line)).toContain(line);
    expect(shown).toContain(text);
    await editor.change("decisions/refund.yaml", routing);
    await editor.problems("decisions/refund.yaml", isEmpty);
  });

  it("have the same columns with CRLF", async () => {
    const edited = routing.replace("type: switch", 'name: "é🦊"\n  type: swich').replaceAll("\n", "\r\n");
    await editor.change("decisions/refund.yaml", edited);
    const found = await editor.problems("decisions/refund.yaml", hasSome);
    const range = { start: { line: 3, character: 8 }, end: { line: 3, character: 13 } };
    expect(found.map((each) => each.range)).toContainEqual(range);
    await editor.change("decisions/refund.yaml", routing);
    await editor.problems("decisions/refund.yaml", isEmpty);
  });

  it("appear in files that are not open, and in those that refer to an edited one", async () => {
    await editor.close("decisions/deploy.yaml");
    await editor.change("decisions/targets.yaml", "targets: [stage-a]\n");
    const [problem] = await editor.problems("decisions/refund.yaml", hasSome);
    expect(problem?.message).toContain("`stage-b`");
    await editor.change("decisions/targets.yaml", targets);
    await editor.problems("decisions/refund.yaml", isEmpty);
    writeFileSync(join(workspace, "decisions", "deploy.yaml"), gate.replace("GREEN }", "GREN }"));
    await editor.change("decisions/targets.yaml", `${targets}# edited\n`);
    await editor.problems("decisions/deploy.yaml", hasSome);
    writeFileSync(join(workspace, "decisions", "deploy.yaml"), gate);
    await editor.open("decisions/deploy.yaml", gate);
    await editor.problems("decisions/deploy.yaml", isEmpty);
  });

  it("follow the last of many fast edits, over broken and oversized text", async () => {
    for (let length = 0; length < routing.length; length += 7) {
      await editor.change("decisions/refund.yaml", routing.slice(0, length));
    }
    await editor.change("decisions/refund.yaml", "[".repeat(100_000));
    await editor.problems("decisions/refund.yaml", hasSome);
    await editor.change("decisions/refund.yaml", "# x".repeat(4_000_000));
    await editor.problems("decisions/refund.yaml", (found) =>
      found.some(({ message }) => message.includes("at most 4194304 bytes")),
    );
    await editor.change("decisions/refund.yaml", routing);
    await editor.problems("decisions/refund.yaml", isEmpty);
  });
});

describe("completion", () => {
  it.each([
    {
      name: "keys of a decision of this type",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: weighted\n  |\n",
      has: ["salt", "cases"],
      lacks: ["policies", "id", "type"],
    },
    {
      name: "keys of a list item",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: switch\n  cases:\n    - condition: 'x'\n      la|\n",
      has: ["label", "target"],
      lacks: ["condition", "weight"],
    },
    {
      name: "keys in braces",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: weighted\n  cases:\n    - { target: x, | }\n",
      has: ["weight"],
      lacks: ["target"],
    },
    {
      name: "keys of a JSON file",
      file: "refund.yaml",
      text: '{"decision": {"id": "a", "type": "switch", "|"}}',
      has: ["cases"],
      lacks: ["id"],
    },
    {
      name: "types",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: |\n",
      has: ["switch", "gate", "policy"],
      lacks: ["cases"],
    },
    {
      name: "values of an enumeration",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: rule_table\n  hit_policy: co|\n",
      has: ["collect", "first"],
      lacks: [],
    },
    {
      name: "functions, operators and paths in a condition",
      file: "refund.yaml",
      text: `decision:\n  id: a\n  type: switch\n  cases:\n    - { condition: "order.total > 1", target: a }\n    - condition: "not con|"\n`,
      has: ["contains", "and", "order.total"],
      lacks: ["target"],
    },
    {
      name: "functions in a template",
      file: "deploy.yaml",
      text: "decision:\n  id: a\n  type: gate\n  rules:\n    - reason: 'Is {{ ro|'\n",
      has: ["round"],
      lacks: [],
    },
    {
      name: "targets and decisions",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: switch\n  default: { target: st| }\n",
      has: ["stage-a", "stage-b", "loan"],
      lacks: ["bureau"],
    },
    {
      name: "policies",
      file: "writes.yaml",
      text: policies.replace("[base-rule]", "[b|]"),
      has: ["base-rule"],
      lacks: ["refund"],
    },
    {
      name: "rules of the gate",
      file: "deploy.yaml",
      text: gate.replace("[ready]", "[|]"),
      has: ["ready", "frozen"],
      lacks: ["base-rule"],
    },
    {
      name: "endpoints",
      file: "loan.yaml",
      text: enriched.replace("endpoint: bureau", "endpoint: |"),
      has: ["bureau"],
      lacks: ["loan"],
    },
    {
      name: "decisions of tests",
      file: "refund.test.yaml",
      text: "tests:\n  - decision: |\n",
      has: ["refund", "writes"],
      lacks: ["stage-a"],
    },
    {
      name: "labels of the tested decision",
      file: "refund.test.yaml",
      text: "tests:\n  - decision: refund\n    expect: { label: | }\n",
      has: ["large", "stage-b"],
      lacks: ["frozen"],
    },
    {
      name: "operators of rule conditions",
      file: "refund.yaml",
      text: "decision:\n  id: a\n  type: scored\n  evaluators:\n    - name: e\n      rules:\n        - id: r\n          if: { field: a.b, op: | }\n",
      has: ["gte", "between"],
      lacks: ["refund"],
    },
  ])("offers $name", async ({ file, text: marked, has, lacks }) => {
    const { text, position } = cursorIn(marked);
    await editor.change(`decisions/${file}`, text);
    const items = await editor.at<CompletionItem[]>("completion", `decisions/${file}`, position);
    const labels = items.map(({ label }) => label);
    await editor.change(`decisions/${file}`, files[file as keyof typeof files]);
    expect(labels).toEqual(expect.arrayContaining(has));
    expect(labels.filter((label) => (lacks as readonly string[]).includes(label))).toEqual([]);
  });

  it("replaces the word at the cursor", async () => {
    const { text, position } = cursorIn("decision:\n  id: a\n  type: switch\n  defa|\n");
    await editor.change("decisions/refund.yaml", text);
    const items = await editor.at<CompletionItem[]>("completion", "decisions/refund.yaml", position);
    const start = { line: 3, character: 2 };
    expect(items.find(({ label }) => label === "default")?.textEdit).toEqual({
      range: { start, end: position },
      newText: "default:",
    });
    await editor.change("decisions/refund.yaml", routing);
  });
});

describe("hover", () => {
  it.each([
    { name: "a key", file: "refund.yaml", part: "label:", shows: "name of the branch" },
    { name: "a function", file: "refund.yaml", part: "contains(", shows: "contains(" },
    { name: "an operator", file: "refund.yaml", part: "and order", shows: "stops at the first false" },
    { name: "a target", file: "refund.yaml", part: "stage-b", shows: "kind: `stage`" },
    { name: "a decision", file: "refund.test.yaml", part: "refund", shows: "type: `switch`" },
  ])("explains $name", async ({ file, part, shows }) => {
    const position = positionOf(files[file as keyof typeof files], part, 1);
    const hover = await editor.at<Hover>("hover", `decisions/${file}`, position);
    expect(JSON.stringify(hover.contents)).toContain(shows);
  });

  it("explains nothing between words", async () => {
    expect(await editor.at("hover", "decisions/refund.yaml", { line: 50, character: 0 })).toBeNull();
  });
});

describe("definitions", () => {
  it.each([
    { name: "a target", from: "refund.yaml", part: "stage-b", to: "targets.yaml", at: "stage-b" },
    {
      name: "an overridden policy",
      from: "writes.yaml",
      part: "[base-rule",
      to: "writes.yaml",
      at: "base-rule",
    },
    { name: "a suppressed rule", from: "deploy.yaml", part: "[ready", to: "deploy.yaml", at: "ready, tier" },
    {
      name: "the decision of a test",
      from: "refund.test.yaml",
      part: "refund",
      to: "refund.yaml",
      at: "refund",
    },
    { name: "an endpoint", from: "loan.yaml", part: "endpoint: bureau", to: "loan.yaml", at: "bureau:" },
  ])("leads from $name to its declaration", async ({ from, part, to, at }) => {
    const position = positionOf(files[from as keyof typeof files], part, part.length - 1);
    const [found] = await editor.at<Location[]>("definition", `decisions/${from}`, position);
    expect(found?.uri).toBe(editor.uri(`decisions/${to}`));
    expect(found?.range.start).toEqual(positionOf(files[to as keyof typeof files], at));
  });
});

it("outlines decisions with their branches", async () => {
  const textDocument = { uri: editor.uri("decisions/refund.yaml") };
  const [decision] = await editor.request<DocumentSymbol[]>("textDocument/documentSymbol", { textDocument });
  expect(decision).toMatchObject({ name: "refund", detail: "switch" });
  expect(decision?.children?.map(({ name }) => name)).toEqual(["large", "stage-b", "default"]);
});

it("formats a file as `fmt` does", async () => {
  const textDocument = { uri: editor.uri("decisions/targets.yaml") };
  const options = { tabSize: 2, insertSpaces: true };
  const format = (): Promise<TextEdit[]> =>
    editor.request("textDocument/formatting", { textDocument, options });
  await editor.change("decisions/targets.yaml", "targets:\n    - a # 🦊\n    -   b");
  const [edit] = await format();
  expect(edit?.newText).toBe("targets:\n  - a # 🦊\n  - b\n");
  expect(edit?.range.end).toEqual({ line: 2, character: 9 });
  await editor.change("decisions/targets.yaml", edit?.newText ?? "");
  expect(await format()).toEqual([]);
  await editor.change("decisions/targets.yaml", "targets: [");
  expect(await format()).toEqual([]);
  await editor.change("decisions/targets.yaml", targets);
});

it("has nothing to say about other files", async () => {
  const { text, position } = cursorIn("services:\n  |\n");
  await editor.open("compose.yaml", text);
  expect(await editor.at("completion", "compose.yaml", position)).toEqual([]);
});

describe("the process", () => {
  it("ends with 0 after shutdown and exit", async () => {
    const other = new EditorClient(workspace);
    await other.start();
    expect(await other.stop()).toBe(0);
  });

  const framed = (...messages: readonly object[]): string =>
    messages
      .map((message) => JSON.stringify({ jsonrpc: "2.0", ...message }))
      .map((body) => `Content-Length: ${body.length}\r\n\r\n${body}`)
      .join("");
  const initialize = {
    id: 1,
    method: "initialize",
    params: { processId: null, rootUri: null, capabilities: {} },
  };

  it("answers what it received before its input ended", async () => {
    const input = framed(initialize, { id: 2, method: "shutdown" }, { method: "exit" });
    const { exitCode, stdout } = await run(["lsp"], { input });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('"id":2,"result":null');
  });

  it.each(["Content-Length: abc\r\n\r\n{}", "Content-Length: -5\r\n\r\n{}", "Nothing: 1\r\n\r\n{}"])(
    "ends with an error after a header that cannot be read: %j",
    async (header) => {
      const { exitCode, stderr } = await run(["lsp"], { input: framed(initialize) + header });
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/^error: a message has no valid `Content-Length`: /);
    },
  );

  it("ends with 1 if the input is closed before", async () => {
    const other = new EditorClient(temporaryDirectory());
    await other.start();
    expect(await other.closeInput()).toBe(1);
  });
});
