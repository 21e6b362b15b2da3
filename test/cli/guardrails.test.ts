import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Result } from "../../src/model/result.js";
import type { Ran, Workplace } from "./workspace.js";
import { workplace } from "./workspace.js";

type Files = Readonly<Record<string, string>>;

/** A place with these definitions alone. */
function placeWith(files: Files): Workplace {
  const place = workplace();
  rmSync(place.decisions, { recursive: true });
  mkdirSync(place.decisions);
  write(place, files);
  return place;
}

function write(place: Workplace, files: Files): void {
  for (const [name, text] of Object.entries(files)) writeFileSync(join(place.decisions, name), text);
}

const route = `decision:
  id: route
  type: switch
  input: "{{ to }}"
  cache: { enabled: true, ttl: 1h }
  cases:
    - { condition: "input == 'live'", target: live, label: Live }
    - { condition: "input == 'test'", target: test, label: Test }
  default: { target: test }
`;
const vote = `decision:
  id: vote
  type: scored
  evaluators: [{ name: house, static: { decision: approve, weight: 0.9 } }]
  targets: { approve: live }
`;
const gate = `decision:
  id: gate
  type: gate
  action: { org: acme, domain: ops, name: live }
  rules: [{ id: fine, tier: T3, severity: 1, when: "true", status: GREEN }]
`;
const calls = `decision:
  id: calls
  type: policy
  tool: live
  policies: []
`;
const all = { "route.yaml": route, "vote.yaml": vote, "gate.yaml": gate, "calls.yaml": calls };

const forAll = (...guardrails: readonly string[]): Files => ({
  "guardrails.yaml": `guardrails:\n${guardrails.map((each) => `  - ${each}\n`).join("")}`,
});
const off = (more = ""): Files => forAll(`{ type: no_disabled_targets, disabled_stages: [live]${more} }`);
const blocks = off();
const escalates = off(", on_fail: escalate, escalate_to: desk");
const warns = off(", on_fail: warn");

const asked = {
  evaluate: ["evaluate", "route", "--input", '{"to":"live"}'],
  "dry-run": ["dry-run", "route", "--input", '{"to":"live"}'],
  vote: ["evaluate", "vote", "--input", "{}"],
  gate: ["gate", "acme/ops/live", "--input", "{}"],
  check: ["check", "live", "--params", "{}", "--session-id", "s"],
  "check --dry-run": ["check", "live", "--params", "{}", "--session-id", "s", "--dry-run"],
} as const;

const resultOf = ({ out }: Ran): Result => JSON.parse(out) as Result;

describe("the exit code of a guarded answer", () => {
  it.each<[keyof typeof asked, number, number, number]>([
    ["evaluate", 4, 0, 0],
    ["dry-run", 4, 0, 0],
    ["vote", 4, 0, 0],
    ["gate", 4, 5, 0],
    ["check", 4, 4, 0],
    ["check --dry-run", 4, 4, 0],
  ])("of %s is %i blocked, %i escalated, %i with a warning", async (name, blocked, escalated, warned) => {
    const codes: number[] = [];
    for (const guardrails of [blocks, escalates, warns]) {
      codes.push((await placeWith({ ...all, ...guardrails }).run(asked[name])).code);
    }
    expect(codes).toEqual([blocked, escalated, warned]);
  });

  it("is 4 where a target is declared as disabled, without any guardrail", async () => {
    const targets = "targets: [{ id: live, disabled: true }, test]\n";
    const place = placeWith({ "route.yaml": route, "targets.yaml": targets });
    expect((await place.run(asked.evaluate)).code).toBe(4);
    expect((await place.run(["evaluate", "route", "--input", '{"to":"test"}'])).code).toBe(0);
  });

  it("is 0 for many, which are answered one a line", async () => {
    const stdin = '{"to":"live"}\n{"to":"test"}\n';
    const { code, out } = await placeWith({ ...all, ...blocks }).run(["evaluate", "route", "--inputs", "-"], {
      stdin,
    });
    const answers = out.trimEnd().split("\n");
    expect([code, answers.map((line) => (JSON.parse(line) as Result).blocked)]).toEqual([0, [true, false]]);
    expect(answers.map((line) => (JSON.parse(line) as Result).proposed_targets)).toEqual([
      ["live"],
      undefined,
    ]);
  });
});

