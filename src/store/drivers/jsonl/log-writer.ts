import type { Appended } from "../../../model/store.js";
import type { Checkpoint, Pinned, Sign } from "../../../record/checkpoint.js";
import type { NewCheckpoints } from "./checkpoints.js";
import { newCheckpoints } from "./checkpoints.js";
import type { Admission, Counters, EntryGroup } from "./counters.js";
import type { Files } from "./files.js";
import type { Head } from "./head.js";
import { HeadFile } from "./head-file.js";
import { checkpointOf, positionOf } from "./head.js";
import type { Batch, Settled } from "./seal-batch.js";
import { sealBatch } from "./seal-batch.js";
import type { Behind } from "./segment-file.js";
import { SegmentFile } from "./segment-file.js";
import type { MakeNote } from "./settle-log.js";
import { refuseLost, settleLog } from "./settle-log.js";

export interface WriterOptions {
  readonly files: Files;
  /** False: the disk is not waited for. */
  readonly durable: boolean;
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly sign?: Sign | undefined;
  readonly clock: () => string;
  readonly note: MakeNote;
  /** Throws where nothing may be added to the log. */
  readonly refuse: () => void;
}

/** So many lots are waited for in place: a process that writes no more is done sooner than one that asks a thread. */
const lotsInPlace = 8;

/** Where the log ended in a turn, as nobody else has written since. */
interface Known {
  readonly turn: number;
  readonly head: Head;
}

interface How {
  readonly pinned?: boolean;
  readonly turn?: number;
}

/** Adds to the log. Whoever calls holds the lock of the store. */
export class LogWriter {
  readonly #directory: string;
  readonly #counters: Counters;
  readonly #options: WriterOptions;
  readonly #head: HeadFile;
  readonly #segment: SegmentFile;
  #known: Known | undefined;
  #lots = 0;

  constructor(directory: string, counters: Counters, options: WriterOptions) {
    this.#directory = directory;
    this.#counters = counters;
    this.#options = options;
    this.#head = new HeadFile(directory, options.files);
    this.#segment = new SegmentFile(directory, options.files);
  }

  /**
   * All groups that their limits let in, in one step; on an error, none. Where asked for, a checkpoint pins them.
   * Nothing else may be asked of it meanwhile.
   */
  async append(
    groups: readonly EntryGroup[],
    { pinned = false, turn }: How = {},
  ): Promise<readonly Appended[]> {
    const settled = this.#settleIn(turn);
    const admission = this.#counters.admit(groups, settled.head.size + settled.notes.length + 1);
    const bodies = [...settled.notes, ...admission.bodies];
    if (bodies.length === 0) return admission.outcomes([]);
    const batch = sealBatch(bodies, settled, { ...this.#options, pinned });
    const head = await this.#write(batch, settled.head, admission);
    if (turn !== undefined) this.#known = { turn, head };
    return admission.outcomes(batch.links.slice(settled.notes.length));
  }

  /** Fails where nothing could be added now. */
  refuse(): void {
    this.#options.refuse();
    refuseLost(this.#directory, { head: this.#head, segment: this.#segment });
  }

  /** Where the log ends now. */
  head(): Head {
    return this.#settle().head;
  }

  /** Whatever comes next begins a new segment. */
  rotate(): void {
    const { head, pins } = this.#settle();
    if (head.bytes === 0) return;
    const pin = { size: head.size, head: head.head, timestamp: this.#options.clock() };
    const checkpoints = this.#checkpoints([...pins, pin]);
    this.#leaveSegment(head);
    this.#segment.make(head.size + 1);
    const reached = { ...positionOf(head), ...checkpointOf(head), ...(head.torn && { torn: head.torn }) };
    this.#pin({ ...reached, segment: head.size + 1, bytes: 0 }, checkpoints?.write());
  }

  /** From here on an older head is never seen again. */
  syncHead(): void {
    this.#head.sync();
  }

  close(): void {
    this.#head.close();
    this.#segment.close();
  }

  /** Within one turn nobody else has written; what is known of it is learnt anew once something is written. */
  #settleIn(turn: number | undefined): Settled {
    const known = this.#known;
    this.#known = undefined;
    if (turn === undefined) return this.#settle();
    const isAsLeft =
      known?.turn === turn &&
      this.#head.isInPlace() &&
      this.#segment.sizeOf(known.head.segment) === known.head.bytes;
    if (isAsLeft) return { head: known.head, notes: [], pins: [] };
    this.#options.refuse();
    return this.#settle();
  }

  #settle(): Settled {
    const { files, checkpointEvery, clock, note } = this.#options;
    const parts = { head: this.#head, segment: this.#segment, counters: this.#counters };
    return settleLog(this.#directory, { ...parts, files, checkpointEvery, clock, note });
  }

  async #write({ bytes, links, pins, head }: Batch, before: Head, admission: Admission): Promise<Head> {
    const { durable } = this.#options;
    const start = head.bytes - bytes.length;
    const checkpoints = this.#checkpoints(pins);
    if (head.segment !== before.segment) this.#leaveSegment(before);
    this.#segment.append(head.segment, bytes, start);
    const isSynced = durable || pins.length > 0;
    if (isSynced) await this.#sync(head.segment, { start, next: links[0]?.seq ?? 0 });
    const last = this.#checkAndCount(checkpoints, admission, { head, start });
    const reached = { ...positionOf(head), ...checkpointOf(head) };
    const synced = isSynced ? undefined : (before.synced ?? positionOf(before));
    return this.#pin(synced === undefined ? reached : { ...reached, synced }, last);
  }

  async #sync(segment: number, behind: Behind): Promise<void> {
    if (this.#lots++ < lotsInPlace) this.#segment.sync(segment, behind);
    else await this.#segment.syncAside(segment, behind);
  }

  /** What is refused here must not be found in the log, unless a checkpoint speaks of it already. */
  #checkAndCount(
    checkpoints: NewCheckpoints | undefined,
    admission: Admission,
    { head, start }: { readonly head: Head; readonly start: number },
  ): Checkpoint | undefined {
    try {
      const last = checkpoints?.write();
      admission.count();
      return last;
    } catch (error) {
      if (checkpoints?.isWritten !== true) this.#segment.cutBack(head.segment, start);
      throw error;
    }
  }

  /** A segment is on the disk before the next begins, also where the disk is not waited for otherwise. */
  #leaveSegment({ segment, bytes, size, synced }: Head): void {
    if (synced !== undefined && bytes > 0) this.#segment.sync(segment, { start: bytes, next: size + 1 });
  }

  /** Made, and signed, before anything is written: a key that cannot be used must not leave a record behind. */
  #checkpoints(pins: readonly Pinned[]): NewCheckpoints | undefined {
    const { files, sign } = this.#options;
    if (pins.length === 0) return undefined;
    return newCheckpoints(files, `${this.#directory}/checkpoints.jsonl`, pins, sign);
  }

  /** Says where the log ends: now and then in a checkpoint, always in the head. */
  #pin(head: Head, last: Checkpoint | undefined): Head {
    const pinned = last === undefined ? head : { ...head, checkpoint: { size: last.size, hash: last.hash } };
    this.#head.write(pinned);
    return pinned;
  }
}
