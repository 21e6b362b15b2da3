import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { Asked } from "../cli/credit-project.js";
import { canary, CreditProject } from "../cli/credit-project.js";
import { SampleServer } from "./sample-server.js";

let server: SampleServer;
beforeEach(async () => {
  server = await SampleServer.start(canary);
});
afterEach(() => server.stop());

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

const soon = { "timeout: 5s": "timeout: 300ms" };
const never = { "timeout: 5s": "timeout: 1h" };

describe("data from an endpoint", () => {
  it("is fetched once and cached for the next process, and its secret is never shown", async () => {
    const project = new CreditProject(server, { spawned: true });
    const fetched = { endpoint: "credit_bureau", into: "credit", ok: true };
    expect(await project.ask()).toMatchObject({
      ...{ exitCode: 0, stderr: "", target: "stage-payout", fetched: { ...fetched, from: "endpoint" } },
    });
    expect(await project.ask()).toMatchObject({ fetched: { ...fetched, from: "cache" } });
    expect(await server.requests()).toBe(1);
    project.expectNoSecret();
  });
});

describe("an endpoint that fails", () => {
  it("is left alone by four processes at once, once one of them has found out", async () => {
    await server.become("failing");
    const project = new CreditProject(server, {
      changes: { ...never, "attempts: 2": "attempts: 1" },
      spawned: true,
    });
    const askFour = (): Promise<readonly Asked[]> =>
      Promise.all(["a", "b", "c", "d"].map((customer) => project.ask(customer)));
    const rounds = [await askFour(), await askFour()].flat();
    const asked = await server.requests();
    // Two failures are not enough, so all four of a round may be under way.
    expect(asked).toBeLessThanOrEqual(6);
    expect(rounds.filter(({ fetched }) => fetched?.error?.code === "circuit_open")).toHaveLength(8 - asked);
    expect((await project.endpoint()).circuit.state).toBe("OPEN");
    await server.become("ok");
    for (const { target, fetched } of await askFour()) {
      expect([target, fetched?.error?.code]).toEqual(["stage-loan-officer", "circuit_open"]);
    }
    expect(await server.requests()).toBe(asked);
    project.expectNoSecret();
  });

  it("is tried by one process alone, while three others are told that its circuit is open", async () => {
    await server.become("failing");
    const project = new CreditProject(server, {
      changes: { ...soon, "timeout: 1s": "timeout: 3s", "attempts: 2": "attempts: 1" },
      spawned: true,
    });
    await project.openCircuit();
    await server.become("slow");
    const before = await server.requests();
    await pause(300);
    const asked = await Promise.all(["a", "b", "c", "d"].map((customer) => project.ask(customer)));
    expect(asked.map(({ fetched }) => fetched?.error?.code).sort()).toEqual([
      "circuit_open",
      "circuit_open",
      "circuit_open",
      "request_timeout",
    ]);
    expect(await server.requests()).toBe(before + 1);
  });
});

describe("the server of the samples", () => {
  it.each(["SIGINT", "SIGTERM"] as const)("ends cleanly on %s, also while somebody waits", async (signal) => {
    await server.become("slow");
    const waiting = fetch(`http://127.0.0.1:${server.port}/score?customer=c-1`, {
      headers: { "x-api-key": canary },
    }).catch(() => "cut off");
    while ((await server.requests()) === 0) await pause(5);
    expect(await server.stop(signal)).toBe(0);
    expect(await waiting).toBe("cut off");
  });

  it("does as another run of its script tells it", async () => {
    expect(await server.becomeByCommand("failing")).toContain("is now in mode failing");
    const headers = { "x-api-key": canary };
    const { status } = await fetch(`http://127.0.0.1:${server.port}/score?customer=c-1`, { headers });
    expect(status).toBe(503);
  });

  it("wants its key", async () => {
    const { status } = await fetch(`http://127.0.0.1:${server.port}/score?customer=c-1`);
    expect(status).toBe(401);
  });
});
