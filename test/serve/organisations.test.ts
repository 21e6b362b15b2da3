import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import type { AuthenticatedCaller, DecisionRecord } from "../../src/model/record.js";
import { toolResultRecordBody } from "../../src/record/record-json.js";
import type { Authenticate } from "../../src/serve/auth/authenticate.js";
import { evaluateDecision } from "../../src/serve/operations/decide.js";
import type { Invocation, ServedWorld } from "../../src/serve/operations/operation.js";
import { explainRecord, findRecords, showRecord } from "../../src/serve/operations/records.js";
import { checkToolCall, recordToolResult } from "../../src/serve/operations/tool-calls.js";
import { afterFile } from "../after-file.js";
import { assessed } from "../store/entries.js";
import type { Serving } from "./http/serving.js";
import { get, post, serving } from "./http/serving.js";
import { alice, invocationOf, sampleWorld } from "./sample-world.js";
import type { Transports } from "./transports.js";
import { openTransports, transportNames } from "./transports.js";

/** One gate for each of two organisations, and decisions that belong to none. */
const definitions = `
decision:
  id: gate-acme-pay
  type: gate
  action: { org: acme, domain: payments, name: pay }
  rules: [{ id: any, tier: T3, severity: 1, when: "true", status: GREEN }]
---
decision:
  id: gate-globex-pay
  type: gate
  action: { org: globex, domain: payments, name: pay.out }
  rules: [{ id: any, tier: T3, severity: 1, when: "true", status: GREEN }]
---
decision:
  id: triage
  type: binary
  input: "{{ amount }}"
  cases:
    - { condition: "input > 10", target: gate-acme-pay, label: Large }
    - { condition: "input <= 10", target: stage-done, label: Small }
  default: { target: stage-done }
---
decision:
  id: remembered
  type: switch
  input: "{{ kind }}"
  cases: [{ condition: "input == 'a'", target: stage-a, label: A }]
  default: { target: stage-b }
  cache: { enabled: true }
---
decision:
  id: about
  type: switch
  input: "{{ kind }}"
  entities: [{ type: customer, id: "{{ customer }}" }]
  cases: [{ condition: "input == 'a'", target: stage-a, label: A }]
  default: { target: stage-b }
---
decision:
  id: writes
  type: policy
  tool: write_file
  policies:
    - { name: after_read, version: 1.0.0, requires: [read_file] }
    - { name: few, version: 1.0.0, max_calls: { count: 1, per: session } }
`;

function definitionDirectory(): string {
  const directory = join(mkdtempSync(join(tmpdir(), "agent-33-orgs-")), "decisions");
  mkdirSync(directory);
  writeFileSync(join(directory, "all.yaml"), definitions);
  afterFile(() => rmSync(directory, { recursive: true, force: true }));
  return directory;
}

const caller = (org_id: string): AuthenticatedCaller => ({ ...alice, org_id });

/** Reads the organisation from the token itself. */
const authenticate: Authenticate = (authorization = "") => {
  const org = authorization.replace("Bearer ", "");
  return Promise.resolve(org === "none" ? alice : caller(org));
};

let directory: string;
let world: ServedWorld;
let transports: Transports;

beforeAll(async () => {
  directory = definitionDirectory();
  world = await sampleWorld(directory);
  transports = await openTransports(world, authenticate);
});

const by = (org?: string): Invocation =>
  invocationOf(world, { caller: org === undefined ? alice : caller(org) });
const token = (org: string): { readonly authorization: string } => ({ authorization: `Bearer ${org}` });
const size = async (): Promise<number> => (await world.records.log.state()).size;

