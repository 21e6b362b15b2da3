import { describe, expect, it } from "vitest";
import type { AuthenticatedCaller, DecisionRecord } from "../../src/model/record.js";
import { replayRecord } from "../../src/replay/replay-record.js";
import { ReplayableDefinitions } from "../../src/replay/replayable-definitions.js";
import type { Deciding } from "./deciding.js";
import { deciding } from "./deciding.js";

const caller = (subject: string, more: Partial<AuthenticatedCaller> = {}): AuthenticatedCaller => ({
  subject,
  issuer: "https://id.example",
  scopes: ["decide"],
  delegated: false,
  actors: [],
  ...more,
});

const alice = caller("alice", { org_id: "acme" });
const bob = caller("bob", { org_id: "acme" });
const eve = caller("eve", { org_id: "other" });

const policy = (limits: object, more: object = {}): object => ({
  decision: { id: "pay", type: "policy", tool: "pay", policies: [{ name: "few", ...limits }], ...more },
});

const gate = (limits: object, more: object = {}): object => ({
  decision: {
    id: "wire",
    type: "gate",
    action: { org: "acme", domain: "payments", name: "wire" },
    rules: [
      { id: "go", tier: "T3", severity: 1, when: "true", status: "GREEN" },
      { id: "skip", tier: "T3", severity: 2, when: "get(context, 'skip', false)", status: "GREEN-SKIP" },
    ],
    ...limits,
    ...more,
  },
});

let sessions = 0;

/** Checks one call in a session of its own. */
async function pay(place: Deciding, amount: unknown, by?: AuthenticatedCaller): Promise<boolean> {
  const session_id = `session-${++sessions}`;
  const checked = await place.check("pay", { amount } as never, { session_id, ...(by && { caller: by }) });
  return checked.allowed;
}

async function wire(place: Deciding, amount: number, more: object = {}): Promise<string> {
  const [status = ""] = (await place.decide("wire", { amount }, more)).selected_labels;
  return status;
}

/** Replays every record and returns those that do not match. */
async function mismatches({ world }: Deciding): Promise<readonly unknown[]> {
  const { store } = world.records;
  const definitions = new ReplayableDefinitions(store);
  const found: unknown[] = [];
  for await (const line of store.log.select({ kind: "decision" })) {
    const record = line.record as DecisionRecord;
    const replayed = replayRecord({ ...line, record }, await definitions.get(record));
    if (replayed.status !== "matched") found.push(replayed);
  }
  return found;
}

describe("max_calls of a policy", () => {
  it.each([
    ["max_calls", { max_calls: { count: 2, per: "caller" } }],
    ["max_sum", { max_sum: { of: "params.amount", most: 2, per: "caller" } }],
  ])("counts a caller for each organisation on its own: %s", async (_name, limits) => {
    const place = deciding(policy(limits));
    const elsewhere = caller("alice", { org_id: "other" });
    const allowed = [];
    for (const by of [elsewhere, elsewhere, elsewhere, alice, alice, alice, caller("alice")])
      allowed.push(await pay(place, 1, by));
    expect(allowed).toEqual([true, true, false, true, true, false, true]);
    expect(await mismatches(place)).toEqual([]);
  });

  it("counts per caller, so that a new session does not reset it", async () => {
    const place = deciding(policy({ max_calls: { count: 2, per: "caller", window: "1h" } }));
    const allowed = [
      await pay(place, 1, alice),
      await pay(place, 1, alice),
      await pay(place, 1, alice),
      await pay(place, 1, bob),
      await pay(place, 1, caller("alice", { issuer: "https://other.example" })),
    ];
    expect(allowed).toEqual([true, true, false, true, true]);
    expect(await pay(place, 1)).toBe(false);
    expect((await place.newest()).because).toEqual([expect.stringContaining("there is no recorded caller")]);
    expect(await mismatches(place)).toEqual([]);
  });

  it("counts per organisation", async () => {
    const place = deciding(policy({ max_calls: { count: 2, per: "org" } }));
    const allowed = [
      await pay(place, 1, alice),
      await pay(place, 1, bob),
      await pay(place, 1, alice),
      await pay(place, 1, eve),
      await pay(place, 1, caller("nobody")),
    ];
    expect(allowed).toEqual([true, true, false, true, false]);
    expect((await place.newest()).because).toEqual([
      expect.stringContaining("there is no recorded organisation"),
    ]);
  });

  it("takes no caller from the context or an incomplete one", async () => {
    const place = deciding(policy({ max_calls: { count: 2, per: "caller" } }));
    const authenticated_caller = { subject: "alice", issuer: "i" };
    const context = { facts: { authenticated_caller }, session: { authenticated_caller } };
    expect(await place.check("pay", {}, { context })).toMatchObject({ allowed: false });
    expect(await pay(place, 1, { subject: "alice" } as AuthenticatedCaller)).toBe(false);
  });
});

