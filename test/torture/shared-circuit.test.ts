import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { expect, it, onTestFinished } from "vitest";
import { systemClock } from "../../src/clock.js";
import { microsecondsOf } from "../../src/record/timestamp.js";
import { cleanEnvironment } from "../acceptance/command.js";
import { bundled } from "../store/bundle.js";
import { storeDirectory } from "../store/jsonl-log.js";
import { httpServer } from "../enrichment/servers.js";

interface Said {
  readonly outcome?: string;
  readonly transition?: string;
  readonly at?: string;
  readonly trouble?: string;
}

/** A child process that fetches until it is stopped. */
class Asker {
  readonly #child: ChildProcess;
  #text = "";
  readonly ended: Promise<number | null>;

  constructor(script: string, ...args: readonly string[]) {
    this.#child = spawn(process.execPath, [script, ...args], { env: cleanEnvironment() });
    this.#child.stdout?.setEncoding("utf8").on("data", (text: string) => (this.#text += text));
    this.#child.stderr?.setEncoding("utf8").on("data", (trouble: string) => {
      this.#text += `${JSON.stringify({ trouble })}\n`;
    });
    this.ended = new Promise((resolve) => this.#child.on("close", resolve));
    onTestFinished(() => void this.#child.kill("SIGKILL"));
  }

  said(): readonly Said[] {
    const lines = this.#text.slice(0, this.#text.lastIndexOf("\n") + 1).split("\n");
    return lines.filter(Boolean).map((line) => JSON.parse(line) as Said);
  }

  end(): Promise<number | null> {
    this.#child.stdin?.end();
    return this.ended;
  }
}

interface Transition {
  readonly transition: string;
  readonly at: number;
}

/** The clocks of two processes are not further apart; a request takes longer. */
const skew = 2000;

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));

async function until(holds: () => boolean): Promise<void> {
  for (let waited = 0; !holds(); waited += 10) {
    if (waited > 20_000) throw new Error("it never came to that");
    await pause(10);
  }
}

it("opens, is probed and closes once for four processes that share a store", async () => {
  const server = { status: 500, delay: 20 };
  const arrivals: number[] = [];
  const { url } = await httpServer((_request, response) => {
    arrivals.push(microsecondsOf(systemClock()));
    const { status, delay } = server;
    setTimeout(() => response.writeHead(status, { "content-type": "application/json" }).end("1"), delay);
  });
  const endpoint = {
    url,
    allow_private: true,
    circuit_breaker: { failure_threshold: 5, timeout: "1500ms", success_threshold: 2 },
  };
  const script = await bundled("asker", new URL("../enrichment/", import.meta.url).href);
  const directory = storeDirectory();
  const askers = [1, 2, 3, 4].map(() => new Asker(script, directory, JSON.stringify(endpoint)));
  const all = (): readonly Said[] => askers.flatMap((asker) => asker.said());
  const everyLast = (outcome: string): boolean =>
    askers.every((asker) => asker.said().findLast((said) => said.outcome !== undefined)?.outcome === outcome);
  const transitions = (): readonly Transition[] =>
    all()
      .flatMap(({ transition, at = "" }) =>
        transition === undefined ? [] : [{ transition, at: microsecondsOf(at) }],
      )
      .toSorted((a, b) => a.at - b.at);
  const arrivedBetween = (from = 0, to = Infinity): number =>
    arrivals.filter((at) => at >= from - skew && at < to - skew).length;

  await until(() => everyLast("circuit_open"));
  const settledAt = microsecondsOf(systemClock());
  // During a probe, other processes have time to fetch too.
  server.delay = 200;
  await until(() => transitions().length >= 3);
  Object.assign(server, { status: 200, delay: 100 });
  await until(() => transitions().some(({ transition }) => transition === "HALF_OPEN to CLOSED"));
  await until(() => everyLast("endpoint"));
  expect(await Promise.all(askers.map((asker) => asker.end()))).toEqual([0, 0, 0, 0]);

  const steps = transitions();
  const [first, ...later] = steps.map(({ transition }) => transition);
  expect(first).toBe("CLOSED to OPEN");
  // One failed probe, or two where the first began before the service recovered, and then those that closed it.
  const failed = ["OPEN to HALF_OPEN", "HALF_OPEN to OPEN"];
  const closed = ["OPEN to HALF_OPEN", "HALF_OPEN to CLOSED"];
  expect([
    [...failed, ...closed],
    [...failed, ...failed, ...closed],
  ]).toContainEqual(later);

  const opened = arrivals.filter((at) => at < settledAt).length;
  expect(opened).toBeGreaterThanOrEqual(5);
  expect(opened).toBeLessThanOrEqual(5 + 3);
  expect(arrivedBetween(settledAt + skew, steps[1]?.at)).toBe(0);
  for (const [index, { transition, at }] of steps.entries()) {
    const next = steps[index + 1];
    if (transition === "HALF_OPEN to OPEN") expect(arrivedBetween(at, next?.at)).toBe(0);
    if (transition === "OPEN to HALF_OPEN")
      expect(arrivedBetween(at, next?.at)).toBe(next?.transition === "HALF_OPEN to OPEN" ? 1 : 2);
  }
  expect(all().filter(({ trouble }) => trouble !== undefined)).toEqual([]);
  const outcomes = new Set(all().flatMap(({ outcome }) => outcome ?? []));
  expect([...outcomes].sort()).toEqual(["circuit_open", "endpoint", "request_failed"]);
}, 60_000);
