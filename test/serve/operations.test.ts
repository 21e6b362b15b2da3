import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { alice, invocationOf, sampleWorld } from "./sample-world.js";
import type { AuthenticatedCaller } from "../../src/model/record.js";
import type { GateResult } from "../../src/model/result.js";
import { decideAction, dryRunDecision, evaluateDecision } from "../../src/serve/operations/decide.js";
import { listActions, listDecisions, showDecision } from "../../src/serve/operations/definitions.js";
import { findPrecedents } from "../../src/serve/operations/find-precedents.js";
import type { Invocation, ServedWorld } from "../../src/serve/operations/operation.js";
import { operations } from "../../src/serve/operations/operations.js";
import { explainRecord, showRecord, findRecords } from "../../src/serve/operations/records.js";
import { checkToolCall, recordToolResult } from "../../src/serve/operations/tool-calls.js";

let world: ServedWorld;
let asker: Invocation;

beforeAll(async () => {
  world = await sampleWorld();
  asker = invocationOf(world);
});

const wire = { org_id: "acme", domain: "payments", action: "wire.approve" };
const routine = { amount: 250, payee: { country: "DE" } };

describe("every operation", () => {
  it.each(operations)("$name has a schema, a scope and a description", (each) => {
    expect(each.name).toMatch(/^[a-z_]+$/);
    expect(each.description.length).toBeGreaterThan(20);
    expect(each.input.additionalProperties).toBe(false);
  });

  it.each(operations)("$name requires its scope", async (each) => {
    const others = alice.scopes.filter((scope) => scope !== each.scope);
    const asking = each.run({}, invocationOf(world, { caller: { ...alice, scopes: others } }));
    await expect(asking).rejects.toMatchObject({ code: "forbidden", details: { scope: each.scope } });
  });

  it.each(operations)("$name suggests the nearest key for an unknown one", async (each) => {
    const [key] = Object.keys(each.input.properties);
    if (key === undefined) return;
    const asking = each.run({ [`${key}x`]: 1 }, asker);
    await expect(asking).rejects.toMatchObject({
      code: "input_invalid",
      hint: `did you mean \`${key}\`?`,
    });
  });

  it("reports all problems at once", async () => {
    const asking = decideAction.run({ org_id: 1, domain: "payments" }, asker);
    await expect(asking).rejects.toMatchObject({
      message: "`action` is missing; `context` is missing; `org_id` must be text (got 1)",
    });
  });
});

describe("decide", () => {
  it("returns status, work frame, metadata, reasons and record id", async () => {
    const answer = await decideAction.run({ ...wire, context: routine }, asker);
    const fields = ["status", "work_frame", "decision_metadata", "because", "warnings", "record_id"];
    expect(Object.keys(answer)).toEqual(fields);
    expect(answer).toMatchObject({ status: "GREEN", work_frame: { mode: "execute" } });
  });

  it("returns the reasons without the scope `audit`", async () => {
    const by = invocationOf(world, { caller: { ...alice, scopes: ["decide"] } });
    const asked = { ...wire, context: { ...routine, payee: { country: "XX" } } };
    const { because, warnings, record_id } = await decideAction.run(asked, by);
    expect(because.length).toBeGreaterThan(0);
    expect(await showRecord.run({ record_id }, asker)).toMatchObject({ because, warnings });
    const lacking = await decideAction.run({ ...wire, context: {} }, by);
    expect(lacking.status).toBe("YELLOW");
    expect(lacking.warnings.length).toBeGreaterThan(0);
  });

  it("records the caller and the correlation id", async () => {
    const by = invocationOf(world, { caller: alice, correlationId: "c-1" });
    const { record_id } = await decideAction.run({ ...wire, context: routine }, by);
    expect(await showRecord.run({ record_id }, asker)).toMatchObject({
      correlation_id: "c-1",
      facts: { authenticated_caller: alice },
    });
  });

  it("prefers the correlation id of the body", async () => {
    const asked = { ...wire, context: routine, correlation_id: "c-3" };
    const { record_id } = await decideAction.run(asked, invocationOf(world, { correlationId: "c-2" }));
    expect(await showRecord.run({ record_id }, asker)).toMatchObject({ correlation_id: "c-3" });
  });

  it.each([
    {
      name: "action",
      asked: { ...wire, action: "wire.aprove" },
      hint: "did you mean `acme/payments/wire.approve`?",
    },
    { name: "version", asked: { ...wire, world_model_version: 2 }, hint: "it has 3" },
  ])("rejects an unknown $name", async ({ asked, hint }) => {
    const asking = decideAction.run({ ...asked, context: routine }, asker);
    await expect(asking).rejects.toMatchObject({ code: "definition_not_found", hint });
  });
});

