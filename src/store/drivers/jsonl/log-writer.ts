import { unlinkSync } from "node:fs";
import type { Appended, Entry } from "../../../model/store.js";
import { hashAtTail, seal, tailLength } from "../../../record/chain.js";
import type { Pinned, Sign } from "../../../record/checkpoint.js";
import { makeDirectory } from "../../make-directory.js";
import { addCheckpoints } from "./checkpoints.js";
import type { Admission, Counters } from "./counters.js";
import { countedIn } from "./counters.js";
import { damaged } from "./damage.js";
import type { Files } from "./files.js";
import { existingForAppend, openExisting, readAt, syncDirectory, writeAll } from "./files.js";
import type { Head } from "./head.js";
import { emptyHead, readHead, writeHead } from "./head.js";
import { nextSegment, recover } from "./recover.js";
import { segmentName, segmentsIn } from "./segments.js";

export interface WriterOptions {
  readonly files: Files;
  /** False: the disk is not waited for. */
  readonly durable: boolean;
  readonly segmentSize: number;
  readonly checkpointEvery: number;
  readonly sign?: Sign | undefined;
  readonly clock: () => string;
  /** The body of a note on what happened to the log. */
  readonly note: (
    note: "tail_repaired",
    details: { readonly file: string; readonly bytes: number },
  ) => string;
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
  #headFile: number | undefined;
  #segment: { readonly first: number; readonly fd: number } | undefined;

  constructor(directory: string, counters: Counters, options: WriterOptions) {
    this.#directory = directory;
    this.#counters = counters;
    this.#options = options;
  }

  /** All entries that their limits let in, in one step; on an error, none. */
  append(entries: readonly Entry[]): readonly Appended[] {
    const settled = this.#settle();
    const admission = this.#counters.admit(entries);
    const bodies = [...settled.notes, ...admission.bodies];
    if (bodies.length === 0) return admission.outcomes([]);
    const batch = this.#seal(bodies, settled);
    this.#write(batch, admission);
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
    this.#segmentFile(head.size + 1);
    const pin = { size: head.size, head: head.head, timestamp: this.#options.clock() };
    this.#pin({ ...head, segment: head.size + 1, bytes: 0 }, [...pins, pin]);
  }

  close(): void {
    const { files } = this.#options;
    if (this.#headFile !== undefined) files.closeSync(this.#headFile);
    this.#headFile = undefined;
    this.#closeSegment();
  }

  #settle(): Settled {
    const head = this.#readHead();
    const size = this.#sizeOf(head);
    if (size < head.bytes) throw this.#damage(`its end was cut off (record ${head.size} is missing)`);
    if (head.bytes > 0 && this.#tailHash(head) !== head.head) {
      throw this.#damage(`record ${head.size} is not the one that was written last`);
    }
    const next = nextSegment(this.#directory, head);
    if (size === head.bytes && next === undefined) return { head, notes: [], pins: [] };
    return this.#settleAfterCrash(head);
  }

  #settleAfterCrash(known: Head): Settled {
    const { files, checkpointEvery, clock, note } = this.#options;
    this.#closeSegment();
    const { head, lines, torn } = recover(files, this.#directory, known);
    for (const { link, text } of lines) this.#counters.recount(countedIn(text), link.seq);
    const timestamp = clock();
    const pinned = lines.filter(({ link }) => link.seq % checkpointEvery === 0);
    return {
      head,
      notes: torn === undefined ? [] : [note("tail_repaired", torn)],
      pins: pinned.map(({ link }) => ({ size: link.seq, head: link.hash, timestamp })),
    };
  }

  #seal(bodies: readonly string[], { head, pins: due }: Settled): Batch {
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
    const bytes = Buffer.from(text);
    const full = head.bytes > 0 && head.bytes + bytes.length > segmentSize;
    if (full) pins.unshift({ size: head.size, head: head.head, timestamp: clock() });
    const segment = full ? head.size + 1 : head.segment;
    const end = (full ? 0 : head.bytes) + bytes.length;
    return { bytes, links, pins, head: { ...head, size: seq, head: hash, segment, bytes: end } };
  }

  #write({ bytes, links, pins, head }: Batch, admission: Admission): void {
    const { files, durable } = this.#options;
    const start = head.bytes - bytes.length;
    const fd = this.#segmentFile(head.segment);
    try {
      writeAll(files, fd, bytes);
    } catch (error) {
      files.ftruncateSync(fd, start);
      throw error;
    }
    if (durable) this.#sync(fd, head.segment, { start, next: links[0]?.seq ?? 0 });
    admission.count(links.at(-1)?.seq ?? 0);
    this.#pin(head, pins);
  }

