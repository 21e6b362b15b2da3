import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { checksum } from "../../../../digest/checksum.js";
import type { Shape } from "./shapes.js";

/** Changes when the index changes its form. */
const format = 2;

/** What the index covers; it is believed only where the log still looks like that. */
export interface IndexState {
  /** The name of the file of rows. */
  readonly rows_file: string;
  readonly rows: number;
  /** The sequence number of the first row. */
  readonly first: number;
  readonly segments: readonly CoveredSegment[];
  readonly last_hash: string;
  /** Of some record it was seen that it does not stand where its number says. */
  readonly gaps: boolean;
  readonly shapes: readonly Shape[];
  readonly counts: readonly number[];
  readonly last: readonly (readonly [string, number])[];
}

export interface CoveredSegment {
  readonly first: number;
  /** The number of its first row. */
  readonly rows_from: number;
  readonly bytes: number;
  /** When it was last changed; checked where the segment is no longer written to. */
  readonly changed_at: number;
}

export function readState(directory: string): IndexState | undefined {
  const kept = readWhole(`${directory}/state.json`) as (IndexState & { readonly format: number }) | undefined;
  return kept?.format === format ? kept : undefined;
}

export function writeState(directory: string, state: IndexState): void {
  writeWhole(`${directory}/state.json`, { format, ...state });
}

/** Others see the old file or the new one, never half of it. */
export function writeWhole(path: string, content: object): void {
  const temporary = `${path}.${process.pid}.tmp`;
  const json = JSON.stringify(content);
  writeFileSync(temporary, `${checksum(json)}\n${json}`, { mode: 0o600 });
  renameSync(temporary, path);
}

/** What was written whole; undefined where it is not there, or not what it was. */
export function readWhole(path: string): unknown {
  try {
    const text = readFileSync(path, "utf8");
    const end = text.indexOf("\n");
    const json = text.slice(end + 1);
    return text.slice(0, end) === checksum(json) ? JSON.parse(json) : undefined;
  } catch {
    return undefined;
  }
}
