import { closeSync, fstatSync, readSync, statSync } from "node:fs";
import { basename } from "node:path";
import { forgottenMessage, serialsIn, sumOfSerials } from "./approval-witness.js";
import { countLog } from "./count-records.js";
import { ShelfFiles } from "./file-shelf.js";
import { runInSlices, runToEnd } from "./slices.js";
import { throwReadError, wrapReadErrors } from "./store-errors.js";
import { isNotFound, namesIn, readIfExists, readAt, systemFiles } from "./files.js";
import type { Head, Position } from "./head.js";
import { describeRemovedLog, parseHead, readHeadFile } from "./head.js";
import { segmentName, listSegments } from "./segments.js";
import { isTornTail } from "./recover-tail.js";
import { canonicalJson } from "../../../digest/canonical-json.js";
import { sha256Hex } from "../../../digest/sha256.js";
import type { Checkpoint } from "../../../record/chain.js";
import { genesisHash, parseChainLink, parseCheckpoint } from "../../../record/chain.js";
import { wrongCountersMessage } from "../../../record/notes.js";
import type { LogProblem } from "../../../record/verify-log.js";
import { LogVerifier } from "../../../record/verify-log.js";
import type { CheckSignature } from "../../signing.js";
import { isNotRegular, openRegularFile } from "../../regular-file.js";

/** The size and last hash that the user noted earlier (`--expect SIZE:HASH`). */
export interface Expectation {
  readonly size: number;
  readonly head: string;
}

export interface VerifyOptions {
  readonly expect?: Expectation | undefined;
  /** If present, the last checkpoint, which covers all earlier records, must be signed with this key. */
  readonly checkSignature?: CheckSignature | undefined;
  readonly progress?: ((done: number, total: number) => void) | undefined;
}

export interface Verification {
  readonly ok: boolean;
  /** The number of records ever written, and the hash of the last one. */
  readonly size: number;
  readonly head: string;
  readonly problems: readonly LogProblem[];
  /** The number of records present; the others were pruned. */
  readonly records: number;
  readonly pruned: number;
  readonly checkpoints: number;
  readonly signed: number;
  /** The value for `--expect`; absent if there are problems. */
  readonly expect?: string;
  /** Remarks that are not problems. */
  readonly notes: readonly string[];
}

/** Reads the whole log and checks that nothing in it was changed or removed. Writes nothing. */
export function verifyStore(directory: string, options: VerifyOptions = {}): Verification {
  return wrapReadErrors(directory, () => runToEnd(verifyFiles(directory, options)));
}

/** Like `verifyStore`, without blocking the event loop. */
export function verifyInSlices(directory: string, options: VerifyOptions = {}): Promise<Verification> {
  return runInSlices(verifyFiles(directory, options)).catch(throwReadError(directory));
}

