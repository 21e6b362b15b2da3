import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { SampleServer } from "../acceptance/sample-server.js";
import { canary, CreditProject, filesIn } from "./credit-project.js";
import { runInProcess } from "./in-process.js";

let server: SampleServer;
beforeEach(async () => {
  server = await SampleServer.start(canary);
});
afterEach(() => server.stop());

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

const soon = { "timeout: 5s": "timeout: 100ms" };
const never = { "timeout: 5s": "timeout: 1h" };

describe("data from an endpoint that answers", () => {
  it.each([
    ["c-3", "stage-payout"],
    ["c-1", "stage-rejection-letter"],
    ["c-5", "stage-loan-officer"],
  ])("decides: %s goes to %s", async (customer, target) => {
    const project = new CreditProject(server);
    expect(await project.ask(customer)).toMatchObject({
      exitCode: 0,
      stderr: "",
      target,
      fetched: { endpoint: "credit_bureau", into: "credit", ok: true, from: "endpoint" },
    });
    project.expectNoSecret();
  });

  it("is asked for once while it is fresh", async () => {
    const project = new CreditProject(server);
    const answers = [await project.ask(), await project.ask(), await project.ask()];
    expect(answers.map(({ fetched }) => fetched?.from)).toEqual(["endpoint", "cache", "cache"]);
    expect(await server.requests()).toBe(1);
    expect((await project.endpoint()).cache).toEqual({ ttl: "1m", fresh: 1, stale: 0 });
    project.expectNoSecret();
  });

  it("is asked for again where it is flaky", async () => {
    await server.become("flaky");
    const project = new CreditProject(server);
    expect(await project.ask()).toMatchObject({ target: "stage-payout", fetched: { from: "endpoint" } });
    expect(await server.requests()).toBe(2);
  });

  it("serves rules that ask with fetch_from_api too", async () => {
    const project = new CreditProject(server);
    const limitOf = async (customer: string): Promise<unknown> => {
      const input = JSON.stringify({ customer: { id: customer } });
      const { stdout } = await project.run("evaluate", "decision-credit-limit", "--input", input, "--json");
      return (JSON.parse(stdout) as { readonly decision: string }).decision;
    };
    expect([await limitOf("c-3"), await limitOf("c-1"), await limitOf("c-5")]).toEqual([
      "raise",
      "keep",
      "review",
    ]);
    await server.become("failing");
    expect(await limitOf("c-4")).toBe("review");
  });

  it("never comes from the caller", async () => {
    await server.become("failing");
    const project = new CreditProject(server);
    const input = '{"customer": {"id": "c-1"}, "credit": {"score": 850}}';
    const { stdout, stderr } = await project.run(
      "evaluate",
      "decision-credit-check",
      "--input",
      input,
      "--format",
      "target",
    );
    expect(stdout).toBe("stage-loan-officer\n");
    expect(stderr).toContain("ignored `credit` in the context: it is fetched from an endpoint");
  });
});

