import { describe, expect, it } from "vitest";
import { unreadableFile } from "../../../src/definition/broken-file.js";
import type { Library } from "../../../src/definition/library.js";
import { buildLibrary } from "../../../src/definition/library.js";
import { readDefinitions } from "../../../src/definition/read-definitions.js";

function libraryOf(...files: readonly (string | Uint8Array)[]): Library {
  const read = files.map((file, index) => readDefinitions(`${index}.yaml`, Buffer.from(file)));
  return buildLibrary(
    read.map(({ summary }) => summary),
    (file, position) => {
      const found = read[Number.parseInt(file, 10)]?.body.definitions[position];
      return found === undefined ? Promise.reject(new Error(file)) : Promise.resolve(found);
    },
  );
}

const problemsIn = ({ diagnostics: problems }: Library): readonly string[] =>
  problems.map(
    ({ line, column, message, hint }) =>
      `${line}:${column} ${message}${hint === undefined ? "" : ` | ${hint}`}`,
  );

const route =
  "decision:\n  id: route\n  type: switch\n  cases: [{ condition: a, target: t }]\n  default: { target: z }\n";
const split =
  "decision:\n  id: split\n  type: weighted\n  input: id\n  cases: [{ target: t, weight: 1 }]\n  default: { target: t }\n";
const vote =
  "decision:\n  id: vote\n  type: scored\n  evaluators: [{ name: e, static: { decision: d, weight: 1 } }]\n  targets: { d: t }\n";
const calls = "decision:\n  id: calls\n  type: policy\n  tool: t\n  policies: []\n";
const gate =
  "decision:\n  id: gate\n  type: gate\n  action: { org: o, domain: d, name: a }\n  rules: [{ id: r, tier: T3, severity: 1, when: 'true', status: GREEN }]\n";

const own = (definition: string, guardrail: string): string =>
  `${definition}  guardrails:\n    - ${guardrail}\n`;
const forAll = (guardrail: string): string => `guardrails:\n  - ${guardrail}\n`;

const escalating = "{ type: no_disabled_targets, on_fail: escalate }";

interface Fault {
  readonly name: string;
  readonly guardrail: string;
  /** Without the line, which is another one in each kind of document. */
  readonly problems: readonly string[];
}

const types = "`no_disabled_targets`, `weight_bounds`, `requires_approval`, `distribution_drift`";

/** Wrong of one decision, and of all. */
const faults: readonly Fault[] = [
  {
    name: "a misspelt type",
    guardrail: "{ type: weight_bound }",
    problems: [`15 \`type\` must be one of ${types} (got "weight_bound") | did you mean \`weight_bounds\`?`],
  },
  {
    name: "a type of nothing near",
    guardrail: "{ type: x }",
    problems: [`15 \`type\` must be one of ${types} (got "x")`],
  },
  { name: "no type", guardrail: "{ on_fail: warn }", problems: ["7 `type` is missing in `guardrails[0]`"] },
  {
    name: "a number for a type",
    guardrail: "{ type: 5 }",
    problems: [`15 \`type\` must be one of ${types} (got 5)`],
  },
  {
    name: "a text",
    guardrail: "weight_bounds",
    problems: [
      '7 `guardrails[0]` must be a map (got "weight_bounds") | for example `guardrails: [{ type: no_disabled_targets, disabled_stages: [stage-old] }]`',
    ],
  },
  {
    name: "an unknown consequence",
    guardrail: "{ type: weight_bounds, on_fail: blok }",
    problems: [
      '39 `on_fail` must be one of `block`, `escalate`, `warn` (got "blok") | did you mean `block`?',
    ],
  },
  {
    name: "a misspelt key",
    guardrail: "{ type: weight_bounds, min_wieght: 5 }",
    problems: ["30 unknown key `min_wieght` | did you mean `min_weight`?"],
  },
  {
    name: "a key of another type",
    guardrail: "{ type: no_disabled_targets, minimum: 5 }",
    problems: [
      "36 unknown key `minimum` | known here: type, description, disabled_stages, on_fail, escalate_to",
    ],
  },
  {
    name: "a text for a weight",
    guardrail: "{ type: weight_bounds, min_weight: five }",
    problems: ['42 `min_weight` must be a number (got "five")'],
  },
  {
    name: "a negative weight",
    guardrail: "{ type: weight_bounds, min_weight: -1 }",
    problems: ["42 `min_weight` must not be negative (got -1)"],
  },
  {
    name: "bounds that nothing fits",
    guardrail: "{ type: weight_bounds, min_weight: 9, max_weight: 5 }",
    problems: ["57 `max_weight` must not be below `min_weight`, which is 9 (got 5)"],
  },
  {
    name: "stages that are no list",
    guardrail: "{ type: no_disabled_targets, disabled_stages: a }",
    problems: ['53 `disabled_stages` must be a list (got "a") | write `disabled_stages: [a]`'],
  },
  {
    name: "a stage that is no text",
    guardrail: "{ type: no_disabled_targets, disabled_stages: [5] }",
    problems: ['54 `disabled_stages[0]` must be text (got 5) | put it in quotes: "5"'],
  },
  {
    name: "an empty list of workflows, which would be about none",
    guardrail: "{ type: requires_approval, workflows: [] }",
    problems: ["45 `workflows` must not be empty"],
  },
  {
    name: "a p value of 0, below which nothing is",
    guardrail: "{ type: distribution_drift, p_value: 0 }",
    problems: ["44 `p_value` must be more than 0 (got 0)"],
  },
  {
    name: "a p value above 1",
    guardrail: "{ type: distribution_drift, p_value: 1.5 }",
    problems: ["44 `p_value` must be from 0 to 1 (got 1.5)"],
  },
  {
    name: "half an input",
    guardrail: "{ type: distribution_drift, minimum: 1.5 }",
    problems: ["44 `minimum` must be a whole number (got 1.5)"],
  },
  {
    name: "not one input",
    guardrail: "{ type: distribution_drift, minimum: 0 }",
    problems: ["44 `minimum` must be at least 1 (got 0)"],
  },
  {
    name: "an escalation to nobody",
    guardrail: escalating,
    problems: ["45 `escalate_to` is missing, which `on_fail: escalate` requires | add escalate_to: <target>"],
  },
];

