import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkPolicies } from "../../src/definition/checks/check-policies.js";
import { matchesGlob } from "../../src/definition/tool-match.js";
import type { DetailedPolicyOutcome } from "../../src/evaluate/policy/policy-outcome.js";
import { preparePolicy } from "../../src/evaluate/policy/policy.js";
import { normalizePath } from "../../src/expression/file-path.js";
import { parseInstant } from "../../src/expression/instant.js";
import { compileCondition } from "../../src/expression/template.js";
import type { BasePolicy, OverridePolicy, Policy, PolicyDefinition } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Scope } from "../../src/model/scope.js";
import { jsonValues } from "../digest/json-values.js";
import { runsFor } from "../thoroughness.js";
import { conditions, contexts } from "./arbitraries.js";
import { noon } from "./worlds.js";

const system = { request_time: noon, request_id: "request-1" };

const dates = fc.constantFrom(undefined, "2020-01-01", "2026-03-02T12:00:00Z", "2030-01-01");

/** Either bound may be missing; they are in the right order. */
const windows = fc
  .tuple(dates, dates)
  .filter(([from, until]) => from === undefined || until === undefined || from < until)
  .map(([effective_from, expires_at]) => ({
    ...(effective_from !== undefined && { effective_from }),
    ...(expires_at !== undefined && { expires_at }),
  }));

const bases: fc.Arbitrary<Omit<BasePolicy, "name">> = fc
  .record({
    expressions: fc.array(conditions, { maxLength: 3 }),
    priority: fc.integer({ min: -2, max: 2 }),
    window: windows,
    reason: fc.constantFrom(undefined, "n is {{ n }}"),
    requires: fc.constantFrom(undefined, ["login"]),
    max_calls: fc.constantFrom(undefined, { count: 2, per: "session" }),
  })
  .map(({ expressions, priority, window, reason, requires, max_calls }) => ({
    priority,
    ...window,
    ...(expressions.length > 0 && {
      conditions: expressions.map((expression, index) => ({ name: `c${index}`, expression })),
    }),
    ...(reason !== undefined && { reason, deny_reason: reason }),
    ...(requires !== undefined && { requires }),
    ...(max_calls !== undefined && { max_calls }),
  }));

interface DrawnOverride {
  /** Which of the policies it names, as bits. */
  readonly names: number;
  readonly when: string | undefined;
  readonly priority: number;
  readonly window: object;
  readonly most: number | undefined;
  readonly params: JsonObject | undefined;
}

const drawnOverrides = fc.record<DrawnOverride>({
  names: fc.nat(15),
  when: fc.option(conditions, { nil: undefined }),
  priority: fc.integer({ min: -2, max: 2 }),
  window: windows,
  most: fc.constantFrom(undefined, 1, 3),
  params: fc.constantFrom<JsonObject | undefined>(
    undefined,
    { x: 1 },
    { x: 2, y: "{{ n }}" },
    { z: [{ a: "{{ t }}" }] },
  ),
});

const policies: fc.Arbitrary<readonly Policy[]> = fc
  .tuple(fc.array(bases, { minLength: 1, maxLength: 4 }), fc.array(drawnOverrides, { maxLength: 4 }))
  .map(([drawn, overrides]) => {
    const named = drawn.map((each, index) => ({ ...each, name: `p${index}` }));
    return [...named, ...overrides.map((each, index) => overrideFrom(each, index, named))];
  });

function overrideFrom(drawn: DrawnOverride, index: number, all: readonly BasePolicy[]): OverridePolicy {
  const { names, when, priority, window, most, params } = drawn;
  const named = all.filter((_, at) => ((names >> at) & 1) === 1).map(({ name }) => name);
  return {
    name: `o${index}`,
    overrides: named.length > 0 ? named : ["p0"],
    priority,
    ...window,
    ...(when !== undefined && { when }),
    ...(most !== undefined && { max_applications: most }),
    ...(params !== undefined && { action: "modify_params" as const, params }),
  };
}

const facts: fc.Arbitrary<JsonObject> = fc.record(
  {
    succeeded: fc.record({ login: fc.nat(1) }),
    calls: fc.record(Object.fromEntries([0, 1, 2, 3].map((at) => [`p${at}`, fc.nat(3)]))),
    uses: fc.record(Object.fromEntries([0, 1, 2, 3].map((at) => [`o${at}`, fc.nat(3)]))),
    set_params: fc.constantFrom<JsonObject>({}, { x: 1 }, { y: "elsewhere" }),
  },
  { requiredKeys: [] },
);

const calls: fc.Arbitrary<JsonObject> = fc
  .tuple(contexts, fc.oneof(fc.record({ x: fc.nat(2) }), jsonValues))
  .map(([context, params]) => ({ ...context, tool: "t", params }));