describe.each(transportNames)("a chain of decisions over %s", (transport) => {
  const chain = { decision_id: "triage", context: { amount: 11 }, follow: true };

  it("ends with an error at a gate of another organisation, which is not made", async () => {
    const before = await size();
    const refused = { code: "definition_not_found", message: "no decision called `gate-acme-pay`" };
    expect(await transports[transport]("dry_run", chain, "globex")).toMatchObject({ refused });
    expect(await size()).toBe(before);
    expect(await transports[transport]("evaluate", chain, "globex")).toMatchObject({ refused });
    const { records } = await findRecords.run({ after: before, kind: "all" }, by());
    expect(records).toMatchObject([{ decision_id: "triage" }]);
  });

  it("includes the gates of the own organisation", async () => {
    for (const org of ["acme", "none"]) {
      const { answer } = (await transports[transport]("evaluate", chain, org)) as { readonly answer: object };
      expect(answer).toMatchObject({ decision_id: "gate-acme-pay", status: "GREEN" });
    }
  });
});

describe("the record of a decision about an entity", () => {
  it("is shown to its organisation as it was recorded, whatever others decided about the entity", async () => {
    const input = { decision_id: "about", context: { kind: "a", customer: "c-1" } };
    for (const org of ["globex", "acme", "globex", "acme"]) await evaluateDecision.run(input, by(org));
    const shown = (await showRecord.run({ record_id: "latest" }, by("acme"))) as DecisionRecord;
    const found = await world.records.log.find({ latest: true });
    expect(found).toMatchObject({ record: shown });
    expect(shown.lineage?.precedents).toHaveLength(1);
  });
});