describe("an endpoint that fails", () => {
  it("is left alone after three fetches, and nothing reaches it then", async () => {
    await server.become("failing");
    const project = new CreditProject(server, { changes: never });
    const codes: unknown[] = [];
    for (let time = 0; time < 3; time++) codes.push((await project.ask()).fetched?.error?.code);
    const asked = await server.requests();
    expect(asked).toBe(6);
    for (let time = 0; time < 3; time++) codes.push((await project.ask()).fetched?.error?.code);
    expect(codes).toEqual([
      ...Array<string>(3).fill("request_failed"),
      ...Array<string>(3).fill("circuit_open"),
    ]);
    expect(await server.requests()).toBe(asked);
    expect(await project.endpoint()).toMatchObject({
      circuit: { state: "OPEN", failures: 3, open_until: expect.any(String) as string },
      last: { error: { message: "HTTP status 503 (2 times)" } },
    });
    project.expectNoSecret();
  });

  it("leads to a person, with a warning that says why", async () => {
    await server.become("failing");
    const project = new CreditProject(server);
    const { exitCode, target, stderr } = await project.ask();
    expect({ exitCode, target }).toEqual({ exitCode: 0, target: "stage-loan-officer" });
    expect(stderr).toContain("warning: no data from `credit_bureau`: HTTP status 503 (2 times)");
  });

  it("is waited for no longer than its timeout", async () => {
    await server.become("slow");
    const project = new CreditProject(server);
    const { target, fetched } = await project.ask();
    expect({ target, code: fetched?.error?.code }).toEqual({
      target: "stage-loan-officer",
      code: "request_timeout",
    });
    const { last } = await project.endpoint();
    expect(last?.milliseconds).toBeGreaterThan(900);
    expect(last?.milliseconds).toBeLessThan(2000);
  });

  it("is not asked again at once where it asks for patience beyond the timeout", async () => {
    await server.become("limited");
    const project = new CreditProject(server);
    expect((await project.ask()).stderr).toContain("HTTP status 429");
    expect(await server.requests()).toBe(1);
  });

  it("is tried once after a while, and is back where that goes well", async () => {
    await server.become("failing");
    const project = new CreditProject(server, { changes: soon });
    await project.openCircuit();
    await server.become("ok");
    await pause(100);
    expect((await project.endpoint()).circuit).toEqual({ state: "HALF_OPEN", failures: 3 });
    const before = await server.requests();
    expect(await project.ask()).toMatchObject({ target: "stage-payout", fetched: { from: "endpoint" } });
    expect(await server.requests()).toBe(before + 1);
    expect((await project.endpoint()).circuit).toEqual({ state: "CLOSED", failures: 0 });
  });

  it("is left alone again where the try fails", async () => {
    await server.become("failing");
    const project = new CreditProject(server, { changes: soon });
    await project.openCircuit();
    await pause(100);
    expect((await project.ask()).fetched?.error?.code).toBe("request_failed");
    expect((await project.endpoint()).circuit.failures).toBe(4);
  });

  it("is answered for by what is kept, though stale, while its circuit is open", async () => {
    const project = new CreditProject(server, { changes: { ...never, "ttl: 1m": "ttl: 1ms" } });
    await project.ask();
    await server.become("failing");
    for (let time = 0; time < 3; time++) expect((await project.ask()).target).toBe("stage-loan-officer");
    const stale = await project.ask();
    expect(stale).toMatchObject({ target: "stage-payout", fetched: { ok: true, from: "stale_cache" } });
    expect(stale.stderr).toMatch(
      /warning: using cached data of `credit_bureau` from .*: its circuit is open/,
    );
    expect((await project.endpoint()).cache).toEqual({ ttl: "1ms", fresh: 0, stale: 1 });
    project.expectNoSecret();
  });

  it("leads to a person where nobody listens", async () => {
    const project = new CreditProject(server);
    await server.stop();
    expect(await project.ask()).toMatchObject({
      exitCode: 0,
      target: "stage-loan-officer",
      fetched: { ok: false, error: { code: "network_failed" } },
    });
  });

  it("is asked again at once after a reset", async () => {
    await server.become("failing");
    const project = new CreditProject(server, { changes: never });
    await project.openCircuit();
    await server.become("ok");
    const { exitCode, stdout } = await project.run("endpoints", "reset", "credit_bureau", "--json");
    expect({ exitCode, value: JSON.parse(stdout) as unknown }).toEqual({
      exitCode: 0,
      value: { endpoints: [{ name: "credit_bureau", circuit_was: "OPEN", failures_were: 3 }] },
    });
    expect((await project.ask()).target).toBe("stage-payout");
  });
});

