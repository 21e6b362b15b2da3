import { describe, expect, it } from "vitest";
import type { CheckWorld } from "../../src/decide/check.js";
import { check } from "../../src/decide/check.js";
import { decide } from "../../src/decide/decide.js";
import { recordToolResult } from "../../src/decide/tool-result.js";
import { buildLibrary } from "../../src/definition/library.js";
import { masksOf } from "../../src/definition/loaded-definition.js";
import { readDefinitions } from "../../src/definition/read-definitions.js";
import { uniqueFetches } from "../../src/definition/fetches.js";
import { prepareLazily } from "../../src/evaluate/prepare-lazily.js";
import type { JsonObject } from "../../src/model/json.js";
import { reevaluate } from "../../src/replay/reevaluate.js";
import type { Deciding } from "./deciding.js";
import { deciding } from "./deciding.js";

const secret = "hunter2";
const masks = { masks: ["/params/password", "/user/*/password"] };
const context: JsonObject = { params: { password: secret, host: "h" }, user: { a: { password: secret } } };

const cases = [{ label: "Same", condition: "params.password != 'x'", target: "t" }];
const binary = { id: "d", type: "binary", cases, default: { target: "z" } };
const weighted = {
  id: "d",
  type: "weighted",
  input: "{{ params.password }}",
  cases: [{ label: "A", target: "t", weight: 1 }],
  default: { target: "z" },
};
const scored = {
  id: "d",
  type: "scored",
  evaluators: [
    {
      name: "e",
      rules: [
        {
          id: "r",
          if: { field: "params.password", op: "neq", value: "x" },
          then: { decision: "approve", weight: 1 },
        },
      ],
    },
  ],
  scoring: { strategy: "weighted_average" },
};
const gate = {
  id: "d",
  type: "gate",
  action: { org: "o", domain: "d", name: "n", world_model_version: 1 },
  rules: [
    { id: "r", tier: "T2", severity: 1, when: "true", status: "YELLOW", reason: "{{ params.password }}" },
  ],
};
const output = { host: "{{ params.host }}", users: ["{{ user }}", "for {{ params.password }}"] };
const answering = {
  id: "d",
  type: "switch",
  cases: [{ condition: "params.host == 'h'", output }],
  default: { target: "z" },
};
const scoredOutput = {
  ...scored,
  evaluators: [{ name: "e", static: { decision: "approve", weight: 1, output } }],
};
const gateOutput = { ...gate, rules: gate.rules.map((rule) => ({ ...rule, output })) };
const policy = {
  id: "p",
  type: "policy",
  tool: "write",
  policies: [
    {
      name: "never",
      conditions: [{ name: "c", expression: "params.password == 'x'" }],
      deny_reason: "not with {{ params.password }}",
    },
  ],
};

async function logText({ world }: Deciding): Promise<string> {
  const lines: string[] = [];
  for await (const { text } of world.records.store.log.select({})) lines.push(text);
  return lines.join("\n");
}