const definitionOf = (listed: readonly Policy[]): PolicyDefinition => ({
  id: "d",
  type: "policy",
  tool: "*",
  policies: listed,
});

function ask(listed: readonly Policy[], context: JsonObject, known: JsonObject = {}): DetailedPolicyOutcome {
  const scope = { context, input: undefined, facts: known, system };
  const { outcome } = preparePolicy(definitionOf(listed), undefined).evaluate(scope);
  if (outcome?.type !== "policy") throw new Error("the answer is not that of policies");
  return outcome;
}

const at = parseInstant(noon) ?? 0;

/** Straight from the sentence: from its first moment on, and before it expires. */
const isEffective = ({ effective_from: from, expires_at: until }: Policy): boolean =>
  (from === undefined || (parseInstant(from) ?? 0) <= at) &&
  (until === undefined || at < (parseInstant(until) ?? 0));

const isTrue = (expression: string, scope: Scope): boolean =>
  compileCondition(expression).evaluate(scope) === true;

/** Straight from the sentence: every condition is true, and what it asks of the session is known to hold. */
function holds(
  { name, conditions: asked = [], requires, max_calls: most }: BasePolicy,
  scope: Scope,
): boolean {
  const known = scope.facts as { succeeded?: Record<string, number>; calls?: Record<string, number> };
  return (
    asked.every(({ expression }) => isTrue(expression, scope)) &&
    (requires ?? []).every((tool) => (known.succeeded?.[tool] ?? 0) > 0) &&
    (most === undefined || (known.calls?.[name] ?? Infinity) < most.count)
  );
}

const basesIn = (listed: readonly Policy[]): readonly BasePolicy[] =>
  listed.flatMap((each) => (each.overrides === undefined ? [each] : []));

const failing = fc.constantFrom(
  "nowhere.at.all > 1",
  "nowhere",
  "'a' < 1",
  "1",
  "'true'",
  "nowhere or true",
  "[true]",
);

describe("policies", () => {
  it("are drawn without faults", () => {
    fc.assert(
      fc.property(policies, (listed) => {
        expect(checkPolicies(definitionOf(listed))).toEqual([]);
      }),
      { numRuns: runsFor(100) },
    );
  });

  it("never throw, whatever the context is, and always come to one of three outcomes", () => {
    const anything = jsonValues
      .filter(
        (value): value is JsonObject => typeof value === "object" && value !== null && !Array.isArray(value),
      )
      // Refused where a policy reads the whole context.
      .filter((context) => !Object.hasOwn(context, "context"));
    fc.assert(
      fc.property(policies, fc.oneof(calls, anything), facts, (listed, context, known) => {
        const { outcome, allowed, reason } = ask(listed, context, known);
        expect(["allowed", "denied", "allowed_by_exception"]).toContain(outcome);
        expect(allowed).toBe(outcome !== "denied");
        expect(reason).not.toBe("");
      }),
    );
  });

  it("allow without an exception exactly where every effective one holds", () => {
    fc.assert(
      fc.property(policies, calls, facts, (listed, context, known) => {
        const scope = { context, input: context, facts: known, system };
        const all = basesIn(listed)
          .filter(isEffective)
          .every((each) => holds(each, scope));
        expect(ask(listed, context, known).outcome === "allowed").toBe(all);
      }),
    );
  });

  it("allow by exception only where each denial is flipped by a live override that names it", () => {
    fc.assert(
      fc.property(policies, calls, facts, (listed, context, known) => {
        const { outcome, policies: asked } = ask(listed, context, known);
        if (outcome !== "allowed_by_exception") return;
        const scope = { context, input: context, facts: known, system };
        for (const { name, base_decision, override } of asked) {
          if (base_decision === "allow") continue;
          const by = listed.find((each) => each.name === override);
          expect(by?.overrides).toContain(name);
          expect(by !== undefined && isEffective(by)).toBe(true);
          if (by?.overrides !== undefined && by.when !== undefined) expect(isTrue(by.when, scope)).toBe(true);
        }
      }),
    );
  });

  it("never allow by a condition that cannot be evaluated", () => {
    fc.assert(
      fc.property(policies, failing, calls, facts, (listed, expression, context, known) => {
        const bad: Policy = { name: "bad", conditions: [{ name: "c", expression }] };
        const { allowed, policies: asked } = ask([...listed, bad], context, known);
        expect(allowed).toBe(false);
        expect(asked.find(({ name }) => name === "bad")?.base_decision).toBe("deny");
      }),
    );
  });

  it("never apply an override whose condition cannot be evaluated", () => {
    fc.assert(
      fc.property(failing, calls, (when, context) => {
        const listed: readonly Policy[] = [
          { name: "p", conditions: [{ name: "c", expression: "false" }] },
          { name: "o", overrides: ["p"], when },
        ];
        expect(ask(listed, context).allowed).toBe(false);
      }),
    );
  });

  it("never turn a denial into an allowance by one policy more", () => {
    fc.assert(
      fc.property(policies, bases, fc.nat(4), calls, facts, (listed, more, place, context, known) => {
        const before = ask(listed, context, known);
        const added = listed.toSpliced(place, 0, { ...more, name: "added" });
        const after = ask(added, context, known);
        if (!before.allowed) expect(after.allowed).toBe(false);
      }),
    );
  });

  it("change the params only by exception, and only where an override sets them", () => {
    fc.assert(
      fc.property(policies, calls, facts, (listed, context, known) => {
        const { outcome, params, set_params } = ask(listed, context, known);
        const given = context["params"] ?? null;
        if (outcome !== "allowed_by_exception") {
          expect([params, set_params]).toEqual([given, {}]);
          return;
        }
        for (const [key, value] of Object.entries(set_params)) {
          expect(Object.hasOwn(params as JsonObject, key) && (params as JsonObject)[key]).toEqual(value);
        }
      }),
    );
  });
});

