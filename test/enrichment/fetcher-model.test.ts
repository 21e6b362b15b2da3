import fc from "fast-check";
import { expect, it } from "vitest";
import { stateKey } from "../../src/enrichment/endpoint-settings.js";
import { initialState, parseState } from "../../src/enrichment/endpoint-state.js";
import type { FetchOutcome, EndpointFetcher } from "../../src/enrichment/fetcher.js";
import { createFetcher } from "../../src/enrichment/fetcher.js";
import type { Shelf, Store } from "../../src/model/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import type { Numbers } from "./fetcher-model.js";
import { ModelEndpoint } from "./fetcher-model.js";
import type { Scripted } from "./fetching.js";
import { answer, broken, refused, reset, ScriptedExchange, status } from "./fetching.js";
import { settling, VirtualTime } from "./virtual-time.js";

/** The torture suite runs them all. */
const runs =
  process.env["AGENT33_TORTURE"] === undefined ? { alone: 300, crowded: 80 } : { alone: 4000, crowded: 1000 };

const url = "https://bureau.example";
const second = 1e6;

const usual: Omit<Numbers, "endpoint"> = {
  timeout: 5 * second,
  attempts: 1,
  base: 0.1 * second,
  most: 2 * second,
  stretch: 0,
  threshold: 5,
  openFor: 60 * second,
  needed: 2,
};
const quickly = { circuit_breaker: { failure_threshold: 2, timeout: "10s", success_threshold: 2 } };
const quick = { threshold: 2, openFor: 10 * second };

/** Configurations of endpoints, with the same values as numbers. */
const endpoints: readonly Numbers[] = [
  { ...usual, endpoint: { url } },
  { ...usual, ...quick, endpoint: { url, ...quickly } },
  { ...usual, ...quick, attempts: 3, endpoint: { url, ...quickly, retry: {} } },
  { ...usual, ...quick, ttl: 30 * second, endpoint: { url, ...quickly, cache: { ttl: "30s" } } },
  {
    ...usual,
    ...quick,
    count: 2,
    stretch: 2.1 * second,
    endpoint: { url, ...quickly, rate_limit: { count: 2, per: "2s" } },
  },
  {
    ...usual,
    attempts: 4,
    base: second,
    most: 3 * second,
    ttl: second,
    count: 3,
    stretch: 4.1 * second,
    threshold: 1,
    needed: 1,
    openFor: 3 * second,
    endpoint: {
      url,
      method: "post",
      cache: { ttl: "1s" },
      retry: { attempts: 4, base: "1s", max: "3s" },
      rate_limit: { count: 3, per: "4s" },
      circuit_breaker: { failure_threshold: 1, timeout: "3s", success_threshold: 1 },
    },
  },
  {
    ...usual,
    ...quick,
    timeout: second,
    attempts: 2,
    ttl: 30 * second,
    count: 5,
    stretch: 10.1 * second,
    endpoint: {
      url,
      ...quickly,
      method: "put",
      timeout: "1s",
      cache: { ttl: "30s" },
      retry: { attempts: 2 },
      rate_limit: { count: 5, per: "10s" },
    },
  },
];

/** Several fetchers, as in several processes that share only a store. */
class Real {
  readonly time = new VirtualTime();
  readonly store: Store = openMemoryStore();
  /** The stored state. */
  known = initialState;
  readonly transitions: string[] = [];
  readonly exchange = new ScriptedExchange(this.time);
  readonly #numbers: Numbers;
  readonly #fetchers: readonly EndpointFetcher[];

  constructor(numbers: Numbers) {
    this.#numbers = numbers;
    this.#fetchers = [0, 1, 2].map(() => this.#open());
  }

  async fetch(asked: Asking): Promise<FetchOutcome> {
    this.exchange.script = asked.script;
    return this.time.until(this.begin(asked));
  }

