import { mkdtempSync, readFileSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { compose } from "../../../src/compose.js";
import type { ErrorCode } from "../../../src/errors.js";
import { DecisionError } from "../../../src/errors.js";
import type { ServedWorld } from "../../../src/serve/operations/operation.js";
import { verifyStore } from "../../../src/store/drivers/jsonl/verify-store.js";
import { sampleWorld, samples } from "../sample-world.js";
import type { Answered, Serving } from "./serving.js";
import { get, post, routineWire, serving } from "./serving.js";

let world: ServedWorld;
let server: Serving;
let thrown: unknown;

beforeAll(async () => {
  world = await sampleWorld();
  server = await serving({
    world: {
      ...world,
      decide: () =>
        Promise.resolve().then(() => {
          throw thrown;
        }),
    },
  });
});

const expected: Readonly<Record<ErrorCode, number>> = {
  usage: 400,
  input_invalid: 400,
  forbidden: 403,
  definition_not_found: 404,
  record_not_found: 404,
  condition_errored: 422,
  hit_policy_violated: 422,
  output_errored: 422,
  decision_cycle: 422,
  no_evaluations: 422,
  invalid_weight: 422,
  invalid_confidence: 422,
  invalid_rule_dsl: 422,
  invalid_configuration: 422,
  invalid_evaluator: 422,
  invalid_scoring_strategy: 422,
  invalid_audit_adapter: 422,
  replay_mismatch: 422,
  nothing_to_check: 422,
  not_replayable: 422,
  fetch_refused: 502,
  request_failed: 502,
  network_failed: 502,
  definition_invalid: 503,
  definitions_missing: 503,
  expression_invalid: 503,
  not_approved: 503,
  file_exists: 503,
  file_unreadable: 503,
  file_unwritable: 503,
  store_busy: 503,
  store_failed: 503,
  log_damaged: 503,
  circuit_open: 503,
  rate_limited: 503,
  request_timeout: 504,
};

const operators: readonly string[] = [
  ...["definition_invalid", "definitions_missing", "expression_invalid", "not_approved", "file_exists"],
  ...["file_unreadable", "file_unwritable", "store_busy", "store_failed", "log_damaged"],
];

/** RFC 9457, section 3. */
function expectProblem({ headers, status, body }: Answered): void {
  expect(headers.get("content-type")).toBe("application/problem+json; charset=utf-8");
  expect(body).toMatchObject({
    type: expect.stringMatching(/^urn:agent-33:problem:[a-z_]+$/) as string,
    title: expect.stringMatching(/^[A-Z]/) as string,
    status,
    detail: expect.stringMatching(/^\S.*[^.]$/) as string,
    code: expect.stringMatching(/^[a-z_]+$/) as string,
  });
}

describe("a problem", () => {
  it.each(Object.entries(expected))("%s has the status %i", async (code, status) => {
    thrown = new DecisionError(code as ErrorCode, "what went wrong at `/srv/agent-33/log`", {
      hint: "look into `/srv/agent-33`",
    });
    const answer = await post(server, "/decide", routineWire);
    expect(answer.status).toBe(status);
    expectProblem(answer);
    expect(answer.body["code"]).toBe(code);
    if (operators.includes(code)) expect(JSON.stringify(answer.body)).not.toContain("/srv");
    expect(answer.headers.get("retry-after")).toBe(status === 503 ? "1" : null);
    expect(answer.headers.get("www-authenticate") !== null).toBe(status === 403);
    const logged = await server.logged();
    expect(logged.includes(`"message":"what went wrong at \`/srv/agent-33/log\`","code":"${code}"`)).toBe(
      status >= 500,
    );
  });

  it.each([new TypeError("cannot read `secret-of-ours`"), "a text", undefined, { statusCode: 503 }])(
    "for a bug has no details, and its stack is only logged: %s",
    async (bug) => {
      thrown = bug;
      const answer = await post(server, "/decide", routineWire, { "x-correlation-id": "bug-1" });
      expect(answer).toMatchObject({
        status: 500,
        body: { code: "bug", detail: "this is a bug in agent-33, not in the request" },
      });
      expectProblem(answer);
      expect(JSON.stringify(answer.body)).not.toMatch(/secret-of-ours|\.ts|at /);
      const lines = (await server.logged()).split("\n").filter((line) => line.includes('"code":"bug"'));
      expect(JSON.parse(lines.at(-1)!)).toMatchObject({
        level: "error",
        correlation_id: "bug-1",
        stack: expect.any(String) as string,
      });
    },
  );

  it("lists every problem of a request", async () => {
    const answer = await post(server, "/decide", { org_id: 1 });
    expectProblem(answer);
    expect(answer.body).toMatchObject({ status: 400, code: "input_invalid" });
    expect((answer.body["errors"] as readonly unknown[]).length).toBe(4);
  });

  it("is returned for unknown paths, decisions and records", async () => {
    const nowhere = await get(server, "/nowhere");
    expectProblem(nowhere);
    expect(nowhere.status).toBe(404);
    const record = await get(server, "/records/01890000-0000-7000-8000-000000000000");
    expectProblem(record);
    expect(record.body["code"]).toBe("record_not_found");
    const actions = await get(server, "/orgs/acme/domains/nothing/actions");
    expectProblem(actions);
    expect(actions.status).toBe(404);
  });
});

describe("a store that is damaged while in use", () => {
  it("is not ready from the first read of its log until it is repaired", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-harmed-"));
    const own = await compose({ decisions: samples, store: { directory }, env: {} });
    const harmed = await serving({ world: { ...own, records: own.records! } });
    await post(harmed, "/decide", routineWire);
    const segment = join(directory, "log", "000000000001.jsonl");
    const original = readFileSync(segment);
    writeFileSync(segment, original.toString().replace("GREEN", "Green"));
    for (let times = 0; times < 2; times++) {
      const unready = await get(harmed, "/readyz");
      expect(unready).toMatchObject({ status: 503, body: { ready: false } });
      expect(unready.body["reason"]).toContain("damaged");
      expect(JSON.stringify(unready.body)).not.toContain(directory);
    }
    expect((await post(harmed, "/decide", routineWire)).body["code"]).toBe("log_damaged");
    writeFileSync(segment, original);
    expect((await get(harmed, "/readyz")).status).toBe(200);
    expect((await post(harmed, "/decide", routineWire)).status).toBe(200);
    await own.close();
  });

  it("is neither ready nor written to while it is missing, and recovers", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-removed-"));
    const own = await compose({ decisions: samples, store: { directory }, env: {} });
    const removed = await serving({ world: { ...own, records: own.records! } });
    await post(removed, "/decide", routineWire);
    renameSync(directory, `${directory}-moved`);
    for (let times = 0; times < 2; times++) {
      expect((await get(removed, "/readyz")).status).toBe(503);
      const refused = await post(removed, "/decide", routineWire);
      expect(refused).toMatchObject({ status: 503, body: { code: "store_failed" } });
    }
    rmSync(directory, { recursive: true });
    renameSync(`${directory}-moved`, directory);
    expect((await get(removed, "/readyz")).status).toBe(200);
    expect((await post(removed, "/decide", routineWire)).status).toBe(200);
    await own.close();
    expect(verifyStore(directory)).toMatchObject({ size: 2, problems: [] });
  });
});

