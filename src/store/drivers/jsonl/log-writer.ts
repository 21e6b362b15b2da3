import type { JsonObject } from "../../../model/json.js";
import type { Appended } from "../../../model/store.js";
import { seal } from "../../../record/chain.js";
import type { Checkpoint, Pinned, Sign } from "../../../record/checkpoint.js";
import type { NewCheckpoints } from "./checkpoints.js";
import { newCheckpoints } from "./checkpoints.js";
import type { Admission, Counters, EntryGroup } from "./counters.js";
import { countedIn } from "./counters.js";
import { damaged } from "./damage.js";
import type { Files } from "./files.js";
import type { Head, Position } from "./head.js";
import { HeadFile } from "./head-file.js";
import { positionOf } from "./head.js";
import { cutBack, nextSegment, recover, setAside } from "./recover.js";
import { SegmentFile } from "./segment-file.js";

export interface WriterOptions {
  readonly files: Files;
  /** False: the disk is not waited for. */
  readonly durable: boolean;
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly sign?: Sign | undefined;
  readonly clock: () => string;
  /** The body of a note on what happened to the log. */
  readonly note: (note: "tail_repaired" | "tail_lost", details: JsonObject) => string;
}

/** Where the log ends, and what a crash has left to be written. */
interface Settled {
  readonly head: Head;
  readonly notes: readonly string[];
  readonly pins: readonly Pinned[];
}

interface Batch {
  readonly bytes: Buffer;
  readonly links: readonly { readonly seq: number; readonly hash: string }[];
  readonly head: Head;
  readonly pins: readonly Pinned[];
}

/** Adds to the log. Whoever calls holds the lock of the store. */
export class LogWriter {
  readonly #directory: string;
  readonly #counters: Counters;
  readonly #options: WriterOptions;
  readonly #head: HeadFile;
  readonly #segment: SegmentFile;

  constructor(directory: string, counters: Counters, options: WriterOptions) {
    this.#directory = directory;
    this.#counters = counters;
    this.#options = options;
    this.#head = new HeadFile(directory, options.files);
    this.#segment = new SegmentFile(directory, options.files);
  }

  /** All groups that their limits let in, in one step; on an error, none. Where asked for, a checkpoint pins them. */
  append(groups: readonly EntryGroup[], { pinned = false } = {}): readonly Appended[] {
    const settled = this.#settle();
    const admission = this.#counters.admit(groups, settled.head.size + settled.notes.length + 1);
    const bodies = [...settled.notes, ...admission.bodies];
    if (bodies.length === 0) return admission.outcomes([]);
    const batch = this.#seal(bodies, settled, pinned);
    this.#write(batch, settled.head, admission);
    return admission.outcomes(batch.links.slice(settled.notes.length));
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

  #settle(): Settled {
    const head = this.#head.read();
    const size = this.#segment.sizeOf(head.segment);
    const isCut = size < head.bytes;
    if (isCut || (head.bytes > 0 && this.#segment.hashBefore(head.bytes) !== head.head)) {
      if (head.synced !== undefined) return this.#settleAfterPowerCut(head, head.synced);
      throw this.#damage(
        isCut
          ? `it is shorter than it was: its end was cut off, or something in it was changed`
          : `record ${head.size} does not stand where it was written last`,
      );
    }
    const next = nextSegment(this.#directory, head);
    if (size > head.bytes || next !== undefined) return this.#settleAfterCrash(head);
    return { head, notes: this.#notesOn(head), pins: [] };
  }

  /** Only where the disk was not waited for: what it had not got is gone, and the log says so. */
  #settleAfterPowerCut(lost: Head, synced: Position): Settled {
    const settled = this.#settleAfterCrash({ ...positionOf(synced), ...checkpointOf(lost) });
    const gone = { from: settled.head.size + 1, to: lost.size, last_hash: lost.head };
    return { ...settled, notes: [...settled.notes, this.#options.note("tail_lost", gone)] };
  }

  #settleAfterCrash(known: Head): Settled {
    const { files, checkpointEvery, clock } = this.#options;
    this.#segment.close();
    const { head: end, lines, ends, left } = recover(files, this.#directory, known);
    for (const { link, text } of lines) this.#counters.recount(countedIn(text), link.seq);
    const head = left.length === 0 ? end : this.#repair(end, left);
    const timestamp = clock();
    const reached = lines.filter(({ link }) => link.seq % checkpointEvery === 0);
    const pinned = [...reached.map(({ link }) => ({ size: link.seq, head: link.hash })), ...ends];
    const pins = pinned.map((each) => ({ size: each.size, head: each.head, timestamp }));
    return { head, notes: this.#notesOn(head), pins: pins.sort((a, b) => a.size - b.size) };
  }

  /** That something was cut off is written down before it is, so that the note on it cannot be forgotten. */
  #repair(end: Head, left: Buffer): Head {
    const { files } = this.#options;
    const head = { ...end, torn: setAside(files, this.#directory, end, left) };
    this.#head.write(head);
    cutBack(files, this.#directory, head);
    return head;
  }

  #notesOn({ torn }: Head): readonly string[] {
    return torn === undefined ? [] : [this.#options.note("tail_repaired", { ...torn })];
  }

  #seal(bodies: readonly string[], { head, pins: due }: Settled, pinned: boolean): Batch {
    const { checkpointEvery, segmentSize, clock } = this.#options;
    const links: { seq: number; hash: string }[] = [];
    const pins = [...due];
    let text = "";
    let { size: seq, head: hash } = head;
    for (const body of bodies) {
      const sealed = seal(++seq, body, hash);
      ({ hash } = sealed);
      text += sealed.line;
      links.push({ seq, hash });
      if (seq % checkpointEvery === 0) pins.push({ size: seq, head: hash, timestamp: clock() });
    }
    if (pinned && seq % checkpointEvery !== 0) pins.push({ size: seq, head: hash, timestamp: clock() });
    const bytes = Buffer.from(text);
    const full = head.bytes > 0 && head.bytes + bytes.length > segmentSize;
    // The lines behind the head are pinned after it.
    if (full) pins.splice(due.length, 0, { size: head.size, head: head.head, timestamp: clock() });
    const segment = full ? head.size + 1 : head.segment;
    const end = (full ? 0 : head.bytes) + bytes.length;
    return { bytes, links, pins, head: { ...head, size: seq, head: hash, segment, bytes: end } };
  }

  #write({ bytes, links, pins, head }: Batch, before: Head, admission: Admission): void {
    const { durable } = this.#options;
    const start = head.bytes - bytes.length;
    const checkpoints = this.#checkpoints(pins);
    if (head.segment !== before.segment) this.#leaveSegment(before);
    this.#segment.append(head.segment, bytes, start);
    const isSynced = durable || pins.length > 0;
    if (isSynced) this.#segment.sync(head.segment, { start, next: links[0]?.seq ?? 0 });
    const last = this.#checkAndCount(checkpoints, admission, { head, start });
    const reached = { ...positionOf(head), ...checkpointOf(head) };
    this.#pin(isSynced ? reached : { ...reached, synced: before.synced ?? positionOf(before) }, last);
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
  #pin(head: Head, last: Checkpoint | undefined): void {
    const checkpoint = last === undefined ? undefined : { size: last.size, hash: last.hash };
    this.#head.write(checkpoint === undefined ? head : { ...head, checkpoint });
  }

  #damage(what: string): Error {
    return damaged(this.#directory, what);
  }
}

const checkpointOf = ({ checkpoint }: Head): Pick<Head, "checkpoint"> =>
  checkpoint === undefined ? {} : { checkpoint };