describe("an invalid guardrail is reported at its position:", () => {
  const shifted = (problems: readonly string[], line: number, by: number): readonly string[] =>
    problems.map((each) => each.replace(/^\d+/, (column) => `${line}:${Number(column) + by}`));

  it.each(faults)("$name, of one decision", ({ guardrail, problems }) => {
    expect(problemsIn(libraryOf(own(route, guardrail)))).toEqual(shifted(problems, 7, 0));
  });

  it.each(faults)("$name, of every decision", ({ guardrail, problems }) => {
    expect(problemsIn(libraryOf(forAll(guardrail)))).toEqual(shifted(problems, 2, -2));
  });
});

describe("an escalation without a valid target", () => {
  it.each([
    ["routes nowhere", route, 1],
    ["votes for nowhere", vote, 1],
    ["is a denial of a call", calls, 0],
    ["keeps a gate waiting", gate, 0],
  ])("%s", (_what, definition, count) => {
    expect(problemsIn(libraryOf(own(definition, escalating)))).toHaveLength(count);
  });

  it("goes to where approvals are given", () => {
    const asking = "{ type: requires_approval, approval_target: ask, on_fail: escalate }";
    expect(problemsIn(libraryOf(own(route, asking)))).toEqual([]);
  });
});

describe("an escalation to what is not declared", () => {
  const targets = "targets: [t, z, stage-review]\n";
  const wrong = "the target `stage-reviw` is not declared under `targets` | did you mean `stage-review`?";

  it.each([
    ["escalate_to", "{ type: weight_bounds, on_fail: escalate, escalate_to: stage-reviw }", "7:62"],
    [
      "approval_target",
      "{ type: requires_approval, approval_target: stage-reviw, on_fail: escalate }",
      "7:51",
    ],
  ])("is reported for one decision: %s", (_key, guardrail, place) => {
    expect(problemsIn(libraryOf(own(route, guardrail), targets))).toEqual([`${place} ${wrong}`]);
    expect(problemsIn(libraryOf(own(route, guardrail)))).toEqual([]);
  });

  it.each([
    ["escalate_to", "{ type: weight_bounds, on_fail: escalate, escalate_to: stage-reviw }"],
    ["approval_target", "{ type: requires_approval, approval_target: stage-reviw, on_fail: escalate }"],
  ])("is reported for every decision, and none is made: %s", async (_key, guardrail) => {
    const library = libraryOf(route, forAll(guardrail), targets);
    expect(problemsIn(library)).toEqual([`2:5 ${wrong}`]);
    await expect(library.find("route")).rejects.toMatchObject({ code: "definition_invalid" });
    expect(() => library.sharedEnvironment()).toThrow("is not valid");
  });

  it("is none where another decision has the name", () => {
    const guardrail = "{ type: weight_bounds, on_fail: escalate, escalate_to: vote }";
    expect(problemsIn(libraryOf(own(route, guardrail), forAll(guardrail), vote, targets))).toEqual([]);
  });
});

