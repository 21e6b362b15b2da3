import { describe, expect, it } from "vitest";
import { uniqueFetches } from "../../src/definition/fetches.js";
import { fetchKey } from "../../src/expression/rule/operators/fetching.js";
import { prepare } from "../../src/evaluate/prepare.js";
import type { DecisionRecord } from "../../src/model/record.js";
import { reevaluate } from "../../src/replay/reevaluate.js";
import type { ReplayableDefinition } from "../../src/replay/replayable-definitions.js";
import { loadedWith } from "../decide/fetching.js";

const credit = { endpoint: "bureau", params: { ssn: "{{ ssn }}" }, into: "credit" };

const readyWith = (enrich: readonly object[]): ReplayableDefinition => {
  const definition = {
    id: "loan",
    type: "switch",
    input: "{{ if exists(credit) then 'known' else 'unknown' }}",
    cases: [{ condition: "input == 'known'", label: "Known", target: "a" }],
    default: { target: "b" },
    enrich,
  };
  const loaded = loadedWith(definition, "bureau");
  return { loaded, prepared: prepare(loaded.definition), fetches: uniqueFetches(loaded.definition) };
};

const made = readyWith([credit]);

const record = {
  record_id: "r-1",
  timestamp: "2026-01-02T03:04:05.000000Z",
  definition_hash: made.loaded.definition_hash,
  context: { ssn: "1", credit: 720 },
  facts: { fetched: { [fetchKey(credit)]: { endpoint: "bureau", ok: true } } },
} as unknown as DecisionRecord;

const labelOf = (
  ready: ReplayableDefinition,
  from: ReplayableDefinition | { unavailable: string } = made,
): unknown => {
  const again = reevaluate({ record, text: "" }, ready, from);
  return "notReplayable" in again ? again.notReplayable : again.guarded.evaluated.selected_labels;
};

describe("the fetched data of a record", () => {
  it("is used when it is evaluated again", () => {
    expect(labelOf(made)).toEqual(["Known"]);
    expect(labelOf(readyWith([{ ...credit, required: true }]))).toEqual(["Known"]);
  });

  it.each<{ name: string; enrich: object }>([
    { name: "from elsewhere", enrich: { ...credit, endpoint: "other" } },
    { name: "with other params", enrich: { ...credit, params: {} } },
    { name: "to another place", enrich: { ...credit, into: "elsewhere" } },
    { name: "in part", enrich: { ...credit, mapping: { score: "value" } } },
  ])("is missing for a definition that fetches $name", ({ enrich }) => {
    const { endpoint } = enrich as { endpoint: string };
    expect(labelOf(readyWith([enrich]))).toBe(`it has no facts about the data of \`${endpoint}\``);
  });

  it("is removed for a definition that fetches nothing", () => {
    expect(labelOf(readyWith([]))).toEqual(["default"]);
  });

  it("stays where the original definition is not available", () => {
    expect(labelOf(readyWith([]), { unavailable: "it is gone" })).toEqual(["Known"]);
  });
});
