import { describe, expect, it } from "vitest";
import { buildLibrary } from "../../../src/definition/library.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";
import type { Diagnostic } from "../../../src/model/diagnostic.js";

const brief = ({ line, column, message, hint }: Diagnostic): string =>
  `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`;

const problemsOf = (text: string): readonly string[] =>
  buildLibrary([readDefinitions("f.yaml", Buffer.from(text)).summary], () =>
    Promise.reject(new Error("nothing is loaded")),
  ).diagnostics.map(brief);

/** Stands in a text where a problem is expected. */
const mark = "▶";

/** The text without its marks, and where they stood. */
function marked(text: string): { readonly yaml: string; readonly places: readonly string[] } {
  const parts = text.split(mark);
  const places = parts.slice(0, -1).map((_, index) => {
    const lines = parts
      .slice(0, index + 1)
      .join("")
      .split("\n");
    return `${lines.length}:${(lines.at(-1)?.length ?? 0) + 1}`;
  });
  return { yaml: parts.join(""), places };
}

const decisionOf = (policies: string, more = ""): string =>
  `decision:\n  id: d\n  type: policy\n  tool: write_file\n${more}  policies:\n${policies
    .split("\n")
    .map((line) => `    ${line}`)
    .join("\n")}\n`;

interface Case {
  readonly name: string;
  /** With a mark before each place at fault. */
  readonly policies: string;
  /** What is said of each mark, in order. */
  readonly said: readonly string[];
}

const base = '- { name: p, conditions: [{ name: c, expression: "true" }] }';

const onlyOverrides = "add `overrides` with the policies that it overrides";
const onlyBases = "use `when` to limit an override";
const dates = "write 2026-01-31 or 2026-01-31T12:00:00Z";