describe("a drift that cannot be measured", () => {
  const drift = "{ type: distribution_drift }";

  it.each([
    ["  logging: { log_decision: false }\n", "no decision is recorded"],
    ["  logging: { mask: [/id] }\n", "the input is masked, so inputs cannot be distinguished"],
  ])("is not watched for: %s", (more, why) => {
    expect(problemsIn(libraryOf(own(split + more, drift)))).toEqual([
      `9:15 \`distribution_drift\` cannot be checked: ${why}`,
    ]);
  });

  it.each([
    ["{ target: t, weight: 0 }", "no case has a weight, so there is no split"],
    [
      "{ target: t, weight: 1, condition: a }",
      "cases have conditions, so the weights do not determine the split",
    ],
  ])("is not watched for: %s", (each, why) => {
    expect(problemsIn(libraryOf(own(split.replace("{ target: t, weight: 1 }", each), drift)))).toEqual([
      `8:15 \`distribution_drift\` cannot be checked: ${why}`,
    ]);
  });

  it("is none of a decision without a split", () => {
    expect(problemsIn(libraryOf(own(route, drift)))).toEqual([]);
  });
});

/** Files that were meant to hold guardrails for every decision. */
const hiding: readonly (readonly [name: string, file: string | Uint8Array])[] = [
  ["a wrong type", "guardrails:\n  - { type: nope }\n"],
  ["no list", "guardrails: 5\n"],
  ["nothing", "guardrails:\n"],
  ["no YAML", "guardrails:\n  - { type: nope\n"],
  ["no YAML, in quotes", '"guardrails" :\n  - { type: nope\n'],
  ["JSON", '{"guardrails": [{"type": "nope"}]}'],
  ["JSON that is none", '{"guardrails": [{"type": "no_disabled_targets"}]'],
  ["JSON that is none, with other things first", '{\n  "targets": ["a"],\n  "guardrails": [}'],
  ["flow style", "{ guardrails: [{ type: nope }] }"],
  ["flow style that is no YAML", "# all\n--- {guardrails: [{ type: nope ]}"],
  ["a misspelt key", "guardrail:\n  - { type: weight_bounds }\n"],
  ["a badly misspelt key", "gaurdrial:\n  - { type: weight_bounds }\n"],
  ["a key with a dash", "guard-rails:\n  - { type: weight_bounds }\n"],
  ["a key in upper case", "Guardrails:\n  - { type: weight_bounds }\n"],
  ["a misspelt key in what is no YAML", "guard_rail:\n  - { type: weight_bounds\n"],
  ["a second document", "targets: [a]\n---\nguardrails:\n  - { type: nope }\n"],
  [
    "a sound one beside a broken decision",
    `guardrails:\n  - { type: weight_bounds }\n---\ndecision: { id: x }\n`,
  ],
  ["no UTF-8", Buffer.concat([Buffer.from("guardrails: # "), Buffer.of(0xff), Buffer.from("\n  - {}\n")])],
  ["indented keys", "  guardrails:\n    - { type: nope }\n  masks: [\n"],
  ["an indented key that is no YAML", "  guardrails:\n    - { type: nope\n"],
  ["a key that is indented less than a decision's", "decision:\n  id: x\n guardrails:\n  - {}\n"],
  ["a key after a decision", "decision:\n  id: x\n  cases: [\nguardrails:\n  - {}\n"],
  ["a key with a tag", "!!map guardrails:\n  - { type: nope\n"],
  ["a key after the marker of a document", "--- guardrails:\n  - { type: nope\n"],
  ["a key in a list that is no YAML", "- decision:\n    id: x\n  guardrails: [\n"],
  ["masks that are no YAML", "masks: [/password\n"],
  ["indented masks that are no YAML", "  masks: [/password\n"],
  ["nothing but comments", "# guardrails are below\n"],
  ["no content", ""],
  ["empty braces", "{}\n"],
  ["an empty list", "[]\n"],
  ["a list with an empty item", "- {}\n"],
  ["an empty document after another", "targets: [a]\n---\n{}\n"],
  ["null", "null\n"],
  ["a list of texts", "- guardrails\n"],
  ["text without a known key", "no: [key"],
  ["no known key, and no UTF-8", Buffer.of(0x64, 0xff, 0x0a)],
  ["NUL bytes", "guardrails:\n  - { type: no_disabled_targets }\0\n"],
];

