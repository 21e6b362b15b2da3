import { isObject } from "../expression/equal.js";
import type { LastFetch } from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import type { Admission, AdmissionWindow, Admitted } from "./admission.js";
import { batchWhileBusy } from "./concurrency.js";
import type { Deadline } from "./deadline.js";
import type { EndpointSettings, PreparedFetch } from "./endpoint-settings.js";

/** The state of an endpoint, shared by all processes. Times are in microseconds since 1970. */
export interface EndpointState {
  readonly circuit: "CLOSED" | "OPEN" | "HALF_OPEN";
  /** Consecutive failures. */
  readonly failures: number;
  /** Consecutive successes while half open. */
  readonly successes: number;
  readonly opened_at?: number;
  /** A probe is running, and is given up at this time. */
  readonly probe_until?: number;
  /** The times of requests sent or reserved, as far back as the rate limit needs; oldest first. */
  readonly sent?: readonly number[];
  /** The last fetch that called the endpoint. */
  readonly last?: LastFetch;
}

export const initialState: EndpointState = { circuit: "CLOSED", failures: 0, successes: 0 };

/** Parses a stored state. A damaged one counts as the initial state. */
export function parseState(value: Json | undefined): EndpointState {
  if (!isObject(value)) return initialState;
  const state = value as unknown as EndpointState;
  const isWellFormed =
    circuits.has(state.circuit) &&
    [state.failures, state.successes].every(isCount) &&
    [state.opened_at ?? 0, state.probe_until ?? 0].every(Number.isFinite) &&
    (state.sent === undefined || (Array.isArray(state.sent) && state.sent.every(Number.isFinite)));
  return isWellFormed ? state : initialState;
}

const circuits: ReadonlySet<unknown> = new Set(["CLOSED", "OPEN", "HALF_OPEN"]);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

export type Refusal =
  | Exclude<Admission, { readonly at: number }>
  /** The admission could not be written to the store. */
  | { readonly unwritten: "probe" | "slot" };

type Permit = Extract<Admission, { readonly at: number }> | Refusal;

type Admit = (state: EndpointState, settings: EndpointSettings, window: AdmissionWindow) => Admitted;

type Change = (state: EndpointState) => EndpointState;

interface StatesOptions {
  /** The wall clock, in microseconds since 1970. */
  readonly wall: () => number;
  readonly onWarning: (message: string) => void;
}

/** The states of all endpoints in the store. A dry run reads them and writes nothing. */
export class EndpointStates {
  readonly #shelf: Shelf;
  readonly #options: StatesOptions;
  readonly #writers = new Map<string, (change: Change) => Promise<void>>();
  /** The requests that dry runs of this process sent, by state key. */
  readonly #drySlots = new Map<string, readonly number[]>();

  constructor(shelf: Shelf, options: StatesOptions) {
    this.#shelf = shelf;
    this.#options = options;
  }

  /** Admits a fetch or a retry. Takes the lock only if the admission changes the state. */
  async admit(admit: Admit, fetch: PreparedFetch, deadline: Deadline): Promise<Permit> {
    const { settings, dryRun, stateKey } = fetch;
    const seen = await this.#read(fetch);
    const first = admit(seen, settings, this.#window(deadline));
    if (dryRun && settings.limit !== undefined) this.#recordDrySlot(stateKey, first.admission);
    if (dryRun || first.state === seen || !("at" in first.admission)) return first.admission;
    let permit: Permit | undefined;
    const writing = this.#write(fetch, (state) => {
      // Waiting for the lock may have taken too long.
      if (deadline.left() <= 0) return state;
      const admitted = admit(state, settings, this.#window(deadline));
      permit = admitted.admission;
      return admitted.state;
    });
    const isWritten = await deadline.race(writing);
    const unwritten = { unwritten: "probe" in first.admission ? "probe" : "slot" } as const;
    return isWritten ? (permit ?? unwritten) : unwritten;
  }

  async update(
    fetch: PreparedFetch,
    change: (state: EndpointState, now: number) => EndpointState,
  ): Promise<void> {
    if (fetch.dryRun) return;
    await this.#write(fetch, (state) => change(state, this.#options.wall()));
  }

  /** An unreadable state counts as the initial state: a broken store must not stop fetches. */
  async #read({ name, dryRun, stateKey }: PreparedFetch): Promise<EndpointState> {
    try {
      const state = parseState((await this.#shelf.get(stateKey))?.value);
      const dry = dryRun ? this.#drySlots.get(stateKey) : undefined;
      return dry === undefined ? state : { ...state, sent: [...(state.sent ?? []), ...dry].sort(ascending) };
    } catch (error) {
      this.#options.onWarning(`cannot read the state of endpoint \`${name}\`: ${(error as Error).message}`);
      return initialState;
    }
  }

  /** Reports whether the change was written. Changes at the same time are written together, under one lock. */
  async #write(fetch: PreparedFetch, change: Change): Promise<boolean> {
    const { stateKey } = fetch;
    const write = this.#writers.get(stateKey) ?? batchWhileBusy((changes) => this.#writeAll(fetch, changes));
    this.#writers.set(stateKey, write);
    return write(change).then(
      () => true,
      () => false,
    );
  }

  async #writeAll(fetch: PreparedFetch, changes: readonly Change[]): Promise<void> {
    const { name, stateKey } = fetch;
    try {
      await this.#shelf.update(stateKey, (entry) => {
        const before = parseState(entry?.value);
        const after = changes.reduce((state, change) => change(state), before);
        return after === before ? undefined : this.#toEntry(fetch, after);
      });
    } catch (error) {
      this.#options.onWarning(`cannot write the state of endpoint \`${name}\`: ${(error as Error).message}`);
      throw error;
    }
  }

  #toEntry({ name, stateKey, settings }: PreparedFetch, state: EndpointState): ShelfEntry {
    const expires_at = this.#options.wall() + settings.breaker.openFor + unusedLifetime;
    return { key: stateKey, group: name, expires_at, value: state as unknown as Json };
  }

  #window(deadline: Deadline): AdmissionWindow {
    const now = this.#options.wall();
    return { now, latest: now + deadline.left() };
  }

  #recordDrySlot(key: string, admission: Admission): void {
    if (!("at" in admission)) return;
    this.#drySlots.set(key, [...(this.#drySlots.get(key) ?? []).slice(1 - maxSlots), admission.at]);
  }
}

/** How long the state of an unused or reconfigured endpoint is kept. */
const unusedLifetime = 30 * 86_400e6;

/** The largest count of a rate limit. */
const maxSlots = 1000;

const ascending = (a: number, b: number): number => a - b;
