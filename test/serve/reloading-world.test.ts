import { cpSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Serving } from "./http/serving.js";
import { get, post, routineWire, serving } from "./http/serving.js";
import { sampleWorld, samples } from "./sample-world.js";
import { openWorldSource } from "../../src/cli/server-world.js";
import { composeDefinitions, composeRecords, composeWith } from "../../src/compose.js";
import type { ServedWorld } from "../../src/serve/operations/operation.js";
import type { ReloadOutcome } from "../../src/serve/reloading-world.js";
import { ReloadingWorld } from "../../src/serve/reloading-world.js";
import { definitionStamp } from "../../src/store/definition-directory.js";
import { fakeIo } from "../cli/fake-io.js";
import { workplace } from "../cli/workspace.js";

const wireFile = "wire-transfer.yaml";

interface ReloadingServer extends Serving {
  readonly decisions: string;
  readonly change: (file: string, from: string | RegExp, to: string) => void;
}

/** A server with its own copy of the definitions. */
async function reloadingServer(
  prepare: (decisions: string) => void = () => undefined,
): Promise<ReloadingServer> {
  const decisions = join(mkdtempSync(join(tmpdir(), "agent-33-reload-")), "decisions");
  cpSync(samples, decisions, { recursive: true });
  prepare(decisions);
  const records = await composeRecords("memory");
  const open = async (): Promise<ServedWorld> =>
    composeWith(records, await composeDefinitions({ decisions }));
  const server = await serving({ open, stamp: () => definitionStamp(decisions) });
  return { ...server, decisions, change: (file, from, to) => rewrite(join(decisions, file), from, to) };
}

/** Replaces the file atomically, as editors do. */
function rewrite(path: string, from: string | RegExp, to: string): void {
  const text = readFileSync(path, "utf8");
  const changed = text.replace(from, to);
  if (changed === text) throw new Error(`nothing of ${path} changed`);
  writeFileSync(`${path}.new`, changed);
  renameSync(`${path}.new`, path);
}