const shuffled = (value: Json): Json => {
  if (Array.isArray(value)) return (value as readonly Json[]).map(shuffled);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).reverse();
  const turned: JsonObject = {};
  for (const [key, each] of entries) {
    Object.defineProperty(turned, key, {
      value: shuffled(each),
      enumerable: true,
      configurable: true,
      writable: true,
    });
  }
  return turned;
};

describe("the context of a call", () => {
  it("may have its keys in any order", () => {
    fc.assert(
      fc.property(policies, calls, facts, (listed, context, known) => {
        expect(ask(listed, shuffled(context) as JsonObject, known)).toEqual(ask(listed, context, known));
      }),
    );
  });

  it("cannot forge the facts, nor what the tool itself knows", () => {
    const reading: readonly Policy[] = [
      {
        name: "p",
        requires: ["login"],
        max_calls: { count: 1, per: "session" },
        conditions: [
          { name: "time", expression: `system.request_time == '${noon}'` },
          { name: "used", expression: "get(facts, 'forged', 0) == 0 and not exists(system.forged)" },
        ],
      },
      { name: "q", conditions: [{ name: "c", expression: "facts.vip" }] },
      { name: "o", overrides: ["q"], when: "system.vip or facts.vip", max_applications: 1 },
    ];
    const forged = { vip: true, forged: 1, succeeded: { login: 9 }, calls: { p: 0 }, uses: { o: 0 } };
    fc.assert(
      fc.property(calls, jsonValues, facts, (context, value, known) => {
        for (const fake of [forged, value]) {
          const lying = { ...context, facts: fake, system: fake, input: fake, computed: fake };
          expect(ask(reading, lying, known)).toEqual(ask(reading, context, known));
        }
      }),
    );
  });
});

describe("a glob", () => {
  const words = fc.string({ unit: fc.constantFrom("a", "b", "*", "?"), maxLength: 8 });

  it("fits what the same pattern as a regular expression fits", () => {
    fc.assert(
      fc.property(words, fc.string({ unit: fc.constantFrom("a", "b"), maxLength: 10 }), (glob, tool) => {
        const pattern = new RegExp(`^${glob.replaceAll("*", ".*").replaceAll("?", ".")}$`);
        expect(matchesGlob(glob, tool)).toBe(pattern.test(tool));
      }),
      { numRuns: runsFor(2000) },
    );
  });
});

describe("a path without detours", () => {
  const paths = fc
    .array(fc.constantFrom("a", "b", "..", ".", "", "..."), { maxLength: 8 })
    .map((steps) => steps.join("/"));

  it("has none left, and stays as it is", () => {
    fc.assert(
      fc.property(paths, (path) => {
        const normal = normalizePath(path);
        expect(normalizePath(normal)).toBe(normal);
        expect(normal).not.toMatch(/\/\/|(?:^|\/)\.(?:\/)|[^./]\/\.\.(?:\/|$)|^\/\.\.(?:\/|$)/);
        expect(normal.startsWith("/")).toBe(path.startsWith("/"));
      }),
    );
  });

  it("leads to the same place from anywhere", () => {
    fc.assert(
      fc.property(paths, paths, (from, path) => {
        if (path.startsWith("/")) return;
        const base = `/x/${from}`;
        expect(normalizePath(`${base}/${normalizePath(path)}`)).toBe(normalizePath(`${base}/${path}`));
      }),
    );
  });
});
