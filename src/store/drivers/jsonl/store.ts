import { existsSync, rmSync } from "node:fs";
import { assertNoneForgotten, serialsIn, witnessedShelf } from "./approval-witness.js";
import type { EntryGroup } from "./counters.js";
import { Counters } from "./counters.js";
import { DamageDetector, refreshHeadTime, suspectDamage } from "./damage-detection.js";
import type { ExpiredSegments } from "./expired-segments.js";
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
import type { PrunedStore } from "./prune.js";
import { readPlace } from "./read-place.js";
import { Retention } from "./retention.js";
import { listSegments } from "./segments.js";
import { throwReadError, toWriteError, wrapReadErrors } from "./store-errors.js";
import { DecisionError } from "../../../errors.js";
import type { JsonObject } from "../../../model/json.js";
import type { NoteRecord } from "../../../model/record.js";
import type { Appended, Ledger, Shelf, Store, LogLine } from "../../../model/store.js";
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
  /** Called while the log is read or indexed. */
  readonly progress?: Progress;
  /** For how long records are kept, such as `90d`; older segments are removed. Absent: for ever. */
  readonly retention?: string | undefined;
  /** Called if the log is found damaged; reading continues. */
  readonly onDamage?: (message: string) => void;
  /** Called with failures that do not affect a decision. */
  readonly onWarning?: (message: string) => void;
}

/** A store in JSON lines files, shared by many processes. Creates and reads nothing before it is used. */
export function openJsonlStore(options: JsonlOptions): Store {
  const { directory, clock, files = systemFiles, segmentSize = 64 * 1024 * 1024 } = options;
  const queue = new LockQueue(lazyLock(directory));
  const locked = lockedRunner(directory, queue);
  const now = (): number => microsecondsOf(clock());
  const shelfOf = (name: string): ShelfFiles =>
    new ShelfFiles(`${directory}/${name}`, {
      files,
      now,
      durable: !derivedShelves.has(name),
      checked: checkedShelves.has(name),
    });
  const detector = new DamageDetector(directory);
  const counters = new Counters(directory, {
    files,
    progress: options.progress,
    onDamage: (message) => suspectDamage(directory, message),
  });
  const makeNoteBody = (note: NoteRecord["note"], details: JsonObject): string => {
    const timestamp = clock();
    return noteRecordBody({ record_id: options.newId(timestamp), timestamp, note, details });
  };
  const writer = new LogWriter(`${directory}/log`, counters, {
    files,
    durable: options.durability !== "fast",
    segmentSize,
    checkpointEvery: options.checkpointEvery ?? 1000,
    sign: options.sign,
    clock,
    assertWritable: () => detector.assertUndamaged(),
    assertVerified: () => detector.assertVerified(),
    makeNoteBody,
  });
  const onDamage = (message: string): void => {
    suspectDamage(directory, message);
    options.onDamage?.(message);
  };
  const { reader, liveIndex, close } = lazyReader(`${directory}/log`, { ...options, onDamage, detector });
  const commit = new GroupCommit<EntryGroup, Appended>({
    runLocked: (write) => locked(write, "record"),
    write: async (groups, acquisition) => {
      try {
        return await writer.append(groups, { acquisition });
      } catch (error) {
        // A failed append was undone. It modified a segment, which must not look like a change by another program.
        if (!(error instanceof DecisionError)) refreshHeadTime(`${directory}/log`);
        throw toWriteError(directory, "record")(error);
      } finally {
        liveIndex.notifyChange("grown");
      }
    },
    sizeOf: (group) => group.reduce((sum, { body }) => sum + body.length, 0),
    maxBatchSize: Math.min(maxBatchChars, segmentSize),
  });
  const removeExpired = (expired: ExpiredSegments, duration: string): Promise<void> =>
    locked(async () => {
      // Another process may have removed them.
      if (listSegments(`${directory}/log`)[0] !== expired.first) return;
      await detector.assertUndamaged();
      const { prune } = await import("./prune.js");
      const countersAt: PrunedStore["countersAt"] = (head) => counters.savedSnapshot(head);
      await prune({ directory, writer, countersAt }, expired, (details) =>
        makeNoteBody("pruned", { ...details, retention: duration }),
      );
    }).finally(() => liveIndex.notifyChange("changed"));
  const retention = startRetention(options, { now, onDamage, remove: removeExpired });
  const log: Ledger = {
    ...reader,
    append:
      retention === undefined
        ? (...entries) => commit.add(entries)
        : async (...entries) => {
            const appended = await commit.add(entries);
            if ("places" in appended) retention.afterAppend(appended.places.at(-1)?.["segment"] ?? 0);
            return appended;
          },
    ready: () => locked(() => writer.assertWritable()),
    counter: (name) => counters.read(name).catch(throwReadError(directory)),
    at: (place) => Promise.resolve(wrapReadErrors(directory, () => readPlace(`${directory}/log`, place))),
    prune: async (found, noteOf) => {
      if (found.through === 0) return;
      const { assertVerified, prune } = await import("./prune.js");
      // Outside the lock, because it reads the whole log and would block all writers.
      assertVerified(directory);
      const countersAt: PrunedStore["countersAt"] = (head) => counters.snapshot(head);
      await locked(() => prune({ directory, writer, countersAt }, found, noteOf)).finally(() =>
        liveIndex.notifyChange("changed"),
      );
    },
  };
  return {
    log,
    shelf(name) {
      const files = shelfOf(name);
      const target = derivedShelves.has(name) ? "store" : "record";
      const plain = fileShelf(files, (work) => locked(work, target), `${directory}/${name}`);
      if (derivedShelves.has(name)) return plain;
      const shelf = shelfAfter(plain, async () => {
        if (!existsSync(`${directory}/log/head`)) await locked(() => writer.assertWritable(), target);
      });
      if (name !== "approvals") return shelf;
      return witnessedShelf(shelf, {
        remember: () => locked(() => writer.noteApprovals(serialsIn(files)), target),
        check: () => wrapReadErrors(directory, () => assertNoneForgotten(directory, files)),
      });
    },
    async restore(snapshot) {
      const restore = await import("./restore.js");
      await locked(() => {
        restore.assertEmptyStore(directory);
        restore.removeUnfinishedRestores(directory);
      });
      // Outside the lock, which must not be held for long.
      const staged = await restore
        .stageRestore(directory, snapshot, { segmentSize, progress: options.progress })
        .catch((error: unknown) => {
          throw toWriteError(directory, "store")(error);
        });
      await locked(() => restore.commitRestore(directory, staged)).finally(() => {
        rmSync(staged, { recursive: true, force: true });
        liveIndex.notifyChange("changed");
      });
    },
    async close() {
      await commit.idle();
      await retention?.idle();
      await queue.idle();
      writer.close();
      close();
    },
  };
}

