import type { ServedWorld } from "./operations/operation.js";
import { DecisionError } from "../errors.js";
import type { Diagnostic } from "../model/diagnostic.js";
import type { Result } from "../model/result.js";

/** What became of a change of the definitions. */
export type ReloadOutcome =
  | {
      readonly became: "current";
      readonly decisions: number;
      readonly diagnostics: readonly Diagnostic[];
      /** The decisions that were there before and are no more. */
      readonly gone: readonly string[];
    }
  /** What it would break is gone on with as it was. */
  | { readonly became: "refused"; readonly reason: string; readonly diagnostics: readonly Diagnostic[] };

interface ReloadOptions {
  readonly open: () => Promise<ServedWorld>;
  /** Changes whenever what would be opened does. */
  readonly stamp: () => string;
  /** Whether a change that breaks something is not taken up; where definitions must be approved, it always is. */
  readonly rejectBroken: boolean;
  readonly intervalMs: number;
  readonly onReload: (change: ReloadOutcome) => void;
}

/** The world with definitions that change: every question is asked of the one that is there when it comes. */
export class ReloadingWorld {
  #current: ServedWorld;
  #seen: string;
  #refused: ReloadOutcome | undefined;
  #settling: string | undefined;
  #turn: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  readonly #options: ReloadOptions;
  readonly #listeners = new Set<() => void>();
  /** Every decision that could be made since the start. */
  readonly #everKnown: Set<string>;

  static async open(options: ReloadOptions): Promise<ReloadingWorld> {
    const stamp = options.stamp();
    return new ReloadingWorld(await options.open(), stamp, options);
  }

  private constructor(current: ServedWorld, stamp: string, options: ReloadOptions) {
    this.#current = current;
    this.#seen = stamp;
    this.#options = options;
    this.#everKnown = new Set(current.definitions.ids);
    this.#timer = setInterval(() => void this.#inTurn(() => this.#look()), options.intervalMs);
    this.#timer.unref();
  }

  get current(): ServedWorld {
    return this.#current;
  }

  /** The change that is not taken up; undefined: what is there is what is served. */
  get rejected(): ReloadOutcome | undefined {
    return this.#refused;
  }

  /** The decisions that could be made since the start, and cannot any more as nothing defines them. */
  get removedDecisions(): readonly string[] {
    const { ids } = this.#current.definitions;
    return [...this.#everKnown].filter((id) => !ids.includes(id));
  }

  /** Hears of each change that is taken up. */
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  };

  /** Takes up what is there now, changed or not. */
  reload(): Promise<void> {
    return this.#inTurn(() => this.#takeUp(this.#stamp()));
  }

  stop(): Promise<void> {
    clearInterval(this.#timer);
    return this.#turn;
  }

  #inTurn(work: () => Promise<void>): Promise<void> {
    this.#turn = this.#turn.then(work);
    return this.#turn;
  }

  /** A change is taken up once it has come to rest: several files are often changed one after the other. */
  async #look(): Promise<void> {
    const stamp = this.#stamp();
    if (stamp === this.#seen) this.#settling = undefined;
    else if (stamp !== this.#settling) this.#settling = stamp;
    else await this.#takeUp(stamp);
  }

  async #takeUp(stamp: string): Promise<void> {
    this.#seen = stamp;
    this.#settling = undefined;
    try {
      const next = await this.#options.open();
      const broken = this.#options.rejectBroken ? newDiagnostics(next, this.#current) : [];
      if (broken.length > 0) this.#refuse("it cannot be used", broken);
      else if (this.#options.rejectBroken && lostAllDefinitions(next, this.#current)) {
        this.#refuse("nothing is defined any more", []);
      } else this.#become(next);
    } catch (error) {
      const isExpected = error instanceof DecisionError;
      this.#refuse(isExpected ? error.message : String(error), []);
    }
  }

  #become(next: ServedWorld): void {
    const { ids, diagnostics } = next.definitions;
    const gone = this.#current.definitions.ids.filter((id) => !ids.includes(id));
    for (const id of ids) this.#everKnown.add(id);
    this.#current = next;
    this.#refused = undefined;
    this.#options.onReload({ became: "current", decisions: ids.length, diagnostics, gone });
    for (const listener of this.#listeners) listener();
  }

  #refuse(reason: string, diagnostics: readonly Diagnostic[]): void {
    this.#refused = { became: "refused", reason, diagnostics };
    this.#options.onReload(this.#refused);
  }

  /** A directory that cannot be looked at is a change, too. */
  #stamp(): string {
    try {
      return this.#options.stamp();
    } catch (error) {
      return `unreadable: ${String(error)}`;
    }
  }
}

/** Where no policy is left, every call would be allowed; files that are all gone are more likely on their way. */
const lostAllDefinitions = (next: ServedWorld, current: ServedWorld): boolean =>
  next.definitions.ids.length === 0 && current.definitions.ids.length > 0;

/** What is wrong now and was not before. */
function newDiagnostics(next: ServedWorld, current: ServedWorld): readonly Diagnostic[] {
  const known = new Set(current.definitions.diagnostics.map(diagnosticKey));
  return next.definitions.diagnostics.filter((problem) => !known.has(diagnosticKey(problem)));
}

const diagnosticKey = ({ file, message }: Diagnostic): string => JSON.stringify([file, message]);

/** The same world, and somebody who hears of each decision that is made in it. */
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
