import { describe, expect, it } from "vitest";
import { decisionTypes } from "../../src/definition/decision-types.js";
import { formatDefinitions } from "../../src/definition/formatting/format-definitions.js";
import { readSourceTree } from "../../src/definition/formatting/source-tree.js";
import { starter } from "../../src/definition/starter.js";
import { readYaml } from "../../src/definition/yaml-source.js";

const format = (text: string, isJson = false): string => {
  const result = formatDefinitions(text, { isJson });
  if (result.type === "failed") throw new Error(JSON.stringify(result.problems));
  return result.text;
};

const problemsOf = (text: string): readonly object[] => {
  const result = formatDefinitions(text);
  return result.type === "failed" ? result.problems : [];
};

const lines = (...all: readonly string[]): string => all.map((line) => `${line}\n`).join("");

describe("a formatted definition", () => {
  it.each<{ readonly name: string; readonly from: string; readonly to: string }>([
    {
      name: "has its keys in the order of the schema, and unknown keys after them",
      from: lines(
        "decision:",
        "  default: { target: b }",
        "  cases:",
        '    - { target: a, condition: "x > 1", label: A }',
        "  colour: red",
        "  type: switch",
        "  id: d",
      ),
      to: lines(
        "decision:",
        "  id: d",
        "  type: switch",
        "  cases:",
        '    - { condition: "x > 1", target: a, label: A }',
        "  default: { target: b }",
        "  colour: red",
      ),
    },
    {
      name: "keeps the order of maps with names of their own",
      from: lines(
        "endpoints:",
        '  z: { method: get, url: "http://z" }',
        '  a: { url: "http://a" }',
        "decision:",
        "  type: gate",
        '  computed: { b: "1", a: "b + 1" }',
        "  id: d",
      ),
      to: lines(
        "decision:",
        "  id: d",
        "  type: gate",
        '  computed: { b: "1", a: "b + 1" }',
        "endpoints:",
        '  z: { url: "http://z", method: get }',
        '  a: { url: "http://a" }',
      ),
    },
    {
      name: "has comments where they were",
      from: lines(
        "# About the file.",
        "",
        "# About the decision.",
        "decision: # on its line",
        "    type: switch # the type",
        "    # About the id,",
        "    # in two lines.",
        "    id:   d",
        "",
        "    # About the cases.",
        "    cases:",
        "    # About the first.",
        "    - target: a",
        "      # About the condition.",
        "      condition: x",
        "    - # About the second.",
        "      target: b",
        "      # At the end of the second.",
        "    # About the default.",
        "    default:",
        "      target: c",
        "      # At the end of the default.",
        "# At the end.",
      ),
      to: lines(
        "# About the file.",
        "",
        "# About the decision.",
        "decision: # on its line",
        "  # About the id,",
        "  # in two lines.",
        "  id: d",
        "  type: switch # the type",
        "",
        "  # About the cases.",
        "  cases:",
        "    # About the first.",
        "    - # About the condition.",
        "      condition: x",
        "      target: a",
        "    - # About the second.",
        "      target: b",
        "      # At the end of the second.",
        "  # About the default.",
        "  default:",
        "    target: c",
        "    # At the end of the default.",
        "# At the end.",
      ),
    },
    {
      name: "keeps a comment about a whole map first",
      from: lines("decision:", "  # About all.", "", "  # About the type.", "  type: switch", "  id: d"),
      to: lines("decision:", "  # About all.", "", "  id: d", "", "  # About the type.", "  type: switch"),
    },
    {
      name: "has lists and maps in brackets on one line where they fit, and else as blocks",
      from: lines(
        "decision: {id: d,",
        "  type: policy, tool: [a,b, c],",
        '  policies: [{name: long, version: 1.0.0, deny_reason: "a reason that is so long that the map does not fit on a line"},',
        "    {name: short}]}",
      ),
      to: lines(
        "decision:",
        "  id: d",
        "  type: policy",
        "  tool: [a, b, c]",
        "  policies:",
        "    - name: long",
        "      version: 1.0.0",
        '      deny_reason: "a reason that is so long that the map does not fit on a line"',
        "    - { name: short }",
      ),
    },
    {
      name: "keeps one of several blank lines, and none at the beginning of a map",
      from: "decision:\n\n  id: d\n\n\n\n  type: switch\n\n\n",
      to: "decision:\n  id: d\n\n  type: switch\n",
    },
    {
      name: "keeps quotes, numbers and texts on several lines",
      from: lines(
        "decision:",
        "    id: 'd'",
        '    name: "caf\\u00e9"',
        "    description: >-",
        "        folded",
        "        lines",
        "",
        "        # no comment",
        '    cache: { ttl: "1h", enabled: True }',
        "    x: 1e3",
        "    y: 0x1F",
        "    z: plain words",
        "      on two lines",
      ),
      to: lines(
        "decision:",
        "  id: 'd'",
        '  name: "caf\\u00e9"',
        "  description: >-",
        "    folded",
        "    lines",
        "",
        "    # no comment",
        '  cache: { enabled: True, ttl: "1h" }',
        "  x: 1e3",
        "  y: 0x1F",
        "  z: plain words",
        "    on two lines",
      ),
    },
    {
      name: "keeps the line breaks at the end of a text that keeps them",
      from: "decision:\n  description: |+\n    a\n\n\n  name: n\n  id: d\n",
      to: "decision:\n  id: d\n  name: n\n  description: |+\n    a\n\n\n",
    },
    {
      name: "keeps the indentation within a text",
      from: "decision:\n    id: d\n    description: |4\n          deep\n        not so deep\n",
      to: "decision:\n  id: d\n  description: |2\n      deep\n    not so deep\n",
    },
    {
      name: "keeps several documents",
      from: "---\ndecision: { type: switch, id: a }\n--- # next\n# About b.\ndecision: { id: b }\n...\n",
      to: "decision: { id: a, type: switch }\n--- # next\n# About b.\ndecision: { id: b }\n",
    },
    {
      name: "keeps directives",
      from: "%YAML 1.2\n---\ndecision: {id: a}\n",
      to: "%YAML 1.2\n---\ndecision: { id: a }\n",
    },
    {
      name: "keeps the order of keys where an alias would precede its anchor",
      from: "decision:\n  type: &t switch\n  cases: [{ target: b, condition: x }]\n  name: *t\n  id: d\n",
      to: "decision:\n  type: &t switch\n  cases: [{ condition: x, target: b }]\n  name: *t\n  id: d\n",
    },
    {
      name: "sorts keys around anchors where aliases stay valid",
      from: "decision:\n  cases: &all [{ target: a }]\n  type: switch\n  default: *all\n  id: d\n",
      to: "decision:\n  id: d\n  type: switch\n  cases: &all [{ target: a }]\n  default: *all\n",
    },
    {
      name: "takes a last line of spaces in a text for no blank line",
      from: "decision:\n  id: |2-\n     \n  name: n\n\n  type: gate\n",
      to: "decision:\n  id: |2-\n     \n  name: n\n\n  type: gate\n",
    },
    {
      name: "keeps comments before an anchor without a value",
      from: "decision:\n  id: # one\n    # two\n    &a\n  name: n\n",
      to: "decision:\n  id: # one\n    # two\n    &a\n  name: n\n",
    },
    {
      name: "has the line ends of the file",
      from: "decision:\r\n    id:  d\r\n",
      to: "decision:\r\n  id: d\r\n",
    },
    { name: "ends with a line break", from: "decision: { id: d }", to: "decision: { id: d }\n" },
    { name: "may be only comments", from: "\n# nothing\n", to: "# nothing\n" },
    { name: "may be empty", from: "", to: "" },
  ])("$name", ({ from, to }) => {
    expect(format(from)).toBe(to);
    expect(format(to)).toBe(to);
  });
});

