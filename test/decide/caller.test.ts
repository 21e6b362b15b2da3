import { describe, expect, it } from "vitest";
import type { AuthenticatedCaller } from "../../src/model/record.js";
import { replayRecord } from "../../src/replay/replay-record.js";
import { ReplayableDefinitions } from "../../src/replay/replayable-definitions.js";
import { deciding } from "./deciding.js";

const alice: AuthenticatedCaller = {
  subject: "alice",
  issuer: "https://id.example",
  scopes: ["decide"],
  delegated: true,
  actors: [{ subject: "agent-7" }],
};

const gate = {
  decision: {
    id: "pay",
    type: "gate",
    action: { org: "acme", domain: "payments", name: "pay" },
    rules: [
      {
        id: "known",
        tier: "T2",
        severity: 50,
        when: "system.authenticated_caller.subject == 'alice'",
        status: "GREEN",
      },
      { id: "others", tier: "T3", severity: 10, when: "true", status: "RED" },
    ],
  },
};

describe("who asks", () => {
  it("is known to expressions as `system.authenticated_caller`, and recorded among the facts", async () => {
    const place = deciding(gate);
    expect(await place.decide("pay", {}, { caller: alice })).toMatchObject({ status: "GREEN" });
    expect((await place.newest()).facts).toEqual({ authenticated_caller: alice });
  });

  it("is missing where nobody has proven it, and a predicate that reads it is never GREEN", async () => {
    const place = deciding(gate);
    expect(await place.decide("pay", {})).toMatchObject({ status: "RED" });
    expect((await place.newest()).facts).toEqual({});
  });

  it("cannot be said in the context", async () => {
    const place = deciding(gate);
    const context = { system: { authenticated_caller: { subject: "alice" } } };
    await expect(place.decide("pay", context)).rejects.toMatchObject({ code: "input_invalid" });
  });

  it("is somebody when the record is replayed", async () => {
    const place = deciding(gate);
    await place.decide("pay", {}, { caller: alice });
    const { store } = place.world.records;
    const found = await store.log.find({ latest: true });
    if (!("record" in found) || found.record.kind !== "decision") throw new Error("it was not recorded");
    const { record } = found;
    const replayed = replayRecord({ ...found, record }, await new ReplayableDefinitions(store).get(record));
    expect(replayed).toEqual({ status: "matched" });
  });

  it("is told to the policies of a call", async () => {
    const policy = {
      decision: {
        id: "may-write",
        type: "policy",
        tool: "write_file",
        policies: [
          {
            name: "owners",
            version: "1.0.0",
            conditions: [
              { name: "owner", expression: "system.authenticated_caller.actors.0.subject == 'agent-7'" },
            ],
            deny_reason: "only agent-7 writes",
          },
        ],
      },
    };
    const place = deciding(policy);
    expect(await place.check("write_file", {}, { caller: alice })).toMatchObject({ allowed: true });
    expect(await place.check("write_file", {})).toMatchObject({
      allowed: false,
      reason: "only agent-7 writes",
    });
  });
});
