import type { ChildProcess } from "node:child_process";
import { spawn } from "node:child_process";
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect } from "vitest";
import type { JsonObject } from "../../src/model/json.js";
import type { AuthenticatedCaller, DecisionRecord, LogRecord } from "../../src/model/record.js";
import type { Count } from "../../src/model/store.js";
import type { JsonlOptions } from "../../src/store/drivers/jsonl/store.js";
import { allowedCallCounter, allowedSumCounter, overrideUseCounter } from "../../src/record/counters.js";
import { cleanEnvironment } from "../acceptance/command.js";
import { bundled } from "../store/bundle.js";
import { chainProblems, chance } from "../store/entries.js";
import { expectSound, linesOf, openLog, storeDirectory } from "../store/jsonl-log.js";

/** What a process is told to do. */
export interface Orders {
  readonly tool: string;
  readonly session: string;
  readonly params: JsonObject;
  readonly caller: AuthenticatedCaller;
  readonly checks: number;
  /** Does not end by itself. */
  readonly doomed?: boolean;
  readonly store: Pick<JsonlOptions, "durability" | "segmentSize" | "checkpointEvery">;
}

/** What the processes race for: calls that policies allow only so often. */
export interface Prize {
  readonly decisions: readonly string[];
  /** For each decision what it counts, under its id. */
  readonly counters: ReadonlyMap<string, string>;
  readonly outcome: "allowed" | "allowed_by_exception";
  /** How often all of the decisions allow the call. */
  readonly most: number;
}

export interface Race {
  readonly prize: Prize;
  readonly processes: number;
  /** How many are made by each process, however often it is killed. */
  readonly checks: number;
  /** How often each process is killed. */
  readonly kills?: number;
}

/** What came of a race, as far as chance has a part in it. */
export interface Raced {
  readonly kills: number;
  /** How many of the kills came while there was still something to win. */
  readonly killsInTime: number;
  /** Checks that were recorded, but whose process was killed before it could say so. */
  readonly unsaid: number;
  readonly repairs: number;
  /** How many processes won anything. */
  readonly winners: number;
}

const tool = "deploy";
const session = "shared";

/** Each decision has an override of its own; a call needs all of them. */
export function overrides(...limits: readonly number[]): Prize {
  const ids = limits.map((_, at) => `freeze-${at + 1}`);
  const decisions = ids.map((id, at) =>
    policyDecision(id, [
      {
        name: "frozen",
        version: "1.0.0",
        conditions: [{ name: "thawed", expression: "exists(params.thawed)" }],
      },
      { name: "urgent", version: "1.0.0", overrides: ["frozen"], max_applications: limits[at] },
    ]),
  );
  const counters = new Map(ids.map((id) => [id, overrideUseCounter({ decision: id, policy: "urgent" })]));
  return { decisions, counters, outcome: "allowed_by_exception", most: Math.min(...limits) };
}

export function calls(count: number, per: string): Prize {
  const decisions = [policyDecision("calm", [{ name: "few", version: "1.0.0", max_calls: { count, per } }])];
  const counters = new Map([["calm", allowedCallCounter({ decision: "calm", policy: "few" }, session)]]);
  return { decisions, counters, outcome: "allowed", most: count };
}

/** Amounts of 0.1, whose sum no binary number is exact for, by one caller. */
export function sums(count: number, window?: string): Prize {
  const max_sum = { of: "params.amount", most: count / 10, per: "caller", ...(window && { window }) };
  const decisions = [policyDecision("thrifty", [{ name: "budget", version: "1.0.0", max_sum }])];
  const { issuer, subject } = racer;
  const reference = { decision: "thrifty", policy: "budget" };
  const counters = new Map([["thrifty", allowedSumCounter(reference, "caller", issuer, subject)]]);
  return { decisions, counters, outcome: "allowed", most: count };
}

const racer: AuthenticatedCaller = {
  issuer: "https://id.example",
  subject: "racer",
  scopes: [],
  delegated: false,
  actors: [],
};