  begin({ by, key, cached, dryRun }: Omit<Asking, "script">): Promise<FetchOutcome> {
    const { endpoint } = this.#numbers;
    const fetcher = this.#fetchers[by] ?? this.#open();
    return fetcher.fetch({ name: "bureau", endpoint, params: { key }, cached, dryRun });
  }

  /** A fetch whose process ends during the request: it has no outcome. */
  async die(key: string): Promise<void> {
    const fetcher = this.#open({ exchange: () => new Promise(() => undefined), sleep: never });
    const { endpoint } = this.#numbers;
    void fetcher.fetch({ name: "bureau", endpoint, params: { key }, cached: true, dryRun: false });
    await settling();
  }

  async circuit(): Promise<string> {
    const key = stateKey("bureau", this.#numbers.endpoint);
    return parseState((await this.store.shelf("breakers").get(key))?.value).circuit;
  }

  #watched(): Shelf {
    const shelf = this.store.shelf("breakers");
    const update: Shelf["update"] = async (which, change) => {
      const after = await shelf.update(which, change);
      const state = parseState(after?.value);
      if (state.circuit !== this.known.circuit)
        this.transitions.push(`${this.known.circuit} to ${state.circuit}`);
      this.known = state;
      return after;
    };
    return { ...shelf, update };
  }

  #open(more: object = {}): EndpointFetcher {
    return createFetcher({
      exchange: this.exchange.exchange,
      shelves: { breakers: this.#watched(), responses: this.store.shelf("responses") },
      now: this.time.now,
      sleep: this.time.sleep,
      clock: this.time.clock,
      random: () => 0.5,
      ...more,
    });
  }
}

const never = (): Promise<void> => new Promise(() => undefined);

interface Asking {
  readonly by: number;
  readonly key: string;
  readonly cached: boolean;
  readonly dryRun: boolean;
  readonly script: readonly Scripted[];
}

type Step = fc.AsyncCommand<ModelEndpoint, Real>;

class FetchStep implements Step {
  readonly #asking: Asking;

  constructor(asking: Asking) {
    this.#asking = asking;
  }

  check(): boolean {
    return true;
  }