describe("a formatted JSON file", () => {
  it("stays JSON", () => {
    const given =
      '{"decision":{"type":"switch","id":"a","cases":[{"target":"x","condition":"a > 1"}],"default":{"target":"this-name-is-too-long-for-one-line-of-json"}}}';
    const formatted = format(given, true);
    expect(JSON.parse(formatted)).toEqual(JSON.parse(given));
    expect(formatted).toBe(
      lines(
        "{",
        '  "decision": {',
        '    "id": "a",',
        '    "type": "switch",',
        '    "cases": [{ "condition": "a > 1", "target": "x" }],',
        '    "default": { "target": "this-name-is-too-long-for-one-line-of-json" }',
        "  }",
        "}",
      ),
    );
  });

  it("keeps what is written on several lines, and comments", () => {
    const given = '{ # all\n  "decision": {\n    "id":\n"a", # the id\n    "tests": []\n    # end\n  } }\n';
    const formatted =
      '{\n  # all\n  "decision": {\n    "id": "a", # the id\n    "tests": []\n    # end\n  }\n}\n';
    expect(format(given, true)).toBe(formatted);
    expect(format(formatted, true)).toBe(formatted);
  });

  it("that is YAML is formatted as YAML", () => {
    expect(format("decision:\n    id: a\n", true)).toBe("decision:\n  id: a\n");
  });
});

it("a long line is read in the time of many short ones", () => {
  const timeOf = (separator: string): number => {
    const text = `a: ["${"x".repeat(1_000_000)}"${`,${separator}1`.repeat(1000)}]\n`;
    const startedAt = process.cpuUsage();
    readSourceTree(text);
    return process.cpuUsage(startedAt).user;
  };
  timeOf("\n ");
  expect(timeOf(" ") / timeOf("\n ")).toBeLessThan(5);
});

describe("the start of a definition", () => {
  it.each(decisionTypes)("is formatted: %s", (type) => {
    const text = starter(type, "my-first.decision", { path: "decisions", hasSchema: false });
    expect(format(text)).toBe(text);
  });

  it.each(["123", "1.5", "0x1F", "null", "True", "-", "-a", ".a", "no"])("has the id %s as text", (id) => {
    const text = starter("switch", id, { path: "decisions", hasSchema: false });
    expect(readYaml(text).documents.map(({ value }) => value)).toMatchObject([{ decision: { id } }]);
  });
});

describe("a text cannot be formatted that", () => {
  it.each([
    { name: "is no YAML", from: "decision: [", problem: { line: 1, column: 11 } },
    { name: "is nested too deeply", from: "[".repeat(200), problem: { line: 1, column: 65 } },
    { name: "has a number that JSON does not have", from: "a: .inf\n", problem: { line: 1, column: 4 } },
    { name: "has a list as key", from: "? [a]\n: 1\n", problem: { line: 1, column: 1 } },
    { name: "has no key before a colon", from: ": 1\n", problem: { line: 1, column: 1 } },
    {
      name: "the parser reads in part only",
      from: "? a # key\n   {b: 1,",
      problem: { message: "the file cannot be formatted without changing what it means" },
    },
  ])("$name", ({ from, problem }) => {
    expect(problemsOf(from)).toMatchObject([problem]);
  });
});