describe("what scripts see of a guarded answer", () => {
  it.each([
    ["blocked", blocks, "\n"],
    ["escalated", escalates, "desk\n"],
    ["with a warning", warns, "live\n"],
  ])("is the target to go to, or an empty line: %s", async (_how, guardrails, out) => {
    const place = placeWith({ ...all, ...guardrails });
    expect((await place.run([...asked.evaluate, "--format", "target"])).out).toBe(out);
  });

  it("is an empty line for each that is blocked", async () => {
    const stdin = '{"to":"live"}\n{"to":"test"}\n';
    const words = ["evaluate", "route", "--inputs", "-", "--format", "target"];
    expect((await placeWith({ ...all, ...blocks }).run(words, { stdin })).out).toBe("\ntest\n");
  });

  it("is the status of a gate, and the reason of a denial", async () => {
    const place = placeWith({ ...all, ...blocks });
    expect((await place.run([...asked.gate, "--format", "target"])).out).toBe("RED\n");
    expect((await place.run([...asked.check, "--format", "reason"])).out).toBe("Target 'live' is disabled\n");
  });

  it("is a warning on the side, where it is one", async () => {
    const { out, err } = await placeWith({ ...all, ...warns }).run(asked.evaluate);
    expect(err).toContain("warning: Target 'live' is disabled");
    expect(resultOf({ code: 0, out, err })).toMatchObject({
      selected_targets: ["live"],
      warnings: ["Target 'live' is disabled"],
    });
  });
});

describe("what people see of a guarded answer", () => {
  const shown = async (
    guardrails: Files,
    name: keyof typeof asked,
    ...more: readonly string[]
  ): Promise<string> =>
    (await placeWith({ ...all, ...guardrails }).run([...asked[name], ...more], { terminal: true })).out;

  it("is first that it was blocked, and by what", async () => {
    const out = await shown(blocks, "evaluate");
    expect(out.split("\n")[0]).toBe("blocked  Target 'live' is disabled");
    expect(out).toContain("  guardrail no_disabled_targets blocks: Target 'live' is disabled");
    expect(out).toContain("  proposed  live (Live)");
  });

  it("is first where it was escalated to, and why", async () => {
    const out = await shown(escalates, "evaluate");
    expect(out.split("\n")[0]).toBe("desk  escalated: Target 'live' is disabled");
    expect(out).toContain("  guardrail no_disabled_targets escalates: Target 'live' is disabled");
  });

  it("is the status of a gate, and what it would have been", async () => {
    const out = await shown(blocks, "gate");
    expect(out.split("\n")[0]).toBe("RED  Target 'live' is disabled");
    expect(out).toContain("  proposed  GREEN");
    expect(out).toContain("  mode      stop");
  });

  it("is the denial of a call, and what it would have been", async () => {
    const out = await shown(blocks, "check");
    expect(out.split("\n")[0]).toBe("denied  Target 'live' is disabled");
    expect(out).toContain("  proposed  allowed");
  });

  it("is every check, the passed ones too, with --explain", async () => {
    const guardrails = forAll(
      "{ type: no_disabled_targets }",
      "{ type: requires_approval, targets: [live], on_fail: warn }",
    );
    const out = await shown(guardrails, "evaluate", "--explain");
    expect(out).toMatch(/no_disabled_targets\s.*✓ passed\s.*Target 'live' is allowed/);
    expect(out).toMatch(/requires_approval\s.*✗ warn\s.*Target 'live' requires approval/);
    const call = await shown(guardrails, "check", "--explain");
    expect(call).toMatch(/no_disabled_targets\s.*✓ passed\s.*Target 'live' is allowed/);
  });
});