/** Yields after every part of the log. */
function* verifyFiles(directory: string, options: VerifyOptions): Generator<void, Verification> {
  const log = `${directory}/log`;
  const notes: string[] = [];
  // The head is read before the log: records appended meanwhile make the log longer than the head, which is valid.
  const misplaced: LogProblem[] = [];
  const readFile = (file: string, kind: LogProblem["kind"]): Buffer | undefined =>
    readOrReport(
      { kind, file },
      (problem) => misplaced.push(problem),
      () => readIfExists(`${log}/${file}`),
    );
  const headFile = readFile("head", "head");
  const pins = parseCheckpoints(readFile("checkpoints.jsonl", "checkpoint"));
  const head = headFile && parseHead(headFile);
  const { expect } = options;
  const verifier = new LogVerifier([
    ...pins.checkpoints.map(({ size }) => size),
    head?.size ?? 0,
    head?.synced?.size ?? 0,
    expect?.size ?? 0,
  ]);

  for (const problem of misplaced) verifier.addProblem(problem);
  const ends = yield* verifySegments(log, verifier, { head, notes, progress: options.progress });
  const lastSigned = pins.checkpoints.at(-1)?.size ?? 0;
  const pinned = new Set(pins.checkpoints.map(({ size }) => size));
  verifier.checkStart({
    size: Math.min(head?.size ?? Infinity, options.checkSignature === undefined ? Infinity : lastSigned),
    isPinned: (seq) => pinned.has(seq),
    pruned: head?.pruned,
  });
  const isHeadMisplaced = misplaced.some(({ kind }) => kind === "head");
  if (!isHeadMisplaced) checkHead(verifier, { head, isPresent: headFile !== undefined, ends });
  checkCheckpoints(verifier, pins, { head, checkSignature: options.checkSignature });
  if (verifier.hasNotedCounters && verifier.problems.length === 0) yield* checkNotedCounters(verifier, log);
  if (expect !== undefined) checkExpectation(verifier, expect);
  checkDefinitions(verifier, directory);
  checkApprovals(verifier, directory, head);
  const removed =
    verifier.records === 0 && headFile === undefined ? describeRemovedLog(directory) : undefined;
  if (removed !== undefined) verifier.addProblem({ kind: "missing", message: removed });
  for (const name of unfinishedRestores(directory))
    notes.push(
      `\`${name}\` is part of an import that is running or was interrupted; repeat the import to remove it`,
    );
  // Read again, because an append may have finished meanwhile.
  if (!isHeadMisplaced) noteUncoveredRecords(readHeadFile(log), verifier.size, notes);
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

/** Reports a problem and returns undefined if something other than a regular file is in the place of a file. */
function readOrReport<T>(
  problem: Pick<LogProblem, "kind" | "file" | "seq">,
  report: (problem: LogProblem) => void,
  read: () => T,
): T | undefined {
  try {
    return read();
  } catch (error) {
    if (!isNotRegular(error)) throw error;
    const { path = "" } = error as NodeJS.ErrnoException;
    report({ ...problem, message: `\`${basename(path)}\` is not a regular file` });
    return undefined;
  }
}

/** Starts the names of the directories in which restores prepare their files. */
export const stagingPrefix = "restore-";

/** Returns the directories of restores that are running or were interrupted. */
export const unfinishedRestores = (directory: string): readonly string[] =>
  namesIn(directory).filter((name) => name.startsWith(stagingPrefix));

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
        : "the head file is missing, so a removed end cannot be detected";
      verifier.addProblem({ kind: "head", file: "head", message });
    }
    return;
  }
  if (verifier.size < head.size) {
    const seq = verifier.size + 1;
    const message = `the log was cut: there were ${head.size} records, the last one left is ${verifier.size}`;
    verifier.addProblem({ kind: "cut", seq, message });
    return;
  }
  for (const position of [head, ...(head.synced === undefined ? [] : [head.synced])]) {
    const end = ends.get(position.size);
    const endsThere =
      isNewSegment(position) || (end?.segment === position.segment && end.bytes === position.bytes);
    const hasHash = verifier.hashAt(position.size) === position.head;
    if (hasHash && endsThere) continue;
    const message = hasHash
      ? `record ${position.size} does not end where the head file says: the length of an earlier line was changed`
      : `record ${position.size} does not match the hash in the head file`;
    verifier.addProblem({ kind: "head", seq: position.size, file: "head", message });
  }
}

/** Checks that no note resets a counter: it must have what the records before it count. */
function* checkNotedCounters(verifier: LogVerifier, log: string): Generator<void, void> {
  const end = { segment: Infinity, bytes: Infinity };
  try {
    const { wrongNote: seq } = yield* countLog(log, end, { isVerified: true });
    if (seq !== undefined) verifier.addProblem({ kind: "changed", seq, message: wrongCountersMessage(seq) });
  } catch (error) {
    // The log was pruned meanwhile.
    if (!isNotFound(error)) throw error;
  }
}

function checkExpectation(verifier: LogVerifier, { size, head }: Expectation): void {
  if (size > verifier.size) {
    const message = `the log was cut: ${size} records were expected, there are ${verifier.size}`;
    verifier.addProblem({ kind: "expectation", seq: verifier.size + 1, message });
  } else if (size < verifier.missingAtStart) {
    const message = `record ${size} was pruned, so its expected hash cannot be checked`;
    verifier.addProblem({ kind: "expectation", seq: size, message });
  } else if (verifier.hashAt(size) !== head) {
    const message = `record ${size} does not have the expected hash: the log up to there is different`;
    verifier.addProblem({ kind: "expectation", seq: size, message });
  } else if ((verifier.prunedIn ?? 0) > size) {
    const message = `records 1 to ${verifier.pruned} were pruned after the expected hash was noted`;
    verifier.addProblem({ kind: "expectation", seq: 1, message });
  }
}

