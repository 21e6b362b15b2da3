import type { EntryGroup } from "./counters.js";
import { Counters } from "./counters.js";
import {
  setDamageMark,
  assertUndamaged,
  assertNotMarkedDamaged,
  refreshHeadTime,
} from "./damage-detection.js";
import { fileShelf, ShelfFiles } from "./file-shelf.js";
import type { Files } from "./files.js";
import { systemFiles } from "./files.js";
import { GroupCommit } from "./group-commit.js";
import type { Progress } from "./index/log-index.js";
import { LockQueue } from "./lock-queue.js";
import type { Lock } from "./lock.js";
import { openLock } from "./lock.js";
import type { OpenReader, Reader, ReaderOptions } from "./log-reader.js";
import { LogWriter } from "./log-writer.js";
import { prune, assertVerified } from "./prune.js";
import { toWriteError, wrapReadErrors } from "./store-errors.js";
import { verifyStore } from "./verify-store.js";
import { DecisionError } from "../../../errors.js";
import type { Appended, Ledger, Store, LogLine } from "../../../model/store.js";
import type { Signer } from "../../../record/chain.js";
import { noteRecordBody } from "../../../record/record-json.js";
import { microsecondsOf } from "../../../record/timestamp.js";
import { makeDirectory } from "../../files.js";

export interface JsonlOptions {
  readonly directory: string;
  readonly durability?: "full" | "fast";
  readonly segmentSize?: number;
  readonly checkpointEvery?: number;
  readonly sign?: Signer | undefined;
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
  const turns = new LockQueue(lazyLock(directory));
  const locked = lockedRunner(directory, turns);
  const now = (): number => microsecondsOf(clock());
  const shelfOf = (name: string): ShelfFiles =>
    new ShelfFiles(`${directory}/${name}`, { files, now, durable: !derivedShelves.has(name) });
  const counters = new Counters(shelfOf("counters"));
  const writer = new LogWriter(`${directory}/log`, counters, {
    files,
    durable: options.durability !== "fast",
    segmentSize,
    checkpointEvery: options.checkpointEvery ?? 1000,
    sign: options.sign,
    clock,
    assertWritable: () => assertUndamaged(directory, () => verifyStore(directory).problems[0]?.message),
    makeNoteBody: (note, details) => {
      const timestamp = clock();
      return noteRecordBody({ record_id: options.newId(timestamp), timestamp, note, details });
    },
  });
  const noteDamage = (message: string): void => {
    setDamageMark(directory, message);
    options.onDamage?.(message);
  };
  const {
    reader,
    liveIndex: living,
    close,
  } = lazyReader(`${directory}/log`, { ...options, onDamage: noteDamage });
  const commit = new GroupCommit<EntryGroup, Appended>({
    runLocked: (write) => locked(write, "record"),
    write: async (groups, turn) => {
      try {
        return await writer.append(groups, { acquisition: turn });
      } catch (error) {
        // What fails is taken back, and is not to be taken for somebody else's doing.
        if (!(error instanceof DecisionError)) refreshHeadTime(`${directory}/log`);
        throw toWriteError(directory, "record")(error);
      } finally {
        living.tell("grown");
      }
    },
    sizeOf: (group) => group.reduce((sum, { body }) => sum + body.length, 0),
    maxBatchSize: Math.min(maxBatchChars, segmentSize),
  });
  const log: Ledger = {
    ...reader,
    append: (...entries) => commit.add(entries),
    ready: () =>
      locked(() => {
        // First: who asks time and again must not have all of the log read each time.
        assertNotMarkedDamaged(directory);
        writer.assertWritable();
      }),
    counter: (name) => Promise.resolve(wrapReadErrors(directory, () => counters.get(name))),
    prune: async (found, noteOf) => {
      if (found.through === 0) return;
      // Takes its time, so the others are not kept waiting meanwhile.
      assertVerified(directory);
      await locked(() => prune(directory, writer, found, noteOf)).finally(() => living.tell("changed"));
    },
  };
  return {
    log,
    shelf: (name) =>
      fileShelf(
        shelfOf(name),
        (work) => locked(work, derivedShelves.has(name) ? "store" : "record"),
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

type LockedRun = <T>(work: (turn: number) => T | Promise<T>, what?: "record" | "store") => Promise<T>;

/** What can be done without: it is found out anew. */
const derivedShelves: ReadonlySet<string> = new Set(["cache", "breakers", "responses"]);

/** In characters. */
const maxBatchChars = 16 * 1024 * 1024;

/** What cannot be written, or not even be locked, is told as such. */
function lockedRunner(directory: string, turns: LockQueue): LockedRun {
  return async (work, what = "store") => {
    try {
      return await turns.run(work);
    } catch (error) {
      throw toWriteError(directory, what)(error);
    }
  };
}

/** The lock of a store; made when it is first wanted. */
function lazyLock(directory: string): () => Lock {
  let lock: Lock | undefined;
  return () => {
    if (lock !== undefined) return lock;
    makeDirectory(directory, 0o700);
    return (lock = openLock(`${directory}/lock`));
  };
}

/** The same as `openReader`, but what reads is loaded when something is asked: most decisions only write. */
function lazyReader(log: string, options: ReaderOptions): OpenReader {
  let opened: OpenReader | undefined;
  let opening: Promise<OpenReader> | undefined;
  const open = (): Promise<OpenReader> =>
    (opening ??= import("./log-reader.js").then(({ openReader }) => (opened = openReader(log, options))));
  const ask = async <T>(question: (reader: Reader) => T): Promise<Awaited<T>> =>
    await question((opened ?? (await open())).reader);
  const lines = (question: (reader: Reader) => AsyncIterable<LogLine>): AsyncIterable<LogLine> =>
    opened === undefined
      ? deferredIterable(async () => question((await open()).reader))
      : question(opened.reader);
  return {
    reader: {
      state: () => ask((reader) => reader.state()),
      select: (...asked) => lines((reader) => reader.select(...asked)),
      related: (...asked) => lines((reader) => reader.related(...asked)),
      neighbours: (...asked) => ask((reader) => reader.neighbours(...asked)),
      find: (reference) => ask((reader) => reader.find(reference)),
      tally: (...asked) => ask((reader) => reader.tally(...asked)),
      prunable: (bound) => ask((reader) => reader.prunable(bound)),
      cacheUse: () => ask((reader) => reader.cacheUse()),
    },
    liveIndex: { tell: (news) => opened?.liveIndex.tell(news) },
    close: () => opened?.close(),
  };
}

/** What is found once somebody begins to look through it; without a layer of its own on every item. */
function deferredIterable<Item>(find: () => Promise<AsyncIterable<Item>>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      let found: AsyncIterator<Item> | undefined;
      return {
        async next() {
          found ??= (await find())[Symbol.asyncIterator]();
          return await found.next();
        },
        async return() {
          await found?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
