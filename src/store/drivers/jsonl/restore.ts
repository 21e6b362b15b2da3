import { closeSync, fsyncSync, mkdirSync, mkdtempSync, renameSync, rmSync, statSync } from "node:fs";
import { serialsIn } from "./approval-witness.js";
import { countLog } from "./count-records.js";
import { CounterFiles } from "./counter-files.js";
import { ShelfFiles } from "./file-shelf.js";
import { namesIn, syncDirectory, systemFiles, writeAll } from "./files.js";
import type { CheckpointPin, Head } from "./head.js";
import { readHeadFile, writeHead } from "./head.js";
import type { Progress } from "./index/log-index.js";
import { segmentName } from "./segments.js";
import { runInSlices } from "./slices.js";
import { stagingPrefix, unfinishedRestores, verifyInSlices } from "./verify-store.js";
import { storeNotEmptyError } from "../store-not-empty.js";
import { DecisionError } from "../../../errors.js";
import type { ShelfEntry, StoreSnapshot } from "../../../model/store.js";
import type { Checkpoint } from "../../../record/chain.js";
import { genesisHash, parseChainLink, parseCheckpoint } from "../../../record/chain.js";
import { approvalsInNote, parseNote } from "../../../record/notes.js";
import { isLogDamage } from "../../../record/verify-log.js";
import { makeDirectory } from "../../files.js";
import { openRegularFile } from "../../regular-file.js";

const restoredShelves = ["definitions", "environments", "approvals"] as const;

/** Throws if the store has records, or anything else in its log that a restore would replace. */
export function assertEmptyStore(directory: string): void {
  const log = `${directory}/log`;
  const isUsed = namesIn(log).some((name) => {
    if (name === "index" || name.endsWith(".tmp")) return false;
    return name === "head" ? readHeadFile(log)?.size !== 0 : statSync(`${log}/${name}`).size > 0;
  });
  if (isUsed) throw storeNotEmptyError(directory);
}

export function removeUnfinishedRestores(directory: string): void {
  for (const name of unfinishedRestores(directory))
    rmSync(`${directory}/${name}`, { recursive: true, force: true });
}

interface RestoreOptions {
  readonly segmentSize: number;
  /** Called while the restored log is verified. */
  readonly progress?: Progress | undefined;
}

/**
 * Writes a complete store into a new directory within this one, verifies it, and returns its path. Until
 * `commitRestore`, the store itself is unchanged, so a crash leaves it empty.
 */
export async function stageRestore(
  directory: string,
  snapshot: StoreSnapshot,
  options: RestoreOptions,
): Promise<string> {
  makeDirectory(directory, 0o700);
  const staged = mkdtempSync(`${directory}/${stagingPrefix}`);
  try {
    for (const [name, entries] of groupByShelf(snapshot.shelves)) openShelf(staged, name).put(entries);
    if (snapshot.state.size > 0) await writeLog(staged, snapshot, options);
    await assertRestored(staged, snapshot, options);
    return staged;
  } catch (error) {
    rmSync(staged, { recursive: true, force: true });
    throw error;
  }
}

/** Moves a staged store into place; the caller holds the lock. The log comes last: without it, nothing is written to the store. */
export function commitRestore(directory: string, staged: string): void {
  assertEmptyStore(directory);
  for (const name of restoredShelves) {
    const [from, to] = [openShelf(staged, name), openShelf(directory, name)];
    const serials = name === "approvals" ? serialsIn(to) : new Map<string, number>();
    for (const leaf of from.leaves()) {
      // Never replaces the memory of a newer approval lock.
      const entries = from
        .entriesOf(leaf)
        .filter((entry) => serialOf(entry) >= (serials.get(entry.key) ?? 0));
      if (entries.length > 0) to.put(entries);
    }
  }
  if (!namesIn(staged).includes("log")) return;
  rmSync(`${directory}/counters`, { recursive: true, force: true });
  renameSync(`${staged}/counters`, `${directory}/counters`);
  rmSync(`${directory}/log`, { recursive: true, force: true });
  renameSync(`${staged}/log`, `${directory}/log`);
  syncDirectory(systemFiles, directory);
}

const openShelf = (directory: string, name: string): ShelfFiles =>
  new ShelfFiles(`${directory}/${name}`, {
    files: systemFiles,
    now: () => 0,
    durable: true,
    checked: name === "approvals",
  });

const serialOf = ({ value }: ShelfEntry): number =>
  Number((value as { readonly serial?: unknown } | null)?.serial ?? 0);

function groupByShelf(shelves: StoreSnapshot["shelves"]): ReadonlyMap<string, ShelfEntry[]> {
  const groups = new Map<string, ShelfEntry[]>();
  for (const { shelf, entry } of shelves) {
    const group = groups.get(shelf);
    if (group === undefined) groups.set(shelf, [entry]);
    else group.push(entry);
  }
  return groups;
}