describe("limits per caller", () => {
  it("count the calls of a token, whatever its session is, and deny without one", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-limits-"));
    const max_calls = { count: 1, per: "caller", window: "1h" };
    const policies = [{ name: "few", version: "1.0.0", max_calls }];
    writeFileSync(
      join(directory, "pay.json"),
      JSON.stringify({ decision: { id: "pay", type: "policy", tool: "pay", policies } }),
    );
    const limited = await sampleWorld(directory);
    const allowed = async (session_id: string, caller?: AuthenticatedCaller): Promise<boolean> => {
      const asking = invocationOf(limited, { caller });
      return (await checkToolCall.run({ tool: "pay", params: {}, session_id }, asking)).allowed;
    };
    expect(await allowed("a", alice)).toBe(true);
    expect(await allowed("b", alice)).toBe(false);
    expect(await allowed("c", { ...alice, subject: "bob" })).toBe(true);
    expect(await allowed("d")).toBe(false);
    rmSync(directory, { recursive: true });
  });
});

describe("a token bound to an organisation", () => {
  const bound = (org_id: string): Invocation => invocationOf(world, { caller: { ...alice, org_id } });

  it("is valid for the gates of that organisation, and for decisions of none", async () => {
    const acme = bound("acme");
    expect(await decideAction.run({ ...wire, context: routine }, acme)).toMatchObject({ status: "GREEN" });
    const asked = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 1 } } };
    expect(await evaluateDecision.run(asked, acme)).toMatchObject({ selected_labels: ["Pass"] });
  });

  it("is not valid for other organisations", async () => {
    const { record_id } = await decideAction.run({ ...wire, context: routine }, asker);
    const other = bound("umbrella");
    const refused = { code: "definition_not_found" };
    const gate = { decision_id: "gate-wire-approve", context: routine };
    const forbidden = { code: "forbidden" };
    await expect(decideAction.run({ ...wire, context: routine }, other)).rejects.toMatchObject(forbidden);
    await expect(evaluateDecision.run(gate, other)).rejects.toMatchObject(refused);
    await expect(dryRunDecision.run(gate, other)).rejects.toMatchObject(refused);
    await expect(findPrecedents.run(gate, other)).rejects.toMatchObject(refused);
    await expect(showDecision.run({ decision_id: gate.decision_id }, other)).rejects.toMatchObject(refused);
    await expect(listActions.run({ org_id: "acme" }, other)).rejects.toMatchObject(forbidden);
    for (const each of [explainRecord, showRecord, findPrecedents]) {
      await expect(each.run({ record_id }, other)).rejects.toMatchObject({ code: "record_not_found" });
    }
  });

  it("does not show records of another organisation", async () => {
    const asked = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 1 } } };
    const { record_id } = await evaluateDecision.run(asked, bound("acme"));
    await expect(showRecord.run({ record_id }, bound("umbrella"))).rejects.toMatchObject({
      code: "record_not_found",
    });
    expect(await showRecord.run({ record_id }, bound("acme"))).toMatchObject({ record_id });
  });

  it("lists nothing of other organisations", async () => {
    const other = bound("umbrella");
    expect(await listActions.run({}, other)).toEqual({ actions: [] });
    const { decisions } = await listDecisions.run({}, other);
    expect(decisions.map(({ id }) => id)).not.toContain("gate-wire-approve");
    expect(decisions.map(({ id }) => id)).toContain("decision-quality-gate");
    const { records } = await findRecords.run({ type: "gate" }, other);
    expect(records).toEqual([]);
    expect((await findRecords.run({ type: "gate" }, bound("acme"))).records.length).toBeGreaterThan(0);
  });
});