describe("the error for something of another organisation", () => {
  let server: Serving;

  // Records made shortly before have the same prefix.
  beforeEach(async () => {
    world = await sampleWorld(directory);
    server = await serving({ world, authenticate });
  });

  /** The body of an error without the id that was sent. */
  const bodyFor = async (path: string, id: string, body?: object): Promise<unknown> => {
    const sent = body && (JSON.parse(JSON.stringify(body).replaceAll("ID", id)) as object);
    const at = path.replace("ID", id);
    const answer = await (sent === undefined
      ? get(server, at, token("globex"))
      : post(server, at, sent, token("globex")));
    expect(answer.status).toBe(404);
    return JSON.parse(JSON.stringify(answer.body).replaceAll(id, "ID"));
  };

  const result = { tool: "pay", session_id: "s", ok: true, record_id: "ID" };

  it.each<[string, object?]>([
    ["/records/ID"],
    ["/records/ID/explain"],
    ["/precedents", { record_id: "ID" }],
    ["/results", result],
  ])("is that for an unknown record: %s", async (path, body) => {
    const pay = { org_id: "acme", domain: "payments", action: "pay", context: {} };
    const ids: string[] = [];
    for (let i = 0; i < 2; i++) {
      const { body: made } = await post(server, "/decide", pay, token("acme"));
      ids.push(String(made["record_id"]));
    }
    const [first = "", second = ""] = ids;
    const { seq } = (await showRecord.run({ record_id: first }, by())) as { readonly seq: number };
    const unknown = await bodyFor(path, "0aaaaaaa-bbbb-7ccc-8ddd-eeeeeeeeeeee", body);
    let common = first.length;
    while (!second.startsWith(first.slice(0, common))) common--;
    for (const id of [first, first.slice(0, 22), first.slice(0, common), String(seq + 100_000)])
      expect(await bodyFor(path, id, body)).toEqual(unknown);
    const unused = "9".repeat(String(seq).length);
    expect(await bodyFor(path, String(seq), body)).toEqual(await bodyFor(path, unused, body));
  });

  it.each<[string, object?]>([
    ["/decisions/ID"],
    ["/decisions/ID/evaluate", { context: {} }],
    ["/decisions/ID/dry-run", { context: {} }],
    ["/precedents", { decision_id: "ID", context: {} }],
  ])("is that for an unknown decision: %s", async (path, body) => {
    expect(await bodyFor(path, "gate-acme-pay", body)).toEqual(await bodyFor(path, "zzzzzzzzzzzz", body));
  });

  it("is that for an unknown gate, also where it is broken", async () => {
    const files = definitionDirectory();
    const gate = (org: string, name: string): string =>
      `decision: { id: gate-${name}, type: gate, action: { org: ${org}, domain: payments, name: ${name} }, rules: 5 }\n`;
    writeFileSync(join(files, "acme.yaml"), gate("acme", "acme-refund"));
    writeFileSync(
      join(files, "both.yaml"),
      `${gate("acme", "acme-void")}---\n${gate("globex", "globex-void")}`,
    );
    writeFileSync(join(files, "own.yaml"), gate("globex", "globex-refund"));
    world = await sampleWorld(files);
    server = await serving({ world, authenticate });
    for (const [path, body] of [
      ["/decisions/ID", undefined],
      ["/decisions/ID/evaluate", { context: {} }],
    ] as const) {
      const unknown = await bodyFor(path, "zzzzzzzzzzzz", body);
      for (const id of ["gate-acme-refund", "gate-acme-void"])
        expect(await bodyFor(path, id, body)).toEqual(unknown);
    }
    const ask = (action: string, org = "globex"): Promise<{ readonly status: number }> =>
      post(server, "/decide", { org_id: org, domain: "payments", action, context: {} }, token(org));
    for (const action of ["zzz", "acme-refund", "acme-void"]) expect((await ask(action)).status).toBe(404);
    for (const action of ["globex-refund", "globex-void"]) expect((await ask(action)).status).toBe(503);
    expect((await ask("acme-refund", "acme")).status).toBe(503);
    const own = { context: {} };
    expect((await post(server, "/decisions/gate-globex-refund/evaluate", own, token("globex"))).status).toBe(
      503,
    );
    expect((await post(server, "/decisions/gate-acme-refund/evaluate", own, token("none"))).status).toBe(503);
    expect((await ask("pay.out")).status).toBe(200);
  });

  it("does not depend on the names in a file whose organisations cannot be read", async () => {
    const files = definitionDirectory();
    writeFileSync(
      join(files, "torn.yaml"),
      "decision: { id: gate-torn, type: gate, action: { name: acme-void, org: [",
    );
    world = await sampleWorld(files);
    server = await serving({ world, authenticate });
    for (const action of ["acme-void", "pay.out", "zzz"]) {
      const ask = { org_id: "globex", domain: "payments", action, context: {} };
      expect((await post(server, "/decide", ask, token("globex"))).status).toBe(503);
    }
    const unknown = await bodyFor("/decisions/ID", "zzzzzzzzz");
    expect(await bodyFor("/decisions/ID", "gate-torn")).toEqual(unknown);
  });

  it("is that for an unknown gate at the end of a chain, also where it is broken", async () => {
    const files = definitionDirectory();
    const [gate = "", ...others] = definitions.split("---\n");
    writeFileSync(join(files, "all.yaml"), others.join("---\n"));
    writeFileSync(join(files, "gate.yaml"), gate.replace("rules:", "rulez:"));
    const broken = await sampleWorld(files);
    const chain = { decision_id: "triage", context: { amount: 11 }, follow: true };
    const ran = (org: string): Promise<unknown> =>
      evaluateDecision.run(chain, invocationOf(broken, { caller: caller(org) }));
    await expect(ran("globex")).rejects.toMatchObject({ code: "definition_not_found" });
    await expect(ran("acme")).rejects.toMatchObject({ code: "definition_invalid" });
  });

  it("tells a caller that may only report no ids of records", async () => {
    const { decisions } = await checkToolCall.run(
      { tool: "read_file", params: {}, session_id: "s" },
      by("acme"),
    );
    const id = decisions[0]?.record_id ?? "";
    const reporter = invocationOf(world, { caller: { ...caller("acme"), scopes: ["report"] } });
    const report = (record_id: string, as: Invocation = reporter): Promise<unknown> =>
      recordToolResult.run({ tool: "write_file", session_id: "s", ok: true, record_id }, as);
    for (const reference of [id.slice(0, 8), "01", "latest", "1", "zzz"])
      await expect(report(reference)).rejects.toMatchObject({
        code: "record_not_found",
        message: `record \`${reference}\` not found`,
        hint: "use the complete id of the record, as the check returned it",
        details: undefined,
      });
    await expect(report(id)).rejects.toMatchObject({ code: "usage" });
    await expect(report(id.slice(0, 8), by("acme"))).rejects.toMatchObject({ code: "usage" });
  });

  it("does not suggest it", async () => {
    const hintOf = async (id: string): Promise<unknown> =>
      (await get(server, `/decisions/${id}`, token("globex"))).body["hint"];
    expect(await hintOf("gate-acme-pax")).toBe("`GET /decisions` lists all decisions");
    expect(await hintOf("gate-globex-pax")).toBe("did you mean `gate-globex-pay`?");
    const answerTo = async (org_id: string, action: string): Promise<string> =>
      JSON.stringify(
        (await post(server, "/decide", { org_id, domain: "payments", action, context: {} }, token(org_id)))
          .body,
      );
    expect(await answerTo("globex", "pay")).not.toContain("acme");
    expect(await answerTo("initech", "zzzzzzzz")).not.toMatch(/acme|globex/);
  });

  it("is not an ambiguous prefix of an own record", async () => {
    const own = await evaluateDecision.run({ decision_id: "triage", context: { amount: 1 } }, by("initech"));
    await evaluateDecision.run({ decision_id: "triage", context: { amount: 1 } }, by("acme"));
    const shown = await showRecord.run({ record_id: String(own.record_id).slice(0, 8) }, by("initech"));
    expect(shown).toMatchObject({ record_id: own.record_id });
  });
});

