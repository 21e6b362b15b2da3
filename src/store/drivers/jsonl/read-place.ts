import { readAt, openIfExists, systemFiles } from "./files.js";
import { readHeadFile } from "./head.js";
import { parseRecordLine } from "./index/shapes.js";
import { segmentName } from "./segments.js";
import type { LogLine, LogPlace } from "../../../model/store.js";
import { matchesOwnHash, parseChainLink } from "../../../record/chain.js";

const newline = 10;

/**
 * Reads the record at a place, without an index. Returns undefined unless exactly one line of the log is there, as it
 * was written: the place may be forged.
 */
export function readPlace(
  log: string,
  { segment = -1, offset = -1, length = 0 }: LogPlace,
): LogLine | undefined {
  const head = readHeadFile(log);
  if (head === undefined || ![segment, offset, length].every((each) => Number.isSafeInteger(each)))
    return undefined;
  // The end of the head's own segment is not compared: after a power cut, the head can be older than the log.
  if (offset < 0 || length <= 0 || segment > head.segment) return undefined;
  const fd = openIfExists(systemFiles, `${log}/${segmentName(segment)}`, "r");
  if (fd === undefined) return undefined;
  try {
    if (offset + length + 1 > systemFiles.fstatSync(fd).size) return undefined;
    // From the newline before to the newline after it: a part of a line is not a line.
    const bytes = readAt(systemFiles, fd, Math.max(0, offset - 1), offset === 0 ? length + 1 : length + 2);
    if (bytes.at(-1) !== newline || (offset > 0 && bytes[0] !== newline)) return undefined;
    return parseLine(bytes.subarray(offset === 0 ? 0 : 1, -1));
  } finally {
    systemFiles.closeSync(fd);
  }
}

function parseLine(line: Buffer): LogLine | undefined {
  const link = parseChainLink(line);
  if (link === undefined || !matchesOwnHash(line, link)) return undefined;
  const text = line.toString("utf8");
  const record = parseRecordLine(text);
  return record && { text, record, intact: true };
}