describe("a dry run", () => {
  const posting = `endpoints:
  ledger:
    url: "http://127.0.0.1:PORT/score"
    method: post
    auth: { type: api_key, secret_key: CREDIT_API_KEY }
    allow_private: true
---
decision:
  id: booked
  type: binary
  enrich: [{ endpoint: ledger, params: { customer: "{{ id }}" }, into: ledger }]
  cases: [{ condition: "ledger.score > 0", target: stage-a }]
  default: { target: stage-b }
`;

  it("leaves out what may change data, and says so", async () => {
    const project = new CreditProject(server);
    project.define("booked.yaml", posting);
    const words = ["booked", "--input", '{"id": "c-1"}', "--format", "target"];
    const dry = await project.run("dry-run", ...words);
    expect(dry.stdout).toBe("stage-b\n");
    expect(dry.stderr).toContain("warning: `ledger` was not called: a dry run sends GET requests only");
    expect(await server.requests()).toBe(0);
    expect((await project.run("evaluate", ...words)).stdout).toBe("stage-a\n");
    expect(await server.requests()).toBe(1);
    project.expectNoSecret();
  });

  it("asks where that changes nothing, and keeps nothing", async () => {
    const project = new CreditProject(server);
    const words = ["decision-credit-check", "--input", '{"customer": {"id": "c-3"}}', "--format", "target"];
    for (let time = 0; time < 2; time++) {
      expect((await project.run("dry-run", ...words)).stdout).toBe("stage-payout\n");
    }
    expect(await server.requests()).toBe(2);
    expect(existsSync(project.store)).toBe(false);
  });
});

describe("secrets", () => {
  it("are named where they are missing or wrong, and never shown", async () => {
    const project = new CreditProject(server);
    const input = '{"customer": {"id": "c-3"}}';
    const words = ["decision", "evaluate", "decision-credit-check", "--input", input];
    const env = { AGENT33_DECISIONS: join(project.directory, "decisions"), AGENT33_STORE: project.store };
    const without = await runInProcess(words, { env });
    expect(without.stderr).toContain("the environment variable `CREDIT_API_KEY` is not set");
    expect(await server.requests()).toBe(0);
    const wrong = "another-canary-91";
    const refused = await runInProcess(words, { env: { ...env, CREDIT_API_KEY: wrong } });
    expect(refused.stderr).toContain("HTTP status 401");
    const shown = refused.stdout + refused.stderr;
    expect(
      [shown, ...filesIn(project.store).map((file) => readFileSync(file, "utf8"))].join(""),
    ).not.toContain(wrong);
  });
});

describe("what was decided with fetched data", () => {
  it("is told by explain and the log: from where, when, and why not", async () => {
    const project = new CreditProject(server);
    await project.ask();
    await project.ask();
    await server.become("failing");
    await project.ask("c-4");
    const told = async (record: string): Promise<string> => {
      const { stdout } = await project.run("explain", record, "--format", "plain");
      return stdout.split("\n").find((line) => line.startsWith("fetched\t")) ?? "";
    };
    expect(await told("1")).toMatch(/credit from credit_bureau, fetched \d{4}-.* UTC$/);
    expect(await told("2")).toMatch(/credit from credit_bureau, cached \d{4}-.* UTC$/);
    expect(await told("3")).toBe("fetched\tno credit from credit_bureau: HTTP status 503 (2 times)");
    const { stdout } = await project.run("log", "--format", "plain");
    expect(
      stdout
        .trimEnd()
        .split("\n")
        .map((line) => line.split("\t").at(-1)),
    ).toEqual(["credit_bureau fetched", "credit_bureau cached", "credit_bureau failed"]);
  });

  it("is reached again without asking anybody", async () => {
    const project = new CreditProject(server, { changes: { ...never, "ttl: 1m": "ttl: 1ms" } });
    for (const customer of ["c-1", "c-3", "c-5"]) await project.ask(customer);
    await project.run("evaluate", "decision-credit-limit", "--input", '{"customer": {"id": "c-3"}}');
    await server.become("failing");
    for (let time = 0; time < 4; time++) await project.ask("c-3");
    await server.stop();
    let connections = 0;
    const listener = createServer((socket) => {
      connections++;
      socket.destroy();
    });
    await new Promise<void>((resolve) => listener.listen(server.port, "127.0.0.1", resolve));
    const { exitCode, stdout } = await project.run("replay", "--all", "--json");
    await new Promise((resolve) => listener.close(resolve));
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ total: 8, matched: 8 });
    expect(connections).toBe(0);
    project.expectNoSecret();
  });
});