const cases: readonly Case[] = [
  { name: "nothing wrong", policies: `${base}\n- { name: o, overrides: [p], when: "true" }`, said: [] },
  {
    name: "an override that names no policy, but nearly",
    policies: `- { name: customer_inclusion }\n- { name: o, overrides: [${mark}customer_inclusoin] }`,
    said: ["no policy `customer_inclusoin` to override | did you mean `customer_inclusion`?"],
  },
  {
    name: "an override that names nothing that is there",
    policies: `${base}\n- { name: o, overrides: [p, ${mark}zzz] }`,
    said: ["no policy `zzz` to override"],
  },
  {
    name: "an override that names another override",
    policies: `${base}\n- { name: o, overrides: [p] }\n- { name: n, overrides: [${mark}o] }`,
    said: ["`o` is an override, and overrides cannot be overridden"],
  },
  {
    name: "an override that names itself",
    policies: `${base}\n- { name: o, overrides: [p, ${mark}o] }`,
    said: ["`o` is an override, and overrides cannot be overridden"],
  },
  {
    name: "an override of nothing",
    policies: `${base}\n- { name: o, overrides: ${mark}[] }`,
    said: ["`overrides` must not be empty"],
  },
  {
    name: "keys of an override in a policy",
    policies: `- name: p\n  ${mark}when: "true"\n  ${mark}action: allow\n  ${mark}max_applications: 3`,
    said: ["when", "action", "max_applications"].map(
      (key) => `\`${key}\` is only allowed in an override | ${onlyOverrides}`,
    ),
  },
  {
    name: "keys of a policy in an override",
    policies: `${base}\n- name: o\n  overrides: [p]\n  ${mark}conditions: [{ name: c, expression: "true" }]\n  ${mark}requires: [x]\n  ${mark}deny_reason: no\n  ${mark}max_calls: { count: 1, per: session }`,
    said: ["conditions", "requires", "deny_reason", "max_calls"].map(
      (key) => `\`${key}\` is not allowed in an override | ${onlyBases}`,
    ),
  },
  {
    name: "read_before_write in an override",
    policies: `${base}\n- name: o\n  overrides: [p]\n  ${mark}read_before_write: { read_tools: [r], write_tools: [w], path: params.path }`,
    said: [`\`read_before_write\` is not allowed in an override | ${onlyBases}`],
  },
  {
    name: "modify_params without params",
    policies: `${base}\n- ${mark}{ name: o, overrides: [p], action: modify_params }`,
    said: ["`params` is missing: `modify_params` sets them"],
  },
  {
    name: "modify_params that sets nothing",
    policies: `${base}\n- { name: o, overrides: [p], action: modify_params, params: ${mark}{} }`,
    said: ["`params` must not be empty"],
  },
  {
    name: "params without an action",
    policies: `${base}\n- { name: o, overrides: [p], ${mark}params: { x: 1 } }`,
    said: ["`params` has no effect without `action: modify_params`"],
  },
  {
    name: "params with another action",
    policies: `${base}\n- { name: o, overrides: [p], action: allow, ${mark}params: { x: 1 } }`,
    said: ["`params` has no effect without `action: modify_params`"],
  },
  {
    name: "conditions that are one text",
    policies: `- { name: p, conditions: ${mark}"params.n > 1" }`,
    said: [
      '`conditions` must be a list (got "params.n > 1") | for example `conditions: [{ name: small, expression: "params.amount <= 100" }]`',
    ],
  },
  {
    name: "a condition that is a text",
    policies: `- { name: p, conditions: [${mark}"params.n > 1"] }`,
    said: [
      '`conditions[0]` must be a map (got "params.n > 1") | for example `conditions: [{ name: small, expression: "params.amount <= 100" }]`',
    ],
  },
  {
    name: "a limit that is a number",
    policies: `- { name: p, max_calls: ${mark}20 }`,
    said: ["`max_calls` must be a map (got 20) | for example `max_calls: { count: 20, per: session }`"],
  },
  {
    name: "an unknown action",
    policies: `${base}\n- { name: o, overrides: [p], action: ${mark}alow }`,
    said: [
      '`action` must be one of `allow`, `allow_with_warning`, `modify_params` (got "alow") | did you mean `allow`?',
    ],
  },
  {
    name: "dates that are none",
    policies: `- name: p\n  effective_from: ${mark}soon\n  expires_at: ${mark}2026-02-30`,
    said: [
      `\`effective_from\` must be a date, or a time with a time zone (got "soon") | ${dates}`,
      `\`expires_at\` must be a date, or a time with a time zone (got "2026-02-30") | ${dates}`,
    ],
  },
  {
    name: "a time without its zone",
    policies: `- { name: p, effective_from: ${mark}"2026-01-01T00:00:00" }`,
    said: [
      `\`effective_from\` must be a date, or a time with a time zone (got "2026-01-01T00:00:00") | ${dates}`,
    ],
  },
  {
    name: "a year, which is a number",
    policies: `- { name: p, effective_from: ${mark}2026 }`,
    said: ['`effective_from` must be text (got 2026) | put it in quotes: "2026"'],
  },
  {
    name: "an end before the beginning",
    policies: `- name: p\n  effective_from: 2026-02-01\n  expires_at: ${mark}2026-01-31T23:59:59Z`,
    said: ["`expires_at` must be after `effective_from`"],
  },
  {
    name: "an end at the beginning, whatever the zone",
    policies: `- name: p\n  effective_from: 2026-02-01T00:00:00Z\n  expires_at: ${mark}2026-02-01T01:00:00+01:00`,
    said: ["`expires_at` must be after `effective_from`"],
  },
  {
    name: "a name that is used twice",
    policies: `${base}\n- name: ${mark}p\n- { name: q }`,
    said: ["the policy `p` is used twice"],
  },
  {
    name: "a policy and an override of one name",
    policies: `${base}\n- { name: ${mark}p, overrides: [p] }`,
    said: ["the policy `p` is used twice"],
  },
  {
    name: "a name that no object can have",
    policies: `- name: ${mark}__proto__`,
    said: ["`__proto__` cannot be a name"],
  },
  { name: "no name", policies: `- ${mark}{ version: 1.0.0 }`, said: ["`name` is missing in `policies[0]`"] },
  {
    name: "a time that no calls can be counted per",
    policies: `- { name: p, max_calls: { count: 1, per: ${mark}sesion } }`,
    said: ['`per` must be `session`, `caller`, `org` or a duration such as 1h (got "sesion")'],
  },
  {
    name: "a negative duration",
    policies: `- { name: p, max_calls: { count: 1, per: ${mark}-1h } }`,
    said: ['`per` must be `session`, `caller`, `org` or a duration such as 1h (got "-1h")'],
  },
  {
    name: "no calls at all",
    policies: `- { name: p, max_calls: { count: ${mark}0, per: session } }`,
    said: ["`count` must be at least 1 (got 0)"],
  },
  {
    name: "too many calls to remember",
    policies: `- { name: p, max_calls: { count: ${mark}10001, per: 1h } }`,
    said: ["`count` must be at most 10000 (got 10001)"],
  },
  {
    name: "no duration for a window",
    policies: `- { name: p, max_calls: { count: 1, per: caller, window: ${mark}soon } }`,
    said: ['`window` must be a duration such as 500ms, 30s, 1h or 1h30m (got "soon")'],
  },
  {
    name: "a sum that lacks everything",
    policies: `- { name: p, max_sum: ${mark}${mark}${mark}{} }`,
    said: ["of", "most", "per"].map((key) => `\`${key}\` is missing in \`max_sum\``),
  },
  {
    name: "a sum that cannot be exact, and one of nobody",
    policies: `- { name: p, max_sum: { of: x, most: ${mark}1e10, per: ${mark}1h } }`,
    said: [
      "`most` must be at most 1000000000 (got 10000000000)",
      '`per` must be one of `session`, `caller`, `org` (got "1h")',
    ],
  },
  {
    name: "an amount that does not compile",
    policies: `- { name: p, max_sum: { of: "params${mark}.", most: 1, per: session } }`,
    said: ["unexpected `.`"],
  },
  {
    name: "no application at all",
    policies: `${base}\n- { name: o, overrides: [p], max_applications: ${mark}0 }`,
    said: ["`max_applications` must be at least 1 (got 0)"],
  },
  {
    name: "unknown keys, at every level",
    policies: `- name: p\n  ${mark}condtions: []\n  conditions:\n    - { name: c, expression: "true", ${mark}message: no }\n  max_calls: { count: 1, per: 1h, ${mark}pre: 1h }`,
    said: [
      "unknown key `condtions` | did you mean `conditions`?",
      "unknown key `message` | known here: name, expression",
      "unknown key `pre` | did you mean `per`?",
    ],
  },
  {
    name: "an empty list of conditions",
    policies: `- { name: p, conditions: ${mark}[] }`,
    said: ["`conditions` must not be empty"],
  },
  {
    name: "a condition that does not compile",
    policies: `- name: p\n  conditions:\n    - { name: c, expression: "params.a == ${mark}" }`,
    said: ["expected a value, got the end of the expression"],
  },
];

