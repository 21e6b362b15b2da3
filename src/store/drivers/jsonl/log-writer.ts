import { sumOfSerials } from "./approval-witness.js";
import type { PendingCheckpoints } from "./checkpoints.js";
import { peekLastCheckpoint, prepareCheckpoints } from "./checkpoints.js";
import type { Admission, Counters, EntryGroup, PlacedLink } from "./counters.js";
import type { Files } from "./files.js";
import type { CheckpointPin, Head } from "./head.js";
import { HeadFile, pickPins, pickPosition, withoutCounters } from "./head.js";
import type { LogTail, MakeNoteBody, PlacedPin } from "./recover-tail.js";
import { assertTailPresent, recoverTail } from "./recover-tail.js";
import type { UnsyncedRange } from "./segments.js";
import { SegmentFile } from "./segments.js";
import type { JsonObject } from "../../../model/json.js";
import type { Appended } from "../../../model/store.js";
import type { Checkpoint, Signer } from "../../../record/chain.js";
import {
  checkpointMark,
  maxSealedByteLength,
  sealLineInto,
  sealedByteLength,
} from "../../../record/chain.js";

interface WriterOptions {
  readonly files: Files;
  /** False: acknowledges records before they are synced to the disk. */
  readonly durable: boolean;
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly sign?: Signer | undefined;
  readonly clock: () => string;
  readonly makeNoteBody: MakeNoteBody;
  /** Throws if the log is damaged, so nothing may be appended. */
  readonly assertWritable: () => Promise<void>;
  /** Reads the whole log and throws if it is damaged. */
  readonly assertVerified: () => Promise<void>;
}

/**
 * The first syncs of a process block it; later ones run in the background. A process that writes a few records
 * and exits finishes sooner without starting a thread.
 */
const maxBlockingSyncs = 8;

/** The end of the log after an append, valid while this process keeps the lock. */
interface LastAppend {
  readonly acquisition: number;
  readonly head: Head;
}

interface AppendOptions {
  /** Records in the head that all records up to this one were pruned, and adds a checkpoint. */
  readonly pruned?: number;
  /** Records in the head the sum of the serial numbers of all approval locks that were seen. */
  readonly approvals?: number;
  /** The acquisition of the lock under which this append runs; see `LockQueue`. */
  readonly acquisition?: number;
}

/** Lines to append, and the head of the log once they are written. */
interface SealedBatch {
  /** A view of the reusable buffer: must be written before the next batch is sealed. */
  readonly bytes: Buffer;
  readonly links: readonly PlacedLink[];
  readonly head: Head;
  readonly pins: readonly PlacedPin[];
}

/**
 * Appends records to the log. The caller holds the lock of the store.
 *
 * The order of the steps makes each crash recoverable:
 * 1. `recoverTail` finds the real end of the log and repairs what an earlier crash left.
 * 2. Limits are checked and new checkpoints are signed. Both can fail, and nothing has been written yet.
 * 3. The lines are appended to the segment and synced. They now survive a power cut; if the sync fails, they
 *    are truncated and the append is rejected.
 * 4. Checkpoints and counters are written. After a crash here, both are derived from the lines.
 * 5. The head is written last. A log that is longer than its head is therefore an unfinished append; a log that
 *    is shorter was cut.
 */
export class LogWriter {
  readonly #directory: string;
  readonly #counters: Counters;
  readonly #options: WriterOptions;
  readonly #head: HeadFile;
  readonly #segment: SegmentFile;
  #lastAppend: LastAppend | undefined;
  #syncCount = 0;
  #buffer = Buffer.alloc(0);

  constructor(directory: string, counters: Counters, options: WriterOptions) {
    this.#directory = directory;
    this.#counters = counters;
    this.#options = options;
    this.#head = new HeadFile(directory, options.files);
    this.#segment = new SegmentFile(directory, options.files);
  }

