import { DecisionError } from "../errors.js";
import type { Problem } from "../model/problem.js";
import type { ServedWorld } from "./question.js";

/** What became of a change of the definitions. */
export type Change =
  | {
      readonly became: "current";
      readonly decisions: number;
      readonly problems: readonly Problem[];
      /** The decisions that were there before and are no more. */
      readonly gone: readonly string[];
    }
  /** What it would break is gone on with as it was. */
  | { readonly became: "refused"; readonly reason: string; readonly problems: readonly Problem[] };

export interface LivingOptions {
  readonly open: () => Promise<ServedWorld>;
  /** Changes whenever what would be opened does. */
  readonly stamp: () => string;
  /** Whether a change that breaks something is not taken up; where definitions must be approved, it always is. */
  readonly keepsSound: boolean;
  readonly everyMilliseconds: number;
  readonly onChange: (change: Change) => void;
}

/** The world with definitions that change: every question is asked of the one that is there when it comes. */
export class LivingWorld {
  #current: ServedWorld;
  #seen: string;
  #refused: Change | undefined;
  #settling: string | undefined;
  #turn: Promise<void> = Promise.resolve();
  readonly #timer: NodeJS.Timeout;
  readonly #options: LivingOptions;
  readonly #listeners = new Set<() => void>();
  /** Every decision that could be made since the start. */
  readonly #everKnown: Set<string>;

  static async open(options: LivingOptions): Promise<LivingWorld> {
    const stamp = options.stamp();
    return new LivingWorld(await options.open(), stamp, options);
  }

  private constructor(current: ServedWorld, stamp: string, options: LivingOptions) {
    this.#current = current;
    this.#seen = stamp;
    this.#options = options;
    this.#everKnown = new Set(current.definitions.ids);
    this.#timer = setInterval(() => void this.#inTurn(() => this.#look()), options.everyMilliseconds);
    this.#timer.unref();
  }

  get current(): ServedWorld {
    return this.#current;
  }

  /** The change that is not taken up; undefined: what is there is what is served. */
  get refused(): Change | undefined {
    return this.#refused;
  }

  /** The decisions that could be made since the start, and cannot any more as nothing defines them. */
  get removed(): readonly string[] {
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
      const broken = this.#options.keepsSound ? newProblems(next, this.#current) : [];
      if (broken.length > 0) this.#refuse("it cannot be used", broken);
      else if (this.#options.keepsSound && isEmptied(next, this.#current)) {
        this.#refuse("nothing is defined any more", []);
      } else this.#become(next);
    } catch (error) {
      const isExpected = error instanceof DecisionError;
      this.#refuse(isExpected ? error.message : String(error), []);
    }
  }

  #become(next: ServedWorld): void {
    const { ids, problems } = next.definitions;
    const gone = this.#current.definitions.ids.filter((id) => !ids.includes(id));
    for (const id of ids) this.#everKnown.add(id);
    this.#current = next;
    this.#refused = undefined;
    this.#options.onChange({ became: "current", decisions: ids.length, problems, gone });
    for (const listener of this.#listeners) listener();
  }

  #refuse(reason: string, problems: readonly Problem[]): void {
    this.#refused = { became: "refused", reason, problems };
    this.#options.onChange(this.#refused);
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
const isEmptied = (next: ServedWorld, current: ServedWorld): boolean =>
  next.definitions.ids.length === 0 && current.definitions.ids.length > 0;

/** What is wrong now and was not before. */
function newProblems(next: ServedWorld, current: ServedWorld): readonly Problem[] {
  const known = new Set(current.definitions.problems.map(nameOf));
  return next.definitions.problems.filter((problem) => !known.has(nameOf(problem)));
}

const nameOf = ({ file, message }: Problem): string => JSON.stringify([file, message]);
