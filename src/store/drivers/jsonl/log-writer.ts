import type { PendingCheckpoints } from "./checkpoints.js";
import { prepareCheckpoints } from "./checkpoints.js";
import type { Admission, Counters, EntryGroup } from "./counters.js";
import type { Files } from "./files.js";
import type { Head } from "./head.js";
import { HeadFile, pickCheckpoint, pickPosition } from "./head.js";
import type { MakeNoteBody } from "./recover-tail.js";
import { assertTailPresent, recoverTail } from "./recover-tail.js";
import type { SealedBatch, LogTail } from "./seal-batch.js";
import { sealBatch } from "./seal-batch.js";
import type { UnsyncedRange } from "./segments.js";
import { SegmentFile } from "./segments.js";
import type { Appended } from "../../../model/store.js";
import type { Checkpoint, CheckpointContent, Signer } from "../../../record/chain.js";

interface WriterOptions {
  readonly files: Files;
  /** False: the disk is not waited for. */
  readonly durable: boolean;
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly sign?: Signer | undefined;
  readonly clock: () => string;
  readonly makeNoteBody: MakeNoteBody;
  /** Throws where nothing may be added to the log. */
  readonly assertWritable: () => void;
}

/** So many lots are waited for in place: a process that writes no more is done sooner than one that asks a thread. */
const maxBlockingSyncs = 8;

/** Where the log ended in a turn, as nobody else has written since. */
interface LastAppend {
  readonly acquisition: number;
  readonly head: Head;
}

interface AppendOptions {
  readonly pinned?: boolean;
  readonly acquisition?: number;
}

/** Adds to the log. Whoever calls holds the lock of the store. */
export class LogWriter {
  readonly #directory: string;
  readonly #counters: Counters;
  readonly #options: WriterOptions;
  readonly #head: HeadFile;
  readonly #segment: SegmentFile;
  #known: LastAppend | undefined;
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
    { pinned = false, acquisition: turn }: AppendOptions = {},
  ): Promise<readonly Appended[]> {
    const settled = this.#settleIn(turn);
    const admission = this.#counters.admit(groups, settled.head.size + settled.notes.length + 1);
    const bodies = [...settled.notes, ...admission.bodies];
    if (bodies.length === 0) return admission.outcomes([]);
    const batch = sealBatch(bodies, settled, { ...this.#options, pinned });
    const head = await this.#write(batch, settled.head, admission);
    if (turn !== undefined) this.#known = { acquisition: turn, head };
    return admission.outcomes(batch.links.slice(settled.notes.length));
  }

  /** Fails where nothing could be added now. */
  assertWritable(): void {
    this.#options.assertWritable();
    assertTailPresent(this.#directory, { head: this.#head, segment: this.#segment });
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
    this.#segment.openOrCreate(head.size + 1);
    const reached = { ...pickPosition(head), ...pickCheckpoint(head), ...(head.torn && { torn: head.torn }) };
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
  #settleIn(turn: number | undefined): LogTail {
    const known = this.#known;
    this.#known = undefined;
    if (turn === undefined) return this.#settle();
    const isAsLeft =
      known?.acquisition === turn &&
      this.#head.isCurrentFile() &&
      this.#segment.sizeOf(known.head.segment) === known.head.bytes;
    if (isAsLeft) return { head: known.head, notes: [], pins: [] };
    this.#options.assertWritable();
    return this.#settle();
  }

  #settle(): LogTail {
    const { files, checkpointEvery, clock, makeNoteBody: note } = this.#options;
    const parts = { head: this.#head, segment: this.#segment, counters: this.#counters };
    return recoverTail(this.#directory, { ...parts, files, checkpointEvery, clock, makeNoteBody: note });
  }

  async #write({ bytes, links, pins, head }: SealedBatch, before: Head, admission: Admission): Promise<Head> {
    const { durable } = this.#options;
    const start = head.bytes - bytes.length;
    const checkpoints = this.#checkpoints(pins);
    if (head.segment !== before.segment) this.#leaveSegment(before);
    this.#segment.append(head.segment, bytes, start);
    const isSynced = durable || pins.length > 0;
    if (isSynced) await this.#sync(head.segment, { start, next: links[0]?.seq ?? 0 });
    const last = this.#checkAndCount(checkpoints, admission, { head, start });
    const reached = { ...pickPosition(head), ...pickCheckpoint(head) };
    const synced = isSynced ? undefined : (before.synced ?? pickPosition(before));
    return this.#pin(synced === undefined ? reached : { ...reached, synced }, last);
  }

  async #sync(segment: number, behind: UnsyncedRange): Promise<void> {
    if (this.#lots++ < maxBlockingSyncs) this.#segment.sync(segment, behind);
    else await this.#segment.syncInBackground(segment, behind);
  }

  /** What is refused here must not be found in the log, unless a checkpoint speaks of it already. */
  #checkAndCount(
    checkpoints: PendingCheckpoints | undefined,
    admission: Admission,
    { head, start }: { readonly head: Head; readonly start: number },
  ): Checkpoint | undefined {
    try {
      const last = checkpoints?.write();
      admission.saveCounters();
      return last;
    } catch (error) {
      if (checkpoints?.isWritten !== true) this.#segment.truncate(head.segment, start);
      throw error;
    }
  }

  /** A segment is on the disk before the next begins, also where the disk is not waited for otherwise. */
  #leaveSegment({ segment, bytes, size, synced }: Head): void {
    if (synced !== undefined && bytes > 0) this.#segment.sync(segment, { start: bytes, next: size + 1 });
  }

  /** Made, and signed, before anything is written: a key that cannot be used must not leave a record behind. */
  #checkpoints(pins: readonly CheckpointContent[]): PendingCheckpoints | undefined {
    const { files, sign } = this.#options;
    if (pins.length === 0) return undefined;
    return prepareCheckpoints(files, `${this.#directory}/checkpoints.jsonl`, pins, sign);
  }

  /** Says where the log ends: now and then in a checkpoint, always in the head. */
  #pin(head: Head, last: Checkpoint | undefined): Head {
    const pinned = last === undefined ? head : { ...head, checkpoint: { size: last.size, hash: last.hash } };
    this.#head.write(pinned);
    return pinned;
  }
}