const policyDecision = (id: string, policies: readonly object[]): string =>
  JSON.stringify({ decision: { id, type: "policy", tool, policies } });

/** Exactly as many calls are allowed as may be, whoever asks and whoever is killed; all that was said is kept. */
export async function race({ prize, processes, checks, kills = 0 }: Race): Promise<Raced> {
  const checker = await bundledChecker();
  const home = storeDirectory();
  mkdirSync(join(home, "decisions"));
  for (const [at, text] of prize.decisions.entries()) writeFileSync(join(home, `decisions/${at}.json`), text);
  const store = { durability: "full", segmentSize: 512 * 1024, checkpointEvery: 100 } as const;
  const runners = Array.from(
    { length: processes },
    () => new Runner(home, { tool, session, params: { amount: 0.1 }, caller: racer, checks, store }, kills),
  );
  for (const runner of runners) runner.start(checker);
  await until(() => runners.every((runner) => runner.isReady()));
  writeFileSync(join(home, "go"), "");
  let killsInTime = 0;
  const isOpen = (): boolean => runners.every((runner) => saidOften(runner, "denied") === 0);
  await Promise.all(
    runners.map(async (runner) => {
      for (let done = 0; done < kills; done++) {
        await runner.killAtChance();
        if (isOpen()) killsInTime++;
        runner.start(checker);
      }
      await runner.finish();
    }),
  );
  const said = runners.flatMap((runner) => runner.said());
  expect(said).toHaveLength(processes * checks);
  return {
    kills: kills * processes,
    killsInTime,
    winners: runners.filter((runner) => saidOften(runner, prize.outcome) > 0).length,
    ...(await judge(join(home, "store"), said, { prize, kills: kills * processes })),
  };
}

/** What a process wrote down of a check. */
interface Said {
  readonly outcome: string;
  readonly ids: readonly string[];
}

const saidOften = (runner: Runner, outcome: string): number =>
  runner.said().filter((each) => each.outcome === outcome).length;

/** A process that is started again whenever it was killed, until it has made all of its checks. */
class Runner {
  readonly #home: string;
  readonly #orders: Orders;
  readonly #kills: number;
  readonly #lives: Life[] = [];

  constructor(home: string, orders: Orders, kills: number) {
    this.#home = home;
    this.#orders = orders;
    this.#kills = kills;
  }

  start(script: string): void {
    const checks = this.#orders.checks - this.said().length;
    const doomed = this.#lives.length < this.#kills;
    this.#lives.push(new Life(script, this.#home, { ...this.#orders, checks, doomed }));
  }

  isReady(): boolean {
    return this.#life.isReady();
  }

  /** Soon after the beginning or after a few checks, in the middle of whatever it does. */
  async killAtChance(): Promise<void> {
    const life = this.#life;
    const few = Math.floor(3 * chance());
    await until(() => (life.isReady() && life.said().length >= few) || life.hasEnded());
    await pause(5 * chance());
    life.kill();
    expect([(await life.ended).signal, life.complaints()]).toEqual(["SIGKILL", ""]);
  }

  async finish(): Promise<void> {
    const { code, signal } = await this.#life.ended;
    expect([code, signal, this.#life.complaints()]).toEqual([0, null, ""]);
  }

  said(): readonly Said[] {
    return this.#lives.flatMap((life) => life.said());
  }

  get #life(): Life {
    return this.#lives.at(-1)!;
  }
}

let lives = 0;

/** A process from its start to its end. */
class Life {
  readonly #child: ChildProcess;
  readonly #said: string;
  readonly #complaints: string;
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;

  constructor(script: string, home: string, orders: Orders) {
    const name = join(home, String(++lives));
    this.#said = `${name}.said`;
    this.#complaints = `${name}.complaints`;
    const err = openSync(this.#complaints, "a");
    this.#child = spawn(process.execPath, [script, home, this.#said, JSON.stringify(orders)], {
      stdio: ["ignore", "ignore", err],
      env: cleanEnvironment(),
    });
    closeSync(err);
    this.ended = new Promise((resolve) => {
      this.#child.on("exit", (code, signal) => resolve({ code, signal }));
    });
  }