describe("a store that fails", () => {
  it("fails the request, is not ready, records nothing partially, and recovers", async () => {
    const directory = mkdtempSync(join(tmpdir(), "agent-33-failing-"));
    const own = await compose({ decisions: samples, store: { directory, durability: "fast" }, env: {} });
    const failing = await serving({ world: { ...own, records: own.records! } });
    expect((await post(failing, "/decide", routineWire)).status).toBe(200);
    expect((await get(failing, "/readyz")).body).toEqual({
      ready: true,
      decisions: own.definitions.ids.length,
    });
    const log = join(directory, "log");
    renameSync(log, `${log}-moved`);
    writeFileSync(log, "");
    const refused = await post(failing, "/decide", routineWire);
    expect(refused).toMatchObject({ status: 503, body: { code: "store_failed" } });
    expectProblem(refused);
    expect(JSON.stringify(refused.body)).not.toContain(directory);
    const unready = await get(failing, "/readyz");
    expect(unready).toMatchObject({ status: 503, body: { ready: false } });
    expect(JSON.stringify(unready.body)).not.toContain(directory);
    expect((await get(failing, "/healthz")).status).toBe(200);
    rmSync(log);
    renameSync(`${log}-moved`, log);
    expect((await post(failing, "/decide", routineWire)).status).toBe(200);
    expect(await failing.recorded()).toBe(2);
    expect(readdirSync(log).some((name) => name.endsWith(".tmp"))).toBe(false);
    await own.close();
  });
});
