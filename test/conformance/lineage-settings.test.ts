import { describe, expect, it } from "vitest";
import { check } from "../../src/decide/check.js";
import { decide } from "../../src/decide/decide.js";
import type { LineageOptions } from "../../src/decide/request.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import type { DecisionRecord } from "../../src/model/record.js";
import type { Deciding } from "../decide/deciding.js";
import { deciding } from "../decide/deciding.js";

const routed = {
  decision: {
    id: "d",
    type: "binary",
    entities: [{ type: "c", id: "{{ c }}" }],
    artifacts: ["{{ build }}"],
    cases: [{ label: "High", condition: "n > 10", target: "up" }],
    default: { target: "down" },
  },
};

const calls = [
  {
    decision: {
      id: "p",
      type: "policy",
      tool: "write",
      entities: [{ type: "file", id: "{{ params.path }}" }],
      policies: [
        { name: "reads", requires: ["read"] },
        { name: "small", conditions: [{ name: "size", expression: "params.n < 10" }] },
        { name: "anyway", overrides: ["small"] },
      ],
    },
  },
  { decision: { id: "r", type: "policy", tool: "read", policies: [] } },
];

async function decideWith(lineage: LineageOptions, times: number): Promise<readonly DecisionRecord[]> {
  const place = deciding(routed);
  const world = { ...place.world, lineage };
  for (let n = 0; n < times; n++)
    await decide({ decision_id: "d", context: { c: "1", build: "b", n: 12 } }, world);
  return place.records();
}

describe("DecisionLineageConfig", () => {
  it("enabled, store_precedents and 5 precedents are the defaults", async () => {
    const [record] = (await decideWith({}, 7)).toReversed();
    expect(record?.lineage).toMatchObject({
      entities: [{ type: "c", id: "1" }],
      artifacts: ["b"],
      inputs: [{ source: "n" }],
      conditions: [{ name: "High" }],
    });
    expect(record?.lineage?.precedents).toHaveLength(5);
  });

  it.each([1, 3, 20])("max_precedent_refs=%i", async (maxPrecedentRefs) => {
    const [record] = (await decideWith({ maxPrecedentRefs }, 22)).toReversed();
    expect(record?.lineage?.precedents).toHaveLength(maxPrecedentRefs);
  });

  it("store_precedents=False: everything but the precedents is recorded", async () => {
    const [with_, without] = [
      (await decideWith({}, 2)).at(-1)?.lineage,
      (await decideWith({ storePrecedents: false }, 2)).at(-1)?.lineage,
    ];
    expect(with_?.precedents).toHaveLength(1);
    expect(without).toEqual({ ...with_, precedents: [] });
  });

  it("enabled=False: nothing is recorded of what a decision was based on", async () => {
    const record = (await decideWith({ enabled: false }, 2)).at(-1);
    expect(record?.lineage).toEqual({
      entities: [],
      artifacts: [],
      inputs: [],
      conditions: [],
      policies: [],
      override: null,
      overrides: [],
      params_digest: null,
      precedents: [],
    });
    const usual = (await decideWith({}, 2)).at(-1);
    expect(record).toMatchObject({
      context: usual?.context,
      evaluation_details: usual?.evaluation_details,
      deterministic_hash: usual?.deterministic_hash,
    });
  });

  /** Reads and writes in one session; returns the outcomes and the last record. */
  const writeAfterRead = async (
    lineage: LineageOptions,
  ): Promise<{ readonly outcomes: readonly string[]; readonly place: Deciding }> => {
    const place = deciding(...calls);
    const world = { ...place.world, lineage };
    const call = (tool: string, n: number): ReturnType<typeof check> =>
      check({ tool, params: { path: "f", n }, session_id: "s" }, world);
    const outcomes: string[] = [(await call("write", 1)).outcome];
    await call("read", 1);
    const { linked } = await recordToolResult(
      { tool: "read", session_id: "s", ok: true, params: { path: "f", n: 1 } },
      world,
    );
    outcomes.push(String(linked), (await call("write", 1)).outcome, (await call("write", 12)).outcome);
    return { outcomes, place };
  };

  it("enabled=False: the evidence of policies and the policies that decided are recorded as before", async () => {
    const off = await writeAfterRead({ enabled: false });
    expect(off.outcomes).toEqual(["denied", "true", "allowed", "allowed_by_exception"]);
    const on = await writeAfterRead({});
    expect(off.outcomes).toEqual(on.outcomes);
    const [without, whole] = [(await off.place.newest()).lineage, (await on.place.newest()).lineage];
    expect(without).toEqual({
      ...whole,
      entities: [],
      artifacts: [],
      inputs: [],
      conditions: [],
      precedents: [],
    });
    expect(without).toMatchObject({
      param_names: ["n", "path"],
      params_digest: expect.stringMatching(/^[0-9a-f]{64}$/) as string,
      override: { name: "anyway" },
    });
  });
});