  /** Says where the log ends: now and then in a checkpoint, always in the head. */
  #pin(head: Head, pins: readonly Pinned[]): void {
    const { files, durable, sign } = this.#options;
    const path = `${this.#directory}/checkpoints.jsonl`;
    const last = pins.length > 0 ? addCheckpoints(files, path, pins, { sign, durable }) : undefined;
    const checkpoint = last === undefined ? head.checkpoint : { size: last.size, hash: last.hash };
    writeHead(files, this.#headDescriptor(), checkpoint === undefined ? head : { ...head, checkpoint });
  }

  /** After a failure nobody knows what of the file is on the disk: it is cut back, left, and never synced again. */
  #sync(fd: number, first: number, { start, next }: { readonly start: number; readonly next: number }): void {
    const { files } = this.#options;
    try {
      files.fdatasyncSync(fd);
    } catch (error) {
      files.ftruncateSync(fd, start);
      this.#closeSegment();
      if (start === 0) unlinkSync(`${this.#directory}/${segmentName(first)}`);
      else files.closeSync(files.openSync(`${this.#directory}/${segmentName(next)}`, "a", 0o600));
      throw error;
    }
  }

  #readHead(): Head {
    const { files } = this.#options;
    const head = readHead(files, this.#headDescriptor());
    if (head === undefined) throw this.#damage("its head file cannot be read");
    return head;
  }

  /** Opened anew where the file was removed meanwhile. */
  #headDescriptor(): number {
    const { files } = this.#options;
    if (this.#headFile !== undefined && files.fstatSync(this.#headFile).nlink > 0) return this.#headFile;
    this.close();
    const path = `${this.#directory}/head`;
    this.#headFile = openExisting(files, path, "r+") ?? this.#begin(path);
    return this.#headFile;
  }

  /** The head comes first, so a log without one has lost it. */
  #begin(path: string): number {
    const { files } = this.#options;
    if (segmentsIn(this.#directory).length > 0) throw this.#damage("its head file is missing");
    makeDirectory(this.#directory, 0o700);
    const fd = files.openSync(path, "wx+", 0o600);
    writeHead(files, fd, emptyHead);
    files.fsyncSync(fd);
    syncDirectory(files, this.#directory);
    return fd;
  }

  #sizeOf({ segment }: Head): number {
    const { files } = this.#options;
    if (this.#segment?.first !== segment) {
      this.#closeSegment();
      const fd = openExisting(files, `${this.#directory}/${segmentName(segment)}`, existingForAppend);
      if (fd === undefined) return 0;
      this.#segment = { first: segment, fd };
    }
    return files.fstatSync(this.#segment.fd).size;
  }

  #tailHash({ bytes }: Head): string | undefined {
    const fd = this.#segment?.fd;
    if (fd === undefined) return undefined;
    return hashAtTail(readAt(this.#options.files, fd, bytes - tailLength, tailLength));
  }

  #segmentFile(first: number): number {
    const { files } = this.#options;
    if (this.#segment?.first === first) return this.#segment.fd;
    this.#closeSegment();
    const fd = files.openSync(`${this.#directory}/${segmentName(first)}`, "a+", 0o600);
    this.#segment = { first, fd };
    syncDirectory(files, this.#directory);
    return fd;
  }

  #closeSegment(): void {
    if (this.#segment !== undefined) this.#options.files.closeSync(this.#segment.fd);
    this.#segment = undefined;
  }

  #damage(what: string): Error {
    return damaged(this.#directory, what);
  }
}