describe("many answers with warnings", () => {
  it("are warned of once", async () => {
    const stdin = '{"to":"live"}\n{"to":"live"}\n{"to":"test"}\n';
    const words = ["evaluate", "route", "--inputs", "-", "--format", "target"];
    const { out, err } = await placeWith({ ...all, ...warns }).run(words, { stdin });
    expect(out).toBe("live\nlive\ntest\n");
    expect(err).toBe("warning: 2 of 3 lines have warnings; first: line 1: Target 'live' is disabled\n");
  });
});

describe("what is remembered of a guarded answer", () => {
  it("is in the log and in what explains it", async () => {
    const place = placeWith({ ...all, ...blocks });
    await place.run(asked.evaluate);
    const [record] = JSON.parse((await place.run(["log", "--json"])).out) as readonly DecisionRecord[];
    expect(record).toMatchObject({
      blocked: true,
      proposed_targets: ["live"],
      guardrails: [{ check_name: "no_disabled_targets", passed: false, on_fail: "block" }],
    });
    const explained = await place.run(["explain", "latest", "--verbose"], { terminal: true });
    expect(explained.out.split("\n")[0]).toBe("blocked  Target 'live' is disabled");
    expect(explained.out).toContain("no_disabled_targets blocks: Target 'live' is disabled");
    expect(explained.out).toContain("no_disabled_targets: failed, Target 'live' is disabled");
    expect(explained.out).toContain("proposed      live (Live)");
    expect((await place.run(["verify"])).code).toBe(0);
  });

  it("is nothing of a dry run", async () => {
    const place = placeWith({ ...all, ...blocks });
    await place.run(asked["dry-run"]);
    expect((await place.run(["log", "--json"])).out).toBe("[]\n");
  });

  it("is not what keeps an answer from being blocked: one from the cache is guarded again", async () => {
    const place = placeWith(all);
    expect((await place.run(asked.evaluate)).code).toBe(0);
    write(place, blocks);
    const again = await place.run(asked.evaluate);
    expect([again.code, resultOf(again)]).toMatchObject([4, { cached: true, blocked: true }]);
  });
});

/** None of them can be used. */
const broken: Files = {
  YAML: "guardrails:\n  - { type: nope }\n",
  "no YAML": "guardrails:\n  - { type: nope\n",
  JSON: '{"guardrails": [{"type": "nope"}]}',
  "flow style": "{ guardrails: [ { type: nope } }",
  "a misspelt key": "guardrail:\n  - { type: no_disabled_targets }\n",
};

describe("guardrails for every decision that are broken", () => {
  it.each(Object.entries(broken))("keep every decision from being made: %s", async (_what, text) => {
    const place = placeWith({ ...all, "broken.yaml": text });
    for (const words of Object.values(asked)) {
      const ran = await place.run(words);
      expect([ran.code, ran.out], words.join(" ")).toEqual([3, ""]);
      expect(ran.err).toContain("broken.yaml");
    }
    expect((await place.run(["evaluate", "route", "--inputs", "-"], { stdin: "{}\n" })).code).toBe(3);
    expect((await place.run(["log", "--json"])).out).toBe("[]\n");
  });

  it.each(Object.entries(broken))(
    "keep calls from being allowed where no policy is: %s",
    async (_what, text) => {
      const ran = await placeWith({ "route.yaml": route, "broken.yaml": text }).run(asked.check);
      expect([ran.code, ran.out]).toEqual([3, ""]);
    },
  );

  it("say so in JSON, with the place", async () => {
    const place = placeWith({ ...all, "broken.yaml": broken["YAML"] ?? "" });
    const { err } = await place.run([...asked.evaluate, "--json"]);
    expect(JSON.parse(err)).toMatchObject({
      error: {
        code: "definition_invalid",
        message: expect.stringContaining(
          "which may contain guardrails or masks for every decision, is not valid",
        ) as string,
        details: { problems: [{ line: 2, column: 13 }] },
      },
    });
  });

  it("do not keep anybody from looking", async () => {
    const place = placeWith({ ...all, "broken.yaml": broken["YAML"] ?? "" });
    for (const words of [["list"], ["show", "route"], ["log"], ["distribution", "route"], ["overrides"]]) {
      const ran = await place.run(words);
      expect([words[0], ran.code]).toEqual([words[0], 0]);
    }
    expect((await place.run(["list"])).err).toContain("broken.yaml:2:13 is invalid");
  });

  it("let decisions be made once they are mended", async () => {
    const place = placeWith({ ...all, "broken.yaml": broken["YAML"] ?? "" });
    write(place, { "broken.yaml": "guardrails:\n  - { type: no_disabled_targets }\n" });
    expect((await place.run(asked.evaluate)).code).toBe(0);
  });

  it("are not seen in a broken decision", async () => {
    const other = route.replace("id: route", "id: other").replace("switch", "swich");
    const place = placeWith({
      "route.yaml": route,
      "other.yaml": `${other}  guardrails: [{ type: nope }]\n`,
    });
    expect((await place.run(asked.evaluate)).code).toBe(0);
    expect((await place.run(["evaluate", "other", "--input", "{}"])).code).toBe(3);
  });
});

