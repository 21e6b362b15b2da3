import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { ShelfFiles } from "./file-shelf.js";
import { wrapReadErrors } from "./store-errors.js";
import { readIfExists, readAt, systemFiles } from "./files.js";
import type { Head, Position } from "./head.js";
import { parseHead } from "./head.js";
import { segmentName, listSegments } from "./segments.js";
import { isTornTail } from "./recover-tail.js";
import { canonicalJson } from "../../../digest/canonical-json.js";
import { sha256Hex } from "../../../digest/sha256.js";
import type { Checkpoint } from "../../../record/chain.js";
import { genesisHash, parseChainLink, parseCheckpoint } from "../../../record/chain.js";
import type { LogProblem } from "../../../record/verify-log.js";
import { LogVerifier } from "../../../record/verify-log.js";
import type { CheckSignature } from "../../signing.js";

export interface Expectation {
  readonly size: number;
  readonly head: string;
}

export interface VerifyOptions {
  readonly expect?: Expectation | undefined;
  /** Present: the last checkpoint, which covers all before it, must be signed with this key. */
  readonly checkSignature?: CheckSignature | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface Verification {
  readonly ok: boolean;
  /** How many records there ever were, and the hash of the last. */
  readonly size: number;
  readonly head: string;
  readonly problems: readonly LogProblem[];
  /** Records that are still there; the others were pruned. */
  readonly records: number;
  readonly pruned: number;
  readonly checkpoints: number;
  readonly signed: number;
  /** What `--expect` takes; absent where something is wrong. */
  readonly expect?: string;
  /** What is worth knowing and no problem. */
  readonly notes: readonly string[];
}

/** Reads the whole log and tells whether it is what was written. Reads only. */
export function verifyStore(directory: string, options: VerifyOptions = {}): Verification {
  return wrapReadErrors(directory, () => verifyFiles(directory, options));
}

function verifyFiles(directory: string, options: VerifyOptions): Verification {
  const log = `${directory}/log`;
  const notes: string[] = [];
  // The head is read before the log: what is added meanwhile makes the log longer, never shorter.
  const headFile = readIfExists(`${log}/head`);
  const pins = readCheckpoints(`${log}/checkpoints.jsonl`);
  const head = headFile && parseHead(headFile);
  const { expect } = options;
  const verifier = new LogVerifier([
    ...pins.checkpoints.map(({ size }) => size),
    head?.size ?? 0,
    head?.synced?.size ?? 0,
    expect?.size ?? 0,
  ]);

  const ends = verifySegments(log, verifier, { head, notes, progress: options.progress });
  const lastSigned = pins.checkpoints.at(-1)?.size ?? 0;
  verifier.checkStart(options.checkSignature === undefined ? Infinity : lastSigned);
  checkHead(verifier, { head, isPresent: headFile !== undefined, ends });
  checkCheckpoints(verifier, pins, { head, checkSignature: options.checkSignature });
  if (expect !== undefined) checkExpectation(verifier, expect);
  const kept = checkDefinitions(verifier, directory);
  if (kept > 0 && verifier.records === 0 && headFile === undefined) {
    notes.push("definitions are kept here, and no record that used them: was there a log?");
  }
  noteUnsignedRecords(pins.checkpoints, verifier.size, { options, notes });
  const { size, problems, records, pruned } = verifier;
  return {
    ok: problems.length === 0,
    size,
    head: size === 0 ? genesisHash : verifier.head,
    problems,
    records,
    pruned,
    checkpoints: pins.checkpoints.length,
    ...(problems.length === 0 && { expect: `${size}:${size === 0 ? genesisHash : verifier.head}` }),
    signed: pins.checkpoints.filter(({ signature }) => signature !== undefined).length,
    notes,
  };
}

function checkHead(
  verifier: LogVerifier,
  {
    head,
    isPresent,
    ends,
  }: { readonly head: Head | undefined; readonly isPresent: boolean; readonly ends: RecordEnds },
): void {
  if (head === undefined) {
    if (verifier.records > 0) {
      const message = isPresent
        ? "the head file was changed"
        : "the head file is missing, so a cut could not be seen";
      verifier.addProblem({ kind: "head", file: "head", message });
    }
    return;
  }
  if (verifier.size < head.size) {
    const seq = verifier.size + 1;
    const message = `the log was cut: there were ${head.size} records, the last that is left is ${verifier.size}`;
    verifier.addProblem({ kind: "cut", seq, message });
    return;
  }
  for (const position of [head, ...(head.synced === undefined ? [] : [head.synced])]) {
    const end = ends.get(position.size);
    const isPlaced =
      isNewSegment(position) || (end?.segment === position.segment && end.bytes === position.bytes);
    const isIt = verifier.hashAt(position.size) === position.head;
    if (isIt && isPlaced) continue;
    const message = isIt
      ? `record ${position.size} does not end where the head file says: something before it has changed its length`
      : `record ${position.size} is not the one that the head file pins`;
    verifier.addProblem({ kind: "head", seq: position.size, file: "head", message });
  }
}

function checkExpectation(verifier: LogVerifier, { size, head }: Expectation): void {
  if (size > verifier.size) {
    const message = `the log was cut: ${size} records were expected, there are ${verifier.size}`;
    verifier.addProblem({ kind: "expectation", seq: verifier.size + 1, message });
  } else if (size < verifier.missingAtStart) {
    const message = `record ${size} is no longer there, so what was expected of it cannot be checked`;
    verifier.addProblem({ kind: "expectation", seq: size, message });
  } else if (verifier.hashAt(size) !== head) {
    const message = `record ${size} is not the one that was expected: the log up to there is another`;
    verifier.addProblem({ kind: "expectation", seq: size, message });
  }
}

/** Nothing was written to it yet. */
const isNewSegment = ({ size, segment, bytes }: Position): boolean => bytes === 0 && segment === size + 1;

/** What stands behind the last signature is only as safe as the head. */
function noteUnsignedRecords(
  checkpoints: readonly Checkpoint[],
  size: number,
  { options, notes }: { readonly options: VerifyOptions; readonly notes: string[] },
): void {
  const behind = size - (checkpoints.at(-1)?.size ?? 0);
  if (options.checkSignature === undefined || behind === 0) return;
  notes.push(
    `the last ${behind} record${behind === 1 ? " stands" : "s stand"} behind the last checkpoint, so no signature covers ${behind === 1 ? "it" : "them"} yet`,
  );
}

interface SegmentCheck {
  readonly progress?: ((done: number, total: number) => void) | undefined;
  readonly head: Head | undefined;
  readonly notes: string[];
}

/** Where each record that something points at ends. */
export type RecordEnds = ReadonlyMap<number, { readonly segment: number; readonly bytes: number }>;

const chunkSize = 4 * 1024 * 1024;
const newline = 10;

export function verifySegments(log: string, verifier: LogVerifier, reading: SegmentCheck): RecordEnds {
  const ends = new Map<number, { segment: number; bytes: number }>();
  const segments = listSegments(log);
  const total = segments.reduce((sum, first) => sum + fileSize(`${log}/${segmentName(first)}`), 0);
  let before = 0;
  for (const first of segments) {
    const file = segmentName(first);
    verifier.beginFile(file, first);
    const fd = openSync(`${log}/${file}`, "r");
    try {
      let line = 0;
      const isLast = first === segments.at(-1);
      const done = eachLine(fd, (bytes, end) => {
        const start = end - bytes.length - 1;
        if (isLast && !isCoveredByHead(reading.head, first, start) && isTornTailFrom(fd, start, bytes))
          return "stop";
        verifier.verifyLine(bytes, file, ++line);
        if (isPinned(reading.head, verifier.size)) ends.set(verifier.size, { segment: first, bytes: end });
        if (line % 5000 === 0) reading.progress?.(before + end, total);
        return "on";
      });
      before += done.covered;
      if (done.left > 0) checkTail(verifier, { first, ...done, isLast }, reading);
    } finally {
      closeSync(fd);
    }
  }
  return ends;
}

const isPinned = (head: Head | undefined, size: number): boolean =>
  size === head?.size || size === head?.synced?.size;

/** Whether the head speaks of what stands there. */
const isCoveredByHead = (head: Head | undefined, segment: number, offset: number): boolean =>
  head !== undefined && (head.segment > segment || (head.segment === segment && head.bytes > offset));

/** Whether this line and all behind it is what a crash leaves. */
function isTornTailFrom(fd: number, start: number, line: Buffer): boolean {
  if (parseChainLink(line) !== undefined) return false;
  return isTornTail(readAt(systemFiles, fd, start, fstatSync(fd).size - start));
}

function fileSize(path: string): number {
  const fd = openSync(path, "r");
  try {
    return fstatSync(fd).size;
  } finally {
    closeSync(fd);
  }
}

/** Each whole line with where it ends; tells how far they went and how much was left over. */
function eachLine(
  fd: number,
  onLine: (line: Buffer, end: number) => "on" | "stop",
): { readonly covered: number; readonly left: number } {
  let buffer = Buffer.allocUnsafe(Math.min(chunkSize, fstatSync(fd).size + 1));
  let filled = 0;
  let covered = 0;
  for (;;) {
    const count = readSync(fd, buffer, filled, buffer.length - filled, covered + filled);
    if (count === 0) return { covered, left: filled };
    filled += count;
    let start = 0;
    const chunk = buffer.subarray(0, filled);
    for (let end = chunk.indexOf(newline); end !== -1; end = chunk.indexOf(newline, start)) {
      const isEnd = onLine(buffer.subarray(start, end), covered + end + 1) === "stop";
      if (isEnd) return { covered: covered + start, left: fstatSync(fd).size - covered - start };
      start = end + 1;
    }
    buffer.copyWithin(0, start, filled);
    filled -= start;
    covered += start;
    if (filled === buffer.length) buffer = Buffer.concat([buffer, Buffer.allocUnsafe(buffer.length)]);
  }
}

/** Half a line at the very end, which the head knows nothing of, is a crash or a record on its way. */
function checkTail(
  verifier: LogVerifier,
  { first, covered, left, isLast }: { first: number; covered: number; left: number; isLast: boolean },
  { head, notes }: SegmentCheck,
): void {
  const file = segmentName(first);
  if (isLast && !isCoveredByHead(head, first, covered)) {
    notes.push(`\`${file}\` ends in ${left} bytes that are no whole record; the next write puts them aside`);
    return;
  }
  const seq = verifier.size + 1;
  verifier.addProblem({ kind: "cut", seq, file, message: `record ${seq} is not whole` });
}

export interface CheckpointFile {
  readonly checkpoints: readonly Checkpoint[];
  /** The first line that is no checkpoint as it was written. */
  readonly damagedLine: number | undefined;
}

export function readCheckpoints(path: string): CheckpointFile {
  const lines = (readIfExists(path) ?? Buffer.alloc(0)).toString("utf8").split("\n");
  // Behind the last newline there may be a line that was never finished.
  lines.pop();
  const parsed = lines.map(parseCheckpoint);
  const damaged = parsed.findIndex(
    (each, index) => each?.prev_hash !== (parsed[index - 1]?.hash ?? genesisHash),
  );
  return {
    checkpoints: parsed.filter((each) => each !== undefined),
    damagedLine: damaged === -1 ? undefined : damaged + 1,
  };
}

export function checkCheckpoints(
  verifier: LogVerifier,
  { checkpoints, damagedLine }: CheckpointFile,
  {
    head,
    checkSignature,
  }: { readonly head: Head | undefined; readonly checkSignature: CheckSignature | undefined },
): void {
  const file = "checkpoints.jsonl";
  if (damagedLine !== undefined) {
    const message = `line ${damagedLine} of the checkpoints is not as it was written`;
    verifier.addProblem({ kind: "checkpoint", file, line: damagedLine, message });
  }
  for (const checkpoint of checkpoints) verifier.checkCheckpoint(checkpoint);
  const pin = head?.checkpoint;
  if (pin !== undefined && !checkpoints.some(({ size, hash }) => size === pin.size && hash === pin.hash)) {
    verifier.addProblem({
      kind: "checkpoint",
      file,
      message: `the checkpoint at ${pin.size} records is missing`,
    });
  }
  if (checkSignature === undefined) return;
  // The newest covers all before it, also what was pinned before there was a key, or under another.
  const newest = checkpoints.at(-1);
  if (newest === undefined) {
    if (damagedLine !== undefined) return;
    const message =
      "there is no checkpoint yet that could be signed: the setting `checkpoint_every` says how often one is made";
    verifier.addProblem({ kind: "signature", file, message });
  } else if (!checkSignature(newest)) {
    const message = `the last checkpoint, at ${newest.size} records, is not signed with this key`;
    verifier.addProblem({ kind: "signature", seq: newest.size, file, message });
  }
}

/** What is kept under a hash must have it, and what records name must be kept. Tells how many are. */
export function checkDefinitions(verifier: LogVerifier, directory: string): number {
  const kept = new Set<string>();
  for (const name of ["definitions", "environments"]) {
    const shelf = new ShelfFiles(`${directory}/${name}`, { files: systemFiles, now: () => 0, durable: true });
    for (const leaf of shelf.leaves()) {
      for (const { key, value } of shelf.entriesOf(leaf)) {
        kept.add(key);
        if (sha256Hex(canonicalJson(value)) === key) continue;
        const file = `${name}/all${leaf}.jsonl`;
        verifier.addProblem({ kind: "definition", file, message: `what is kept under ${key} was changed` });
      }
    }
  }
  for (const [hash, seq] of verifier.definitions) {
    if (kept.has(hash)) continue;
    const message = `the definition ${hash.slice(0, 12)} that record ${seq} used is no longer kept`;
    verifier.addProblem({ kind: "definition", seq, message });
  }
  return kept.size;
}
