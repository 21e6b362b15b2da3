import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cpSync, readFileSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { bin, cleanEnvironment, run, samples, temporaryDirectory } from "../../acceptance/command.js";
import { goodRequest } from "./hostile-requests.js";
import { get, post, routineWire } from "./serving.js";

interface Running {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
  readonly store: string;
  readonly decisions: string;
  readonly said: { out: string; err: string };
  /** Resolves when the log contains the text. */
  readonly says: (text: string) => Promise<void>;
  readonly exit: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
}

/** Starts the built command and waits until it listens. */
async function start(...words: readonly string[]): Promise<Running> {
  const root = temporaryDirectory();
  const [store, decisions] = [join(root, "store"), join(root, "decisions")];
  cpSync(samples, decisions, { recursive: true });
  const args = [
    bin,
    "decision",
    "serve",
    "--port",
    "0",
    "--store",
    store,
    "--decisions",
    decisions,
    ...words,
  ];
  const child = spawn(process.execPath, args, { env: cleanEnvironment(), stdio: ["ignore", "pipe", "pipe"] });
  afterAll(() => void child.kill("SIGKILL"));
  const said = { out: "", err: "" };
  child.stdout.on("data", (chunk: Buffer) => (said.out += chunk.toString()));
  child.stderr.on("data", (chunk: Buffer) => (said.err += chunk.toString()));
  const exit = once(child, "exit").then(([code, signal]) => ({
    code: code as number | null,
    signal: signal as NodeJS.Signals | null,
  }));
  const says = async (text: string): Promise<void> => {
    while (!said.err.includes(text)) await Promise.race([once(child.stderr, "data"), failed(exit, said)]);
  };
  await says("use --jwks to allow remote clients\n");
  const [, port] = /^listening on http:\/\/127\.0\.0\.1:(\d+)$/m.exec(said.err) ?? [];
  return { url: `http://127.0.0.1:${port}`, port: Number(port), child, store, decisions, said, says, exit };
}

/** A request with its response. */
async function untilUnderWay(url: string): Promise<void> {
  for (;;) {
    const { body } = await get({ url }, "/metrics");
    if (String(body["text"]).includes("agent33_requests_in_flight 2\n")) return;
  }
}

const failed = async (exit: Promise<unknown>, said: { readonly err: string }): Promise<never> => {
  await exit;
  throw new Error(`it ended: ${said.err}`);
};

describe("agent-33 decision serve", () => {
  it("finishes running requests on SIGTERM, and leaves an intact log", async () => {
    const { url, port, child, store, decisions, said, exit } = await start();
    expect(said.err).toMatch(/^listening on /);
    expect(said.err).toContain(
      `\ndecisions: 14 in ${decisions} (from --decisions)\nstore: ${store} (from --store)\n`,
    );
    expect(await post({ url }, "/decide", routineWire)).toMatchObject({
      status: 200,
      body: { status: "GREEN" },
    });
    const idle = connect(port, "127.0.0.1");
    idle.write(goodRequest({ line: "GET /healthz HTTP/1.1", body: "", type: "" }));
    await once(idle, "data");
    const slow = connect(port, "127.0.0.1");
    const request = goodRequest();
    slow.write(request.subarray(0, -10));
    await untilUnderWay(url);
    const startedAt = performance.now();
    child.kill("SIGTERM");
    await once(idle, "close");
    slow.write(request.subarray(-10));
    const [answer] = (await once(slow, "data")) as [Buffer];
    expect(answer.toString()).toMatch(/^HTTP\/1\.1 200 OK/);
    expect(await exit).toEqual({ code: 0, signal: null });
    expect(performance.now() - startedAt).toBeLessThan(5_000);
    expect(said.out).toBe("");
    expect(said.err).toContain('"message":"shutting down","signal":"SIGTERM"');
    const verified = await run(["decision", "verify", "--store", store, "--json"]);
    expect(verified).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/"records": ?2\b/) as string,
    });
  });

  it("reloads on SIGHUP, logs rejected changes, and stops on Ctrl-C", async () => {
    const { url, child, decisions, says, exit } = await start();
    const file = join(decisions, "wire-transfer.yaml");
    const text = readFileSync(file, "utf8");
    writeFileSync(file, text.replace("amount > 10000", "amount > 100"));
    child.kill("SIGHUP");
    await says('"message":"definitions reloaded"');
    expect((await post({ url }, "/decide", routineWire)).body["status"]).toBe("YELLOW");
    writeFileSync(file, text.replace("aggregation:", "agregation:"));
    await says('"level":"error","message":"definitions not reloaded: it has new problems"');
    await says("(did you mean `aggregation`?)");
    expect((await get({ url }, "/readyz")).body).toMatchObject({ ready: true, stale: true });
    for (const name of readdirSync(decisions)) rmSync(join(decisions, name), { recursive: true });
    await says("it removes all definitions");
    const unasked = await post({ url }, "/decisions/decision-quality-gate/evaluate", {
      context: { artifact: { quality_score: 0.9 } },
    });
    expect(unasked).toMatchObject({ status: 200, body: { selected_labels: ["Pass"] } });
    expect((await get({ url }, "/decisions")).status).toBe(200);
    child.kill("SIGINT");
    expect(await exit).toEqual({ code: 130, signal: null });
  });

  it("accepts requests for --drain-delay after SIGTERM, while it is not ready", async () => {
    const { url, child, says, exit } = await start("--drain-delay", "10m", "--mcp");
    child.kill("SIGTERM");
    await says('"message":"shutting down"');
    expect((await get({ url }, "/readyz")).status).toBe(503);
    const made = await post({ url }, "/decide", routineWire);
    expect([made.status, made.headers.get("connection")]).toEqual([200, "close"]);
    const ping = { jsonrpc: "2.0", id: 1, method: "tools/list" };
    const listed = await post({ url }, "/mcp", ping, { accept: "application/json, text/event-stream" });
    expect([listed.status, listed.headers.get("connection")]).toEqual([200, "close"]);
    child.kill("SIGTERM");
    expect(await exit).toEqual({ code: null, signal: "SIGTERM" });
  });

  it("stops at once on the second signal", async () => {
    const { url, port, child, says, exit } = await start();
    const slow = connect(port, "127.0.0.1").on("error", () => undefined);
    slow.write(goodRequest().subarray(0, -10));
    await untilUnderWay(url);
    child.kill("SIGTERM");
    await says('"message":"shutting down"');
    child.kill("SIGINT");
    expect(await exit).toEqual({ code: null, signal: "SIGINT" });
  });

  it("runs and stops although its log is not read", async () => {
    const { url, child, exit } = await start();
    child.stderr!.removeAllListeners("data").pause();
    const path = "/decisions";
    await Promise.all(
      Array.from({ length: 8 }, async () => {
        for (let at = 0; at < 100; at++) await get({ url }, path);
      }),
    );
    expect((await post({ url }, "/decide", routineWire)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await exit).toEqual({ code: 0, signal: null });
  });
});
