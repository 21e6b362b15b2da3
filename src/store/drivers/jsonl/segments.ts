import { readdirSync } from "node:fs";
import { isMissing } from "./files.js";

/** Each segment is named after the sequence number of its first record. */
export const segmentName = (first: number): string => `${String(first).padStart(12, "0")}.jsonl`;

/** The first sequence numbers of all segments, in order. */
export function segmentsIn(directory: string): readonly number[] {
  let names: readonly string[];
  try {
    names = readdirSync(directory);
  } catch (error) {
    if (isMissing(error)) return [];
    throw error;
  }
  return names
    .filter((name) => /^\d{12,}\.jsonl$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .sort((a, b) => a - b);
}