  kill(): void {
    this.#child.kill("SIGKILL");
  }

  hasEnded(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null;
  }

  isReady(): boolean {
    return this.#lines().length > 0 || this.hasEnded();
  }

  said(): readonly Said[] {
    return this.#lines()
      .slice(1)
      .map((line) => JSON.parse(line) as Said);
  }

  complaints(): string {
    return readFileSync(this.#complaints, "utf8");
  }

  /** Half a line was not yet said. */
  #lines(): readonly string[] {
    return existsSync(this.#said) ? readFileSync(this.#said, "utf8").split("\n").slice(0, -1) : [];
  }
}

type Kept = DecisionRecord & { readonly outcome?: string; readonly counted?: readonly Count[] };

/** Looks at what is in the log, without the help of what wrote it. */
async function judge(
  directory: string,
  said: readonly Said[],
  { prize, kills }: { readonly prize: Prize; readonly kills: number },
): Promise<Pick<Raced, "unsaid" | "repairs">> {
  const lines = linesOf(directory);
  expect(chainProblems(lines)).toEqual([]);
  expect(expectSound(directory)).toMatchObject({ size: lines.length, notes: [] });
  const records = lines.map((line) => JSON.parse(line) as LogRecord);
  const kept = records.filter((record): record is Kept => record.kind === "decision");
  const checks = new Map<string, Kept[]>();
  for (const record of kept) {
    const id = record.check_id ?? "";
    checks.set(id, [...(checks.get(id) ?? []), record]);
  }

  const wins = new Set<string>();
  for (const [id, made] of checks) {
    const first = made[0]!.seq;
    expect(made.map(({ decision_id, seq }) => [decision_id, seq - first])).toEqual(
      [...prize.counters.keys()].map((each, at) => [each, at]),
    );
    const applied = made.filter((record) => isApplied(record, prize));
    expect([0, made.length]).toContain(applied.length);
    if (applied.length > 0) wins.add(id);
  }
  expect(wins.size).toBe(prize.most);
  expect(await countersOf(directory, prize)).toEqual([...prize.counters].map(() => prize.most));

  const byId = new Map(kept.map((record) => [record.record_id, record]));
  const isWin = (record: string): boolean => wins.has(byId.get(record)?.check_id ?? "");
  expect(said.flatMap(({ ids }) => ids).filter((id) => !byId.has(id))).toEqual([]);
  const wrong = said.filter(({ outcome, ids }) => {
    const expected = ids.every(isWin) ? prize.outcome : "denied";
    return outcome !== expected;
  });
  expect(wrong).toEqual([]);
  const unsaid = checks.size - said.length;
  expect(unsaid).toBeGreaterThanOrEqual(0);
  expect(unsaid).toBeLessThanOrEqual(kills);
  return { unsaid, repairs: records.filter(({ kind }) => kind === "note").length };
}

function isApplied({ decision_id, outcome, counted = [] }: Kept, prize: Prize): boolean {
  const counter = prize.counters.get(decision_id);
  const times = counted.filter((count) => (typeof count === "string" ? count : count.counter) === counter);
  if (times.length > 0) expect([times.length, outcome]).toEqual([1, prize.outcome]);
  return times.length > 0;
}

async function countersOf(directory: string, { counters }: Prize): Promise<readonly number[]> {
  const store = openLog(directory);
  const counts: number[] = [];
  for (const counter of counters.values()) counts.push((await store.log.counter(counter)).count);
  await store.close();
  return counts;
}

let script: Promise<string> | undefined;

/** Together with our source, so that plain node runs it; the same for all races of a file. */
function bundledChecker(): Promise<string> {
  script ??= bundled("checker", import.meta.url);
  return script;
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await pause(1);
}

const pause = (milliseconds: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, milliseconds));
