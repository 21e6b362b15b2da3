import type { Checkpoint, ChainLink } from "./chain.js";
import { matchesOwnHash, parseChainLink, genesisHash } from "./chain.js";

/** Something that is not as it was written. */
export interface LogProblem {
  readonly kind: LogProblemKind;
  /** The first record that is concerned. */
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
  | "file";

/** Further ones say nothing new. */
const maxProblems = 20;

/** Follows the chain of a log line by line and notes where it does not hold. */
export class LogVerifier {
  readonly problems: LogProblem[] = [];
  #size = 0;
  #head = genesisHash;
  /** What came before the first record that is still there. */
  #base: { readonly size: number; readonly head: string } | undefined;
  #records = 0;
  #isPruned = false;
  /** Notes on what was pruned: up to where, with which hash, and which record says so. */
  readonly #prunes: { readonly through: number; readonly hash: string; readonly seq: number }[] = [];
  /** Each definition that was used, with the first record that did. */
  readonly definitions = new Map<string, number>();
  /** The hashes at the ends of files: pruning goes by whole ones. */
  readonly #ends = new Map<number, string>();
  readonly #wanted = new Map<number, string | undefined>();

  /** The hashes at these sizes will be asked for. */
  constructor(sizes: Iterable<number>) {
    for (const size of sizes) this.#wanted.set(size, size === 0 ? genesisHash : undefined);
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

  /** How many are gone from the beginning. */
  get missingAtStart(): number {
    return this.#base?.size ?? 0;
  }

  /** How many of these were pruned: all, where the log says so. */
  get pruned(): number {
    return this.#isPruned ? this.missingAtStart : 0;
  }

  hashAt(size: number): string | undefined {
    return this.#wanted.get(size);
  }

  addProblem(problem: LogProblem): void {
    if (this.problems.length < maxProblems) this.problems.push(problem);
  }

  /** A segment says in its name which record it begins with. */
  beginFile(file: string, first: number): void {
    if (this.#base === undefined && this.#records === 0) return;
    this.#ends.set(this.#size, this.#head);
    if (first === this.#size + 1) return;
    const message = `\`${file}\` should begin with record ${this.#size + 1}`;
    this.addProblem({ kind: "order", seq: this.#size + 1, file, message });
  }

  /** The line without its newline. */
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
        message: `record ${seq} is not a line as it was written`,
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
    const definition = definitionIn(line);
    if (definition !== undefined && !this.definitions.has(definition))
      this.definitions.set(definition, link.seq);
    if (this.#wanted.has(link.seq)) this.#wanted.set(link.seq, link.hash);
  }

  /**
   * Whether all that is missing at the beginning was pruned, and the log says so; where checkpoints are
   * signed, in a record that one of them covers.
   */
  checkStart(signedSize = Infinity): void {
    const base = this.#base;
    if (base === undefined || base.size === 0) return;
    this.#ends.set(base.size, base.head);
    const isVouched = this.#prunes.some(
      // One that was interrupted has not removed all that its note names.
      ({ through, hash, seq }) =>
        through >= base.size && this.#ends.get(through) === hash && seq <= signedSize,
    );
    this.#isPruned = isVouched;
    if (isVouched) return;
    const message = `records 1 to ${base.size} are missing, and the log has no note that they were pruned`;
    this.addProblem({ kind: "missing", seq: 1, message });
  }

  checkCheckpoint({ size, head }: Checkpoint): void {
    if (size < this.missingAtStart) return;
    const actual = this.hashAt(size);
    if (actual === head) return;
    const message =
      size > this.#size
        ? `a checkpoint says that there were ${size} records, but there are ${this.#size}`
        : `record ${size} is not the one that a checkpoint pins`;
    this.addProblem({
      kind: size > this.#size ? "cut" : "checkpoint",
      seq: Math.min(size, this.#size + 1),
      message,
    });
  }

  #startAfter({ size, head }: { readonly size: number; readonly head: string }): void {
    this.#size = size;
    this.#head = head;
    if (this.#wanted.has(size)) this.#wanted.set(size, head);
    if (size === 0 && head !== genesisHash) {
      this.addProblem({ kind: "order", seq: 1, message: "the first record names another before it" });
    }
  }

  #check(link: ChainLink, line: Buffer, where: { readonly file: string; readonly line: number }): void {
    if (!matchesOwnHash(line, link)) {
      const name = recordIdIn(line);
      const message = `record ${link.seq} was changed after it was written`;
      this.addProblem({ kind: "changed", seq: link.seq, ...name, ...where, message });
    } else if (line.includes(pruneNoteMarker)) this.#vouch(line);
    if (link.seq !== this.#size + 1) {
      const message = `record ${link.seq} stands where record ${this.#size + 1} should be`;
      this.addProblem({ kind: "order", seq: this.#size + 1, ...where, message });
    } else if (link.previous !== this.#head && this.#head !== "") {
      const message = `record ${link.seq} does not follow the record before it`;
      this.addProblem({ kind: "order", seq: link.seq, ...recordIdIn(line), ...where, message });
    }
  }

  #vouch(line: Buffer): void {
    const { kind, note, seq, details } = parseNote(line);
    if (kind !== "note" || note !== "pruned" || details === undefined) return;
    this.#prunes.push({ through: Number(details.through), hash: String(details.hash), seq: Number(seq) });
  }
}

interface Note {
  readonly kind?: unknown;
  readonly note?: unknown;
  readonly seq?: unknown;
  readonly details?: { readonly through?: unknown; readonly hash?: unknown };
}

function parseNote(line: Buffer): Note {
  try {
    return JSON.parse(line.toString("utf8")) as Note;
  } catch {
    return {};
  }
}

const pruneNoteMarker = Buffer.from('"note":"pruned"');

function recordIdIn(line: Buffer): { readonly record_id?: string } {
  const id = /"record_id":"([0-9a-f-]{36})"/.exec(line.toString("latin1", 0, 120))?.[1];
  return id === undefined ? {} : { record_id: id };
}

/** Where a decision's line has it; see record-json.ts. */
function definitionIn(line: Buffer): string | undefined {
  return /"definition_hash":"([0-9a-f]{64})"/.exec(line.toString("latin1", 0, 400))?.[1];
}
