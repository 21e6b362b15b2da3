import { renameSync } from "node:fs";
import { basename } from "node:path";
import type { PageSum } from "./page-sum.js";
import { emptySum, extendShortSum, seedOf } from "./page-sum.js";
import { readRegularFile, writeRegularFile } from "../../../regular-file.js";

/** Writes JSON and its checksum. The rename makes the replacement atomic. */
export function writeSealedJson(path: string, content: object): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeRegularFile(temporary, sealJson(basename(path), content).bytes, 0o600);
  renameSync(temporary, path);
}

/** Reads JSON that `writeSealedJson` wrote; undefined if the file is missing or damaged. */
export function readSealedJson(path: string): unknown {
  try {
    return openSeal(basename(path), readRegularFile(path))?.content;
  } catch {
    return undefined;
  }
}

/** Sixteen hex digits between two newlines. */
const sealLength = 18;

/** Returns JSON followed by its checksum, which depends on the name of the file. */
export function sealJson(
  fileName: string,
  content: object,
): { readonly bytes: Buffer; readonly sum: PageSum } {
  const json = Buffer.from(JSON.stringify(content));
  const sum = checksumOf(fileName, json);
  return { bytes: Buffer.concat([json, Buffer.from(formatSeal(sum))]), sum };
}

/** Returns the content of a sealed file; undefined if it is damaged. */
export function openSeal(
  fileName: string,
  bytes: Buffer,
): { readonly content: unknown; readonly sum: PageSum } | undefined {
  const end = bytes.length - sealLength;
  if (end <= 0) return undefined;
  const json = bytes.subarray(0, end);
  const sum = checksumOf(fileName, json);
  if (bytes.toString("latin1", end) !== formatSeal(sum)) return undefined;
  return { content: JSON.parse(json.toString("utf8")), sum };
}

function formatSeal({ low, high }: PageSum): string {
  return `\n${low.toString(16).padStart(8, "0")}${high.toString(16).padStart(8, "0")}\n`;
}

function checksumOf(fileName: string, bytes: Buffer): PageSum {
  const numbers = new Uint32Array(Math.ceil(bytes.length / 4));
  new Uint8Array(numbers.buffer).set(bytes);
  return extendShortSum(emptySum(seedOf(fileName), bytes.length), numbers, 0, numbers.length);
}
