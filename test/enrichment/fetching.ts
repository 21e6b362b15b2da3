import type { Exchange, ExchangeOutcome } from "../../src/enrichment/exchange.js";
import { stateKey } from "../../src/enrichment/endpoint-settings.js";
import type { EndpointState } from "../../src/enrichment/endpoint-state.js";
import { parseState } from "../../src/enrichment/endpoint-state.js";
import type { FetcherOptions, FetchOutcome } from "../../src/enrichment/fetcher.js";
import { createFetcher } from "../../src/enrichment/fetcher.js";
import type { Endpoint, Fetch } from "../../src/model/endpoint.js";
import type { Store } from "../../src/model/store.js";
import { openMemoryStore } from "../../src/store/drivers/memory.js";
import { VirtualTime } from "./virtual-time.js";

/** The reaction of an endpoint and its delay in microseconds. `hang`: none, ever. */
export type Scripted = { readonly after?: number; readonly exchanged: ExchangeOutcome } | "hang";

export const answer = (data: string | number = "data"): Scripted => ({
  exchanged: { kind: "answer", data },
});
export const status = (code: number, retryAfter?: string): Scripted => ({
  exchanged: { kind: "status", status: code, ...(retryAfter !== undefined && { retryAfter }) },
});
export const reset: Scripted = { exchanged: { kind: "network", message: "the connection was reset" } };
export const broken: Scripted = {
  exchanged: { kind: "broken", message: "its answer has more than 1 MiB" },
};
export const refused: Scripted = { exchanged: { kind: "refused", message: "it is a loopback address" } };

/** An endpoint that follows a script and repeats its last reaction. */
export class ScriptedExchange {
  readonly #time: VirtualTime;
  script: readonly Scripted[] = [];
  /** The times of requests. */
  readonly asked: number[] = [];
  /** Called before each exchange. */
  watch: (exchange: () => Promise<ExchangeOutcome>) => Promise<ExchangeOutcome> = (exchange) => exchange();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  readonly exchange: Exchange = ({ signal }) => this.watch(() => this.#exchange(signal));

  async #exchange(signal: AbortSignal): Promise<ExchangeOutcome> {
    this.asked.push(this.#time.now());
    const [next = answer(), ...others] = this.script;
    if (others.length > 0) this.script = others;
    if (next === "hang") {
      await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()));
      return { kind: "timeout" };
    }
    if (next.after !== undefined) await this.#time.sleep(next.after, signal);
    return signal.aborted ? { kind: "timeout" } : next.exchanged;
  }
}

export interface Fetching {
  readonly time: VirtualTime;
  readonly store: Store;
  readonly exchange: ScriptedExchange;
  /** Fetches from an endpoint with this script. */
  readonly fetch: (script: readonly Scripted[], more?: Partial<Fetch>) => Promise<FetchOutcome>;
  /** The same without waiting for the outcome. */
  readonly begin: (more?: Partial<Fetch>) => Promise<FetchOutcome>;
  readonly state: () => Promise<EndpointState>;
}

export const plain: Endpoint = { url: "https://bureau.example/score" };

/** A fetcher with one scripted endpoint. */
export function fetching(endpoint: Partial<Endpoint> = {}, more: Partial<FetcherOptions> = {}): Fetching {
  const whole = { ...plain, ...endpoint };
  const time = new VirtualTime();
  const store = openMemoryStore();
  const exchange = new ScriptedExchange(time);
  const fetcher = createFetcher({
    exchange: exchange.exchange,
    shelves: { breakers: store.shelf("breakers"), responses: store.shelf("responses") },
    now: time.now,
    sleep: time.sleep,
    clock: time.clock,
    random: () => 0.5,
    ...more,
  });
  const begin = (asked: Partial<Fetch> = {}): Promise<FetchOutcome> =>
    fetcher.fetch({ name: "bureau", endpoint: whole, params: {}, cached: true, dryRun: false, ...asked });
  return {
    time,
    store,
    exchange,
    begin,
    fetch(script, asked) {
      exchange.script = script;
      return time.until(begin(asked));
    },
    async state() {
      return parseState((await store.shelf("breakers").get(stateKey("bureau", whole)))?.value);
    },
  };
}
