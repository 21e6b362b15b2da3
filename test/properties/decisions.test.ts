import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import { canonicalJson } from "../../src/digest/canonical-json.js";
import { sha256Hex } from "../../src/digest/sha256.js";
import { DecisionError } from "../../src/errors.js";
import type { Definition } from "../../src/model/definition.js";
import type { Json, JsonObject } from "../../src/model/json.js";
import type { Result } from "../../src/model/result.js";
import { runsFor } from "../thoroughness.js";
import { contexts, definitions } from "./arbitraries.js";
import { worldWith } from "./worlds.js";

/** The result, or how the decision ended. */
async function outcome(definition: Definition, context: unknown, time?: string): Promise<Result | object> {
  try {
    return await decide({ decision_id: "under-test", context }, worldWith(definition, time));
  } catch (error) {
    if (!(error instanceof DecisionError)) throw error;
    return { code: error.code, message: error.message, details: error.details };
  }
}

async function hashOf(definition: Definition, context: unknown, time?: string): Promise<string> {
  const request = { decision_id: "under-test", context };
  return (await decide(request, worldWith(definition, time))).deterministic_hash;
}

/** The same document with its keys in another order, at every level. */
function reordered(value: Json, turn: number): Json {
  if (typeof value !== "object" || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map((item) => reordered(item, turn));
  const entries = Object.entries(value as JsonObject).reverse();
  const cut = entries.length === 0 ? 0 : turn % entries.length;
  const copy: Record<string, Json> = {};
  for (const [key, each] of [...entries.slice(cut), ...entries.slice(0, cut)]) {
    Object.defineProperty(copy, key, { value: reordered(each, turn), enumerable: true });
  }
  return copy;
}

describe("a decision", () => {
  it("is the same when it is made twice", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, contexts, async (definition, context) => {
        const again = outcome(structuredClone(definition), context);
        expect(await outcome(definition, context)).toEqual(await again);
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("leaves the context that it was given untouched", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, contexts, async (definition, context) => {
        const before = JSON.stringify(context);
        await outcome(definition, context);
        expect([JSON.stringify(context), Object.isFrozen(context)]).toEqual([before, false]);
      }),
      { numRuns: runsFor(200) },
    );
  });

  it("does not depend on the order of keys, nor does its hash", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, contexts, fc.nat(), async (definition, context, turn) => {
        const other = await outcome(definition, reordered(context, turn));
        expect(canonicalJson(other as Json)).toBe(
          canonicalJson((await outcome(definition, context)) as Json),
        );
      }),
      { numRuns: runsFor(300) },
    );
  });

  it("does not depend on the order in which its definition writes its keys", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, contexts, fc.nat(), async (definition, context, turn) => {
        const other = reordered(definition as unknown as Json, turn) as unknown as Definition;
        expect(await outcome(other, context)).toEqual(await outcome(definition, context));
      }),
      { numRuns: runsFor(200) },
    );
  });

  it("is frozen in all its parts", async () => {
    const isFrozen = (value: unknown): boolean =>
      typeof value !== "object" ||
      value === null ||
      (Object.isFrozen(value) && Object.values(value).every(isFrozen));
    await fc.assert(
      fc.asyncProperty(definitions, contexts, async (definition, context) => {
        const made = await outcome(definition, context);
        if ("selected_targets" in made) expect(isFrozen(made)).toBe(true);
      }),
      { numRuns: runsFor(200) },
    );
  });

  it("is a document that JSON can carry", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, contexts, async (definition, context) => {
        const made = await outcome(definition, context);
        expect(JSON.parse(canonicalJson(made as Json))).toEqual(JSON.parse(JSON.stringify(made)));
      }),
      { numRuns: runsFor(200) },
    );
  });
});

describe("the deterministic hash", () => {
  const common = { id: "under-test", type: "switch", default: { target: "stage-default" } } as const;
  const onN: Definition = {
    ...common,
    input: "{{ n }}",
    cases: [{ condition: "input > 0", target: "stage-a" }],
  };
  const onWholeContext: Definition = { ...common, cases: [{ condition: "n > 0", target: "stage-a" }] };
  const onTime: Definition = {
    ...common,
    cases: [{ condition: "system.request_time > '2026'", target: "stage-a" }],
  };

  it.each<[string, Definition, JsonObject, JsonObject]>([
    ["its input's path", onN, { n: 1, other: 2 }, { n: 1 }],
    ["the whole context", onWholeContext, { n: 1, b: 2 }, { context: { n: 1, b: 2 }, n: 1 }],
  ])(
    "is that of the documented document for a decision on %s",
    async (_what, definition, context, values_read) => {
      const document = {
        decision_id: "under-test",
        definition_hash: sha256Hex(canonicalJson(definition as unknown as Json)),
        selected_labels: ["stage-a"],
        selected_targets: ["stage-a"],
        values_read,
      };
      expect(await hashOf(definition, context)).toBe(sha256Hex(canonicalJson(document)));
    },
  );

  it("has no part in the time where the decision does not read it", async () => {
    const hashes = [await hashOf(onN, { n: 1 }), await hashOf(onN, { n: 1 }, "2030-01-01T00:00:00.000000Z")];
    expect(hashes[0]).toBe(hashes[1]);
  });

  it("does not change with values that the decision does not read", async () => {
    expect(await hashOf(onN, { n: 1, other: 1 })).toBe(await hashOf(onN, { n: 1, other: 2 }));
  });

  it("changes with every value that the decision reads, also where the answer is the same", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(fc.integer({ min: 1 }), { minLength: 2, maxLength: 2 }),
        async (values) => {
          const hashes = await Promise.all(values.map((n) => hashOf(onN, { n })));
          expect(new Set(hashes).size).toBe(2);
        },
      ),
    );
  });

  it("tells a missing value from one that is null", async () => {
    expect(await hashOf(onWholeContext, {})).not.toBe(await hashOf(onWholeContext, { n: null }));
  });

  it("changes with a value that was read beside a key called context", async () => {
    const hashes = [1, 2].map((n) => hashOf(onWholeContext, { context: "x", n }));
    expect(await hashes[0]).not.toBe(await hashes[1]);
  });

  it("changes with the time where the decision reads it", async () => {
    const hashes = ["2026-03-02", "2026-03-03"].map((day) => hashOf(onTime, {}, `${day}T12:00:00.000000Z`));
    expect(await hashes[0]).not.toBe(await hashes[1]);
  });

  it("changes with the definition", async () => {
    const renamed = { ...onN, name: "Another" };
    expect(await hashOf(onN, { n: 1 })).not.toBe(await hashOf(renamed, { n: 1 }));
  });
});
