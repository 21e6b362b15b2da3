import type { Checkpoint, ChainLink } from "./chain.js";
import { genesisHash, hasCheckpointMark, matchesOwnHash, parseChainLink } from "./chain.js";
import { approvalsInNote, countersInNote, parseNote, serialsInNote } from "./notes.js";
import type { NoteRecord } from "../model/record.js";

/** A part of the log that is not as it was written. */
export interface LogProblem {
  readonly kind: LogProblemKind;
  /** The first affected record. */
  readonly seq?: number;
  readonly record_id?: string;
  readonly file?: string;
  readonly line?: number;
  readonly message: string;
}

export type LogProblemKind =
  | "changed"
  | "order"
  | "cut"
  | "missing"
  | "head"
  | "checkpoint"
  | "signature"
  | "expectation"
  | "definition"
  | "approvals"
  /** A file that is derived from the log differs from it. It is rebuilt; the log is not affected. */
  | "derived"
  | "file";

const otherKinds: ReadonlySet<LogProblemKind> = new Set(["expectation", "signature", "approvals", "derived"]);

/** Whether a problem is damage of the log itself, so that nothing may be appended to it. */
export const isLogDamage = ({ kind }: LogProblem): boolean => !otherKinds.has(kind);

/** Further problems are not reported. */
const maxProblems = 20;

/** Verifies the chain of a log line by line and collects problems. */
export class LogVerifier {
  readonly problems: LogProblem[] = [];
  #size = 0;
  #head = genesisHash;
  /** The state of the chain before the first record that is still in the log. */
  #base: { readonly size: number; readonly head: string } | undefined;
  #records = 0;
  /** The first note of a prune that has removed the records that are missing at the start. */
  #prunedIn: number | undefined;
  /** Notes about pruning: the last pruned record, its hash, and the record of the note. */
  readonly #prunes: { readonly through: number; readonly hash: string; readonly seq: number }[] = [];
  #hasCounters = false;
  #approvals = 0;
  /** The newest serial number of each approval lock that was seen, as the notes say. */
  readonly serials = new Map<string, number>();
  /** Each definition that was used, with the first record made with it. */
  readonly definitions = new Map<string, number>();
  /** Likewise for environments. */
  readonly environments = new Map<string, number>();
  /** The hashes at the ends of files: only whole files are pruned. */
  readonly #ends = new Map<number, string>();
  readonly #hashes = new Map<number, string | undefined>();
  /** The records that say that a checkpoint was written for them. */
  readonly #marked: number[] = [];

  /** Keeps the hashes at these sizes for `hashAt`. */
  constructor(sizes: Iterable<number>) {
    for (const size of sizes) this.#hashes.set(size, size === 0 ? genesisHash : undefined);
  }

  get size(): number {
    return this.#size;
  }

  get head(): string {
    return this.#head;
  }

  get records(): number {
    return this.#records;
  }

  /** How many records are missing at the start. */
  get missingAtStart(): number {
    return this.#base?.size ?? 0;
  }

  /** How many of them were pruned: all, if a note in the log says so; else none. */
  get pruned(): number {
    return this.#prunedIn === undefined ? 0 : this.missingAtStart;
  }

  /** The record that notes their prune. */
  get prunedIn(): number | undefined {
    return this.#prunedIn;
  }

  /** Whether a note has counters, which the records before it may contradict. */
  get hasNotedCounters(): boolean {
    return this.#hasCounters;
  }

  /** The sum of the serial numbers of all approval locks that were seen, as the notes say. */
  get approvals(): number {
    return this.#approvals;
  }

  hashAt(size: number): string | undefined {
    return this.#hashes.get(size);
  }

  addProblem(problem: LogProblem): void {
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }

  /** Starts a segment, whose name says which record is its first. */
  beginFile(file: string, first: number): void {
    if (this.#base === undefined && this.#records === 0) return;
    this.#ends.set(this.#size, this.#head);
    if (first === this.#size + 1) return;
    const message = `\`${file}\` should start with record ${this.#size + 1}`;
    this.addProblem({ kind: "order", seq: this.#size + 1, file, message });
  }

  /** Expects the line without its newline. */
  verifyLine(line: Buffer, file: string, number: number): void {
    this.#records++;
    const link = parseChainLink(line);
    const where = { file, line: number };
    if (link === undefined) {
      const seq = this.#size + 1;
      this.addProblem({
        kind: "changed",
        seq,
        ...where,
        message: `record ${seq} is malformed`,
      });
      this.#size = seq;
      this.#head = "";
      return;
    }
    this.#base ??= { size: link.seq - 1, head: link.previous };
    if (this.#records === 1) this.#startAfter(this.#base);
    this.#check(link, line, where);
    this.#size = link.seq;
    this.#head = link.hash;
    if (hasCheckpointMark(line)) this.#marked.push(link.seq);
    const definition = definitionIn(line);
    if (definition !== undefined) {
      if (!this.definitions.has(definition)) this.definitions.set(definition, link.seq);
      const environment = environmentIn(line);
      if (environment !== undefined && !this.environments.has(environment))
        this.environments.set(environment, link.seq);
    }
    if (this.#hashes.has(link.seq)) this.#hashes.set(link.seq, link.hash);
  }

  /** Reports records that are missing at the start, unless a note in the log says that they were pruned. */
  checkStart({ size = Infinity, isPinned = () => true, pruned }: PruneWitness = {}): void {
    const base = this.#base;
    if (base === undefined || base.size === 0) return;
    this.#ends.set(base.size, base.head);
    const note = this.#prunes.find(
      // An interrupted prune has not removed all records that its note names.
      ({ through, hash, seq }) =>
        through >= base.size &&
        (this.#ends.get(through) ?? this.hashAt(through)) === hash &&
        seq <= size &&
        isPinned(seq) &&
        through <= (pruned ?? Infinity),
    );
    this.#prunedIn = note?.seq;
    if (note !== undefined) return;
    const message =
      this.#prunes.length === 0
        ? `records 1 to ${base.size} are missing, and the log has no note that they were pruned`
        : `records 1 to ${base.size} are missing, and no prune that the log notes has removed them`;
    this.addProblem({ kind: "missing", seq: 1, message });
  }

  /**
   * Reports the first checkpoint that is missing: one is written for each record that says so, and when a file is
   * full. Later ones than the head are not there yet.
   */
  checkPinned(head: { readonly size: number; readonly segment: number }, pinned: ReadonlySet<number>): void {
    const ends = [...this.#ends.keys()].filter((end) => end > this.missingAtStart && end < head.segment);
    const marked = this.#marked.filter((seq) => seq <= head.size);
    const missing = [...ends, ...marked].filter((seq) => !pinned.has(seq));
    if (missing.length === 0) return;
    const seq = Math.min(...missing);
    const message = `the checkpoint at ${seq} records is missing`;
    this.addProblem({
      kind: "checkpoint",
      seq,
      file: "checkpoints.jsonl",
      message,
    });
  }

  checkCheckpoint({ size, head }: Checkpoint): void {
    if (size < this.missingAtStart) return;
    const actual = this.hashAt(size);
    if (actual === head) return;
    const message =
      size > this.#size
        ? `a checkpoint covers ${size} records, but there are ${this.#size}`
        : `record ${size} is not the one that a checkpoint covers`;
    this.addProblem({
      kind: size > this.#size ? "cut" : "checkpoint",
      seq: Math.min(size, this.#size + 1),
      message,
    });
  }

  #startAfter({ size, head }: { readonly size: number; readonly head: string }): void {
    this.#size = size;
    this.#head = head;
    if (this.#hashes.has(size)) this.#hashes.set(size, head);
    if (size === 0 && head !== genesisHash) {
      this.addProblem({ kind: "order", seq: 1, message: "the first record refers to a record before it" });
    }
  }

  #check(link: ChainLink, line: Buffer, where: { readonly file: string; readonly line: number }): void {
    if (!matchesOwnHash(line, link)) {
      const name = recordIdIn(line);
      const message = `record ${link.seq} was changed after it was written`;
      this.addProblem({ kind: "changed", seq: link.seq, ...name, ...where, message });
    } else this.#addNote(parseNote(line));
    if (link.seq !== this.#size + 1) {
      const message = `found record ${link.seq} instead of record ${this.#size + 1}`;
      this.addProblem({ kind: "order", seq: this.#size + 1, ...where, message });
    } else if (link.previous !== this.#head && this.#head !== "") {
      const message = `record ${link.seq} does not follow the record before it`;
      this.addProblem({ kind: "order", seq: link.seq, ...recordIdIn(line), ...where, message });
    }
  }

  #addNote(note: NoteRecord | undefined): void {
    if (note === undefined) return;
    this.#hasCounters ||= countersInNote(note) !== undefined;
    this.#approvals = Math.max(this.#approvals, approvalsInNote(note));
    for (const [id, serial] of serialsInNote(note))
      this.serials.set(id, Math.max(serial, this.serials.get(id) ?? 0));
    if (note.note !== "pruned") return;
    const { through, hash } = note.details;
    if (typeof hash === "string") this.#prunes.push({ through: Number(through), hash, seq: note.seq });
  }
}

/** What else shows that a note was written by a prune. */
interface PruneWitness {
  /**
   * The number of records that are known to be genuine: those that the head, or a signed checkpoint, covers. A prune
   * removes records only after the head covers its note.
   */
  readonly size?: number;
  /** Whether a checkpoint was written right after this record. */
  readonly isPinned?: (seq: number) => boolean;
  /** The number of pruned records according to the head. */
  readonly pruned?: number | undefined;
}

/** Returns the id of a record by its place in the line. */
export function recordIdIn(line: Buffer): { readonly record_id?: string } {
  const id = /"record_id":"([0-9a-f-]{36})"/.exec(line.toString("latin1", 0, 120))?.[1];
  return id === undefined ? {} : { record_id: id };
}

const environmentMarker = Buffer.from('"environment_hash":"');

/** The quotes around a name are escaped inside a text, so the first match is the field. */
function environmentIn(line: Buffer): string | undefined {
  const at = line.indexOf(environmentMarker);
  const from = at + environmentMarker.length;
  return at === -1 ? undefined : line.toString("latin1", from, from + 64);
}

/** The position is that of the leading fields in record-json.ts. */
function definitionIn(line: Buffer): string | undefined {
  return /"definition_hash":"([0-9a-f]{64})"/.exec(line.toString("latin1", 0, 400))?.[1];
}
