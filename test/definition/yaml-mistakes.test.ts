import { describe, expect, it } from "vitest";
import { readDefinitions } from "../../src/definition/read-definitions.js";

function problemsOf(text: string): readonly string[] {
  const { diagnostics } = readDefinitions("f.yaml", Buffer.from(text)).summary;
  return diagnostics.map(({ line, column, message, hint = "" }) => `${line}:${column} ${message} | ${hint}`);
}

const valid = `decision:
  id: d
  type: switch
  input: "{{ a }}"
  cases:
    - condition: "input == 1"
      target: t
    - { condition: "input == 2", target: u }
  default: { target: z }
`;

interface Mistake {
  readonly name: string;
  /** What is replaced in the valid definition. */
  readonly from: string | RegExp;
  readonly to: string;
  readonly problems: readonly string[];
}

const indentation: readonly Mistake[] = [
  {
    name: "a key that is too deep, after a text",
    from: "  type: switch",
    to: "   type: switch",
    problems: [
      "3:4 `type` is indented with 3 spaces, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "a key that is too deep, after a text in quotes",
    from: "  cases:",
    to: "   cases:",
    problems: [
      "5:4 `cases` is indented with 3 spaces, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "a key that is not deep enough",
    from: "  input:",
    to: " input:",
    problems: [
      "4:2 `input` is indented with 1 space, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "a key of an item that is too deep",
    from: "      target: t",
    to: "       target: t",
    problems: [
      "7:8 `target` is indented with 7 spaces, but the keys above it with 6 | indent it with 6 spaces",
    ],
  },
  {
    name: "a key of an item that is not deep enough",
    from: "      target: t",
    to: "     target: t",
    problems: [
      "7:6 `target` is indented with 5 spaces, but the keys above it with 6 | indent it with 6 spaces",
    ],
  },
  {
    name: "a key behind a list that is as deep as its items",
    from: "  cases:",
    to: "  description: |\n    text\n  guardrails:\n    - type: no_disabled_targets\n      disabled_stages: [z]\n    cases:",
    problems: [
      "10:5 `cases` is indented with 4 spaces, but `guardrails` with 2 | indent it with 2 spaces, next to `guardrails`",
    ],
  },
  {
    name: "a key behind a list that is almost as deep as the keys of its items",
    from: "  cases:",
    to: "  guardrails:\n    - type: no_disabled_targets\n      disabled_stages: [z]\n     cases:",
    problems: [
      "8:6 `cases` is indented with 5 spaces, but `guardrails` with 2 | indent it with 2 spaces, next to `guardrails`",
    ],
  },
  {
    name: "a key of an item that is as deep as the items",
    from: "      target: t",
    to: "      label: l\n    target: t",
    problems: [
      "8:5 `target` is indented with 4 spaces, but the keys above it with 6 | indent it with 6 spaces",
    ],
  },
  {
    name: "an item that is too deep",
    from: "    - {",
    to: "     - {",
    problems: [
      "8:6 this item of a list is indented with 5 spaces, but the items above it with 4 | indent it with 4 spaces",
    ],
  },
  {
    name: "an item that is not deep enough",
    from: "    - {",
    to: "   - {",
    problems: [
      "8:4 this item of a list is indented with 3 spaces, but the items above it with 4 | indent it with 4 spaces",
    ],
  },
  {
    name: "a key after a long text that is too deep",
    from: "  type: switch",
    to: "  description: |\n    text: x\n     more\n   type: switch",
    problems: [
      "6:4 `type` is indented with 3 spaces, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "a long text that is not deep enough",
    from: "  type: switch",
    to: "  description: |\n  text\n  type: switch",
    problems: ["4:3 the text of a block must be indented deeper than its key | indent it with 4 spaces"],
  },
  {
    name: "a key below one with a value",
    from: "type: switch",
    to: "type: switch\n    more: x",
    problems: [
      "4:5 `more` is indented with 4 spaces, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "a key with other letters that is too deep",
    from: "target: z }",
    to: "target: z }\n   größe: 1",
    problems: [
      "10:4 `größe` is indented with 3 spaces, but the keys above it with 2 | indent it with 2 spaces",
    ],
  },
  {
    name: "keys that are not indented",
    from: "  id: d\n  type: switch\n  input",
    to: "id: d\ntype: switch\ninput",
    problems: [
      "5:3 `cases` is indented with 2 spaces, but the keys above it with 0 | indent all keys of a map equally",
    ],
  },
  {
    name: "a tab",
    from: "      target: t",
    to: "\t\t\ttarget: t",
    problems: ["7:1 tabs are not allowed as indentation | indent with spaces"],
  },
  {
    name: "a tab after spaces",
    from: "      target: t",
    to: "    \ttarget: t",
    problems: ["7:6 tabs are not allowed as indentation | indent with spaces"],
  },
];

const keys: readonly Mistake[] = [
  {
    name: "no colon",
    from: "type: switch",
    to: "type switch",
    problems: ["3:7 `:` is missing after `type` | write `type: switch`"],
  },
  {
    name: "no colon, with line ends of Windows",
    from: /[^]*/,
    to: valid.replace("type: switch", "type switch").replaceAll("\n", "\r\n"),
    problems: ["3:7 `:` is missing after `type` | write `type: switch`"],
  },
  {
    name: "no colon after the first key",
    from: "decision:",
    to: "decision",
    problems: ["1:9 `:` is missing after `decision` | write `decision:`"],
  },
  {
    name: "no colon in the last key of an item",
    from: "target: t",
    to: "target t",
    problems: ["7:13 `:` is missing after `target` | write `target: t`"],
  },
  {
    name: "no colon in braces",
    from: "target: u",
    to: "target u",
    problems: ["8:34 `:` is missing after `target` | write `target: u`"],
  },
  {
    name: "no colon in front of a long text",
    from: "type: switch",
    to: `description ${"word ".repeat(20)}`,
    problems: ["3:14 `:` is missing after `description` | put `:` and a space there"],
  },
  {
    name: "an equals sign",
    from: "type: switch",
    to: "type = switch",
    problems: ["3:7 `:` is missing after `type` | write `type: switch`"],
  },
  {
    name: "no space after a colon",
    from: "type: switch",
    to: "type:switch",
    problems: ["3:7 a space is missing after `type:` | write `type: switch`"],
  },
  {
    name: "no space after a colon in braces",
    from: "target: u",
    to: "target:u",
    problems: ["8:34 a space is missing after `target:` | write `target: u`"],
  },
  {
    name: "no space after a dash",
    from: "- condition",
    to: "-condition",
    problems: ['6:5 a space is missing after `-` | write `- condition: "input == 1"`'],
  },
  {
    name: "no dash before the first item",
    from: "- condition",
    to: "  condition",
    problems: ["8:5 an item of a list among the keys of a map | start every item of a list with `- `"],
  },
  {
    name: "no dash before the second item",
    from: "- { condition",
    to: "  { condition",
    problems: [
      "8:7 a map or list in brackets without a key | start it with `- ` if it is an item of a list, or with its key and `: `",
    ],
  },
  {
    name: "no dash before the keys of the second item",
    from: '    - { condition: "input == 2", target: u }',
    to: '      condition: "input == 2"\n      target: u',
    problems: [
      "8:7 the key `condition` is used twice: first in line 6 | remove one of the two, or start the next item of the list with `- `",
      "9:7 the key `target` is used twice: first in line 7 | remove one of the two, or start the next item of the list with `- `",
    ],
  },
  {
    name: "a key twice",
    from: "  type",
    to: "  id: e\n  type",
    problems: ["3:3 the key `id` is used twice: first in line 2 | remove one of the two"],
  },
  {
    name: "two decisions in one document",
    from: /$/,
    to: valid,
    problems: [
      "10:1 the key `decision` is used twice: first in line 1 | separate documents with a line `---`, or remove one of the two",
    ],
  },
  {
    name: "a list below a value",
    from: "cases:",
    to: "cases: none",
    problems: [
      "6:5 a list below `cases`, which has a value already | remove the value, or indent the list below its key",
    ],
  },
  {
    name: "a list in the line of its key",
    from: "target: t",
    to: "target: - t",
    problems: [
      "7:15 a list cannot start in the line of its key | write it in brackets, as in `[t]`, or put text in quotes",
    ],
  },
  {
    name: "two keys in one line",
    from: "target: t",
    to: "target: t, label: x",
    problems: [
      "7:15 a second key, `label`, in one line | write it on a line of its own, or put the map in braces",
    ],
  },
  {
    name: "a comment of another language",
    from: "  type",
    to: "  // what it is\n  type",
    problems: ["3:3 `//` does not start a comment | write `# what it is`"],
  },
  {
    name: "a merge conflict",
    from: "  type: switch",
    to: "<<<<<<< HEAD\n  type: switch\n=======\n  type: binary\n>>>>>>> other",
    problems: [
      "3:1 the file has a merge conflict | keep one of the two sides, and remove the lines with `<<<<<<<`, `=======` and `>>>>>>>`",
    ],
  },
];

const brackets: readonly Mistake[] = [
  {
    name: "a brace that is never closed",
    from: "target: u }",
    to: "target: u",
    problems: ["8:7 `{` is never closed | add `}`"],
  },
  {
    name: "a brace that is never closed, in an item before another",
    from: '- condition: "input == 1"\n      target: t',
    to: '- { condition: "input == 1", target: t',
    problems: ["6:7 `{` is never closed | add `}`"],
  },
  {
    name: "a bracket that is never closed",
    from: "  input:",
    to: "  artifacts: [[a], b\n  input:",
    problems: ["4:14 `[` is never closed | add `]`"],
  },
  {
    name: "a bracket that a brace closes",
    from: "  input:",
    to: "  artifacts: [a, b}\n  input:",
    problems: ["4:19 `}` does not close `[` | write `]`"],
  },
  {
    name: "a brace that is never opened",
    from: "{ target: z }",
    to: "target: z }",
    problems: ["9:22 `}` has no opening `{` | add `{`, or remove `}`"],
  },
  {
    name: "text after a brace",
    from: "{ target: z }",
    to: "{ target: z } x",
    problems: ["9:26 text after the closing bracket | remove it, or put all of it in quotes"],
  },
  {
    name: "no comma in braces",
    from: "{ target: z }",
    to: "{ target: z label: x }",
    problems: ["9:24 `,` is missing before `label` | put `,` between two entries"],
  },
  {
    name: "no comma in JSON",
    from: /[^]*/,
    to: '{\n  "decision": {\n    "id": "d"\n    "type": "switch"\n  }\n}\n',
    problems: ["4:5 `,` is missing before this entry | put `,` between two entries"],
  },
  {
    name: "JSON that is cut off",
    from: /[^]*/,
    to: '{\n  "decision": {\n    "id": "d"\n  }\n',
    problems: ["1:1 `{` is never closed | add `}`"],
  },
];

const quotes: readonly Mistake[] = [
  {
    name: "a quote that is never closed",
    from: '"{{ a }}"',
    to: '"{{ a }}',
    problems: ['4:10 the text that starts here has no closing `"` | add `"` at its end'],
  },
  {
    name: "the only quote, which is never closed",
    from: /"\{\{[^]*/,
    to: "'{{ a }}\n  cases: [{ condition: input, target: t }]\n",
    problems: ["4:10 the text that starts here has no closing `'` | add `'` at its end"],
  },
  {
    name: "a quote in braces that is never closed",
    from: '- condition: "input == 1"\n      target: t',
    to: '- { condition: "input == 1, target: t }',
    problems: ['6:20 the text that starts here has no closing `"` | add `"` at its end'],
  },
  {
    name: "quotes around the first part of two conditions",
    from: /"input == (\d)"/g,
    to: "'a' == input + $1",
    problems: [
      "6:18 the quotes end before the text does | write `\"'a' == input + 1\"`",
      "8:20 text with `=` needs quotes | write `\"'a' == input + 2\"`",
    ],
  },
  {
    name: "the same quotes within a text",
    from: '"input == 1"',
    to: '"input == "x""',
    problems: ["6:18 the quotes end before the text does | write `'input == \"x\"'`"],
  },
  {
    name: "an apostrophe",
    from: "  type",
    to: "  name: 'it's'\n  type",
    problems: ['3:9 the quotes end before the text does | write `"it\'s"`'],
  },
  {
    name: "a colon in a text",
    from: "  type",
    to: "  name: Loans: small\n  type",
    problems: ['3:9 text with `: ` needs quotes | write `"Loans: small"`'],
  },
  {
    name: "a colon in a condition",
    from: '"input == 1"',
    to: "input == 'a: b'",
    problems: ["6:18 text with `: ` needs quotes | write `\"input == 'a: b'\"`"],
  },
  {
    name: "a comma in a condition in braces",
    from: '"input == 2"',
    to: "input in (1, 2)",
    problems: ["8:20 text with `,` needs quotes within braces | put all of `condition` in quotes"],
  },
  {
    name: "a comma between texts in a condition in braces",
    from: '"input == 2"',
    to: "input in ('a', 'b')",
    problems: ["8:20 text with `,` needs quotes within braces | write `\"input in ('a', 'b')\"`"],
  },
  {
    name: "a comma before a text in two conditions in braces",
    from: '"input == 2", target: u }',
    to: "contains(input, 'a'), target: u }\n    - { target: v, condition: contains(input, \"b\") }",
    problems: [
      "8:20 text with `,` needs quotes within braces | write `\"contains(input, 'a')\"`",
      "9:31 text with `,` needs quotes within braces | write `'contains(input, \"b\")'`",
    ],
  },
  {
    name: "a `#` in a condition in braces",
    from: '"input == 2"',
    to: "input == #2",
    problems: [
      "8:7 `{` is never closed | `#` starts a comment: put text that contains it in quotes, as in `\"a == '#1'\"`",
    ],
  },
  {
    name: "commas in a nested call in braces",
    from: '"input == 2"',
    to: "max(1, min(2, input)) > 3",
    problems: ["8:20 text with `,` needs quotes within braces | put all of `condition` in quotes"],
  },
  {
    name: "a list in a condition in braces",
    from: '"input == 2"',
    to: "input in [1, 2]",
    problems: ['8:20 text with `[` needs quotes | write `"input in [1, 2]"`'],
  },
  {
    name: "a template with a quote at its end only",
    from: '"{{ a }}"',
    to: '{{ a }}"',
    problems: ['4:10 a template needs quotes | write `"{{ a }}"`'],
  },
  {
    name: "a template in an expression",
    from: '"input == 1"',
    to: "{{ a }} > 5",
    problems: ['6:18 a template needs quotes | write `"{{ a }} > 5"`'],
  },
  {
    name: "an order at the start",
    from: '"input == 1"',
    to: "> 5",
    problems: ['6:18 text that starts with `>` needs quotes | write `"> 5"`'],
  },
  {
    name: "an at sign at the start, in braces",
    from: "target: u }",
    to: "target: @u }",
    problems: ['8:42 text that starts with `@` needs quotes | write `"@u"`'],
  },
  {
    name: "a backtick at the start",
    from: "target: t",
    to: "target: `t`",
    problems: ["7:15 text that starts with a backtick needs quotes | put all of it in quotes"],
  },
  {
    name: "an asterisk",
    from: "target: t",
    to: "target: *",
    problems: ['7:15 text that starts with `*` needs quotes | write `"*"`'],
  },
  {
    name: "an asterisk at the start",
    from: "target: t",
    to: "target: *-prod",
    problems: [
      '7:15 `*-prod` refers to the anchor `&-prod`, which is not there | if it is text, write `"*-prod"`',
    ],
  },
  {
    name: "a backslash in double quotes",
    from: '"input == 1"',
    to: "\"matches(input, '\\d')\"",
    problems: [
      "6:35 `\\d` is not an escape sequence | write the backslash twice, or put the text in single quotes",
    ],
  },
  {
    name: "curly quotes",
    from: '"input == 1"',
    to: "“input == 1”",
    problems: ["6:18 unexpected `“` | use straight quotes"],
  },
];

describe.each([
  { about: "indentation", mistakes: indentation },
  { about: "keys and items", mistakes: keys },
  { about: "braces and brackets", mistakes: brackets },
  { about: "quotes", mistakes: quotes },
])("a mistake in the $about is reported where it is, with its fix:", ({ mistakes }) => {
  it.each(mistakes)("$name", ({ from, to, problems }) => {
    expect(problemsOf(valid.replace(from, to))).toEqual(problems);
  });
});

describe("several mistakes", () => {
  it("are reported together where one does not follow from the other", () => {
    const text = valid
      .replace('"{{ a }}"', '"{{ a }}" x')
      .replace('"input == 1"', "'a' == input")
      .replace("type: switch", "type: @switch");
    expect(problemsOf(text).map((problem) => problem.split(" ")[0])).toEqual(["3:9", "4:10", "6:18"]);
  });

  it("are reported for each document", () => {
    const text = `${valid.replace("type: switch", "type switch")}---\n${valid.replace("  cases:", "   cases:")}`;
    expect(problemsOf(text).map((problem) => problem.split(" ")[0])).toEqual(["3:7", "15:4"]);
  });

  it("in a very long line are reported without being explained", () => {
    const [problem = ""] = problemsOf(`a: "${'\\"'.repeat(50_000)}" x\n`);
    expect(problem).toMatch(/^1:100007 Unexpected scalar at node end/);
  });
});