describe("the cache of answers", () => {
  it("is separate for each organisation", async () => {
    const ask = async (org?: string): Promise<boolean> =>
      (await evaluateDecision.run({ decision_id: "remembered", context: { kind: "a" } }, by(org))).cached;
    expect([await ask("acme"), await ask("acme")]).toEqual([false, true]);
    expect([await ask("globex"), await ask("globex")]).toEqual([false, true]);
    expect([await ask(), await ask()]).toEqual([false, true]);
  });
});

describe("a session id that several organisations use", () => {
  const read = { tool: "read_file", params: { path: "a" } };
  const write = { tool: "write_file", params: { path: "a" } };

  const isAllowed = async (call: object, session: string, org?: string): Promise<boolean> =>
    (await checkToolCall.run({ ...call, session_id: session }, by(org))).allowed;

  const report = (session: string, org?: string, more: object = {}): Promise<object> =>
    recordToolResult.run({ tool: "read_file", session_id: session, ok: true, ...more }, by(org));

  it("is a session for each of them, with its own results and limits", async () => {
    expect(await isAllowed(read, "s-1", "acme")).toBe(true);
    await report("s-1", "acme");
    expect(await isAllowed(write, "s-1", "globex")).toBe(false);
    expect(await isAllowed(write, "s-1")).toBe(false);
    expect(await isAllowed(write, "s-1", "acme")).toBe(true);
    expect(await isAllowed(write, "s-1", "acme")).toBe(false);
    for (const org of ["globex", undefined]) {
      await isAllowed(read, "s-1", org);
      await report("s-1", org);
      expect(await isAllowed(write, "s-1", org)).toBe(true);
    }
  });

  it("is recorded as it was sent, with the organisation of each result", async () => {
    await isAllowed(read, "s-2", "acme");
    expect(await report("s-2", "acme")).toMatchObject({ session_id: "s-2", org_id: "acme", warnings: [] });
    expect(await report("s-2", "globex")).toMatchObject({ org_id: "globex", decision_records: [] });
    const seen = async (org?: string): Promise<readonly object[]> =>
      (await findRecords.run({ session_id: "s-2", kind: "all" }, by(org))).records;
    expect(await seen("acme")).toMatchObject([
      { kind: "decision", session_id: "s-2" },
      { kind: "tool_result", org_id: "acme" },
    ]);
    expect(await seen("globex")).toMatchObject([{ kind: "tool_result", org_id: "globex" }]);
    expect(await seen()).toHaveLength(3);
  });

  it("has assessments that only its organisation sees, and those without one that no organisation sees", async () => {
    await world.records.log.append({ body: assessed("s-2a") });
    await world.records.log.append({ body: assessed("s-2a", { org_id: "acme" }) });
    const seen = async (org?: string): Promise<readonly object[]> =>
      (await findRecords.run({ session_id: "s-2a", kind: "assessment" }, by(org))).records;
    expect(await seen("acme")).toMatchObject([{ kind: "assessment", org_id: "acme" }]);
    expect(await seen("globex")).toEqual([]);
    const all = (await seen()) as readonly { readonly record_id: string }[];
    expect(all).toHaveLength(2);
    const record_id = all[1]?.record_id ?? "";
    expect(await explainRecord.run({ record_id }, by("acme"))).toMatchObject({
      kind: "assessment",
      explanation: { answer: "0 of 1 decision deviated from precedent" },
    });
    await expect(explainRecord.run({ record_id }, by("globex"))).rejects.toMatchObject({
      code: "record_not_found",
    });
  });

  it("does not link a result to a decision outside the organisation", async () => {
    const { decisions } = await checkToolCall.run({ ...read, session_id: "s-3" }, by());
    const record_id = decisions[0]?.record_id;
    expect(await report("s-3", "acme", { record_id })).toMatchObject({
      linked: false,
      org_id: "acme",
      warnings: [expect.stringContaining("belongs to another session")],
    });
    expect(await isAllowed(write, "s-3", "acme")).toBe(false);
  });

  it("is that of the named decision for a caller without an organisation", async () => {
    const { decisions } = await checkToolCall.run({ ...read, session_id: "s-4" }, by("acme"));
    const record_id = decisions[0]?.record_id;
    expect(await report("s-4", undefined, { record_id })).toMatchObject({ org_id: "acme" });
    expect(await isAllowed(write, "s-4", "acme")).toBe(true);
  });
});

