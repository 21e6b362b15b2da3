import type { Fetch } from "../model/endpoint.js";
import type { Json } from "../model/json.js";
import type { Shelf, ShelfEntry } from "../model/store.js";
import type { Deadline } from "./deadline.js";
import type { EndpointSettings } from "./endpoint-settings.js";
import { settingsOf } from "./endpoint-settings.js";
import type { EndpointState } from "./endpoint-state.js";
import { stateIn, stateKey } from "./endpoint-state.js";
import type { Entry, Moment } from "./entry.js";
import { gathered } from "./gathered.js";

/** Whether a fetch may go on. */
export type Permit = Extract<Entry, { readonly at: number }> | Refusal;

export type Refusal =
  | Exclude<Entry, { readonly at: number }>
  /** It would have to be written down first, which cannot be done. */
  | { readonly unknown: "circuit" | "limit" };

type Step = (
  state: EndpointState,
  settings: EndpointSettings,
  moment: Moment,
) => { readonly entry: Entry; readonly state: EndpointState };

type Change = (state: EndpointState) => EndpointState;

interface StatesOptions {
  /** Microseconds since 1970. */
  readonly wall: () => number;
  readonly onTrouble: (message: string) => void;
}

/** What the processes know together of the endpoints. A dry run looks at it and leaves it as it is. */
export class SharedStates {
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
  async take(step: Step, asked: Fetch, deadline: Deadline): Promise<Permit> {
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
    const isWritten = await deadline.inTime(written);
    const unknown = { unknown: "probe" in first.entry ? "circuit" : "limit" } as const;
    return isWritten ? (permit ?? unknown) : unknown;
  }

  /** Lets all know how a fetch went. */
  async tell(asked: Fetch, change: (state: EndpointState, now: number) => EndpointState): Promise<void> {
    if (asked.dryRun) return;
    await this.#write(asked, (state) => change(state, this.#options.wall()));
  }

  /** A state that cannot be read is none: the circuit spares a service, and is no reason to know nothing of it. */
  async #read(key: string, { name, dryRun }: Fetch): Promise<EndpointState> {
    try {
      const state = stateIn((await this.#shelf.get(key))?.value);
      const dry = dryRun ? this.#dryTurns.get(key) : undefined;
      return dry === undefined ? state : { ...state, sent: [...(state.sent ?? []), ...dry].sort(ascending) };
    } catch (error) {
      this.#options.onTrouble(`the state of \`${name}\` cannot be read: ${(error as Error).message}`);
      return stateIn(undefined);
    }
  }

  /** Tells whether it is written. Those that come at the same time are written together, with one lock. */
  async #write(asked: Fetch, change: Change): Promise<boolean> {
    const key = stateKey(asked.name, asked.endpoint);
    const write = this.#writers.get(key) ?? gathered((changes) => this.#writeAll(key, asked, changes));
    this.#writers.set(key, write);
    return write(change).then(
      () => true,
      () => false,
    );
  }

  async #writeAll(key: string, asked: Fetch, changes: readonly Change[]): Promise<void> {
    try {
      await this.#shelf.update(key, (kept) => {
        const before = stateIn(kept?.value);
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
    const expires_at = this.#options.wall() + openFor + keptUnused;
    return { key, group: name, expires_at, value: state as unknown as Json };
  }

  #moment(deadline: Deadline): Moment {
    const now = this.#options.wall();
    return { now, latest: now + deadline.left() };
  }

  #noteDryTurn(key: string, entry: Entry): void {
    if (!("at" in entry)) return;
    this.#dryTurns.set(key, [...(this.#dryTurns.get(key) ?? []).slice(1 - mostTurns), entry.at]);
  }
}

/** What is configured anew, or used no more, is forgotten then. */
const keptUnused = 30 * 86_400e6;

/** The largest rate limit looks back at so many. */
const mostTurns = 1000;

const ascending = (a: number, b: number): number => a - b;
