import type { ServedWorld } from "./operations/operation.js";
import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Result } from "../model/result.js";

/** What happened to a change of the definitions. */
export type ReloadOutcome =
  | {
      readonly type: "applied";
      readonly decisions: number;
      readonly diagnostics: readonly Diagnostic[];
      /** The decisions that the change removed. */
      readonly removed: readonly string[];
    }
  /** The previous definitions stay in use. */
  | { readonly type: "rejected"; readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

interface ReloadOptions {
  readonly open: () => Promise<ServedWorld>;
  /** A value that changes when the definitions on disk do. */
  readonly stamp: () => string;
  /** Whether changes with new diagnostics are rejected. If definitions must be approved, changes are always applied. */
  readonly rejectBroken: boolean;
  readonly intervalMs: number;
  readonly onReload: (outcome: ReloadOutcome) => void;
}

/** Reloads the definitions when they change. A running request keeps the world it started with. */
export class ReloadingWorld {
  #current: ServedWorld;
  #loadedStamp: string;
  #rejected: ReloadOutcome | undefined;
  #changing: string | undefined;
  #queue: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  readonly #options: ReloadOptions;
  readonly #listeners = new Set<() => void>();
  /** All decisions that were defined at some time since the start. */
  readonly #everDefined: Set<string>;

  static async open(options: ReloadOptions): Promise<ReloadingWorld> {
    const stamp = options.stamp();
    return new ReloadingWorld(await options.open(), stamp, options);
  }

  private constructor(current: ServedWorld, stamp: string, options: ReloadOptions) {
    this.#current = current;
    this.#loadedStamp = stamp;
    this.#options = options;
    this.#everDefined = new Set(current.definitions.ids);
    this.#timer = setInterval(() => void this.#enqueue(() => this.#checkForChange()), options.intervalMs);
    this.#timer.unref();
  }

  get current(): ServedWorld {
    return this.#current;
  }

  /** The latest change if it was rejected; undefined: the definitions on disk are in use. */
  get rejected(): ReloadOutcome | undefined {
    return this.#rejected;
  }

  /** The decisions that were defined at some time since the start and are not any more. */
  get removedDecisions(): readonly string[] {
    const { ids } = this.#current.definitions;
    return [...this.#everDefined].filter((id) => !ids.includes(id));
  }

  /** Calls the listener after each applied change. Returns a function that ends the subscription. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Loads the definitions, whether they have changed or not. */
  reload(): Promise<void> {
    return this.#enqueue(() => this.#load(this.#stamp()));
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.#queue;
  }

  #enqueue(work: () => Promise<void>): Promise<void> {
    this.#queue = this.#queue.then(work);
    return this.#queue;
  }

  /** Loads a change once it is the same for two checks: often several files change one after the other. */
  async #checkForChange(): Promise<void> {
    const stamp = this.#stamp();
    if (stamp === this.#loadedStamp) this.#changing = undefined;
    else if (stamp !== this.#changing) this.#changing = stamp;
    else await this.#load(stamp);
  }

  async #load(stamp: string): Promise<void> {
    this.#loadedStamp = stamp;
    this.#changing = undefined;
    try {
      const next = await this.#options.open();
      const broken = this.#options.rejectBroken ? newDiagnostics(next, this.#current) : [];
      if (broken.length > 0) this.#reject("it has new problems", broken);
      else if (this.#options.rejectBroken && lostAllDefinitions(next, this.#current)) {
        this.#reject("it removes all definitions", []);
      } else this.#apply(next);
    } catch (error) {
      this.#reject(error instanceof DecisionError ? error.message : String(error), []);
    }
  }

  #apply(next: ServedWorld): void {
    const { ids, diagnostics } = next.definitions;
    const removed = this.#current.definitions.ids.filter((id) => !ids.includes(id));
    for (const id of ids) this.#everDefined.add(id);
    this.#current = next;
    this.#rejected = undefined;
    this.#options.onReload({ type: "applied", decisions: ids.length, diagnostics, removed });
    for (const listener of this.#listeners) listener();
  }

  #reject(reason: string, diagnostics: readonly Diagnostic[]): void {
    this.#rejected = { type: "rejected", reason, diagnostics };
    this.#options.onReload(this.#rejected);
  }

  /** An unreadable directory counts as a change, too. */
  #stamp(): string {
    try {
      return this.#options.stamp();
    } catch (error) {
      return `unreadable: ${String(error)}`;
    }
  }
}

/** Without policies every tool call would be allowed, and missing files are more likely being replaced. */
const lostAllDefinitions = (next: ServedWorld, current: ServedWorld): boolean =>
  next.definitions.ids.length === 0 && current.definitions.ids.length > 0;

/** Returns the diagnostics that the current definitions do not have. */
function newDiagnostics(next: ServedWorld, current: ServedWorld): readonly Diagnostic[] {
  const existing = new Set(current.definitions.diagnostics.map(diagnosticKey));
  return next.definitions.diagnostics.filter((problem) => !existing.has(diagnosticKey(problem)));
}

const diagnosticKey = ({ file, message }: Diagnostic): string => JSON.stringify([file, message]);

/** Calls `onDecided` for each decision made in the world, except dry runs. */
export function observeDecisions(world: ServedWorld, onDecided: (result: Result) => void): ServedWorld {
  return {
    ...world,
    async decide(request) {
      const result = await world.decide(request);
      if (!result.dry_run) onDecided(result);
      return result;
    },
    follow: (request) =>
      world.follow(request, (result) => {
        if (!result.dry_run) onDecided(result);
      }),
    async check(request) {
      const checked = await world.check(request);
      if (!request.dry_run) for (const result of checked.decisions) onDecided(result);
      return checked;
    },
  };
}