describe("records that belong to all organisations or to an unknown one", () => {
  it("are hidden from tokens with an organisation", async () => {
    const { decisions } = await checkToolCall.run({ tool: "t", params: {}, session_id: "s-old" }, by("acme"));
    // Older results have no `org_id`.
    const append = (record_id: string, parent_record_id?: string): Promise<unknown> => {
      const timestamp = "2026-11-15T10:30:00.000000Z";
      const parent = parent_record_id === undefined ? {} : { parent_record_id };
      const result = { record_id, timestamp, tool: "t", ok: true, session_id: "s-old", ...parent };
      return world.records.log.append({ body: toolResultRecordBody({ ...result, decision_records: [] }) });
    };
    const [linked, unlinked, noted] = ["a", "b", "c"].map(
      (end) => `0199a3f2-1c44-7000-8000-00000000000${end}`,
    );
    await append(linked ?? "", decisions[0]?.record_id);
    await append(unlinked ?? "");
    const note = { record_id: noted, timestamp: "2026-11-15T10:30:00.000000Z", note: "pruned" };
    await world.records.log.append({
      body: JSON.stringify({ kind: "note", ...note, details: {} }).slice(1, -1),
    });
    const seen = async (org?: string): Promise<readonly string[]> => {
      const { records } = await findRecords.run({ kind: "all", limit: 3 }, by(org));
      return records.map(({ record_id }) => record_id);
    };
    expect(await seen()).toEqual([linked, unlinked, noted]);
    expect((await seen("acme")).at(-1)).toBe(linked);
    for (const id of [linked, unlinked, noted]) expect(await seen("globex")).not.toContain(id);
  });
});
