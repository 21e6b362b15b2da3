import { describe, expect, it } from "vitest";
import type { OverrideInUse, PolicyChange } from "../../src/definition/policy-change.js";
import { suggestPolicyChange } from "../../src/definition/policy-change.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { preparePolicy } from "../../src/evaluate/policy/policy.js";
import type { OverridePolicy, Policy, PolicyDefinition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";

const base = (name: string, more: object = {}): Policy => ({
  name,
  version: "1.2.3",
  conditions: [{ name: "small", expression: "params.n < 10" }],
  ...more,
});

const override = (name: string, more: Partial<OverridePolicy> = {}): OverridePolicy => ({
  name,
  overrides: ["p"],
  when: "params.vip",
  ...more,
});

const policyOf = (...policies: readonly Policy[]): PolicyDefinition => ({
  id: "d",
  type: "policy",
  tool: "t",
  policies,
});

const usedIn = (definition: PolicyDefinition, more: Partial<OverrideInUse> = {}): OverrideInUse => ({
  definition,
  foreign: [],
  others: [],
  text: JSON.stringify({ decision: definition }),
  override: "o",
  declaredIn: definition.id,
  countErrors: () => 0,
  ...more,
});

const suggest = (
  definition: PolicyDefinition,
  more?: Partial<OverrideInUse>,
): ReturnType<typeof suggestPolicyChange> => suggestPolicyChange("p", usedIn(definition, more));

async function changeOf(definition: PolicyDefinition, more?: Partial<OverrideInUse>): Promise<PolicyChange> {
  const change = await suggest(definition, more);
  if ("reason" in change) throw new Error(change.reason);
  return change;
}

function read(document: string): PolicyDefinition {
  const { summary, body } = readDefinitions("draft.yaml", Buffer.from(document));
  expect(summary.diagnostics).toEqual([]);
  return body.definitions[0] as PolicyDefinition;
}

describe("the change that makes an override unnecessary", () => {
  it("adds its condition to each condition of the policy, and removes it", async () => {
    const two = {
      conditions: [
        { name: "a", expression: "params.n < 10" },
        { name: "b", expression: "{{ params.m }}" },
      ],
    };
    const definition = {
      ...policyOf(base("p", two), override("o", { when: "${ params.vip }" })),
      version: "2.0.7",
    };
    const { document, ...change } = await changeOf(definition);
    const conditions = [
      { name: "a", expression: "(params.n < 10) or (params.vip)" },
      { name: "b", expression: "(params.m) or (params.vip)" },
    ];
    expect(change).toEqual({
      decision_id: "d",
      policies: [{ name: "p", version: "1.3.0", conditions }],
      still_overrides: [],
      notes: [],
    });
    expect(read(document)).toEqual({
      ...definition,
      version: "2.1.0",
      policies: [{ name: "p", version: "1.3.0", conditions }],
    });
  });

  it("is the document of the decision alone, with its comments", async () => {
    const text = `# targets
targets: [x]
---
# about t
decision:
  id: d
  type: policy
  tool: t
  policies:
    # the base
    - name: p
      version: 1.2.3 # the third
      conditions:
        - { name: small, expression: "params.n < 10" } # less than ten
    # the vips
    - name: o
      overrides: [p]
      when: params.vip
`;
    const definition = policyOf(base("p"), override("o"));
    expect((await changeOf(definition, { text })).document).toBe(`---
# about t
decision:
  id: d
  type: policy
  tool: t
  policies:
    # the base
    - name: p
      version: 1.3.0 # the third
      conditions:
        - { name: small, expression: "(params.n < 10) or (params.vip)" } # less than ten
`);
  });

  it.each<[string, string | undefined]>([
    ["is gone", undefined],
    ["was changed meanwhile", "decision: { id: d, type: policy, tool: u, policies: [] }"],
    ["is no longer YAML", "decision: ["],
    ["nests too deeply", "[".repeat(100)],
    [
      "has an alias of the override",
      `decision:
  { id: d, type: policy, tool: t, policies: [
    { name: o, overrides: &p [p], when: params.vip },
    { name: q, overrides: *p },
    { name: p, version: 1.2.3, conditions: [{ name: small, expression: params.n < 10 }] } ] }`,
    ],
  ])("is written without comments if the file %s", async (_, text) => {
    const definition = policyOf(override("o"), { name: "q", overrides: ["p"] }, base("p"));
    const { document } = await changeOf(definition, { text });
    expect(read(document).policies?.map(({ name }) => name)).toEqual(["q", "p"]);
    expect(read(document).policies?.[1]).toMatchObject({ version: "1.3.0" });
  });

  it("removes the conditions where the override always applied", async () => {
    const always = { name: "o", overrides: ["p"] };
    const { document, policies } = await changeOf(policyOf(base("p", { deny_reason: "no" }), always));
    expect(policies).toEqual([{ name: "p", version: "1.3.0", conditions: [] }]);
    expect(read(document).policies).toEqual([{ name: "p", version: "1.3.0", deny_reason: "no" }]);
  });

  it("changes all policies of the override that it can, and keeps the override for the others", async () => {
    const several = override("o", { overrides: ["q", "p", "elsewhere", "r"] });
    const definition = policyOf(several, base("p"), base("q"), base("r", { requires: ["login"] }));
    const change = await changeOf(definition);
    expect(change.policies.map(({ name }) => name)).toEqual(["q", "p"]);
    expect(change.still_overrides).toEqual(["elsewhere", "r"]);
    const [kept, p, q, r] = read(change.document).policies ?? [];
    expect(kept).toEqual({ ...several, overrides: ["elsewhere", "r"] });
    expect([p?.version, q?.version, r?.version]).toEqual(["1.3.0", "1.3.0", "1.2.3"]);
    expect(await suggestPolicyChange("q", usedIn(definition))).toEqual(change);
  });

  it.each([
    ["3f2a1c9", "3f2a1c9", 1],
    ["1.2.3-rc.1", "1.2.3-rc.1", 1],
    ["0.9.1", "0.10.0", 0],
    [undefined, null, 0],
  ])("increases a semantic version only: %s", async (before, after, notes) => {
    const unversioned: Policy = { name: "p", conditions: [{ name: "small", expression: "params.n < 10" }] };
    const policy = before === undefined ? unversioned : { ...unversioned, version: before };
    const change = await changeOf(policyOf(policy, override("o")));
    expect([change.policies[0]?.version, change.notes.length]).toEqual([after, notes]);
  });

  it("notes the warnings that calls lose, also those of overrides that came before", async () => {
    const warning = { action: "allow_with_warning" } as const;
    const before = override("before", { ...warning, priority: 1 });
    const definition = policyOf(base("p"), override("o", warning), override("after", warning), before);
    expect((await changeOf(definition)).notes).toEqual([
      "the calls no longer have the warning of `before`",
      "the calls no longer have the warning of `o`",
    ]);
  });
});

describe("there is no such change", () => {
  const foreign = { decision: "x", tools: ["t"], policies: ["p"] };
  const setter = override("setter", { action: "modify_params", params: { n: 1 } });
  const long = `params.s == '${"x".repeat(4070)}'`;

  it.each<[string, Partial<OverridePolicy>, Partial<OverrideInUse>, string]>([
    ["it changes params", { action: "modify_params" }, {}, "`o` changes the params of the call"],
    ["its uses are limited", { max_applications: 7 }, {}, "`o` may be applied 7 times only"],
    ["it expires", { expires_at: "2030-01-01" }, {}, "`o` has a time window"],
    ["it starts later", { effective_from: "2030-01-01" }, {}, "`o` has a time window"],
    [
      "it depends on the denial",
      { when: "get(denial, 'policy') == 'p'" },
      {},
      "`o` depends on the denial: its `when` reads `denial`",
    ],
    ["it is elsewhere", {}, { declaredIn: "x" }, "`o` is in another document, `x`"],
    ["it was removed", {}, { override: "gone" }, "`d` no longer has an override `gone`"],
    ["it is a base policy now", {}, { override: "p" }, "`d` no longer has an override `p`"],
    ["it names another policy", { overrides: ["q"] }, {}, "`o` no longer overrides `p`"],
    [
      "a condition could not be evaluated",
      {},
      { countErrors: (policy) => (policy === "p" ? 3 : 0) },
      "for 3 of the calls, a condition of `p` could not be evaluated; the changed policy would deny them",
    ],
    [
      "a foreign override changes params",
      {},
      { foreign: [{ ...foreign, override: setter }] },
      "`setter` changes params of the same calls, which are then checked again",
    ],
    [
      "another decision changes params",
      {},
      { others: [{ ...policyOf(base("p"), setter), id: "x" }] },
      "`setter` changes params of the same calls, which are then checked again",
    ],
    [
      "another override of the policy depends on the denial",
      {},
      { foreign: [{ ...foreign, override: override("reader", { when: "denial.version == '1.3.0'" }) }] },
      "`reader` depends on the denial, which would change",
    ],
    ["the condition gets too long", { when: long }, {}, "the changed definition would not be valid: "],
  ])("where %s", async (_, of, more, reason) => {
    const definition = policyOf(base("p"), base("q"), override("o", of));
    expect(await suggest(definition, more)).toEqual({ reason: expect.stringContaining(reason) as string });
  });

  it.each([
    ["requires", ["login"]],
    ["read_before_write", { read_tools: ["r"], write_tools: ["t"], path: "params.path" }],
    ["max_calls", { count: 1, per: "session" }],
    ["max_sum", { of: "params.n", most: 1, per: "session" }],
  ])("where the policy has `%s`", async (key, value) => {
    const reason = `\`p\` also denies by \`${key}\`, which is not a condition`;
    expect(await suggest(policyOf(base("p", { [key]: value }), override("o")))).toEqual({ reason });
  });

  it("where the policy is gone, although the override names it", async () => {
    expect(await suggest(policyOf(override("o")))).toEqual({ reason: "`d` no longer has a policy `p`" });
  });
});

describe("the changed definition", () => {
  /** True, false or errored, depending on the params. */
  const expressions = ["params.a", "not params.a", "params.b", "params.n > 1", "exists(params.n)", "'x'"];
  const values: readonly JsonObject[] = [true, false].flatMap((a) =>
    [true, false].flatMap((b) => [
      { a, b },
      { a, b, n: 2 },
      { a, b, n: "text" },
      { b, n: 0 },
    ]),
  );
  const outcomeOf = (
    definition: PolicyDefinition,
    params: JsonObject,
  ): { label: string; errors: boolean } => {
    const scope = { context: { tool: "t", params }, facts: {}, system: {}, input: undefined };
    const { selected_labels, errors } = preparePolicy(definition, undefined).evaluate(scope);
    return { label: selected_labels[0] ?? "", errors: errors.length > 0 };
  };

  it("allows nothing that was denied, and everything else unless a condition is errored", async () => {
    const seen = new Map<string, number>();
    for (const first of expressions) {
      for (const second of ["params.a", "exists(params.n)"]) {
        for (const when of ["params.b", "params.n > 1", "not params.a", undefined]) {
          const conditions = [first, second].map((expression, index) => ({ name: `c${index}`, expression }));
          const exception = { name: "o", overrides: ["p"], ...(when !== undefined && { when }) };
          // Another override of the policy still applies.
          const other = override("other", { when: "params.b and params.n == 0" });
          const definition = policyOf(base("p", { conditions }), other, exception);
          const changed = read((await changeOf(definition)).document);
          for (const params of values) {
            const [before, after] = [outcomeOf(definition, params), outcomeOf(changed, params)];
            const transition = `${before.label} to ${after.label}${before.errors ? " (errored)" : ""}`;
            seen.set(transition, (seen.get(transition) ?? 0) + 1);
          }
        }
      }
    }
    expect([...seen.keys()].sort()).toEqual([
      "allowed to allowed",
      "allowed_by_exception to allowed",
      "allowed_by_exception to allowed (errored)",
      "allowed_by_exception to allowed_by_exception",
      "allowed_by_exception to allowed_by_exception (errored)",
      "allowed_by_exception to denied (errored)",
      "denied to denied",
      "denied to denied (errored)",
    ]);
  });
});