describe("validate", () => {
  const split = (guardrails: string): string =>
    `decision:\n  id: split\n  type: weighted\n  input: id\n  guardrails:\n${guardrails}  cases: [{ target: a, label: A, weight: 97 }, { target: b, label: B, weight: 3 }]\n  default: { target: a }\n`;

  const checked = async (
    files: Files,
  ): Promise<{ guardrails_checked: number; problems: readonly object[] }> => {
    const { code, out } = await placeWith(files).run(["validate", "--json"]);
    expect(code).toBe(0);
    return JSON.parse(out) as { guardrails_checked: number; problems: readonly object[] };
  };

  it("runs the guardrails that need no input, and counts them", async () => {
    const files = {
      "split.yaml": split(
        "    - { type: weight_bounds, min_weight: 1 }\n    - { type: requires_approval }\n",
      ),
      ...forAll("{ type: no_disabled_targets, disabled_stages: [x] }"),
    };
    expect(await checked(files)).toMatchObject({ guardrails_checked: 2, problems: [] });
    const { out } = await placeWith(files).run(["validate"], { terminal: true });
    expect(out.split("\n")[0]).toBe("✓ valid  1 decision, 2 guardrails checked without input");
  });

  it("says nothing of guardrails where there are none", async () => {
    const { out } = await placeWith({ "calls.yaml": calls }).run(["validate"], { terminal: true });
    expect(out.split("\n")[0]).not.toContain("guardrail");
    expect(await checked({ "calls.yaml": calls })).toMatchObject({ guardrails_checked: 0 });
  });

  it.each([
    ["block", "so every decision is blocked"],
    ["escalate", "so every decision is escalated"],
    ["warn", "so every decision has a warning"],
  ])("warns of one that fails whatever the input, at its place: %s", async (onFail, consequence) => {
    const to = onFail === "escalate" ? ", escalate_to: a" : "";
    const guardrails = `    - { type: requires_approval, on_fail: warn }\n    - { type: weight_bounds, min_weight: 5, on_fail: ${onFail}${to} }\n`;
    expect((await checked({ "split.yaml": split(guardrails) })).problems).toEqual([
      {
        file: expect.stringContaining("split.yaml") as string,
        line: 7,
        column: 7,
        severity: "warning",
        message: `guardrail \`weight_bounds\` fails: Weight 3 for 'B' below minimum 5, ${consequence}`,
        decision_id: "split",
      },
    ]);
  });

  it.each([
    ["block", "so decisions that select it are blocked"],
    ["escalate", "so decisions that select it are escalated"],
    ["warn", "so decisions that select it have a warning"],
  ])(
    "warns of branches that lead to what is disabled, where the decision is: %s",
    async (onFail, consequence) => {
      const to = onFail === "escalate" ? ", escalate_to: desk" : "";
      const { problems } = await checked({ "route.yaml": route, ...off(`, on_fail: ${onFail}${to}`) });
      expect(problems).toMatchObject([
        {
          line: 1,
          column: 1,
          severity: "warning",
          message: `guardrail \`no_disabled_targets\` fails: Target 'live' is disabled, ${consequence}`,
          decision_id: "route",
        },
      ]);
    },
  );

  it("warns of what is declared as disabled, without any guardrail", async () => {
    const targets = "targets: [{ id: live, disabled: true }, test]\n";
    const { problems, guardrails_checked } = await checked({ "route.yaml": route, "targets.yaml": targets });
    expect([problems.length, guardrails_checked]).toEqual([1, 1]);
  });

  it("warns of a drift that nobody could see, which blocks whatever it was to do", async () => {
    const unseen = split("    - { type: weight_bounds }\n").replace(
      "  input: id\n",
      "  input: id\n  logging: { log_decision: false }\n",
    );
    const files = { "split.yaml": unseen, ...forAll("{ type: distribution_drift, on_fail: warn }") };
    expect((await checked(files)).problems).toMatchObject([
      {
        message:
          "guardrail `distribution_drift` fails: Distribution cannot be checked: no decision is recorded, so every decision is blocked",
      },
    ]);
    const { out } = await placeWith(files).run(["evaluate", "split", "--input", '{"id":"1"}']);
    expect(JSON.parse(out)).toMatchObject({ blocked: true });
  });

  it("exits 3 on a guardrail that cannot be used, and says where", async () => {
    const place = placeWith({ ...all, ...forAll("{ type: weight_bound }") });
    const { code, out } = await place.run(["validate", "--format", "plain"]);
    expect(code).toBe(3);
    expect(out).toMatch(
      /guardrails\.yaml:2:13\terror\t`type` must be one of .*did you mean `weight_bounds`\?/,
    );
  });
});