describe("records of another organisation", () => {
  const bound = (org_id: string): Invocation => invocationOf(world, { caller: { ...alice, org_id } });
  const quality = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 1 } } };

  it("do not hide the latest visible record", async () => {
    const own = await evaluateDecision.run(quality, bound("initech"));
    const { record_id } = await evaluateDecision.run(quality, bound("acme"));
    await decideAction.run({ ...wire, context: routine }, asker);
    for (const each of [showRecord, explainRecord, findPrecedents]) {
      const answer = await each.run({ record_id: "latest" }, bound("initech"));
      expect(answer).toMatchObject({ record_id: own.record_id });
    }
    await expect(showRecord.run({ record_id }, bound("initech"))).rejects.toMatchObject({
      code: "record_not_found",
    });
    expect(await showRecord.run({ record_id: "Latest" }, bound("acme"))).toMatchObject({ type: "gate" });
  });

  it("do not count among the newest records", async () => {
    const ids: (string | undefined)[] = [];
    for (let i = 0; i < 3; i++) {
      ids.push((await evaluateDecision.run(quality, bound("hooli"))).record_id);
      await evaluateDecision.run(quality, bound("acme"));
    }
    const asked = { decision_id: quality.decision_id, limit: 2, since: "1h" };
    const idsOf = async (more: object): Promise<readonly string[]> =>
      (await findRecords.run({ ...asked, ...more }, bound("hooli"))).records.map((each) => each.record_id);
    expect(await idsOf({})).toEqual(ids.slice(-2));
    expect(await idsOf({ reverse: true })).toEqual(ids.slice(-2).reverse());
  });

  it("are not the latest record of a caller without records", async () => {
    const fresh = await sampleWorld();
    await decideAction.run({ ...wire, context: routine }, invocationOf(fresh));
    const by = invocationOf(fresh, { caller: { ...alice, org_id: "initech" } });
    await expect(showRecord.run({ record_id: "latest" }, by)).rejects.toMatchObject({
      code: "record_not_found",
      hint: "no records yet",
    });
  });
});

