import type { Checkpoint, CheckpointContent, Signer } from "../../../record/chain.js";
import { formatCheckpoint, parseCheckpoint } from "../../../record/chain.js";
import type { Files } from "./files.js";
import { openIfExists, readAt, readIfExists, syncOrTruncate, systemFiles, writeOrTruncate } from "./files.js";
import { openRegularFile } from "../../regular-file.js";

/** Longer than any line. */
const maxLineBytes = 2048;

/** Returns the checkpoint lines that cover at most `size` records, with their newlines; undefined without a file. */
export function readCheckpointLines(path: string, size: number): readonly string[] | undefined {
  // Splitting drops an incomplete line after the last newline.
  const lines = readIfExists(path)?.toString("utf8").split("\n").slice(0, -1);
  const end = lines?.findIndex((line) => Number(/^\{"size":(\d+),/.exec(line)?.[1]) > size);
  return lines?.slice(0, end === -1 ? undefined : end).map((line) => `${line}\n`);
}

/** Checkpoints that are signed but not written yet. */
export interface PendingCheckpoints {
  readonly isWritten: boolean;
  /** Appends them and returns the last checkpoint of the file. */
  write(): Checkpoint | undefined;
}

/** Creates and signs the checkpoints that the file does not contain yet. */
export function prepareCheckpoints(
  files: Files,
  path: string,
  pins: readonly CheckpointContent[],
  sign: Signer | undefined,
): PendingCheckpoints {
  const { checkpoint, end } = readLastCheckpoint(files, path);
  let last = checkpoint;
  let text = "";
  for (const pinned of pins) {
    if (last !== undefined && pinned.size <= last.size) continue;
    const line = formatCheckpoint(pinned, last?.hash, sign);
    last = parseCheckpoint(line.trimEnd());
    text += line;
  }
  let isWritten = false;
  return {
    get isWritten() {
      return isWritten;
    },
    write() {
      if (text !== "") appendLines(files, path, text, end);
      isWritten = text !== "";
      return last;
    },
  };
}

/** Appends lines after removing an incomplete one that a crash left. Always syncs: checkpoints are rare. */
function appendLines(files: Files, path: string, text: string, end: number): void {
  const fd = openRegularFile(path, "a", { files, mode: 0o600 });
  try {
    if (files.fstatSync(fd).size > end) files.ftruncateSync(fd, end);
    writeOrTruncate(files, fd, Buffer.from(text), end);
    syncOrTruncate(files, fd, end);
  } finally {
    files.closeSync(fd);
  }
}

interface LastCheckpoint {
  readonly checkpoint: Checkpoint | undefined;
  /** The offset of its end. */
  readonly end: number;
}

function readLastCheckpoint(files: Files, path: string): LastCheckpoint {
  const { line, end } = readLastLine(files, path);
  return { checkpoint: line === undefined ? undefined : parseCheckpoint(line), end };
}

/** Returns the fields of the last checkpoint without checking its hash, which would slow every decision down. */
export function peekLastCheckpoint(path: string): Pick<Checkpoint, "size" | "head" | "hash"> | undefined {
  const { line = "" } = readLastLine(systemFiles, path);
  const [, size, head = "", hash = ""] =
    /^\{"size":(\d+),"head":"([0-9a-f]{64})",.*,"hash":"([0-9a-f]{64})"\}$/.exec(line) ?? [];
  return size === undefined ? undefined : { size: Number(size), head, hash };
}

/** Returns the last complete line, and where it ends. */
function readLastLine(
  files: Files,
  path: string,
): { readonly line: string | undefined; readonly end: number } {
  const fd = openIfExists(files, path, "r");
  if (fd === undefined) return { line: undefined, end: 0 };
  try {
    const { size } = files.fstatSync(fd);
    const from = Math.max(0, size - maxLineBytes);
    const bytes = readAt(files, fd, from, size - from);
    const end = bytes.lastIndexOf("\n");
    if (end === -1) return { line: undefined, end: from === 0 ? 0 : size };
    const start = bytes.lastIndexOf("\n", end - 1) + 1;
    return { line: bytes.toString("utf8", start, end), end: from + end + 1 };
  } finally {
    files.closeSync(fd);
  }
}