async function until(holds: () => boolean): Promise<void> {
  for (let tries = 0; !holds(); tries++) {
    if (tries > 1000) throw new Error("it never came true");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

const outcomes = (changes: readonly ReloadOutcome[]): readonly string[] => changes.map((each) => each.type);

describe("a changed definition", () => {
  it("is applied between requests, each of which sees the old or the new one", async () => {
    const server = await reloadingServer();
    const seen: unknown[] = [];
    let going = true;
    const asking = Array.from({ length: 4 }, async () => {
      while (going) {
        const { status, body } = await post(server, "/decide", {
          ...routineWire,
          context: { amount: 5000, payee: { country: "DE" } },
        });
        seen.push(status === 200 ? body["status"] : status);
      }
    });
    await until(() => seen.length > 10);
    server.change(wireFile, "amount > 10000", "amount > 1000");
    await until(() => seen.at(-1) === "YELLOW");
    server.change(wireFile, "amount > 1000", "amount > 10000");
    await until(() => seen.at(-1) === "GREEN");
    going = false;
    await Promise.all(asking);
    expect(new Set(seen)).toEqual(new Set(["GREEN", "YELLOW"]));
    expect(outcomes(server.changes)).toEqual(["applied", "applied"]);
  });

  it("is rejected and logged if it is broken, and applied once it is fixed", async () => {
    const server = await reloadingServer();
    const { decisions } = (await get(server, "/readyz")).body;
    server.change(wireFile, "amount > 10000", "amount >");
    await until(() => server.reloadingWorld.rejected !== undefined);
    expect(server.changes.at(-1)).toMatchObject({ type: "rejected", reason: "it has new problems" });
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
    const ready = await get(server, "/readyz");
    expect(ready).toMatchObject({ status: 200, body: { ready: true, stale: true, problems: 1, decisions } });
    expect(server.metrics.text()).toContain("agent33_definitions_stale 1\n");
    server.change(wireFile, "amount >", "amount > 100");
    await until(() => server.reloadingWorld.rejected === undefined);
    expect(await post(server, "/decide", routineWire)).toMatchObject({
      status: 200,
      body: { status: "YELLOW" },
    });
    expect(server.metrics.text()).toContain("agent33_definitions_stale 0\n");
    expect((await get(server, "/readyz")).body).toEqual({ ready: true, decisions });
  });

  it("is applied although another one was broken from the start", async () => {
    const server = await reloadingServer((decisions) =>
      rewrite(join(decisions, "escalation.yaml"), /type: \w+/, "type: nothing"),
    );
    expect((await get(server, "/readyz")).body["problems"]).toBe(1);
    server.change(wireFile, "amount > 10000", "amount > 100");
    await until(() => server.changes.length === 1);
    expect(server.changes[0]).toMatchObject({
      type: "applied",
      diagnostics: [{ file: expect.any(String) as string }],
    });
    expect(await post(server, "/decide", routineWire)).toMatchObject({
      status: 200,
      body: { status: "YELLOW" },
    });
  });

  it("stays in use while the directory is missing", async () => {
    const server = await reloadingServer();
    renameSync(server.decisions, `${server.decisions}-away`);
    await until(() => server.reloadingWorld.rejected !== undefined);
    expect(server.changes.at(-1)).toMatchObject({ type: "rejected", diagnostics: [] });
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
    expect((await get(server, "/readyz")).body).toMatchObject({ ready: true, stale: true });
    renameSync(`${server.decisions}-away`, server.decisions);
    await until(() => server.reloadingWorld.rejected === undefined);
  });

  it("takes effect if it is removed or added", async () => {
    const server = await reloadingServer();
    rmSync(join(server.decisions, wireFile));
    await until(() => server.changes.length === 1);
    expect((await post(server, "/decide", routineWire)).status).toBe(404);
    expect(await get(server, "/readyz")).toMatchObject({ status: 200, body: { ready: true, removed: 1 } });
    expect(server.reloadingWorld.removedDecisions).toEqual(["gate-wire-approve"]);
    cpSync(join(samples, wireFile), join(server.decisions, wireFile));
    await until(() => server.changes.length === 2);
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
    expect((await get(server, "/readyz")).body).not.toHaveProperty("removed");
  });

  it("is applied together with others that are saved shortly after", async () => {
    let stamp = "0";
    let opened = 0;
    const world = { definitions: { ids: [], diagnostics: [] } } as unknown as ServedWorld;
    const changes: ReloadOutcome[] = [];
    const one = await ReloadingWorld.open({
      open: () => Promise.resolve({ ...world, opened: opened++ }),
      stamp: () => stamp,
      rejectBroken: true,
      intervalMs: 5,
      onReload: (change) => void changes.push(change),
    });
    // Two checks in a row never see the same stamp, so the change is not complete.
    for (let at = 1; at <= 40; at++) {
      stamp = String(at);
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    await until(() => changes.length > 0);
    await one.stop();
    expect(opened).toBeLessThan(10);
    expect(one.current).toMatchObject({ opened: opened - 1 });
  });
});

describe("a reloading world", () => {
  const world = { definitions: { ids: ["a"], diagnostics: [] } } as unknown as ServedWorld;

  it("reloads on request and notifies its subscribers", async () => {
    let heard = 0;
    const changes: ReloadOutcome[] = [];
    const one = await ReloadingWorld.open({
      open: () => Promise.resolve({ ...world }),
      stamp: () => "same",
      rejectBroken: true,
      intervalMs: 1000,
      onReload: (change) => void changes.push(change),
    });
    afterAll(() => one.stop());
    const forget = one.subscribe(() => heard++);
    const before = one.current;
    await one.reload();
    expect(one.current).not.toBe(before);
    forget();
    await one.reload();
    expect([heard, changes.length]).toEqual([1, 2]);
  });

  it("stays as it was while it cannot be opened", async () => {
    let fails = false;
    const one = await ReloadingWorld.open({
      open: () => (fails ? Promise.reject(new TypeError("broken")) : Promise.resolve({ ...world })),
      stamp: () => "same",
      rejectBroken: true,
      intervalMs: 1000,
      onReload: () => undefined,
    });
    afterAll(() => one.stop());
    fails = true;
    await one.reload();
    expect(one.rejected).toMatchObject({ reason: "TypeError: broken" });
    fails = false;
    await one.reload();
    expect(one.rejected).toBeUndefined();
  });
});

describe("removing all definitions", () => {
  it("is rejected, because without policies every call would be allowed", async () => {
    const place = workplace();
    const world = await sampleWorld(place.decisions);
    const empty = { ...world, definitions: { ...world.definitions, ids: [], summaries: [] } };
    let stamp = "1";
    const server = await serving({
      open: () => Promise.resolve(stamp === "1" ? world : empty),
      stamp: () => stamp,
    });
    stamp = "2";
    await until(() => server.changes.length === 1);
    expect(server.changes).toEqual([
      { type: "rejected", reason: "it removes all definitions", diagnostics: [] },
    ]);
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
  });
});

describe("with required approvals", () => {
  it("applies every change, and refuses unapproved decisions", async () => {
    const place = workplace();
    const { root, decisions, store } = place;
    const env = {
      AGENT33_HOME: join(root, "home"),
      AGENT33_STORE: store,
      AGENT33_DECISIONS: decisions,
      AGENT33_REQUIRE_APPROVAL: "true",
    };
    const key = join(root, "key.pem");
    const done = async (...words: readonly string[]): Promise<void> => {
      const { code, err } = await place.run(words, { env });
      expect({ code, err }).toEqual({ code: 0, err: expect.any(String) as string });
    };
    await done("keygen", "--out", key);
    await done("config", "set", "trusted_keys", `${key}.pub`);
    await done("approve", "--all", "--yes", "--key", key);
    const served = await openWorldSource({ color: false }, fakeIo({ cwd: root, env }));
    const server = await serving({
      open: () => served.open(),
      stamp: served.stamp,
      keepsSound: !served.mustBeApproved,
    });
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
    rewrite(join(decisions, wireFile), "amount > 10000", "amount > 100000");
    await until(() => server.changes.length === 1);
    const refused = await post(server, "/decide", routineWire);
    expect(refused).toMatchObject({ status: 503, body: { code: "not_approved" } });
    expect(JSON.stringify(refused.body)).not.toContain(root);
    await done("approve", "gate-wire-approve", "--key", key);
    await until(() => server.changes.length === 2);
    expect((await post(server, "/decide", routineWire)).status).toBe(200);
    await done("retire", "gate-wire-approve", "--key", key);
    await until(() => server.changes.length === 3);
    expect(await post(server, "/decide", routineWire)).toMatchObject({
      status: 503,
      body: { code: "not_approved" },
    });
    const call = { tool: "anything", params: {}, session_id: "s1" };
    expect((await post(server, "/check", call)).status).toBe(200);
    rmSync(join(decisions, "data-science-agent.yaml"));
    await until(() => server.changes.length === 4);
    expect(await post(server, "/check", call)).toMatchObject({
      status: 503,
      body: { code: "not_approved" },
    });
    expect(new Set(outcomes(server.changes))).toEqual(new Set(["applied"]));
    await served.records.store.close();
  });
});
