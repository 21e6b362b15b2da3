import type { Checkpoint, Pinned, Sign } from "../../../record/checkpoint.js";
import { checkpointLine, parseCheckpoint } from "../../../record/checkpoint.js";
import type { Files } from "./files.js";
import { openExisting, readAt, syncOrCutBack, writeOrCutBack } from "./files.js";

/** Longer than any line. */
const reach = 2048;

/** Checkpoints that are made and not written yet. */
export interface NewCheckpoints {
  readonly isWritten: boolean;
  /** Adds them, and gives the last that there is then. */
  write(): Checkpoint | undefined;
}

/** Makes, and signs, those that are not there yet. */
export function newCheckpoints(
  files: Files,
  path: string,
  pins: readonly Pinned[],
  sign: Sign | undefined,
): NewCheckpoints {
  const { checkpoint, end } = lastOf(files, path);
  let last = checkpoint;
  let text = "";
  for (const pinned of pins) {
    if (last !== undefined && pinned.size <= last.size) continue;
    const line = checkpointLine(pinned, last?.hash, sign);
    last = parseCheckpoint(line.trimEnd());
    text += line;
  }
  let isWritten = false;
  return {
    get isWritten() {
      return isWritten;
    },
    write() {
      if (text !== "") addLines(files, path, text, end);
      isWritten = text !== "";
      return last;
    },
  };
}

/** A crash may have left half a line at the end. The disk is always waited for: there are few of them. */
function addLines(files: Files, path: string, text: string, end: number): void {
  const fd = files.openSync(path, "a", 0o600);
  try {
    if (files.fstatSync(fd).size > end) files.ftruncateSync(fd, end);
    writeOrCutBack(files, fd, Buffer.from(text), end);
    syncOrCutBack(files, fd, end);
  } finally {
    files.closeSync(fd);
  }
}

interface LastLine {
  readonly checkpoint: Checkpoint | undefined;
  /** Where it ends. */
  readonly end: number;
}

function lastOf(files: Files, path: string): LastLine {
  const fd = openExisting(files, path, "r");
  if (fd === undefined) return { checkpoint: undefined, end: 0 };
  try {
    return lastLine(files, fd);
  } finally {
    files.closeSync(fd);
  }
}

function lastLine(files: Files, fd: number): LastLine {
  const { size } = files.fstatSync(fd);
  const from = Math.max(0, size - reach);
  const bytes = readAt(files, fd, from, size - from);
  const end = bytes.lastIndexOf("\n");
  if (end === -1) return { checkpoint: undefined, end: from === 0 ? 0 : size };
  const start = bytes.lastIndexOf("\n", end - 1) + 1;
  return { checkpoint: parseCheckpoint(bytes.toString("utf8", start, end)), end: from + end + 1 };
}