const expressions: readonly { readonly name: string; readonly policies: string }[] = [
  {
    name: "a condition",
    policies: `- name: p\n  conditions:\n    - { name: c, expression: "a and ${mark}nope(b)" }`,
  },
  { name: "a `when`", policies: `${base}\n- name: o\n  overrides: [p]\n  when: a and ${mark}nope(b)` },
  { name: "a reason", policies: `- name: p\n  reason: "for {{ a }} and {{ ${mark}nope(b) }}"` },
  {
    name: "the reason of an override",
    policies: `${base}\n- { name: o, overrides: [p], reason: '{{ ${mark}nope(b) }}' }`,
  },
  { name: "a deny_reason", policies: `- name: p\n  deny_reason: not \${ ${mark}nope(b) }` },
  {
    name: "params, however deep",
    policies: `${base}\n- name: o\n  overrides: [p]\n  action: modify_params\n  params:\n    a: { b: ["{{ c }}", "{{ ${mark}nope(b) }}"] }`,
  },
  {
    name: "the path of read_before_write",
    policies: `- name: p\n  read_before_write: { read_tools: [r], write_tools: [w], path: "${mark}nope(b)" }`,
  },
];

describe("the problems of a policy", () => {
  it.each(cases)("are found: $name", ({ policies, said }) => {
    const { yaml, places } = marked(decisionOf(policies));
    expect(problemsOf(yaml)).toEqual(said.map((each, index) => `${places[index] ?? ""} ${each}`));
  });

  it.each(expressions)("are pointed at in an expression: $name", ({ policies }) => {
    const { yaml, places } = marked(decisionOf(policies));
    const problems = readDefinitions("f.yaml", Buffer.from(yaml)).summary.diagnostics;
    expect(problems.map(({ line, column, message }) => `${line}:${column} ${message}`)).toEqual([
      `${places[0] ?? ""} there is no function \`nope\``,
    ]);
    expect(problems[0]?.excerpt).toContain("^");
  });

  it("are all reported at once", () => {
    const policies = `- { name: p, effective_from: ${mark}soon }\n- { name: ${mark}p, overrides: [p], ${mark}params: {x: 1} }`;
    const { yaml, places } = marked(decisionOf(policies));
    expect(problemsOf(yaml).map((each) => each.split(" ")[0])).toEqual(places);
  });

  it.each([
    ["no tool", "decision:\n  ▶id: d\n  type: policy\n", "`tool` is missing in `decision`"],
    [
      "an empty tool",
      'decision: { id: d, type: policy, tool: ▶"", policies: [] }',
      '`tool` must not be empty (got "")',
    ],
    [
      "policies that are no list",
      "decision: { id: d, type: policy, tool: t, policies: ▶{ name: p } }",
      "`policies` must be a list (got a map)",
    ],
    [
      "what only routing decisions have",
      "decision:\n  id: d\n  type: policy\n  tool: t\n  policies: []\n  ▶cases: []\n",
      "`cases` has no effect in a `policy` decision",
    ],
  ])("may be those of the decision: %s", (_name, text, message) => {
    const { yaml, places } = marked(text);
    expect(problemsOf(yaml)[0]).toContain(`${places[0] ?? ""} ${message}`);
  });

  it("are none where the list is empty or absent", () => {
    expect(problemsOf("decision: { id: d, type: policy, tool: t }")).toEqual([]);
    expect(problemsOf("decision: { id: d, type: policy, tool: t, policies: [] }")).toEqual([]);
  });
});