  /**
   * Appends all groups that their limits admit, in one step; on an error, none of them. No other method may be
   * called until it resolves.
   */
  async append(
    groups: readonly EntryGroup[],
    { acquisition, ...noted }: AppendOptions = {},
  ): Promise<readonly Appended[]> {
    const { tail, isMigrated } = await this.#prepareCounters(await this.#tailWithin(acquisition), groups);
    const admission = this.#counters.admit(groups, tail.head.size + tail.notes.length + 1);
    const bodies = [...tail.notes, ...admission.bodies];
    if (bodies.length === 0) {
      if (tail.recovered.length > 0) await this.#writeRecovered(tail, admission);
      return admission.outcomes([]);
    }
    const batch = this.#sealBatch(bodies, tail, noted);
    const head = await this.#write(batch, tail.head, admission);
    if (isMigrated) this.#counters.removeEarlierFiles();
    if (acquisition !== undefined) this.#lastAppend = { acquisition, head };
    return admission.outcomes(batch.links.slice(tail.notes.length));
  }

  /** Throws if nothing can be appended now. Writes nothing. */
  async assertWritable(): Promise<void> {
    await this.#options.assertWritable();
    assertTailPresent(this.#directory, { head: this.#head, segment: this.#segment });
  }

  /** Returns the current end of the log, after recovery. */
  head(): Head {
    return this.#recoverTail().head;
  }

  /** Starts a new segment, so that the next record goes there. */
  async rotate(): Promise<void> {
    const { head, pins, recovered } = this.#recoverTail();
    if (head.bytes === 0) return;
    const isCounted = recovered.every(({ counted }) => counted.length === 0);
    const pin = { size: head.size, head: head.head, timestamp: this.#options.clock(), end: head.bytes };
    const checkpoints = await this.#prepareCheckpoints([...pins, pin]);
    this.#syncBeforeLeaving(head);
    this.#segment.openOrCreate(head.size + 1);
    const position = {
      ...pickPosition(head),
      ...pickPins(isCounted ? head : withoutCounters(head)),
      ...(head.torn && { torn: head.torn }),
    };
    this.#writeHead({ ...position, segment: head.size + 1, bytes: 0 }, checkpoints?.write(), []);
  }

  /**
   * Notes the serial numbers of all approval locks that were seen in the log, and their sum in the head: older copies of
   * the head and of the locks are then noticed.
   */
  async noteApprovals(serials: ReadonlyMap<string, number>): Promise<void> {
    await this.#options.assertWritable();
    const approvals = sumOfSerials(serials);
    if ((this.head().approvals ?? 0) >= approvals) return;
    const details = { approvals, serials: Object.fromEntries(serials) };
    const body = this.#options.makeNoteBody("approvals_seen", details);
    await this.append([[{ body }]], { approvals });
  }

  /** Syncs the head file, so that a power cut cannot bring back an older head. */
  syncHead(): void {
    this.#head.sync();
  }

  close(): void {
    this.#head.close();
    this.#segment.close();
  }

  /**
   * Returns the end of the log. Within one acquisition no other process has written, so the end of the last
   * append is reused if the files still look the same; otherwise the log is checked and recovered.
   */
  async #tailWithin(acquisition: number | undefined): Promise<LogTail> {
    const last = this.#lastAppend;
    // Set again only after a successful append: a failed one leaves the end of the log uncertain.
    this.#lastAppend = undefined;
    if (acquisition === undefined) return this.#recoverTail();
    const isUnchanged =
      last?.acquisition === acquisition &&
      this.#head.isCurrentFile() &&
      this.#segment.sizeOf(last.head.segment) === last.head.bytes;
    if (isUnchanged) return { head: last.head, notes: [], pins: [], recovered: [] };
    await this.#options.assertWritable();
    return this.#recoverTail();
  }

  /** Prepares the counters of these groups. If they were counted again, the head gets their new pin. */
  async #prepareCounters(
    tail: LogTail,
    groups: readonly EntryGroup[],
  ): Promise<{ readonly tail: LogTail; readonly isMigrated: boolean }> {
    const { pin, migrated } = await this.#counters.prepare(tail, groups);
    if (pin === undefined || pin === tail.head.counters) return { tail, isMigrated: false };
    const head = { ...tail.head, counters: pin };
    if (migrated !== undefined) {
      const details = { counters: Object.fromEntries(migrated) as unknown as JsonObject };
      const notes = [...tail.notes, this.#options.makeNoteBody("counters_migrated", details)];
      return { tail: { ...tail, head, notes }, isMigrated: true };
    }
    // After a crash the head is written with the append, because the checkpoints that are due come first.
    if (tail.recovered.length === 0) {
      this.#head.write(head);
      this.#counters.removeEarlierFiles();
    }
    return { tail: { ...tail, head }, isMigrated: false };
  }

  /** Writes a head that covers the recovered records, if nothing else is appended: readers would count them again. */
  async #writeRecovered({ head, pins }: LogTail, admission: Admission): Promise<void> {
    await this.#sync(head.segment, { start: head.bytes, next: head.size + 1 });
    const checkpoint = (await this.#prepareCheckpoints(pins))?.write();
    const counters = admission.saveCounters();
    this.#writeHead({ ...head, ...(counters !== undefined && { counters }) }, checkpoint, pins);
  }

  #recoverTail(): LogTail {
    const { files, checkpointEvery, clock, makeNoteBody } = this.#options;
    const parts = { head: this.#head, segment: this.#segment };
    return recoverTail(this.#directory, { ...parts, files, checkpointEvery, clock, makeNoteBody });
  }

  /** Turns bodies into chained lines and decides where they go and which checkpoints they need. */
  #sealBatch(
    bodies: readonly string[],
    { head, pins: due }: LogTail,
    { pruned, approvals }: Pick<AppendOptions, "pruned" | "approvals">,
  ): SealedBatch {
    const { segmentSize, checkpointEvery, clock } = this.#options;
    const links: { seq: number; hash: string; place: { segment: number; offset: number; length: number } }[] =
      [];
    const ends: Omit<PlacedPin, "timestamp">[] = [];
    const buffer = this.#bufferFor(bodies);
    let length = 0;
    let { size: seq, head: hash } = head;
    const last = head.size + bodies.length;
    for (const body of bodies) {
      const isPinned = ++seq % checkpointEvery === 0 || (pruned !== undefined && seq === last);
      const entry = { seq, body: isPinned ? body + checkpointMark : body, previous: hash };
      const offset = length;
      ({ end: length, hash } = sealLineInto(buffer, length, entry));
      links.push({ seq, hash, place: { segment: 0, offset, length: length - offset - 1 } });
      if (isPinned) ends.push({ size: seq, head: hash, end: length });
    }
    const bytes = buffer.subarray(0, length);
    const isFull = head.bytes > 0 && head.bytes + bytes.length > segmentSize;
    const start = isFull ? 0 : head.bytes;
    const pins = [
      ...due,
      // A new segment pins the end of the old one.
      ...(isFull ? [{ size: head.size, head: head.head, timestamp: clock(), end: head.bytes }] : []),
      ...ends.map((pin) => ({ ...pin, timestamp: clock(), end: start + pin.end })),
    ];
    const position = { size: seq, head: hash, segment: isFull ? head.size + 1 : head.segment };
    for (const { place } of links) {
      place.segment = position.segment;
      place.offset += start;
    }
    const noted = { ...(pruned !== undefined && { pruned }), ...(approvals !== undefined && { approvals }) };
    return { bytes, links, pins, head: { ...head, ...position, bytes: start + bytes.length, ...noted } };
  }

  /**
   * Returns a buffer for the lines. Small batches share one, sized by an upper bound: counting their bytes would be
   * slower.
   */
  #bufferFor(bodies: readonly string[]): Buffer {
    const bound = maxSealedByteLength(bodies);
    if (bound > maxReusableBytes) return Buffer.allocUnsafe(sealedByteLength(bodies));
    if (this.#buffer.length < bound) this.#buffer = Buffer.allocUnsafe(Math.min(2 * bound, maxReusableBytes));
    return this.#buffer;
  }

  async #write({ bytes, links, pins, head }: SealedBatch, before: Head, admission: Admission): Promise<Head> {
    const { durable } = this.#options;
    const start = head.bytes - bytes.length;
    const checkpoints = await this.#prepareCheckpoints(pins);
    if (head.segment !== before.segment) this.#syncBeforeLeaving(before);
    this.#segment.append(head.segment, bytes, start);
    // A checkpoint must never cover a record that a power cut can still remove.
    // Neither must a counter: a limit would be reset.
    const isSynced = durable || pins.length > 0 || admission.isCounted;
    if (isSynced) await this.#sync(head.segment, { start, next: links[0]?.seq ?? 0 });
    const { last, counters } = this.#writeCheckpointsAndCounters(checkpoints, admission, { head, start });
    const pinned = { ...head, ...(counters !== undefined && { counters }) };
    const position = { ...pickPosition(pinned), ...pickPins(pinned) };
    const synced = isSynced ? undefined : (before.synced ?? pickPosition(before));
    return this.#writeHead(synced === undefined ? position : { ...position, synced }, last, pins);
  }