interface RetentionTools {
  readonly now: () => number;
  readonly onDamage: (message: string) => void;
  readonly remove: (expired: ExpiredSegments, duration: string) => Promise<void>;
}

/** Returns undefined if records are kept for ever. */
function startRetention(
  { directory, retention: duration, onWarning }: JsonlOptions,
  { now, onDamage, remove }: RetentionTools,
): Retention | undefined {
  if (duration === undefined) return undefined;
  return new Retention({
    log: `${directory}/log`,
    duration,
    now,
    remove: (expired) => remove(expired, duration),
    onError: (error) => {
      const { message } = error as Error;
      if (error instanceof DecisionError && error.code === "log_damaged") onDamage(message);
      else onWarning?.(`cannot remove records older than \`retention\`: ${message}`);
    },
  });
}

type LockedRun = <T>(
  work: (acquisition: number) => T | Promise<T>,
  target?: "record" | "store",
) => Promise<T>;

/** A shelf that is written only once the log exists, so that a shelf without a log shows that the log was removed. */
const shelfAfter = (shelf: Shelf, startLog: () => Promise<void>): Shelf => ({
  ...shelf,
  async put(entries) {
    await startLog();
    await shelf.put(entries);
  },
  async update(key, change) {
    await startLog();
    return await shelf.update(key, change);
  },
});

/** Shelves whose values can be computed or fetched again, so they are not synced to the disk. */
const derivedShelves: ReadonlySet<string> = new Set(["cache", "breakers", "responses"]);

/** Shelves whose values are not checked by those who read them. */
const checkedShelves: ReadonlySet<string> = new Set(["breakers", "responses", "approvals"]);

/** In characters. */
const maxBatchChars = 16 * 1024 * 1024;

/** Runs work under the lock and turns file system errors of both into `store_failed`. */
function lockedRunner(directory: string, queue: LockQueue): LockedRun {
  return async (work, target = "store") => {
    try {
      return await queue.run(work);
    } catch (error) {
      throw toWriteError(directory, target)(error);
    }
  };
}

/** Opens the lock of a store on first use. */
function lazyLock(directory: string): () => Lock {
  let lock: Lock | undefined;
  return () => {
    if (lock !== undefined) return lock;
    makeDirectory(directory, 0o700);
    return (lock = openLock(`${directory}/lock`));
  };
}

/**
 * Wraps `openReader` and loads its module on the first query: most decisions only write, and start faster without it.
 */
function lazyReader(log: string, options: ReaderOptions): OpenReader {
  let opened: OpenReader | undefined;
  let opening: Promise<OpenReader> | undefined;
  const open = (): Promise<OpenReader> =>
    (opening ??= import("./log-reader.js").then(({ openReader }) => (opened = openReader(log, options))));
  const query = async <T>(run: (reader: Reader) => T): Promise<Awaited<T>> =>
    await run((opened ?? (await open())).reader);
  const queryLines = (run: (reader: Reader) => AsyncIterable<LogLine>): AsyncIterable<LogLine> =>
    opened === undefined ? deferredIterable(async () => run((await open()).reader)) : run(opened.reader);
  return {
    reader: {
      state: () => query((reader) => reader.state()),
      select: (...args) => queryLines((reader) => reader.select(...args)),
      related: (...args) => queryLines((reader) => reader.related(...args)),
      neighbours: (...args) => query((reader) => reader.neighbours(...args)),
      find: (reference) => query((reader) => reader.find(reference)),
      tally: (...args) => query((reader) => reader.tally(...args)),
      tallyByHour: (...args) => query((reader) => reader.tallyByHour(...args)),
      pruned: () => query((reader) => reader.pruned()),
      prunable: (bound) => query((reader) => reader.prunable(bound)),
      cacheUse: () => query((reader) => reader.cacheUse()),
    },
    liveIndex: { notifyChange: (change) => opened?.liveIndex.notifyChange(change) },
    close: () => opened?.close(),
  };
}

/** Creates the iterable on the first `next`. By hand, because an async generator would add a promise to every item. */
function deferredIterable<Item>(find: () => Promise<AsyncIterable<Item>>): AsyncIterable<Item> {
  return {
    [Symbol.asyncIterator]() {
      let iterator: AsyncIterator<Item> | undefined;
      return {
        async next() {
          iterator ??= (await find())[Symbol.asyncIterator]();
          return await iterator.next();
        },
        async return() {
          await iterator?.return?.();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
