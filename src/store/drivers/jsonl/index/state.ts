import { readFileSync, renameSync, writeFileSync } from "node:fs";
import type { Shape } from "./shapes.js";

/** Changes when the index changes its form. */
const format = 1;

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
  readonly bytes: number;
  /** When it was last changed; checked where the segment is no longer written to. */
  readonly changed_at: number;
}

export function readState(directory: string): IndexState | undefined {
  try {
    const { format: found, ...state } = JSON.parse(
      readFileSync(`${directory}/state.json`, "utf8"),
    ) as IndexState & {
      format: number;
    };
    return found === format ? state : undefined;
  } catch {
    return undefined;
  }
}

export function writeState(directory: string, state: IndexState): void {
  writeWhole(`${directory}/state.json`, JSON.stringify({ format, ...state }));
}

/** Others see the old file or the new one, never half of it. */
export function writeWhole(path: string, text: string): void {
  const temporary = `${path}.${process.pid}.tmp`;
  writeFileSync(temporary, text, { mode: 0o600 });
  renameSync(temporary, path);
}