describe("show", () => {
  const own = `${route}  guardrails:
    - { type: no_disabled_targets, disabled_stages: [old-*] }
    - { type: weight_bounds, min_weight: 5 }
    - { type: weight_bounds, min_weight: 5, max_weight: 90, on_fail: warn }
    - { type: requires_approval, workflows: [prod-*], targets: [live], approval_target: desk, on_fail: escalate }
    - { type: requires_approval, on_fail: warn }
    - { type: distribution_drift, minimum: 50 }
`;

  it("lists the guardrails of a decision, then those for every decision", async () => {
    const place = placeWith({ "route.yaml": own, ...forAll("{ type: no_disabled_targets }") });
    const { out } = await place.run(["show", "route"], { terminal: true });
    const joined = out.replaceAll(/\n {4,}/g, " ");
    const lines = joined.split("\n").filter((line) => line.startsWith("  guardrail"));
    expect(lines.map((line) => line.slice(14))).toEqual([
      "no_disabled_targets: no route to old-*, disabled targets, else block",
      "weight_bounds: weights of at least 5, else block",
      "weight_bounds: weights from 5 to 90, else warn",
      "requires_approval: live in prod-* needs approval via desk, else escalate to desk",
      "requires_approval: every target needs approval, else warn",
      "distribution_drift: e-value below 1 / 0.001 once there are 50 distinct inputs, else block",
      "no_disabled_targets: no route to disabled targets, else block (for every decision)",
    ]);
  });

  it("has those of a decision in its JSON", async () => {
    const { out } = await placeWith({ "route.yaml": own }).run(["show", "route", "--json"]);
    expect(JSON.parse(out)).toMatchObject({
      guardrails: expect.arrayContaining([{ type: "weight_bounds", min_weight: 5 }]) as unknown,
    });
  });
});

describe("the schema", () => {
  it("knows guardrails of a decision and of all, with every type of them", async () => {
    const { out } = await placeWith(all).run(["schema"]);
    const schema = JSON.parse(out) as {
      properties: Record<string, unknown>;
      definitions: {
        guardrails: { items: { oneOf: readonly { properties: { type: { const: string } } }[] } };
      };
    };
    expect(schema.properties["guardrails"]).toEqual({ $ref: "#/definitions/guardrails" });
    expect(schema.definitions.guardrails.items.oneOf.map((each) => each.properties.type.const)).toEqual([
      "no_disabled_targets",
      "weight_bounds",
      "requires_approval",
      "distribution_drift",
    ]);
    expect(out.split("#/definitions/guardrails").length).toBeGreaterThan(7);
  });
});
