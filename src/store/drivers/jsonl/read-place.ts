import { readAt, openIfExists, systemFiles } from "./files.js";
import type { Head } from "./head.js";
import { readHeadFile } from "./head.js";
import { parseRecordLine } from "./index/shapes.js";
import { readFirstLine, readLine, segmentName } from "./segments.js";
import type { LogLine, LogPlace } from "../../../model/store.js";
import type { ChainLink } from "../../../record/chain.js";
import { matchesOwnHash, parseChainLink } from "../../../record/chain.js";

const newline = 10;

/**
 * Reads the record at a place, without an index. Returns undefined unless exactly one line of the log is there, as it
 * was written and as the record after it or the head names it: the place and the line may be forged.
 */
export function readPlace(
  log: string,
  { segment = -1, offset = -1, length = 0 }: LogPlace,
): LogLine | undefined {
  const head = readHeadFile(log);
  if (head === undefined || ![segment, offset, length].every((each) => Number.isSafeInteger(each)))
    return undefined;
  // The end of the head's own segment is not compared: after a power cut, the head can be older than the log.
  if (offset < 0 || length <= 0 || segment < 1 || segment > head.segment) return undefined;
  const fd = openIfExists(systemFiles, `${log}/${segmentName(segment)}`, "r");
  if (fd === undefined) return undefined;
  try {
    if (offset + length + 1 > systemFiles.fstatSync(fd).size) return undefined;
    // From the newline before to the newline after it: a part of a line is not a line.
    const bytes = readAt(systemFiles, fd, Math.max(0, offset - 1), offset === 0 ? length + 1 : length + 2);
    if (bytes.at(-1) !== newline || (offset > 0 && bytes[0] !== newline)) return undefined;
    const line = bytes.subarray(offset === 0 ? 0 : 1, -1);
    const link = parseChainLink(line);
    if (link === undefined || !matchesOwnHash(line, link)) return undefined;
    return isFollowed(log, link, { head, next: readLine(fd, offset + length + 1) })
      ? parseLine(line)
      : undefined;
  } finally {
    systemFiles.closeSync(fd);
  }
}

/** Returns whether the record after it names its hash or, if it is the last one, the head does. */
function isFollowed(
  log: string,
  { seq, hash }: ChainLink,
  { head, next }: { readonly head: Head; readonly next: Buffer | undefined },
): boolean {
  const follower = next ?? readFirstLine(`${log}/${segmentName(seq + 1)}`);
  if (follower !== undefined) return parseChainLink(follower)?.previous === hash;
  return head.size < seq || (head.size === seq && head.head === hash);
}

function parseLine(line: Buffer): LogLine | undefined {
  const text = line.toString("utf8");
  const record = parseRecordLine(text);
  return record && { text, record, intact: true };
}
