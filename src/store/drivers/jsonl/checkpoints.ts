import type { Checkpoint, Pinned, Sign } from "../../../record/checkpoint.js";
import { checkpointLine, parseCheckpoint } from "../../../record/checkpoint.js";
import type { Files } from "./files.js";
import { openExisting, readAt, writeAll } from "./files.js";

/** Longer than any line. */
const reach = 2048;

/** Adds checkpoints that are not there yet; gives the last one. */
export function addCheckpoints(
  files: Files,
  path: string,
  added: readonly Pinned[],
  { sign, durable }: { readonly sign: Sign | undefined; readonly durable: boolean },
): Checkpoint | undefined {
  const fd = files.openSync(path, "a+", 0o600);
  try {
    let last = dropTornTail(files, fd);
    let text = "";
    for (const pinned of added) {
      if (last !== undefined && pinned.size <= last.size) continue;
      const line = checkpointLine(pinned, last?.hash, sign);
      last = parseCheckpoint(line.trimEnd());
      text += line;
    }
    writeAll(files, fd, Buffer.from(text));
    if (durable && text !== "") files.fdatasyncSync(fd);
    return last;
  } finally {
    files.closeSync(fd);
  }
}

export function lastCheckpoint(files: Files, path: string): Checkpoint | undefined {
  const fd = openExisting(files, path, "r");
  if (fd === undefined) return undefined;
  try {
    return lastLine(files, fd).checkpoint;
  } finally {
    files.closeSync(fd);
  }
}

/** A crash may have left half a line at the end. */
function dropTornTail(files: Files, fd: number): Checkpoint | undefined {
  const { checkpoint, end } = lastLine(files, fd);
  if (end < files.fstatSync(fd).size) files.ftruncateSync(fd, end);
  return checkpoint;
}

function lastLine(
  files: Files,
  fd: number,
): { readonly checkpoint: Checkpoint | undefined; readonly end: number } {
  const { size } = files.fstatSync(fd);
  const from = Math.max(0, size - reach);
  const bytes = readAt(files, fd, from, size - from);
  const end = bytes.lastIndexOf("\n");
  if (end === -1) return { checkpoint: undefined, end: from === 0 ? 0 : size };
  const start = bytes.lastIndexOf("\n", end - 1) + 1;
  return { checkpoint: parseCheckpoint(bytes.toString("utf8", start, end)), end: from + end + 1 };
}