/** Broken, but about something else. */
const innocent: readonly (readonly [name: string, file: string | Uint8Array])[] = [
  [
    "a decision with guardrails of its own",
    own(route.replace("switch", "nope").replace("route", "x"), "{ type: nope }"),
  ],
  ["a decision with guardrails of its own that is no YAML", own(route.replace("route", "x"), "{ type: nope")],
  ["JSON with guardrails of its own", '{"decision": {"id": "x", "guardrails": [{"type": "nope"}]}}'],
  ["a broken decision", "decision: { id: x }\n"],
  ["text of guardrails", "decision:\n  id: x\n  description: |\n    the\n    guardrails: none\n"],
  ["a remark on guardrails", "# guardrails: none\ndecision: { id: x }\n"],
  ["targets that are no list", "targets: 5\n"],
  ["no UTF-8", Buffer.concat([Buffer.from("decision: { id: x } # "), Buffer.of(0xff)])],
  ["a list", "- decision: { id: x }\n"],
  ["an indented decision that is no YAML", "  decision:\n    id: x\n    guardrails: [\n    masks: [\n"],
  ["endpoints that are no YAML", "endpoints:\n  masks: { url: [\n"],
  ["another key", "description: none\n"],
];

describe("a broken file", () => {
  it.each(hiding)(
    "keeps every decision from being made where it was meant for all: %s",
    async (_what, file) => {
      const library = libraryOf(route, calls, file);
      for (const id of ["route", "calls"]) {
        await expect(library.find(id)).rejects.toMatchObject({
          code: "definition_invalid",
          message: "`2.yaml`, which may contain guardrails or masks for every decision, is not valid",
        });
      }
      expect(() => library.sharedEnvironment()).toThrow("is not valid");
    },
  );

  it.each(hiding)("does not keep anybody from looking: %s", async (_what, file) => {
    const library = libraryOf(route, file);
    expect((await library.findForInspection("route")).definition.id).toBe("route");
    await expect(library.find("route")).rejects.toMatchObject({ code: "definition_invalid" });
    await expect(library.findForInspection("rout")).rejects.toMatchObject({ code: "definition_not_found" });
  });

  it.each(innocent)("affects no decision otherwise: %s", async (_what, file) => {
    const library = libraryOf(route, file);
    expect(library.diagnostics).not.toEqual([]);
    expect((await library.find("route")).definition.id).toBe("route");
    expect(library.sharedEnvironment()).toEqual({ targets: [] });
  });

  it("may hold anything where not all of it could be seen", async () => {
    const { summary, body } = readDefinitions("0.yaml", Buffer.from(route));
    const unseen = unreadableFile("1.yaml", "it is a broken link").summary;
    const library = buildLibrary([summary, unseen], () => Promise.resolve(body.definitions[0] as never));
    await expect(library.find("route")).rejects.toMatchObject({ code: "definition_invalid" });
    const begun = unreadableFile("1.yaml", "it is too large", "decision:\n  id: x\n").summary;
    const other = buildLibrary([summary, begun], () => Promise.resolve(body.definitions[0] as never));
    await expect(other.find("route")).rejects.toMatchObject({ code: "definition_invalid" });
  });

  it.each([
    { name: "in two bytes a character", content: Buffer.from("\ufeffguardrails: []\n", "utf16le") },
    { name: "behind a dash", content: Buffer.from("- guardrails: []\n") },
  ])("keeps everything from being decided where its guardrails are $name", async ({ content }) => {
    const { summary, body } = readDefinitions("0.yaml", Buffer.from(route));
    const broken = readDefinitions("1.yaml", content).summary;
    const library = buildLibrary([summary, broken], () => Promise.resolve(body.definitions[0] as never));
    await expect(library.find("route")).rejects.toMatchObject({ code: "definition_invalid" });
  });
});