describe("a value that `masks` names", () => {
  it.each([binary, weighted, scored, gate])("is in no result and no record: $type", async (decision) => {
    const place = deciding({ decision }, masks);
    const result = await place.decide("d", context);
    expect(JSON.stringify(result)).not.toContain(secret);
    expect(await logText(place)).not.toContain(secret);
    expect((await place.newest()).context).toMatchObject({
      params: { password: "[masked]", host: "h" },
      user: { a: { password: "[masked]" } },
    });
  });

  it.each([answering, scoredOutput, gateOutput])("is masked in outputs: $type", async (decision) => {
    const place = deciding({ decision }, masks);
    const masked = [{ host: "h", users: ["[masked]", "[masked]"] }];
    const result = await place.decide("d", context);
    expect(result.outputs).toEqual(masked);
    expect(JSON.stringify(result)).not.toContain(secret);
    expect((await place.newest()).outputs).toEqual(masked);
    expect(await logText(place)).not.toContain(secret);
  });

  it("does not keep an answer from being cached and replayed where only its output is masked", async () => {
    const place = deciding({ decision: { ...answering, cache: { enabled: true } } }, masks);
    const first = await place.decide("d", context);
    expect(first.cached).toBe(false);
    const other = { ...context, user: { a: { password: "other" } } };
    expect(await place.decide("d", other)).toMatchObject({ outputs: first.outputs });
    const line = await place.world.records.store.log.find({ latest: true });
    if (!("record" in line) || line.record.kind !== "decision") throw new Error("nothing is recorded");
    const { record } = line;
    const again = async ({ world }: Deciding): Promise<ReturnType<typeof reevaluate>> => {
      const loaded = await world.definitions.find("d");
      const { definition } = loaded;
      const prepared = await prepareLazily(definition, masksOf(loaded));
      return reevaluate({ ...line, record }, { loaded, prepared, fetches: uniqueFetches(definition) });
    };
    expect(await again(place)).toMatchObject({ guarded: { evaluated: { outputs: record.outputs } } });
    const unmasked = deciding({ decision: answering }, { masks: [] });
    expect(await again(unmasked)).toEqual({ notReplayable: "it read masked values" });
  });

  it.each([
    ["with a policy", "write"],
    ["without one", "read"],
  ])("is in no record of a call of a tool %s, or of its result", async (_which, tool) => {
    const place = deciding({ decision: policy }, masks);
    const params = { password: secret };
    const checked = await place.check(tool, params);
    expect(JSON.stringify(checked.decisions)).not.toContain(secret);
    const { warnings } = await recordToolResult({ tool, session_id: "s-1", ok: true, params }, place.world);
    expect(warnings).toHaveLength(checked.allowed ? 0 : 1);
    expect(await logText(place)).not.toContain(secret);
    expect((await place.newest()).context).toMatchObject({ params: { password: "[masked]" } });
  });

  it("is masked in addition to those of `logging.mask`", async () => {
    const place = deciding({ decision: { ...binary, logging: { mask: ["/params/host"] } } }, masks);
    await place.decide("d", context);
    expect((await place.newest()).context?.["params"]).toEqual({ password: "[masked]", host: "[masked]" });
  });

  it("cannot be the path of `read_before_write`", async () => {
    const rule = { read_tools: ["read"], write_tools: ["write"], path: "params.password" };
    const writing = { ...policy, policies: [{ name: "read_first", read_before_write: rule }] };
    const place = deciding({ decision: writing }, masks);
    await recordToolResult(
      { tool: "read", session_id: "s-1", ok: true, params: { password: secret } },
      place.world,
    );
    expect(await place.check("write", { password: secret })).toMatchObject({ allowed: false });
    expect(await logText(place)).not.toContain(secret);
  });

  it("is not cached", async () => {
    const place = deciding({ decision: { ...binary, cache: { enabled: true } } }, masks);
    await place.decide("d", context);
    expect(await place.decide("d", context)).toMatchObject({ cached: false });
  });

  it("makes a decision that read it not replayable, also where it is no longer masked", async () => {
    const place = deciding({ decision: binary }, masks);
    await place.decide("d", context);
    const line = await place.world.records.store.log.find({ latest: true });
    if (!("record" in line) || line.record.kind !== "decision") throw new Error("nothing is recorded");
    const { record } = line;
    const unmasked = deciding({ decision: binary }, { masks: [] });
    for (const { world } of [place, unmasked]) {
      const loaded = await world.definitions.find("d");
      const { definition } = loaded;
      const prepared = await prepareLazily(definition, masksOf(loaded));
      const again = reevaluate({ ...line, record }, { loaded, prepared, fetches: uniqueFetches(definition) });
      expect(again).toEqual({ notReplayable: "it read masked values" });
    }
  });
});

describe("the environment", () => {
  const hashOf = async (...documents: readonly object[]): Promise<string> =>
    (await deciding({ decision: binary }, ...documents).world.definitions.find("d")).environment_hash;

  it("contains masks only if there are any", async () => {
    const [without, empty, some, same] = [
      await hashOf(),
      await hashOf({ masks: [] }),
      await hashOf({ masks: ["/a"] }),
      await hashOf({ masks: ["/a"] }, { masks: ["/a"] }),
    ];
    expect(empty).toBe(without);
    expect(some).not.toBe(without);
    expect(same).toBe(some);
  });
});

describe("a broken file that may contain masks", () => {
  it.each([
    "masks: /params/password",
    "masks: [params]",
    "mask: [/params/password]",
    "masks: [/a\ndecision: {",
  ])("stops every decision, check and result: %j", async (text) => {
    const place = deciding({ decision: binary }, { decision: policy });
    const broken = readDefinitions("m.yaml", Buffer.from(text)).summary;
    const sound = readDefinitions("d.yaml", Buffer.from(JSON.stringify({ decision: { ...binary } }))).summary;
    const definitions = buildLibrary([sound, broken], () => Promise.reject(new Error("it is not read")));
    const world: CheckWorld = { ...place.world, definitions };
    const refused = { code: "definition_invalid" };
    await expect(decide({ decision_id: "d", context }, world)).rejects.toMatchObject(refused);
    const call = { tool: "read", params: {}, session_id: "s" };
    await expect(check(call, world)).rejects.toMatchObject(refused);
    const reported = recordToolResult({ ...call, ok: true }, { ...world, definitions });
    await expect(reported).rejects.toMatchObject(refused);
  });
});