  async #sync(segment: number, range: UnsyncedRange): Promise<void> {
    if (this.#syncCount++ < maxBlockingSyncs) this.#segment.sync(segment, range);
    else await this.#segment.syncInBackground(segment, range);
  }

  /**
   * On an error the lines are removed again, because the append is rejected; unless a checkpoint already covers them.
   */
  #writeCheckpointsAndCounters(
    checkpoints: PendingCheckpoints | undefined,
    admission: Admission,
    { head, start }: { readonly head: Head; readonly start: number },
  ): { readonly last: Checkpoint | undefined; readonly counters: string | undefined } {
    try {
      return { last: checkpoints?.write(), counters: admission.saveCounters() };
    } catch (error) {
      if (checkpoints?.isWritten !== true) this.#segment.truncate(head.segment, start);
      throw error;
    }
  }

  /** Syncs a segment before the next one starts, even with `durability: fast`: a power cut must not leave a gap. */
  #syncBeforeLeaving({ segment, bytes, size, synced }: Head): void {
    if (synced !== undefined && bytes > 0) this.#segment.sync(segment, { start: bytes, next: size + 1 });
  }

  /**
   * Creates and signs checkpoints before any record is written: an unusable key must not leave a record behind. If the
   * last one is missing, the log is verified first, because a checkpoint of a log that was cut would hide the cut.
   */
  async #prepareCheckpoints(pins: readonly PlacedPin[]): Promise<PendingCheckpoints | undefined> {
    const { files, sign, checkpointEvery, assertVerified } = this.#options;
    const [first] = pins;
    if (first === undefined) return undefined;
    const path = `${this.#directory}/checkpoints.jsonl`;
    const covered = peekLastCheckpoint(path)?.size ?? 0;
    if (first.size - covered > checkpointEvery) await assertVerified();
    return prepareCheckpoints(files, path, pins, sign);
  }

  #writeHead(head: Head, last: Checkpoint | undefined, pins: readonly PlacedPin[]): Head {
    const pinned = last === undefined ? head : { ...head, checkpoint: placePin(head, last, pins) };
    this.#head.write(pinned);
    return pinned;
  }
}

/** Returns the pin of the last checkpoint. */
function placePin(head: Head, { size, hash }: Checkpoint, pins: readonly PlacedPin[]): CheckpointPin {
  const end = size < head.segment ? undefined : pins.find((pin) => pin.size === size)?.end;
  return { size, hash, ...(end !== undefined && { end }) };
}

/** Larger batches are rare and get a buffer of their own. */
const maxReusableBytes = 1024 * 1024;