describe("max_sum of a policy", () => {
  const budget = { of: "params.amount", most: 1, per: "caller" };

  it("allows ten times 0.1, and nothing more", async () => {
    const place = deciding(policy({ max_sum: budget }));
    const allowed: boolean[] = [];
    for (let times = 0; times < 11; times++) allowed.push(await pay(place, 0.1, alice));
    expect(allowed).toEqual([...Array.from({ length: 10 }, () => true), false]);
    expect(await pay(place, 0.000001, alice)).toBe(false);
    expect(await pay(place, 0, alice)).toBe(true);
    expect((await place.newest()).facts).toMatchObject({ sums: { few: 1 } });
    expect(await mismatches(place)).toEqual([]);
  });

  it("records what it counts in the line", async () => {
    const place = deciding(policy({ max_sum: { ...budget, window: "1d" } }));
    await pay(place, 0.25, alice);
    const { counted = [] } = await place.newest();
    expect(counted).toContainEqual({
      counter: '["sum","pay","few","caller","https://id.example","alice","acme"]',
      add: 250_000,
      at: expect.any(Number) as number,
      window: 86_400_000_000,
    });
  });

  it("does not count calls that were denied, nor dry runs", async () => {
    const place = deciding(policy({ max_sum: budget }));
    expect(await pay(place, 5, alice)).toBe(false);
    await place.check("pay", { amount: 1 }, { caller: alice, dry_run: true });
    expect(await pay(place, 1, alice)).toBe(true);
  });

  it.each([["1"], [-1], [null], [[1]]])("denies an amount of %j", async (amount) => {
    expect(await pay(deciding(policy({ max_sum: budget })), amount, alice)).toBe(false);
  });

  it("counts a call that an override let pass, and never holds it back", async () => {
    const override = { name: "urgent", overrides: ["few"], when: "get(params, 'urgent', false)" };
    const place = deciding({
      decision: {
        id: "pay",
        type: "policy",
        tool: "pay",
        policies: [{ name: "few", max_sum: { ...budget, per: "session" } }, override],
      },
    });
    expect(await place.check("pay", { amount: 3, urgent: true })).toMatchObject({ allowed: true });
    expect(await place.check("pay", { amount: "3", urgent: true })).toMatchObject({ allowed: true });
    expect(await place.check("pay", { amount: 0.5 })).toMatchObject({
      allowed: false,
      reason: "`params.amount` of 0.5 is too much: 3 of 1 are used in the session",
    });
    expect(await mismatches(place)).toEqual([]);
  });

  it("counts the larger amount where an override changes it, and checks the changed one", async () => {
    const changing = (amount: number): Deciding =>
      deciding({
        decision: {
          id: "pay",
          type: "policy",
          tool: "pay",
          policies: [
            { name: "few", max_sum: { ...budget, most: 10, per: "session" } },
            { name: "noted", conditions: [{ name: "note", expression: "exists(params.note)" }] },
            {
              name: "change",
              overrides: ["noted"],
              action: "modify_params",
              params: { amount: `{{ ${amount} }}` },
            },
          ],
        },
      });
    const raising = changing(6);
    expect(await raising.check("pay", { amount: 1 })).toMatchObject({ allowed: true, params: { amount: 6 } });
    expect(await raising.check("pay", { amount: 1 })).toMatchObject({ allowed: false });
    expect(await raising.check("pay", { amount: 4, note: "" })).toMatchObject({ allowed: true });
    const lowering = changing(1);
    expect(await lowering.check("pay", { amount: 8 })).toMatchObject({ allowed: true });
    expect(await lowering.check("pay", { amount: 3, note: "" })).toMatchObject({ allowed: false });
    expect([...(await mismatches(raising)), ...(await mismatches(lowering))]).toEqual([]);
  });

  it("never records a masked amount", async () => {
    const place = deciding(policy({ max_sum: budget }, { logging: { mask: ["/params/amount"] } }));
    expect(await pay(place, 0.123, alice)).toBe(false);
    expect(JSON.stringify(await place.records())).not.toContain("0.123");
  });
});

describe("the limits of a gate", () => {
  it("stop the action once they are used up, and count GREEN answers only", async () => {
    const place = deciding(gate({ max_calls: { count: 2, per: "session" } }));
    const session = { session_id: "s" };
    expect(await place.decide("wire", { skip: true }, session)).toMatchObject({ status: "GREEN-SKIP" });
    expect(await place.decide("wire", {}, { ...session, dry_run: true })).toMatchObject({ status: "GREEN" });
    const statuses = [
      await wire(place, 1, session),
      await wire(place, 1, session),
      await wire(place, 1, session),
      await wire(place, 1, { session_id: "other" }),
      await wire(place, 1),
    ];
    expect(statuses).toEqual(["GREEN", "GREEN", "RED", "GREEN", "RED"]);
    expect(await mismatches(place)).toEqual([]);
  });

  it("count for the organisation of the gate, whoever asks", async () => {
    const place = deciding(gate({ max_sum: { of: "amount", most: 100, per: "org", window: "1d" } }));
    const statuses = [
      await wire(place, 60, { caller: alice }),
      await wire(place, 50, { caller: bob }),
      await wire(place, 40),
      await wire(place, 0.01),
    ];
    expect(statuses).toEqual(["GREEN", "RED", "GREEN", "RED"]);
    expect((await place.newest()).facts).toEqual({ sums: { wire: 100 } });
    expect(await mismatches(place)).toEqual([]);
  });

  it("do not count an answer that a guardrail blocks", async () => {
    const guardrails = [{ type: "no_disabled_targets", disabled_stages: ["wire"] }];
    const limits = { max_sum: { of: "amount", most: 100, per: "org" } };
    const place = deciding(gate(limits, { guardrails }));
    expect(await wire(place, 60)).toBe("RED");
    expect((await place.newest()).counted).toBeUndefined();
  });

  it("deny where nothing is recorded", async () => {
    const limits = { max_sum: { of: "amount", most: 100, per: "org" } };
    const place = deciding(gate(limits, { logging: { log_decision: false } }));
    expect(await wire(place, 1)).toBe("RED");
  });

  it("hold when many ask at once", async () => {
    const place = deciding(gate({ max_sum: { of: "amount", most: 1, per: "org" } }));
    const statuses = await Promise.all(Array.from({ length: 30 }, () => wire(place, 0.1)));
    expect(statuses.filter((status) => status === "GREEN")).toHaveLength(10);
  });
});