describe("the other operations", () => {
  it("make a decision of any type, recorded or not", async () => {
    const asked = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 0.9 } } };
    expect(await evaluateDecision.run(asked, asker)).toMatchObject({ selected_targets: ["stage-deploy"] });
    const tried = await dryRunDecision.run(asked, asker);
    expect(tried).toMatchObject({ selected_targets: ["stage-deploy"], dry_run: true });
    expect(tried).not.toHaveProperty("record_id");
  });

  it("check a tool call and record its result", async () => {
    const session = { query: { audience: "team", segment: "smb" } };
    const call = { tool: "select_metric", params: { name: "churn" }, session, session_id: "s-1" };
    const checked = await checkToolCall.run(call, asker);
    expect(checked).toMatchObject({ tool: "select_metric", allowed: true });
    const result = await recordToolResult.run({ tool: call.tool, session_id: "s-1", ok: true }, asker);
    expect(result.decision_records).toEqual(checked.decisions.map(({ record_id }) => record_id));
    expect(result.warnings).toEqual([]);
    expect(await recordToolResult.run({ tool: "t", session_id: "s-1", ok: true }, asker)).toMatchObject({
      linked: false,
      warnings: [
        "no open call of `t` was allowed in session `s-1`; the result is recorded, but does not count",
      ],
    });
  });

  it("record the params and the value of a call without a session", async () => {
    const call = { tool: "send_note", params: { to: "bob" } };
    const { decisions, allowed } = await checkToolCall.run(call, asker);
    expect(allowed).toBe(true);
    const record_id = decisions[0]?.record_id;
    const value = { sent: true };
    const result = await recordToolResult.run({ ...call, ok: true, record_id, value }, asker);
    expect(result).toMatchObject({ linked: true, decision_records: [record_id], value });
    expect(await showRecord.run({ record_id: result.record_id }, asker)).toMatchObject({
      params_digest: result.params_digest,
      value,
    });
    await expect(recordToolResult.run({ ...call, ok: true }, asker)).rejects.toMatchObject({
      code: "input_invalid",
      message: "specify `session_id` or `record_id`",
    });
  });

  it("name the policy that needs a session", async () => {
    await expect(checkToolCall.run({ tool: "filter_customers", params: {} }, asker)).rejects.toMatchObject({
      code: "usage",
      message: "policy `metric_first` of `policy-filter-customers` needs a session",
    });
  });

  it("keep the state of a session for the callers of one organisation", async () => {
    const by = (org_id: string): Invocation => invocationOf(world, { caller: { ...alice, org_id } });
    const call = { tool: "select_metric", params: { name: "logo_retention" }, session_id: "s-kept" };
    const session = { query: { audience: "ceo" } };
    await checkToolCall.run({ ...call, params: { name: "revenue_retention" }, session }, by("acme"));
    const reason = "Reports for executives use revenue retention, not logo_retention";
    const kept = await checkToolCall.run(call, by("acme"));
    expect(kept).toMatchObject({ allowed: false, reason });
    expect(kept.decisions[0]?.input_value).toMatchObject({ session });
    const other = await checkToolCall.run(call, by("initech"));
    expect(other.decisions[0]?.input_value).not.toHaveProperty("session");
  });

  it("do not take a reported success of a denied call for evidence", async () => {
    const session = { query: { audience: "ceo", metric_type: "retention" } };
    const common = { session, session_id: "s-evidence" };
    const metric = { tool: "select_metric", params: { name: "logo_retention" }, ...common };
    const filter = { tool: "filter_customers", params: { segment: "smb", filter: "active" }, ...common };
    expect(await checkToolCall.run(metric, asker)).toMatchObject({ allowed: false });
    for (const more of [{}, { params: metric.params }]) {
      const told = { tool: metric.tool, session_id: common.session_id, ok: true, ...more };
      expect(await recordToolResult.run(told, asker)).toMatchObject({ linked: false });
    }
    expect(await checkToolCall.run(filter, asker)).toMatchObject({
      allowed: false,
      reason: "`select_metric` must succeed in the session first",
    });
  });

  it.each([
    {
      name: "whose token has no scope `report`",
      by: { caller: { ...alice, scopes: ["decide"] } },
      kept: false,
    },
    { name: "whose server does not offer `report`", by: { offered: ["decide"] as const }, kept: false },
    { name: "whose token has the scope `report`", by: { caller: alice }, kept: true },
    { name: "whose server offers everything", by: {}, kept: true },
  ])("keep the state of a session from a caller $name: $kept", async ({ name, by, kept }) => {
    const call = { tool: "select_metric", params: { name: "logo_retention" }, session_id: name };
    const session = { query: { audience: "ceo" } };
    await checkToolCall.run({ ...call, session }, { ...invocationOf(world), ...by });
    const { decisions } = await checkToolCall.run(call, asker);
    expect(decisions[0]?.input_value).toMatchObject(kept ? { session } : {});
    expect(Object.hasOwn(Object(decisions[0]?.input_value) as object, "session")).toBe(kept);
  });

  it("reject a value that is given twice", async () => {
    const call = { tool: "t", params: {}, session_id: "s-1", session: {}, context: { session: {} } };
    await expect(checkToolCall.run(call, asker)).rejects.toMatchObject({ code: "input_invalid" });
  });

  it("show definitions without file names", async () => {
    const { decisions } = await listDecisions.run({}, asker);
    expect(decisions.length).toBe(world.definitions.ids.length);
    const shown = await showDecision.run({ decision_id: "gate-wire-approve" }, asker);
    for (const each of [...decisions, shown]) {
      expect(each).not.toHaveProperty("file");
      expect(each).toHaveProperty("definition_hash");
    }
  });

  it("list actions with their context schemas", async () => {
    const { actions } = await listActions.run({ org_id: "acme", domain: "payments" }, asker);
    expect(actions).toEqual([
      expect.objectContaining({
        ...wire,
        world_model_version: 3,
        latest: true,
        decision_id: "gate-wire-approve",
        context_schema: expect.objectContaining({ required: ["amount", "payee"] }) as unknown,
      }),
    ]);
    expect(await listActions.run({ org_id: "acme", domain: "hr" }, asker)).toEqual({ actions: [] });
  });

  it("list records page by page", async () => {
    const asked = { decision_id: "decision-quality-gate", context: { artifact: { quality_score: 0.1 } } };
    for (let i = 0; i < 5; i++) await evaluateDecision.run({ ...asked, workflow_id: "pages" }, asker);
    const all = await findRecords.run({ workflow_id: "pages" }, asker);
    expect(all.records).toHaveLength(5);
    const numbers = all.records.map(({ seq }) => seq);
    expect(await findRecords.run({ workflow_id: "pages", limit: 2 }, asker)).toMatchObject({
      records: [{ seq: numbers[3] }, { seq: numbers[4] }],
    });
    let after = 0;
    const seen: number[] = [];
    for (;;) {
      const { records, next_after } = await findRecords.run({ workflow_id: "pages", limit: 2, after }, asker);
      seen.push(...records.map(({ seq }) => seq));
      if (next_after === undefined) break;
      after = next_after;
    }
    expect(seen).toEqual(numbers);
  });

  it("explain a record", async () => {
    const { record_id } = (await evaluateDecision.run(
      { decision_id: "gate-wire-approve", context: routine },
      asker,
    )) as GateResult;
    expect(await explainRecord.run({ record_id }, asker)).toMatchObject({
      record_id,
      explanation: { intact: true },
    });
  });

  it("find precedents", async () => {
    const { record_id = "" } = await evaluateDecision.run(
      { decision_id: "gate-wire-approve", context: routine },
      asker,
    );
    expect(await findPrecedents.run({ record_id }, asker)).toMatchObject({ record_id, precedents: [] });
    await expect(findPrecedents.run({ decision_id: "x" }, asker)).rejects.toMatchObject({
      code: "input_invalid",
    });
  });
});
