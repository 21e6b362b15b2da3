import type { Stats } from "node:fs";
import { closeSync, existsSync, fstatSync, rmSync, statSync, utimesSync } from "node:fs";
import { peekLastCheckpoint } from "./checkpoints.js";
import { damagedLogError } from "./store-errors.js";
import { isNotFound, openIfExists, readAt, readIfExists, systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { describeRemovedLog, readHead } from "./head.js";
import { readSealedJson, writeSealedJson } from "./index/sealed-json.js";
import { isLongerThanHead, notesPastHead } from "./recover-tail.js";
import { readFirstLine, segmentName, listSegments } from "./segments.js";
import { parseChainLink, parseTailHash, tailLength } from "../../../record/chain.js";
import { countersInNote } from "../../../record/notes.js";
import { DecisionError } from "../../../errors.js";
import { makeDirectory } from "../../files.js";
import { openRegularFile, writeRegularFile } from "../../regular-file.js";

/** A verification of the whole log has found a problem. */
const damageMarkPath = (directory: string): string => `${directory}/log/index/damaged`;
/** A reader has seen something that a verification must confirm. */
const suspicionPath = (directory: string): string => `${directory}/log/index/suspected`;
/** The suspicions that a verification of the whole log has cleared. */
const clearedPath = (directory: string): string => `${directory}/log/index/verified.json`;

/**
 * Writes (or removes) a file that says what a full verification has found. Errors are ignored: without the mark, a
 * writer finds the damage itself or `verify` does.
 */
export function setDamageMark(directory: string, problem: string | undefined): void {
  try {
    rmSync(suspicionPath(directory), { force: true, recursive: true });
    if (problem === undefined) rmSync(damageMarkPath(directory), { force: true, recursive: true });
    else writeMark(directory, damageMarkPath(directory), problem);
  } catch {
    return;
  }
}

/** Makes the next writer verify the whole log. Errors are ignored, as above. */
export function suspectDamage(directory: string, message: string): void {
  try {
    writeMark(directory, suspicionPath(directory), message);
  } catch {
    return;
  }
}

function writeMark(directory: string, path: string, text: string): void {
  if (!existsSync(`${directory}/log`)) return;
  makeDirectory(`${directory}/log/index`, 0o700);
  writeRegularFile(path, `${text}\n`, 0o600);
}

/** Returns the problem that an earlier verification found, if the log has not changed since. Does not read the log. */
function markedDamage(directory: string): string | undefined {
  const path = damageMarkPath(directory);
  if (!existsSync(path)) return undefined;
  const stats = statSync(path);
  // What is not a file says nothing; then the log is verified.
  if (!stats.isFile() || isLogChangedSince(directory, stats.mtimeMs)) return undefined;
  return readIfExists(path)?.toString("utf8").trim();
}

/** Compares ctime, because mtime can be set back by a program. */
function isLogChangedSince(directory: string, moment: number): boolean {
  const names = ["head", "checkpoints.jsonl", ...listSegments(`${directory}/log`).map(segmentName)];
  return names.some((name) => {
    const stats = statSync(`${directory}/log/${name}`, { throwIfNoEntry: false });
    // Equal times can be a change just after the mark: file systems round times to a few milliseconds.
    return stats !== undefined && stats.ctimeMs >= moment;
  });
}

/** Detects damage from the names, sizes, times and ends of the files. Reads the whole log only if they raise a suspicion. */
export class DamageDetector {
  readonly #directory: string;
  readonly #log: string;
  /** The complete segments whose order was checked last. */
  #checkedSegments = "";
  readonly #cleared = new Set<string>();

  constructor(directory: string) {
    this.#directory = directory;
    this.#log = `${directory}/log`;
  }

  /** Throws if the log is damaged. */
  async assertUndamaged(): Promise<void> {
    const isSuspected = existsSync(suspicionPath(this.#directory));
    const problem = await this.#findProblem({ isSuspected });
    if (problem !== undefined) throw damagedLogError(this.#log, problem);
    if (isSuspected) setDamageMark(this.#directory, undefined);
  }

  /** Reads the whole log and throws if it is damaged. */
  async assertVerified(): Promise<void> {
    const problem = await this.verify();
    if (problem !== undefined) throw damagedLogError(this.#log, problem);
  }

  /** Returns the problem of a damaged log. */
  findProblem(): Promise<string | undefined> {
    return this.#findProblem({ isSuspected: false });
  }

  async #findProblem({ isSuspected }: { readonly isSuspected: boolean }): Promise<string | undefined> {
    const marked = markedDamage(this.#directory);
    if (marked !== undefined) return marked;
    const { problem, suspicions } = this.#inspect();
    if (problem !== undefined) return problem;
    const isMarked = existsSync(damageMarkPath(this.#directory));
    if (!isSuspected && !isMarked && this.#areCleared(suspicions)) return undefined;
    const found = await this.verify();
    if (found === undefined) this.#clear(suspicions);
    return found;
  }

  /** Reads the whole log and returns the first problem. */
  async verify(): Promise<string | undefined> {
    const [{ verifyInSlices }, { isLogDamage }] = await Promise.all([
      import("./verify-store.js"),
      import("../../../record/verify-log.js"),
    ]);
    const problem = (await verifyInSlices(this.#directory)).problems.find(isLogDamage);
    setDamageMark(this.#directory, problem?.message);
    return problem?.message;
  }

  #areCleared(suspicions: readonly string[]): boolean {
    if (suspicions.every((suspicion) => this.#cleared.has(suspicion))) return true;
    const saved = readSealedJson(clearedPath(this.#directory)) as
      { readonly suspicions: readonly string[] } | undefined;
    for (const suspicion of saved?.suspicions ?? []) this.#cleared.add(suspicion);
    return suspicions.every((suspicion) => this.#cleared.has(suspicion));
  }

  /** Remembers that the log was verified. Ignores errors: without the file, the next process verifies again. */
  #clear(suspicions: readonly string[]): void {
    for (const suspicion of suspicions) this.#cleared.add(suspicion);
    try {
      makeDirectory(`${this.#log}/index`, 0o700);
      writeSealedJson(clearedPath(this.#directory), { suspicions });
    } catch {
      return;
    }
  }

  #inspect(): Inspection {
    try {
      // Before the head: segments are removed only after the head says so.
      const segments = statFiles(this.#log, listSegments(this.#log).map(segmentName));
      return this.#inspectFiles(segments);
    } catch (error) {
      // A segment was pruned meanwhile.
      if (isNotFound(error)) return undamaged;
      throw error;
    }
  }

  #inspectFiles(segments: readonly FileStats[]): Inspection {
    const fd = openIfExists(systemFiles, `${this.#log}/head`, "r");
    const hasRecords = segments.some(({ stats }) => stats.size > 0);
    if (fd === undefined) {
      const problem = hasRecords ? "its head file is missing" : describeRemovedLog(this.#directory);
      return { problem, suspicions: [] };
    }
    try {
      const head = readHead(systemFiles, fd);
      if (head === undefined)
        return hasRecords ? { problem: "its head file cannot be read", suspicions: [] } : undamaged;
      const { mtimeMs } = fstatSync(fd);
      const start = inspectStart(segments, head);
      const problem = start.problem ?? inspectEnd(this.#log, head) ?? this.#inspectOrder(segments, head);
      if (problem !== undefined) return { problem, suspicions: [] };
      const checkpoints = inspectCheckpoints(this.#log, segments, { head, mtimeMs });
      const modified = modifiedSegments(segments, { head, mtimeMs });
      // Anyone can write such a head, so the log is verified until an append has replaced it.
      const unsealed = head.unsealed === true ? [`head without a checksum, ${head.size} ${head.head}`] : [];
      const noted = suspiciousNotes(this.#log, head);
      const suspicions = [...start.suspicions, ...checkpoints.suspicions, ...modified, ...unsealed, ...noted];
      return { ...checkpoints, suspicions };
    } finally {
      closeSync(fd);
    }
  }

  /** Checks that each segment continues the one before. Complete segments do not change, so once is enough. */
  #inspectOrder(segments: readonly FileStats[], head: Head): string | undefined {
    const covered = segments.filter(({ first }) => first <= head.segment);
    const complete = covered
      .filter(({ first }) => first < head.segment)
      .map(describeFile)
      .join();
    if (complete === this.#checkedSegments) return undefined;
    for (const [at, { first, name }] of covered.entries()) {
      const before = covered[at - 1];
      if (before === undefined || (first === head.segment && head.synced !== undefined)) continue;
      const previous =
        first === head.segment && head.bytes === 0 ? head.head : firstPreviousHash(`${this.#log}/${name}`);
      if (previous !== lastHash(this.#log, before))
        return `\`${name}\` does not follow \`${before.name}\`: a segment is missing or was changed`;
    }
    this.#checkedSegments = complete;
    return undefined;
  }
}

/** The result of an inspection. */
interface Inspection {
  readonly problem?: string | undefined;
  /** Signs that another program has changed a file. Only a verification can tell whether the content changed. */
  readonly suspicions: readonly string[];
}

const undamaged: Inspection = { suspicions: [] };

interface FileStats {
  readonly name: string;
  /** The first sequence number of a segment; NaN for other files. */
  readonly first: number;
  readonly stats: Stats;
}

function statFiles(log: string, names: readonly string[]): readonly FileStats[] {
  return names.flatMap((name) => {
    const stats = statSync(`${log}/${name}`, { throwIfNoEntry: false });
    return stats === undefined ? [] : [{ name, first: Number.parseInt(name, 10), stats }];
  });
}

const describeFile = ({ name, stats: { size, mtimeMs, ctimeMs } }: FileStats): string =>
  `${name} ${size} ${mtimeMs} ${ctimeMs}`;

/** Checks that only pruned records are missing at the start. */
function inspectStart(segments: readonly FileStats[], { size, pruned }: Head): Inspection {
  const first = segments[0]?.first ?? size + 1;
  if (first <= (pruned ?? 0) + 1) return undamaged;
  // Before version 0.2 the head did not say how many records were pruned.
  if (pruned === undefined && segments.length > 0) return { suspicions: [`starts with record ${first}`] };
  const from = (pruned ?? 0) + 1;
  return { problem: `records ${from} to ${first - 1} are missing and were not pruned`, suspicions: [] };
}

/**
 * Returns the notes after the head that would replace all counters. A crash can leave one, but so can someone who appends
 * a line: a verification compares its counters with the records.
 */
function suspiciousNotes(log: string, head: Head): readonly string[] {
  try {
    const notes = notesPastHead(systemFiles, log, head).filter((note) => countersInNote(note) !== undefined);
    return notes.map(({ note, hash }) => `note ${note} after the head, ${hash}`);
  } catch (error) {
    // Recovery finds what is wrong with these lines.
    if (error instanceof DecisionError) return [];
    throw error;
  }
}

/** Checks that the current segment is as long as the head says. What a power cut may have removed is left to recovery. */
function inspectEnd(log: string, { segment, bytes, synced }: Head): string | undefined {
  if (synced !== undefined || bytes === 0) return undefined;
  const { size = 0 } = statSync(`${log}/${segmentName(segment)}`, { throwIfNoEntry: false }) ?? {};
  return size < bytes
    ? "it is shorter than before: its end was removed or its content was changed"
    : undefined;
}

/** A head, and when it was written. */
interface WrittenHead {
  readonly head: Head;
  readonly mtimeMs: number;
}

/** Checks that the last checkpoint is the one that the head names, and that it covers the log. */
function inspectCheckpoints(
  log: string,
  segments: readonly FileStats[],
  { head, mtimeMs }: WrittenHead,
): Inspection {
  const modified = statFiles(log, ["checkpoints.jsonl"]).filter(isModifiedAfter(mtimeMs)).map(describeFile);
  const last = peekLastCheckpoint(`${log}/checkpoints.jsonl`);
  const pin = head.checkpoint;
  if (last !== undefined && last.size > head.size) {
    // A checkpoint is written after its records and before the head: this append is in progress, or a crash came
    // between. Either way, the log is longer than its head.
    if (isLongerThanHead(log, head)) return undamaged;
    const problem = `a checkpoint covers ${last.size} records, but there are ${head.size}`;
    return { problem, suspicions: [] };
  }
  if (pin === undefined)
    return { suspicions: last === undefined ? modified : ["the head names no checkpoint"] };
  if (last === undefined || last.size < pin.size || (last.size === pin.size && last.hash !== pin.hash))
    return { problem: `the checkpoint at ${pin.size} records is missing or was changed`, suspicions: [] };
  const covered = last.size > pin.size ? "unknown" : hashAtCheckpoint(log, segments, head);
  if (covered === "unknown") return { suspicions: [...modified, `checkpoint ${last.hash}`] };
  if (covered === last.head) return { suspicions: modified };
  return { problem: `record ${pin.size} is not the one that a checkpoint covers`, suspicions: [] };
}

/** Returns the hash of the record that the last checkpoint covers. */
function hashAtCheckpoint(log: string, segments: readonly FileStats[], head: Head): string | undefined {
  const { size = 0, end } = head.checkpoint ?? {};
  if (end !== undefined) return tailHash(`${log}/${segmentName(head.segment)}`, end);
  const before = segments.findLast(({ first }) => first < head.segment);
  return size === head.segment - 1 && before !== undefined ? lastHash(log, before) : "unknown";
}

/**
 * Returns the segments that changed after the head. The head is written after every append, so another program did it.
 * A segment that is longer than the head says, or not synced, is left to recovery.
 */
function modifiedSegments(segments: readonly FileStats[], { head, mtimeMs }: WrittenHead): readonly string[] {
  if (head.synced !== undefined) return [];
  return segments
    .filter(
      ({ first, stats: { size } }) => first < head.segment || (first === head.segment && size === head.bytes),
    )
    .filter(isModifiedAfter(mtimeMs))
    .map(describeFile);
}

/** Also compares ctime, because mtime can be set back by a program. */
const isModifiedAfter =
  (moment: number) =>
  ({ stats: { mtimeMs, ctimeMs } }: FileStats): boolean =>
    mtimeMs > moment || ctimeMs > moment;

const lastHash = (log: string, { name, stats: { size } }: FileStats): string | undefined =>
  tailHash(`${log}/${name}`, size);

/** Returns the hash of the record that ends at an offset. */
function tailHash(path: string, end: number): string | undefined {
  const fd = openRegularFile(path, "r");
  try {
    return parseTailHash(readAt(systemFiles, fd, end - tailLength, tailLength));
  } finally {
    closeSync(fd);
  }
}

/** Returns the hash that the first record of a segment refers to. */
function firstPreviousHash(path: string): string | undefined {
  const line = readFirstLine(path);
  return line && parseChainLink(line)?.previous;
}

/** Makes the head newer than the segments again, after a failed append modified a segment but not the head. */
export function refreshHeadTime(log: string): void {
  const soon = (Date.now() + 10) / 1000;
  try {
    utimesSync(`${log}/head`, soon, soon);
  } catch {
    // The next append then verifies the whole log once, which does no harm.
  }
}