/** Returns true for the start of a segment without records. */
const isNewSegment = ({ size, segment, bytes }: Position): boolean => bytes === 0 && segment === size + 1;

/** Adds a note on records after the head. They are valid: a crash, or a power cut that took the newest head, leaves some. */
function noteUncoveredRecords(head: Head | undefined, size: number, notes: string[]): void {
  if (head === undefined || size <= head.size) return;
  const first = head.size + 1;
  notes.push(
    size === first
      ? `record ${size} is not covered by the head: a crash left it, or another program appended it`
      : `records ${first} to ${size} are not covered by the head: a crash left them, or another program appended them`,
  );
}

/** Adds a note on records after the last checkpoint: only the unsigned head protects them. */
function noteUnsignedRecords(
  checkpoints: readonly Checkpoint[],
  size: number,
  { options, notes }: { readonly options: VerifyOptions; readonly notes: string[] },
): void {
  const unsigned = size - (checkpoints.at(-1)?.size ?? 0);
  if (options.checkSignature === undefined || unsigned === 0) return;
  const records = unsigned === 1 ? "the last record is" : `the last ${unsigned} records are`;
  notes.push(`${records} not covered by a signed checkpoint yet`);
}

interface SegmentCheck {
  readonly progress?: ((done: number, total: number) => void) | undefined;
  readonly head: Head | undefined;
  readonly notes: string[];
}

/** The end of each record that the head refers to. */
type RecordEnds = ReadonlyMap<number, { readonly segment: number; readonly bytes: number }>;

/** Takes about ten milliseconds, which is how long `verifyInSlices` blocks. */
const chunkSize = 1024 * 1024;
const newline = 10;

/** Feeds every line of every segment to the verifier. */
function* verifySegments(
  log: string,
  verifier: LogVerifier,
  check: SegmentCheck,
): Generator<void, RecordEnds> {
  const ends = new Map<number, { segment: number; bytes: number }>();
  const segments = listSegments(log);
  const total = segments.reduce((sum, first) => sum + statSync(`${log}/${segmentName(first)}`).size, 0);
  const report = (problem: LogProblem): void => verifier.addProblem(problem);
  let before = 0;
  for (const first of segments) {
    const file = segmentName(first);
    verifier.beginFile(file, first);
    const open = (): number => openRegularFile(`${log}/${file}`, "r");
    const fd = readOrReport({ kind: "missing", seq: first, file }, report, open);
    if (fd === undefined) continue;
    try {
      let line = 0;
      const isLast = first === segments.at(-1);
      const done = yield* forEachLine(fd, (bytes, end) => {
        const start = end - bytes.length - 1;
        if (isLast && !isCoveredByHead(check.head, first, start) && isTornTailFrom(fd, start, bytes))
          return "stop";
        verifier.verifyLine(bytes, file, ++line);
        if (isInHead(check.head, verifier.size)) ends.set(verifier.size, { segment: first, bytes: end });
        if (line % 5000 === 0) check.progress?.(before + end, total);
        return "continue";
      });
      before += done.covered;
      if (done.left > 0) checkTail(verifier, { first, ...done, isLast }, check);
    } finally {
      closeSync(fd);
    }
  }
  return ends;
}

const isInHead = (head: Head | undefined, size: number): boolean =>
  size === head?.size || size === head?.synced?.size;

/** Returns true if the head says that this offset was written. */
const isCoveredByHead = (head: Head | undefined, segment: number, offset: number): boolean =>
  head !== undefined && (head.segment > segment || (head.segment === segment && head.bytes > offset));

/** Returns true if this line and all bytes after it can be the rest of a crash. */
function isTornTailFrom(fd: number, start: number, line: Buffer): boolean {
  if (parseChainLink(line) !== undefined) return false;
  return isTornTail(readAt(systemFiles, fd, start, fstatSync(fd).size - start));
}

/** Calls `onLine` with each complete line and its end. Returns how many bytes were covered and how many are left. */
function* forEachLine(
  fd: number,
  onLine: (line: Buffer, end: number) => "continue" | "stop",
): Generator<void, { readonly covered: number; readonly left: number }> {
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
    yield;
  }
}

