import { batchWhileBusy } from "./concurrency.js";
import type { Deadline } from "./deadline.js";
import type { EndpointSettings } from "./endpoint-settings.js";
import { settingsOf } from "./endpoint-settings.js";
import type { Admission, AdmissionWindow } from "./admission.js";
import { canonicalJson } from "../digest/canonical-json.js";
import { sha256Hex } from "../digest/sha256.js";
import { isObject } from "../expression/equal.js";
import type { Endpoint, LastFetch, Fetch } from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";

/** What processes know together about an endpoint; times are in microseconds since 1970. */
export interface EndpointState {
  readonly circuit: "CLOSED" | "OPEN" | "HALF_OPEN";
  /** In a row. */
  readonly failures: number;
  /** In a row, since it is half open. */
  readonly successes: number;
  readonly opened_at?: number;
  /** Somebody tries whether it answers again, and is given up then. */
  readonly probe_until?: number;
  /** When requests were or will be sent, as far back as its rate limit looks; oldest first. */
  readonly sent?: readonly number[];
  /** The last fetch that asked it. */
  readonly last?: LastFetch;
}

export const initialState: EndpointState = { circuit: "CLOSED", failures: 0, successes: 0 };

/** Where its state is on the shelf: an endpoint that is configured anew begins anew. */
export function stateKey(name: string, endpoint: Endpoint): string {
  return `${name} ${configurationDigest(endpoint)}`;
}

const digests = new WeakMap<Endpoint, string>();

export function configurationDigest(endpoint: Endpoint): string {
  const digest = digests.get(endpoint) ?? sha256Hex(canonicalJson(endpoint as unknown as Json));
  digests.set(endpoint, digest);
  return digest;
}

/** What is on the shelf, as far as it can be a state; what cannot be tells nothing. */
export function parseState(value: Json | undefined): EndpointState {
  if (!isObject(value)) return initialState;
  const state = value as unknown as EndpointState;
  const isSound =
    circuits.has(state.circuit) &&
    [state.failures, state.successes].every(isCount) &&
    [state.opened_at ?? 0, state.probe_until ?? 0].every(Number.isFinite) &&
    (state.sent === undefined || (Array.isArray(state.sent) && state.sent.every(Number.isFinite)));
  return isSound ? state : initialState;
}

const circuits: ReadonlySet<unknown> = new Set(["CLOSED", "OPEN", "HALF_OPEN"]);

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;

/** Whether a fetch may go on. */
type Permit = Extract<Admission, { readonly at: number }> | Refusal;

export type Refusal =
  | Exclude<Admission, { readonly at: number }>
  /** It would have to be written down first, which cannot be done. */
  | { readonly unknown: "circuit" | "limit" };

type Step = (
  state: EndpointState,
  settings: EndpointSettings,
  moment: AdmissionWindow,
) => { readonly entry: Admission; readonly state: EndpointState };

type Change = (state: EndpointState) => EndpointState;

interface StatesOptions {
  /** Microseconds since 1970. */
  readonly wall: () => number;
  readonly onTrouble: (message: string) => void;
}

/** What the processes know together of the endpoints. A dry run looks at it and leaves it as it is. */
export class EndpointStates {
  readonly #shelf: Shelf;
  readonly #options: StatesOptions;
  readonly #writers = new Map<string, (change: Change) => Promise<void>>();
  /** When dry runs of this process sent something, by key. */
  readonly #dryTurns = new Map<string, readonly number[]>();

  constructor(shelf: Shelf, options: StatesOptions) {
    this.#shelf = shelf;
    this.#options = options;
  }

  /** Takes a step if it may be taken; who need not write anything down does not wait for others. */
  async admit(step: Step, asked: Fetch, deadline: Deadline): Promise<Permit> {
    const key = stateKey(asked.name, asked.endpoint);
    const settings = settingsOf(asked.endpoint);
    const seen = await this.#read(key, asked);
    const first = step(seen, settings, this.#moment(deadline));
    if (asked.dryRun && settings.limit !== undefined) this.#noteDryTurn(key, first.entry);
    if (asked.dryRun || first.state === seen || !("at" in first.entry)) return first.entry;
    let permit: Permit | undefined;
    const written = this.#write(asked, (state) => {
      // The lock may have come too late.
      if (deadline.left() <= 0) return state;
      const taken = step(state, settings, this.#moment(deadline));
      permit = taken.entry;
      return taken.state;
    });
    const isWritten = await deadline.race(written);
    const unknown = { unknown: "probe" in first.entry ? "circuit" : "limit" } as const;
    return isWritten ? (permit ?? unknown) : unknown;
  }

  /** Lets all know how a fetch went. */
  async update(asked: Fetch, change: (state: EndpointState, now: number) => EndpointState): Promise<void> {
    if (asked.dryRun) return;
    await this.#write(asked, (state) => change(state, this.#options.wall()));
  }

  /** A state that cannot be read is none: the circuit spares a service, and is no reason to know nothing of it. */
  async #read(key: string, { name, dryRun }: Fetch): Promise<EndpointState> {
    try {
      const state = parseState((await this.#shelf.get(key))?.value);
      const dry = dryRun ? this.#dryTurns.get(key) : undefined;
      return dry === undefined ? state : { ...state, sent: [...(state.sent ?? []), ...dry].sort(ascending) };
    } catch (error) {
      this.#options.onTrouble(`the state of \`${name}\` cannot be read: ${(error as Error).message}`);
      return parseState(undefined);
    }
  }

  /** Tells whether it is written. Those that come at the same time are written together, with one lock. */
  async #write(asked: Fetch, change: Change): Promise<boolean> {
    const key = stateKey(asked.name, asked.endpoint);
    const write = this.#writers.get(key) ?? batchWhileBusy((changes) => this.#writeAll(key, asked, changes));
    this.#writers.set(key, write);
    return write(change).then(
      () => true,
      () => false,
    );
  }

  async #writeAll(key: string, asked: Fetch, changes: readonly Change[]): Promise<void> {
    try {
      await this.#shelf.update(key, (kept) => {
        const before = parseState(kept?.value);
        const after = changes.reduce((state, change) => change(state), before);
        return after === before ? undefined : this.#entryOf(key, asked, after);
      });
    } catch (error) {
      this.#options.onTrouble(
        `the state of \`${asked.name}\` could not be kept: ${(error as Error).message}`,
      );
      throw error;
    }
  }

  #entryOf(key: string, { name, endpoint }: Fetch, state: EndpointState): ShelfEntry {
    const { openFor } = settingsOf(endpoint).breaker;
    const expires_at = this.#options.wall() + openFor + unusedLifetime;
    return { key, group: name, expires_at, value: state as unknown as Json };
  }

  #moment(deadline: Deadline): AdmissionWindow {
    const now = this.#options.wall();
    return { now, latest: now + deadline.left() };
  }

  #noteDryTurn(key: string, entry: Admission): void {
    if (!("at" in entry)) return;
    this.#dryTurns.set(key, [...(this.#dryTurns.get(key) ?? []).slice(1 - maxSlots), entry.at]);
  }
}

/** What is configured anew, or used no more, is forgotten then. */
const unusedLifetime = 30 * 86_400e6;

/** The largest rate limit looks back at so many. */
const maxSlots = 1000;

const ascending = (a: number, b: number): number => a - b;