  async run(model: ModelEndpoint, real: Real): Promise<void> {
    const expected = model.fetch(this.#asking, real.time.now(), this.#asking.script);
    const before = real.exchange.asked.length;
    const outcome = await real.fetch(this.#asking);
    expect({
      outcome: nameOf(outcome),
      requests: real.exchange.asked.length - before,
      over: real.time.now(),
      circuit: await real.circuit(),
    }).toEqual({ ...expected, circuit: model.circuit });
  }

  toString(): string {
    return `fetch ${JSON.stringify(this.#asking)}`;
  }
}

class DieStep implements Step {
  readonly #key: string;

  constructor(key: string) {
    this.#key = key;
  }

  check(): boolean {
    return true;
  }

  async run(model: ModelEndpoint, real: Real): Promise<void> {
    model.die({ key: this.#key, by: -1 }, real.time.now());
    await real.die(this.#key);
    expect(await real.circuit()).toBe(model.circuit);
  }

  toString(): string {
    return `die ${this.#key}`;
  }
}

class PassStep implements Step {
  readonly #microseconds: number;

  constructor(microseconds: number) {
    this.#microseconds = microseconds;
  }

  check(): boolean {
    return true;
  }

  run(_model: ModelEndpoint, real: Real): Promise<void> {
    return real.time.pass(this.#microseconds);
  }

  toString(): string {
    return `pass ${this.#microseconds}`;
  }
}

function nameOf(outcome: FetchOutcome): string {
  if (outcome.ok) return `${outcome.from} ${JSON.stringify(outcome.data)}`;
  if ("left_out" in outcome) return "left out";
  return outcome.status === undefined ? outcome.error.code : `${outcome.error.code} ${outcome.status}`;
}

const scripted: fc.Arbitrary<Scripted> = fc.oneof(
  { weight: 4, arbitrary: fc.integer({ min: 1, max: 9 }).map((data) => answer(data)) },
  { weight: 4, arbitrary: fc.constantFrom(500, 503, 429, 408, 404, 302).map((code) => status(code)) },
  { weight: 1, arbitrary: fc.constantFrom("0", "1", "4", "5", "60").map((after) => status(429, after)) },
  { weight: 2, arbitrary: fc.constantFrom<Scripted>(reset, broken, refused, "hang") },
);

const delayed = fc
  .tuple(scripted, fc.constantFrom(0, 0, 1, 400_000, 2_500_000, 5_000_000))
  .map(([does, after]): Scripted => (does === "hang" || after === 0 ? does : { ...does, after }));

const script = fc.array(delayed, { minLength: 1, maxLength: 4 });
const key = fc.constantFrom("a", "a", "b");

const steps = fc.commands<ModelEndpoint, Real, false>(
  [
    fc
      .record({
        by: fc.nat(2),
        key,
        cached: fc.constantFrom(true, true, true, false),
        dryRun: fc.constantFrom(false, false, false, true),
        script,
      })
      .map((asking) => new FetchStep(asking)),
    fc
      .constantFrom(
        1,
        1000,
        second,
        2.1 * second,
        5 * second,
        10 * second,
        30 * second,
        60 * second,
        86_400 * second,
      )
      .map((microseconds) => new PassStep(microseconds)),
    key.map((which) => new DieStep(which)),
  ],
  { maxCommands: 40, size: "max" },
);

it("behaves like a simple model, whatever endpoints do and however time passes", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...endpoints), steps, async (numbers, commands) => {
      await fc.asyncModelRun(
        () => ({ model: new ModelEndpoint(numbers), real: new Real(numbers) }),
        commands,
      );
    }),
    { numRuns: runs.alone },
  );
}, 120_000);

const crowds = fc.array(
  fc.record({
    pause: fc.constantFrom(0, 1000, second, 10 * second, 60 * second),
    fetches: fc.array(fc.record({ by: fc.nat(2), key }), { minLength: 1, maxLength: 6 }),
    script: fc.array(delayed, { minLength: 1, maxLength: 6 }),
  }),
  { maxLength: 12, size: "max" },
);

const legal = ["CLOSED to OPEN", "OPEN to HALF_OPEN", "HALF_OPEN to OPEN", "HALF_OPEN to CLOSED"];

it("keeps to the limits of endpoints under concurrent fetches", async () => {
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...endpoints), crowds, async (numbers, all) => {
      const { endpoint, attempts, count, stretch, timeout } = numbers;
      const real = new Real(numbers);
      const { exchange, time } = real;
      let trying = 0;
      exchange.watch = (does) => {
        // Fetches admitted before may still wait for a slot, or retry.
        const isTrying = real.known.circuit !== "CLOSED" && attempts === 1 && count === undefined;
        if (!isTrying) return does();
        expect(real.known.circuit).toBe("HALF_OPEN");
        expect(++trying).toBe(1);
        return does().finally(() => trying--);
      };
      for (const { pause, fetches, script: does } of all) {
        await time.pass(pause);
        exchange.script = does;
        const startedAt = time.now();
        const before = exchange.asked.length;
        const begun = fetches.map((each) => real.begin({ ...each, cached: true, dryRun: false }));
        await time.until(Promise.all(begun));
        expect(time.now() - startedAt).toBeLessThanOrEqual(timeout);
        const different = new Set(fetches.map((each) => `${each.by} ${each.key}`)).size;
        const flights = endpoint.cache === undefined ? fetches.length : different;
        expect(exchange.asked.length - before).toBeLessThanOrEqual(flights * attempts);
      }
      for (const [index, at] of exchange.asked.entries()) {
        const later = exchange.asked[index + (count ?? Infinity)];
        if (later !== undefined) expect(later - at).toBeGreaterThanOrEqual(stretch);
      }
      expect(real.transitions.filter((each) => !legal.includes(each))).toEqual([]);
    }),
    { numRuns: runs.crowded },
  );
}, 120_000);
