import { DecisionError } from "../../../errors.js";
import type { Appended, Ledger, Store } from "../../../model/store.js";
import type { Sign } from "../../../record/checkpoint.js";
import { microsecondsOf } from "../../../record/moment.js";
import { noteBody } from "../../../record/record-body.js";
import { makeDirectory } from "../../make-directory.js";
import { asShelf } from "./as-shelf.js";
import type { EntryGroup } from "./counters.js";
import { Counters } from "./counters.js";
import { notWritten, reading } from "./damage.js";
import { markDamage, refuseDamage, refuseMarked } from "./damage-mark.js";
import type { Files } from "./files.js";
import { systemFiles } from "./files.js";
import { GroupCommit } from "./group-commit.js";
import type { Progress } from "./index/log-index.js";
import type { Lock } from "./lock.js";
import { openLock } from "./lock.js";
import { lazyReader } from "./lazy-reader.js";
import { LogWriter } from "./log-writer.js";
import { prune, refuseDamaged } from "./prune.js";
import { ShelfFiles } from "./shelf-files.js";
import { untouch } from "./touched.js";
import { Turns } from "./turns.js";
import { verifyStore } from "./verify.js";

export interface JsonlOptions {
  readonly directory: string;
  readonly durability?: "full" | "fast";
  readonly segmentSize?: number;
  readonly checkpointEvery?: number;
  readonly sign?: Sign | undefined;
  readonly clock: () => string;
  readonly newId: (timestamp: string) => string;
  readonly files?: Files;
  /** Hears how far the reading of the log is. */
  readonly progress?: Progress;
  /** Hears that the log is not what was written; reading goes on. */
  readonly onDamage?: (message: string) => void;
}

/** A store in JSON lines, for many processes at once. Nothing is touched before it is used. */
export function openJsonlStore(options: JsonlOptions): Store {
  const { directory, clock, files = systemFiles, segmentSize = 64 * 1024 * 1024 } = options;
  const turns = new Turns(lockIn(directory));
  const locked = lockedBy(directory, turns);
  const now = (): number => microsecondsOf(clock());
  const shelfOf = (name: string): ShelfFiles =>
    new ShelfFiles(`${directory}/${name}`, { files, now, durable: !derived.has(name) });
  const counters = new Counters(shelfOf("counters"));
  const writer = new LogWriter(`${directory}/log`, counters, {
    files,
    durable: options.durability !== "fast",
    segmentSize,
    checkpointEvery: options.checkpointEvery ?? 1000,
    sign: options.sign,
    clock,
    refuse: () => refuseDamage(directory, () => verifyStore(directory).problems[0]?.message),
    note: (note, details) => {
      const timestamp = clock();
      return noteBody({ record_id: options.newId(timestamp), timestamp, note, details });
    },
  });
  const noteDamage = (message: string): void => {
    markDamage(directory, message);
    options.onDamage?.(message);
  };
  const { reader, living, close } = lazyReader(`${directory}/log`, { ...options, onDamage: noteDamage });
  const commit = new GroupCommit<EntryGroup, Appended>({
    inTurn: (write) => locked(write, "record"),
    write: async (groups, turn) => {
      try {
        return await writer.append(groups, { turn });
      } catch (error) {
        // What fails is taken back, and is not to be taken for somebody else's doing.
        if (!(error instanceof DecisionError)) untouch(`${directory}/log`);
        throw notWritten(directory, "record")(error);
      } finally {
        living.tell("grown");
      }
    },
    sizeOf: (group) => group.reduce((sum, { body }) => sum + body.length, 0),
    largest: Math.min(largestGroup, segmentSize),
  });
  const log: Ledger = {
    ...reader,
    append: (...entries) => commit.add(entries),
    ready: () =>
      locked(() => {
        // First: who asks time and again must not have all of the log read each time.
        refuseMarked(directory);
        writer.refuse();
      }),
    counter: (name) => Promise.resolve(reading(directory, () => counters.get(name))),
    prune: async (found, noteOf) => {
      if (found.through === 0) return;
      // Takes its time, so the others are not kept waiting meanwhile.
      refuseDamaged(directory);
      await locked(() => prune(directory, writer, found, noteOf)).finally(() => living.tell("changed"));
    },
  };
  return {
    log,
    shelf: (name) =>
      asShelf(
        shelfOf(name),
        (work) => locked(work, derived.has(name) ? "store" : "record"),
        `${directory}/${name}`,
      ),
    async close() {
      await commit.idle();
      await turns.idle();
      writer.close();
      close();
    },
  };
}

type Locked = <T>(work: (turn: number) => T | Promise<T>, what?: "record" | "store") => Promise<T>;

/** What can be done without: it is found out anew. */
const derived: ReadonlySet<string> = new Set(["cache", "breakers", "responses"]);

/** In characters. */
const largestGroup = 16 * 1024 * 1024;

/** What cannot be written, or not even be locked, is told as such. */
function lockedBy(directory: string, turns: Turns): Locked {
  return async (work, what = "store") => {
    try {
      return await turns.take(work);
    } catch (error) {
      throw notWritten(directory, what)(error);
    }
  };
}

/** The lock of a store; made when it is first wanted. */
function lockIn(directory: string): () => Lock {
  let lock: Lock | undefined;
  return () => {
    if (lock !== undefined) return lock;
    makeDirectory(directory, 0o700);
    return (lock = openLock(`${directory}/lock`));
  };
}