/** An incomplete line at the end that the head does not cover is the rest of a crash, or an append in progress. */
function checkTail(
  verifier: LogVerifier,
  { first, covered, left, isLast }: { first: number; covered: number; left: number; isLast: boolean },
  { head, notes }: SegmentCheck,
): void {
  const file = segmentName(first);
  if (isLast && !isCoveredByHead(head, first, covered)) {
    notes.push(
      `\`${file}\` ends with ${left} bytes of an incomplete record; the next write moves them to a separate file`,
    );
    return;
  }
  const seq = verifier.size + 1;
  verifier.addProblem({ kind: "cut", seq, file, message: `record ${seq} is incomplete` });
}

interface CheckpointFile {
  readonly checkpoints: readonly Checkpoint[];
  /** The first line that is not a valid checkpoint. */
  readonly damagedLine: number | undefined;
}

function parseCheckpoints(bytes: Buffer = Buffer.alloc(0)): CheckpointFile {
  const lines = bytes.toString("utf8").split("\n");
  // An incomplete line can follow the last newline.
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

function checkCheckpoints(
  verifier: LogVerifier,
  { checkpoints, damagedLine }: CheckpointFile,
  {
    head,
    checkSignature,
  }: { readonly head: Head | undefined; readonly checkSignature: CheckSignature | undefined },
): void {
  const file = "checkpoints.jsonl";
  if (damagedLine !== undefined) {
    const message = `line ${damagedLine} of the checkpoints was changed`;
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
  } else if (head !== undefined && damagedLine === undefined) {
    verifier.checkPinned(head, new Set(checkpoints.map(({ size }) => size)));
  }
  if (checkSignature === undefined) return;
  // The newest checkpoint covers all earlier records, including those pinned without a key or with another one.
  const newest = checkpoints.at(-1);
  if (newest === undefined) {
    if (damagedLine !== undefined) return;
    const message =
      "there is no signed checkpoint yet; the setting `checkpoint_every` determines how often one is written";
    verifier.addProblem({ kind: "signature", file, message });
  } else if (!checkSignature(newest)) {
    const message = `the last checkpoint, at ${newest.size} records, is not signed with this key`;
    verifier.addProblem({ kind: "signature", seq: newest.size, file, message });
  }
}

/** Checks that each stored definition matches its hash and that records refer to stored ones. */
function checkDefinitions(verifier: LogVerifier, directory: string): void {
  const report = (problem: LogProblem): void => verifier.addProblem(problem);
  for (const { name, what, used } of [
    { name: "definitions", what: "definition", used: verifier.definitions },
    { name: "environments", what: "environment", used: verifier.environments },
  ]) {
    const stored = new Set<string>();
    const shelf = new ShelfFiles(`${directory}/${name}`, { files: systemFiles, now: () => 0, durable: true });
    let isComplete = true;
    for (const leaf of shelf.leaves()) {
      const file = `${name}/all${leaf}.jsonl`;
      const entries = readOrReport({ kind: "definition", file }, report, () => shelf.entriesOf(leaf));
      isComplete &&= entries !== undefined;
      for (const { key, value } of entries ?? []) {
        stored.add(key);
        if (sha256Hex(canonicalJson(value)) === key) continue;
        verifier.addProblem({
          kind: "definition",
          file,
          message: `the document with the hash ${key} was changed`,
        });
      }
    }
    for (const [hash, seq] of used) {
      if (stored.has(hash) || !isComplete) continue;
      const message = `the ${what} ${hash.slice(0, 12)} used by record ${seq} is missing`;
      verifier.addProblem({ kind: "definition", seq, message });
    }
  }
}

/** Checks that no approval lock that was seen has been forgotten: an older one could then be used. */
function checkApprovals(verifier: LogVerifier, directory: string, head: Head | undefined): void {
  const seen = Math.max(head?.approvals ?? 0, verifier.approvals);
  const shelf = new ShelfFiles(`${directory}/approvals`, { files: systemFiles, now: () => 0, durable: true });
  const problem = { kind: "approvals", file: "approvals" } as const;
  const serials = readOrReport(
    problem,
    (found) => verifier.addProblem(found),
    () => serialsIn(shelf),
  );
  if (serials === undefined) return;
  // A crash between writing the shelf and the note leaves more.
  const isOlder = [...verifier.serials].some(([id, serial]) => (serials.get(id) ?? 0) < serial);
  if (!isOlder && sumOfSerials(serials) >= seen) return;
  verifier.addProblem({ ...problem, message: forgottenMessage });
}