describe("a policy that cannot be used", () => {
  const libraryOf = (...texts: readonly string[]): ReturnType<typeof buildLibrary> =>
    buildLibrary(
      texts.map((text, index) => readDefinitions(`${index}.yaml`, Buffer.from(text)).summary),
      () => Promise.reject(new Error("no body is needed")),
    );
  const sound = decisionOf(base);
  const routing = (id: string, condition = "true"): string =>
    `decision:\n  id: ${id}\n  type: switch\n  cases: [{ condition: "${condition}", target: t }]\n  default: { target: z }\n`;

  it.each([
    ["a policy with a fault", [decisionOf("- { nme: p }")], ["0.yaml"]],
    ["a document that cannot be read but names tools", ["decision: [tool: x"], ["0.yaml"]],
    ["a sound policy beside a broken document", [`${sound}---\ndecision: {`], ["0.yaml"]],
    ["two policies with one id", [sound, sound], ["0.yaml", "1.yaml"]],
    ["a policy and a routing decision with one id", [sound, routing("d")], ["0.yaml", "1.yaml"]],
  ])("is distinguished from everything else: %s", (_name, texts, files) => {
    const { brokenPolicies } = libraryOf(...texts);
    expect([...new Set(brokenPolicies.map(({ file }) => file))]).toEqual(files);
  });

  it.each([
    ["nothing broken", [sound, routing("r")]],
    ["a routing decision that does not compile", [sound, routing("r", "1 +")]],
    ["two routing decisions with one id", [sound, routing("r"), routing("r")]],
  ])("is not seen in %s", (_name, texts) => {
    expect(libraryOf(...texts).brokenPolicies).toEqual([]);
  });
});

describe("an override of a policy of another decision", () => {
  const document = (id: string, policies: string, tool = "write_file"): string =>
    decisionOf(policies).replace("id: d", `id: ${id}`).replace("tool: write_file", `tool: "${tool}"`);
  const bases = document("bases", `${base}\n- { name: local, overrides: [p] }`);
  const problemsIn = (...documents: readonly string[]): readonly string[] =>
    problemsOf(documents.join("---\n")).map((each) => each.replace(/^\d+/, ""));
  const override = (names: string, tool?: string): string =>
    document("other", `- { name: o, overrides: [${names}] }`, tool);

  it.each([
    ["a policy of the same tool", override("p")],
    ["a policy of a tool that both have", override("p", "*_file")],
    [
      "one of its own and one of another decision",
      document("other", "- { name: q }\n- { name: o, overrides: [p, q] }"),
    ],
  ])("may name %s", (_name, text) => {
    expect(problemsIn(bases, text)).toEqual([]);
  });

  it.each([
    ["a policy that no decision has", override("zzz"), ":30 no policy `zzz` to override"],
    [
      "a policy about other tools",
      override("p", "read_file"),
      ":30 the policy `p` of `bases` is about other tools, so it cannot be overridden here | " +
        "an override applies to calls of the tools of both decisions",
    ],
    ["an override", override("local"), ":30 `local` is an override, and overrides cannot be overridden"],
    [
      "a policy of a decision that has a policy of its name",
      document("other", "- { name: p2, overrides: [p] }").replace("p2", "local"),
      ":15 `local` overrides a policy of `bases`, but `bases` uses this name too | give it another name",
    ],
  ])("cannot name %s", (_name, text, problem) => {
    expect(problemsIn(bases, text)).toEqual([problem]);
  });

  it("cannot have the name of an override that a third decision has for the same policy", () => {
    const third = override("p").replace("id: other", "id: third");
    expect(problemsIn(bases, override("p"), third)).toEqual([
      ":15 `o` overrides a policy of `bases`, but `third` uses this name too | give it another name",
      ":15 `o` overrides a policy of `bases`, but `other` uses this name too | give it another name",
    ]);
  });

  it("makes its decision invalid, so that no call is checked, if it names no policy", () => {
    const summary = (text: string, file: string): ReturnType<typeof readDefinitions>["summary"] =>
      readDefinitions(file, Buffer.from(text)).summary;
    const files = [summary(bases, "0.yaml"), summary(override("x"), "1.yaml")];
    const reject = (): Promise<never> => Promise.reject(new Error("nothing is loaded"));
    const library = buildLibrary(files, reject);
    expect([library.ids, library.broken]).toEqual([["bases"], ["other"]]);
    expect(library.brokenPolicies.map(({ file }) => file)).toEqual(["1.yaml"]);
    // The policy may be in a file that is not read, or that is broken.
    expect(buildLibrary([summary(override("x"), "1.yaml")], reject, { isPart: true }).diagnostics).toEqual(
      [],
    );
    const broken = summary("decision: { id: e, type: policy, tool: t, policies: [{ nme: x }] }", "2.yaml");
    const message = buildLibrary([...files, broken], reject).diagnostics.at(-1)?.message;
    expect(message).toBe("no policy `x` to override, unless in `2.yaml`, which is not valid");
  });
});

