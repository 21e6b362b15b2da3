import { sha256 } from "./entries.js";
import type { HeadFile } from "./jsonl-log.js";
import {
  checkpointsOf,
  headOf,
  linesOf,
  logFile,
  segmentFiles,
  writeHeadFile,
  writeLog,
} from "./jsonl-log.js";
import { rmSync } from "node:fs";

/** An attacker who knows the format of the log but has no key. */

/** Recomputes the chain of changed records. */
export function chained(lines: readonly string[], first = 1, before = "0".repeat(64)): readonly string[] {
  let [seq, previous] = [first, before];
  return lines.map((line) => {
    const body = line
      .replace(/^\{"seq":\d+,/, "")
      .replace(/,"prev_hash":"[0-9a-f]{64}","hash":"[0-9a-f]{64}"\}$/, "");
    const text = `{"seq":${seq++},${body},"prev_hash":"${previous}"`;
    previous = sha256(`${text}}`);
    return `${text},"hash":"${previous}"}`;
  });
}

/** Replaces the log by these records, with a matching head. */
export function forgeLog(directory: string, lines: readonly string[], first = 1): HeadFile {
  for (const name of segmentFiles(directory)) rmSync(logFile(directory, name));
  const text = lines.map((line) => `${line}\n`).join("");
  writeLog(directory, `${String(first).padStart(12, "0")}.jsonl`, text);
  const hash = /"hash":"([0-9a-f]{64})"\}$/.exec(lines.at(-1) ?? "")?.[1] ?? "0".repeat(64);
  const { checkpoint } = headOf(directory);
  const head = {
    size: first + lines.length - 1,
    head: hash,
    segment: first,
    bytes: Buffer.byteLength(text),
    ...(checkpoint && { checkpoint }),
  };
  writeHeadFile(directory, head);
  return head;
}

/** Recomputes checkpoints that match the log, without signatures or with the old ones. */
export function forgeCheckpoints(directory: string, { keepSignatures = false } = {}): void {
  const hashes = linesOf(directory).map((line) => /"hash":"([0-9a-f]{64})"\}$/.exec(line)?.[1] ?? "");
  let previous = "0".repeat(64);
  let size = 0;
  const lines = checkpointsOf(directory)
    .filter((each) => each.size <= hashes.length)
    .map((each) => {
      const { key, signature, timestamp } = each;
      const signed = keepSignatures ? { key, signature } : {};
      const head = hashes[each.size - 1];
      const text = JSON.stringify({ size: each.size, head, timestamp, prev_hash: previous, ...signed });
      previous = sha256(text);
      ({ size } = each);
      return `${text.slice(0, -1)},"hash":"${previous}"}\n`;
    });
  writeLog(directory, "checkpoints.jsonl", lines.join(""));
  const head = withoutCheckpoint(directory);
  writeHeadFile(directory, lines.length === 0 ? head : { ...head, checkpoint: { size, hash: previous } });
}

export function withoutCheckpoint(directory: string): HeadFile {
  const { size, head, segment, bytes } = headOf(directory);
  return { size, head, segment, bytes };
}
