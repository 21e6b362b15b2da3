import { describe, expect, it } from "vitest";
import { checkGate } from "../../../src/definition/checks/check-gate.js";
import type { GateDefinition, GateRule } from "../../../src/model/definition.js";

const rule = (id: string, extra: Partial<GateRule> = {}): GateRule => ({
  id,
  tier: "T2",
  severity: 1,
  when: "true",
  status: "YELLOW",
  ...extra,
});

const suppressing = (id: string, ...suppresses: readonly string[]): GateRule => rule(id, { suppresses });

/** Each as one line: where, what, and the hint. */
function faultsOf(extra: Partial<GateDefinition>): readonly string[] {
  const action = { org: "acme", domain: "payments", name: "wire" };
  const faults = checkGate({ id: "g", type: "gate", action, rules: [rule("a")], ...extra });
  return faults.map(({ path, key, message, hint }) => {
    const place = key === undefined ? path.join(".") : `${path.join(".")}(${key})`;
    return `${place}: ${message}${hint === undefined ? "" : ` | ${hint}`}`;
  });
}

const inOrder = "values are computed in the order of the file: move the other one up";
const spelling = "use letters, digits and `_`, no digit first, and no keyword of expressions";

describe("a valid gate", () => {
  it("is left alone", () => {
    const rules = [
      rule("a", { tier: "T1", status: "RED", work_frame: { mode: "stop" }, suppresses: ["b", "c"] }),
      rule("b", { suppresses: ["c"], work_frame: { mode: "review", next_action: "wait" } }),
      rule("c", { status: "GREEN", work_frame: { mode: "execute" } }),
      rule("d", { status: "GREEN-SKIP", work_frame: { mode: "skip" } }),
    ];
    const context_schema = { required: ["amount"], properties: { amount: { type: "number" } } };
    const computed = { large: "amount > 10", huge: "large and amount > 100" };
    expect(faultsOf({ rules, context_schema, computed, input: "amount" })).toEqual([]);
  });
});

describe("the rules of a gate", () => {
  it.each<[string, readonly GateRule[], readonly string[]]>([
    ["an id that is used twice", [rule("a"), rule("a")], ["rules.1.id: the id `a` is used twice"]],
    ["an id that no object can have", [rule("__proto__")], ["rules.0.id: `__proto__` cannot be a name"]],
    [
      "a T1 rule that lets the agent go on",
      [rule("a", { tier: "T1", status: "GREEN" }), rule("b", { tier: "T1", status: "GREEN-SKIP" })],
      [
        "rules.0.status: the status of a T1 rule must be `YELLOW` or `RED` (got `GREEN`)",
        "rules.1.status: the status of a T1 rule must be `YELLOW` or `RED` (got `GREEN-SKIP`)",
      ],
    ],
    [
      "a mode that belongs to another status",
      [rule("a", { status: "RED", work_frame: { mode: "execute" } })],
      ["rules.0.work_frame.mode: the mode of a `RED` rule is `stop` (got `execute`) | remove it"],
    ],
    [
      "suppressing what is not there",
      [rule("routine"), suppressing("b", "routin", "zzz")],
      [
        "rules.1.suppresses.0: no rule has the id `routin` | did you mean `routine`?",
        "rules.1.suppresses.1: no rule has the id `zzz`",
      ],
    ],
    ["suppressing itself", [suppressing("a", "a")], ["rules.0.suppresses.0: `a` cannot suppress itself"]],
    [
      "suppressing a T1 rule",
      [rule("a", { tier: "T1" }), suppressing("b", "a")],
      ["rules.1.suppresses.0: a T1 rule cannot be suppressed: `a`"],
    ],
    [
      "two that suppress each other",
      [suppressing("a", "b"), suppressing("b", "a")],
      ["rules.1.suppresses.0: rules suppress each other in a cycle: `a` → `b` → `a`"],
    ],
    [
      "a circle that is entered from outside, and another",
      [
        suppressing("out", "a"),
        suppressing("a", "b"),
        suppressing("b", "other", "c"),
        suppressing("c", "a"),
        rule("other"),
        suppressing("x", "y"),
        suppressing("y", "x"),
      ],
      [
        "rules.3.suppresses.0: rules suppress each other in a cycle: `a` → `b` → `c` → `a`",
        "rules.6.suppresses.0: rules suppress each other in a cycle: `x` → `y` → `x`",
      ],
    ],
    [
      "two ways to one rule, which are no circle",
      [suppressing("a", "b", "c"), suppressing("b", "d"), suppressing("c", "d"), rule("d")],
      [],
    ],
  ])("are checked for %s", (_what, rules, faults) => {
    expect(faultsOf({ rules })).toEqual(faults);
  });
});

describe("the computed values of a gate", () => {
  it.each<[string, Partial<GateDefinition>, readonly string[]]>([
    [
      "reserved names",
      { computed: { input: "1", facts: "1", system: "1", context: "1" } },
      ["input", "facts", "system", "context"].map(
        (name) =>
          `computed(${name}): \`${name}\` is a reserved name and cannot be the name of a computed value`,
      ),
    ],
    [
      "names that no expression can read",
      {
        computed: { "is-large": "1", "9a": "1", "": "1", "a.b": "1", and: "1", true: "1", constructor: "1" },
      },
      ["is-large", "9a", "", "a.b", "and", "true", "constructor"].map(
        (name) => `computed(${name}): \`${name}\` cannot be the name of a computed value | ${spelling}`,
      ),
    ],
    [
      "names that the caller has",
      { computed: { amount: "1" }, context_schema: { properties: { amount: {} } } },
      [
        "computed(amount): `amount` cannot be computed, because the caller supplies it | it is declared in `context_schema`: rename one of the two",
      ],
    ],
    [
      "names that only the prototype of the properties has",
      { computed: { toString: "1" }, context_schema: { properties: {} } },
      [],
    ],
    ["reading itself", { computed: { a: "a.b + 1" } }, ["computed.a: `a` reads itself"]],
    [
      "reading what stands below",
      { computed: { a: "b and c", b: "c.d", c: "x" } },
      [
        `computed.a: \`a\` reads \`b\`, which is computed after it | ${inOrder}`,
        `computed.a: \`a\` reads \`c\`, which is computed after it | ${inOrder}`,
        `computed.b: \`b\` reads \`c\`, which is computed after it | ${inOrder}`,
      ],
    ],
    ["expressions that do not compile, which are told elsewhere", { computed: { a: "b ==", b: "1" } }, []],
    [
      "an input that reads them",
      { computed: { a: "1" }, input: "{{ a }}" },
      ["input: `input` reads `a`, which is computed after it"],
    ],
  ])("are checked for %s", (_what, extra, faults) => {
    expect(faultsOf(extra)).toEqual(faults);
  });
});

describe("the context schema of a gate", () => {
  const hint = "read `system.request_time` and the like without declaring them";
  const refused = "the caller must not supply `system`, so the schema cannot declare it";

  it.each<[string, unknown, readonly string[]]>([
    ["its own faults", { typ: 1 }, ["context_schema: unknown keyword `typ`, did you mean `type`?"]],
    ["being no object", [], ["context_schema: the schema must be an object (got a list)"]],
    [
      "declaring `system`",
      { properties: { system: {} } },
      [`context_schema.properties(system): ${refused} | ${hint}`],
    ],
    ["requiring `system`", { required: ["system"] }, [`context_schema.required: ${refused} | ${hint}`]],
  ])("is checked for %s", (_what, context_schema, faults) => {
    expect(faultsOf({ context_schema } as Partial<GateDefinition>)).toEqual(faults);
  });
});
