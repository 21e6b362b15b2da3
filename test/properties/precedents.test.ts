import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../src/decide/decide.js";
import { DecisionError } from "../../src/errors.js";
import type {
  Definition,
  GateDefinition,
  PolicyDefinition,
  ScoredDefinition,
} from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import type { Lineage } from "../../src/model/lineage.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { Records } from "../../src/record/records.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { runsFor } from "../thoroughness.js";
import { conditions, contexts, definitions as routing } from "./arbitraries.js";
import { noon, worldWith } from "./worlds.js";

const policies: fc.Arbitrary<PolicyDefinition> = fc.tuple(conditions, conditions).map(([asked, when]) => ({
  id: "under-test",
  type: "policy",
  tool: "t",
  policies: [
    { name: "p", conditions: [{ name: "asked", expression: asked }], deny_reason: "n is {{ n }}" },
    { name: "o", overrides: ["p"], when },
  ],
}));

const gates: fc.Arbitrary<GateDefinition> = fc.tuple(conditions, conditions).map(([red, skip]) => ({
  id: "under-test",
  type: "gate",
  action: { org: "o", domain: "d", name: "a" },
  rules: [
    { id: "r", tier: "T2", severity: 9, when: red, status: "RED" },
    { id: "s", tier: "T3", severity: 5, when: skip, status: "GREEN-SKIP" },
    { id: "g", tier: "T3", severity: 1, when: "true", status: "GREEN" },
  ],
}));

const votes: fc.Arbitrary<ScoredDefinition> = conditions.map((when) => ({
  id: "under-test",
  type: "scored",
  evaluators: [
    { name: "e", rules: [{ id: "r", when, then: { decision: "approve", weight: 0.9 } }] },
    { name: "f", static: { decision: "reject", weight: 0.3, reason: "House rule" } },
  ],
}));

/** All have so much in common that most are similar enough; how similar depends on the context. */
const entities = [
  ...["a", "b", "c", "d", "e"].map((id) => ({ type: "always", id })),
  { type: "n", id: "{{ n }}" },
  { type: "list", id: "{{ list }}" },
];

const definitions: fc.Arbitrary<Definition> = fc
  .oneof(routing, policies, gates, votes)
  .map((definition) => ({ ...definition, entities }));

type Made = DecisionRecord | { readonly failed: string };

/** What comes of the last of the contexts after the others; all ids and times are told. */
async function after(
  history: readonly (readonly [Definition, JsonObject])[],
  asked: readonly [Definition, JsonObject],
): Promise<Made> {
  const { store, records } = remembering();
  const ask = async ([definition, context]: readonly [Definition, JsonObject], id: string): Promise<void> => {
    const world = { ...worldWith(definition), newId: () => id, records };
    await decide({ decision_id: definition.id, context }, world);
  };
  for (const [index, each] of history.entries()) {
    await ask(each, `earlier-${index}`).catch(unlessUnexpected);
  }
  try {
    await ask(asked, "asked");
  } catch (error) {
    return { failed: unlessUnexpected(error).message };
  }
  const found = await store.log.find({ latest: true });
  if ("candidates" in found || found.record.kind !== "decision") throw new Error("nothing was recorded");
  return found.record;
}

function remembering(): { store: ReturnType<typeof openMemoryStore>; records: Records } {
  const store = openMemoryStore();
  const newNote = (): { record_id: string; timestamp: string } => ({ record_id: "note", timestamp: noon });
  return { store, records: new Records(store, { newNote, onWarning: () => undefined }) };
}

/** Some tables refuse what matches twice. */
function unlessUnexpected(error: unknown): DecisionError {
  if (error instanceof DecisionError) return error;
  throw error;
}

/** All but where it stands in the log, and what came before it. */
function withoutPast(made: Made): object {
  if ("failed" in made) return made;
  const { lineage } = made;
  return { ...made, seq: 0, hash: "", prev_hash: "", lineage: { ...lineage, precedents: [] } };
}

const precedentsOf = (made: Made): Lineage["precedents"] =>
  "failed" in made ? [] : (made.lineage?.precedents ?? []);

const histories = fc.array(contexts, { maxLength: 8 });

describe("precedents", () => {
  it("change nothing of a decision, whatever was decided before", async () => {
    let cited = 0;
    await fc.assert(
      fc.asyncProperty(definitions, definitions, histories, contexts, async (now, before, past, context) => {
        const history = past.map((each, index) => [index % 2 === 0 ? now : before, each] as const);
        const made = await after(history, [now, context]);
        cited += precedentsOf(made).length;
        expect(withoutPast(made)).toEqual(withoutPast(await after([], [now, context])));
      }),
      { numRuns: runsFor(200) },
    );
    expect(cited).toBeGreaterThan(runsFor(100));
  });

  it("are the same whenever the same was decided before", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, histories, contexts, async (definition, past, context) => {
        const history = past.map((each) => [definition, each] as const);
        const [made, again] = [
          await after(history, [definition, context]),
          await after(history, [definition, context]),
        ];
        expect(made).toEqual(again);
      }),
      { numRuns: runsFor(100) },
    );
  });

  it("are at most 5, at least 0.7 similar, the most similar first, and each only once", async () => {
    await fc.assert(
      fc.asyncProperty(definitions, histories, contexts, async (definition, past, context) => {
        const history = past.map((each) => [definition, each] as const);
        const found = precedentsOf(await after(history, [definition, context]));
        const similarities = found.map(({ similarity }) => similarity);
        expect(found.length).toBeLessThanOrEqual(5);
        expect(similarities).toEqual(similarities.toSorted((a, b) => b - a));
        expect(similarities.every((each) => each >= 0.7 && each <= 1)).toBe(true);
        expect(new Set(found.map(({ record_id }) => record_id)).size).toBe(found.length);
      }),
      { numRuns: runsFor(100) },
    );
  });
});