/** Writes segments, checkpoints and counters and, last, the head, which is therefore newer than they are. */
async function writeLog(
  staged: string,
  snapshot: StoreSnapshot,
  { segmentSize }: RestoreOptions,
): Promise<void> {
  const log = `${staged}/log`;
  mkdirSync(log, 0o700);
  const checkpoints = writeCheckpoints(log, snapshot.checkpoints);
  const { segment, bytes, pruned, approvals, pinEnd } = writeSegments(log, snapshot.lines, {
    segmentSize,
    checkpoints,
  });
  const { counters } = await runInSlices(countLog(log, { segment, bytes }, { isVerified: true }));
  const last = checkpoints.at(-1);
  const head: Head = {
    ...snapshot.state,
    segment,
    bytes,
    ...(last !== undefined && { checkpoint: pinOf(last, segment, pinEnd) }),
    pruned,
    counters: new CounterFiles(`${staged}/counters`, systemFiles).replace(counters),
    ...(approvals > 0 && { approvals }),
  };
  const fd = openRegularFile(`${log}/head`, "wx", { mode: 0o600 });
  try {
    writeHead(systemFiles, fd, head);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
  syncDirectory(systemFiles, log);
}

const pinOf = ({ size, hash }: Checkpoint, segment: number, end: number | undefined): CheckpointPin => ({
  size,
  hash,
  ...(size >= segment && end !== undefined && { end }),
});

function writeCheckpoints(log: string, lines: Iterable<string>): readonly Checkpoint[] {
  const texts = [...lines];
  if (texts.length === 0) return [];
  const file = new OutputFile(`${log}/checkpoints.jsonl`);
  for (const text of texts) file.add(Buffer.from(`${text}\n`));
  file.close();
  return texts.flatMap((text) => parseCheckpoint(text) ?? []);
}

interface WrittenSegments {
  /** The last segment and its length. */
  readonly segment: number;
  readonly bytes: number;
  /** The last record that a note says was pruned; 0: none. */
  readonly pruned: number;
  /** The sum of the serial numbers of approval locks that the notes name. */
  readonly approvals: number;
  /** The offset in the last segment where the last record that a checkpoint covers ends. */
  readonly pinEnd: number | undefined;
}

/**
 * Writes the lines into segments. A segment ends where a checkpoint is, as the end of every complete segment must be
 * pinned; so it can be longer than `segmentSize` by the records between two checkpoints.
 */
function writeSegments(
  log: string,
  lines: Iterable<string>,
  { segmentSize, checkpoints }: { readonly segmentSize: number; readonly checkpoints: readonly Checkpoint[] },
): WrittenSegments {
  const pinned = new Set(checkpoints.map(({ size }) => size));
  let file: OutputFile | undefined;
  let segment = 1;
  let bytes = 0;
  let pruned = 0;
  let approvals = 0;
  let pinEnd: number | undefined;
  let isFull = true;
  for (const text of lines) {
    const line = Buffer.from(`${text}\n`);
    const { seq = segment } = parseChainLink(line.subarray(0, -1)) ?? {};
    if (isFull) {
      file?.close();
      file = new OutputFile(`${log}/${segmentName(seq)}`);
      [segment, bytes, pinEnd, isFull] = [seq, 0, undefined, false];
    }
    file?.add(line);
    bytes += line.length;
    const note = parseNote(line);
    if (note?.note === "pruned") pruned = Number(note.details["through"]);
    if (note !== undefined) approvals = Math.max(approvals, approvalsInNote(note));
    if (!pinned.has(seq)) continue;
    isFull = bytes + (bytes - (pinEnd ?? 0)) > segmentSize;
    pinEnd = bytes;
  }
  file?.close();
  return { segment, bytes, pruned, approvals, pinEnd };
}

const bufferLength = 1024 * 1024;

/** A new file that is written in large pieces and synced when it is closed. */
class OutputFile {
  readonly #fd: number;
  #pending: Buffer[] = [];
  #length = 0;

  constructor(path: string) {
    this.#fd = openRegularFile(path, "wx", { mode: 0o600 });
  }

  add(bytes: Buffer): void {
    this.#pending.push(bytes);
    this.#length += bytes.length;
    if (this.#length >= bufferLength) this.#flush();
  }

  close(): void {
    this.#flush();
    fsyncSync(this.#fd);
    closeSync(this.#fd);
  }

  #flush(): void {
    writeAll(systemFiles, this.#fd, Buffer.concat(this.#pending));
    this.#pending = [];
    this.#length = 0;
  }
}

/** Throws if the staged store is not valid, or not the one that the snapshot promised. */
async function assertRestored(
  staged: string,
  { state }: StoreSnapshot,
  { progress }: RestoreOptions,
): Promise<void> {
  const { problems, size, head } = await verifyInSlices(staged, { progress });
  progress?.(1, 1);
  const [problem] = problems.filter(isLogDamage);
  const isSame = size === state.size && head === (size === 0 ? genesisHash : state.head);
  if (problem === undefined && isSame) return;
  const message = problem?.message ?? `the log ends with record ${size} instead of ${state.size}, or differs`;
  throw new DecisionError(
    "log_damaged",
    `the log cannot be restored, and the store is unchanged: ${message}`,
    {
      hint: "create the export again",
    },
  );
}
