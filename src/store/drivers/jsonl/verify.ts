import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { linkOf, origin } from "../../../record/chain.js";
import type { Checkpoint } from "../../../record/checkpoint.js";
import type { LogProblem } from "../../../record/verify-log.js";
import { LogVerifier } from "../../../record/verify-log.js";
import type { CheckSignature } from "../../signing.js";
import { reading } from "./damage.js";
import { readAt, systemFiles } from "./files.js";
import type { Head, Position } from "./head.js";
import { parseHead } from "./head.js";
import { isTorn } from "./recover.js";
import { segmentName, segmentsIn } from "./segments.js";
import { checkDefinitions } from "./verify-definitions.js";
import { checkCheckpoints, readCheckpoints, readMaybe } from "./verify-checkpoints.js";

export interface Expectation {
  readonly size: number;
  readonly head: string;
}

export interface VerifyOptions {
  readonly expect?: Expectation | undefined;
  /** Present: every checkpoint must be signed with this key. */
  readonly checkSignature?: CheckSignature | undefined;
  readonly progress?: (done: number, total: number) => void;
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
  return reading(directory, () => verify(directory, options));
}

function verify(directory: string, options: VerifyOptions): Verification {
  const log = `${directory}/log`;
  const notes: string[] = [];
  // The head is read before the log: what is added meanwhile makes the log longer, never shorter.
  const headFile = readMaybe(`${log}/head`);
  const pins = readCheckpoints(`${log}/checkpoints.jsonl`);
  const head = headFile && parseHead(headFile);
  const { expect } = options;
  const verifier = new LogVerifier([
    ...pins.checkpoints.map(({ size }) => size),
    head?.size ?? 0,
    head?.synced?.size ?? 0,
    expect?.size ?? 0,
  ]);

  const ends = readSegments(log, verifier, { head, notes, ...options });
  const lastSigned = pins.checkpoints.at(-1)?.size ?? 0;
  verifier.checkBeginning(options.checkSignature === undefined ? Infinity : lastSigned);
  checkHead(verifier, { head, isPresent: headFile !== undefined, ends });
  checkCheckpoints(verifier, pins, { head, checkSignature: options.checkSignature });
  if (expect !== undefined) checkExpectation(verifier, expect);
  checkDefinitions(verifier, directory);
  noteOnKey(pins.checkpoints, verifier.size, { options, notes });
  const { size, problems, records, pruned } = verifier;
  return {
    ok: problems.length === 0,
    size,
    head: size === 0 ? origin : verifier.head,
    problems,
    records,
    pruned,
    checkpoints: pins.checkpoints.length,
    ...(problems.length === 0 && { expect: `${size}:${size === 0 ? origin : verifier.head}` }),
    signed: pins.checkpoints.filter(({ signature }) => signature !== undefined).length,
    notes,
  };
}

interface Reading extends VerifyOptions {
  readonly head: Head | undefined;
  readonly notes: string[];
}

/** Where each record that something points at ends. */
type Ends = ReadonlyMap<number, { readonly segment: number; readonly bytes: number }>;

const chunkSize = 4 * 1024 * 1024;
const newline = 10;

function readSegments(log: string, verifier: LogVerifier, reading: Reading): Ends {
  const ends = new Map<number, { segment: number; bytes: number }>();
  const segments = segmentsIn(log);
  const total = segments.reduce((sum, first) => sum + sizeOf(`${log}/${segmentName(first)}`), 0);
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
        if (isLast && !isKnown(reading.head, first, start) && isTornFrom(fd, start, bytes)) return "stop";
        verifier.feed(bytes, file, ++line);
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
const isKnown = (head: Head | undefined, segment: number, offset: number): boolean =>
  head !== undefined && (head.segment > segment || (head.segment === segment && head.bytes > offset));

/** Whether this line and all behind it is what a crash leaves. */
function isTornFrom(fd: number, start: number, line: Buffer): boolean {
  if (linkOf(line) !== undefined) return false;
  return isTorn(readAt(systemFiles, fd, start, fstatSync(fd).size - start));
}

function sizeOf(path: string): number {
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
  { head, notes }: Reading,
): void {
  const file = segmentName(first);
  if (isLast && !isKnown(head, first, covered)) {
    notes.push(`\`${file}\` ends in ${left} bytes that are no whole record; the next write puts them aside`);
    return;
  }
  const seq = verifier.size + 1;
  verifier.problem({ kind: "cut", seq, file, message: `record ${seq} is not whole` });
}

function checkHead(
  verifier: LogVerifier,
  {
    head,
    isPresent,
    ends,
  }: { readonly head: Head | undefined; readonly isPresent: boolean; readonly ends: Ends },
): void {
  if (head === undefined) {
    if (verifier.records > 0) {
      const message = isPresent
        ? "the head file was changed"
        : "the head file is missing, so a cut could not be seen";
      verifier.problem({ kind: "head", file: "head", message });
    }
    return;
  }
  if (verifier.size < head.size) {
    const seq = verifier.size + 1;
    const message = `the log was cut: there were ${head.size} records, the last that is left is ${verifier.size}`;
    verifier.problem({ kind: "cut", seq, message });
    return;
  }
  for (const position of [head, ...(head.synced === undefined ? [] : [head.synced])]) {
    const end = ends.get(position.size);
    const isPlaced =
      isNewSegment(position) || (end?.segment === position.segment && end.bytes === position.bytes);
    if (verifier.hashAt(position.size) === position.head && isPlaced) continue;
    const message = `record ${position.size} is not the one that the head file pins`;
    verifier.problem({ kind: "head", seq: position.size, file: "head", message });
  }
}

function checkExpectation(verifier: LogVerifier, { size, head }: Expectation): void {
  if (size > verifier.size) {
    const message = `the log was cut: ${size} records were expected, there are ${verifier.size}`;
    verifier.problem({ kind: "expectation", seq: verifier.size + 1, message });
  } else if (size < verifier.pruned) {
    const message = `record ${size} was pruned, so what was expected of it cannot be checked`;
    verifier.problem({ kind: "expectation", seq: size, message });
  } else if (verifier.hashAt(size) !== head) {
    const message = `record ${size} is not the one that was expected: the log up to there is another`;
    verifier.problem({ kind: "expectation", seq: size, message });
  }
}

/** Nothing was written to it yet. */
const isNewSegment = ({ size, segment, bytes }: Position): boolean => bytes === 0 && segment === size + 1;

/** What stands behind the last signature is only as safe as the head. */
function noteOnKey(
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