describe("the version of a policy", () => {
  const problemOf = (version: string): string | undefined =>
    problemsOf(decisionOf(`- { name: p, version: ${version} }`))[0];

  it.each(["1.2.0", "1.2.0-rc.1", "3f2a1c9", "3f2a1c9d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a39", '"1234567"'])(
    "may be a semantic version or a commit hash: %s",
    (version) => {
      expect(problemOf(version)).toBeUndefined();
    },
  );

  it.each([
    ["3f2a1c", "must be a semantic version such as 1.2.0, or a commit hash of 7 to 40 hex digits"],
    ["3F2A1C9", "or a commit hash of 7 to 40 hex digits"],
    ["3f2a1c9d8e7b6a5f4e3d2c1b0a9f8e7d6c5b4a390", "or a commit hash of 7 to 40 hex digits"],
    ["main", "or a commit hash of 7 to 40 hex digits"],
    ["1234567", "a commit hash needs quotes too"],
  ])("is nothing else: %s", (version, message) => {
    expect(problemOf(version)).toContain(message);
  });

  it("is a semantic version for a decision", () => {
    const [problem] = problemsOf(decisionOf(base, "  version: 3f2a1c9\n"));
    expect(problem).toContain('`version` must be a semantic version such as 1.2.0 (got "3f2a1c9")');
  });
});

describe("the tools of a policy", () => {
  const about = (tool: string): string =>
    decisionOf("- { name: p, requires: [a] }").replace("tool: write_file", `tool: ${tool}`);

  it.each(['"{Write,Edit}"', '"Write|Edit"', '"[WE]*"', '"Write,Edit"', '"^Write$"', '" Write"'])(
    "are no pattern of another language: %s",
    (tool) => {
      const [problem = ""] = problemsOf(about(tool));
      expect(problem).toContain("4:9 ");
      expect(problem).toContain("is neither the name of a tool nor a glob | `*` matches any characters");
    },
  );

  it("may be a list, of which each is looked at", () => {
    expect(problemsOf(about("[Write, mcp__files__*, server/tool]"))).toEqual([]);
    expect(problemsOf(about("[Write, A|B]"))[0]).toContain(
      "4:17 `A|B` is neither the name of a tool nor a glob",
    );
  });
});

describe("a limit", () => {
  it.each([
    ['max_calls: { count: 1, per: "0s" }', '46 `per` must be longer than 0 (got "0s")'],
    ['max_calls: { count: 1, per: "0h0m" }', '46 `per` must be longer than 0 (got "0h0m")'],
    ["max_calls: { count: 1, per: caller, window: 0s }", '62 `window` must be longer than 0 (got "0s")'],
    ["max_sum: { of: x, most: 1, per: org, window: 0.0h }", '63 `window` must be longer than 0 (got "0.0h")'],
    [
      "max_calls: { count: 1, per: 2h, window: 1h }",
      "58 `per: 2h` is a window already | write `per: session`, `per: caller` or `per: org`",
    ],
  ])("has one window that is longer than 0: %s", (limit, problem) => {
    expect(problemsOf(decisionOf(`- { name: p, ${limit} }`))).toEqual([`6:${problem}`]);
  });

  it("is checked in a gate as in a policy", () => {
    const gate = `decision:
  id: g
  type: gate
  action: { org: acme, domain: pay, name: wire }
  max_calls: { count: 1, per: 0s }
  max_sum: { of: "amount +", most: 1, per: session }
  rules: [{ id: r, tier: T3, severity: 1, when: "true", status: GREEN }]
`;
    expect(problemsOf(gate)).toEqual([
      '5:31 `per` must be longer than 0 (got "0s")',
      "6:27 expected a value, got the end of the expression",
    ]);
  });
});
