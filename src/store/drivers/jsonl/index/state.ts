import { readDoubled, writeDoubled } from "../../../doubled-file.js";
import type { PostingsState } from "./postings.js";
import type { ShapesState } from "./shapes.js";

/** Changes when the index changes its form. */
const format = 4;

/** What the index covers; it is believed only where the log still looks like that. */
export interface IndexState extends ShapesState {
  /** The name of the file of rows. */
  readonly rows_file: string;
  readonly rows: number;
  /** The sequence number of the first row. */
  readonly first: number;
  readonly segments: readonly CoveredSegment[];
  readonly last_hash: string;
  /** Of some record it was seen that it does not stand where its number says. */
  readonly gaps: boolean;
  /** What was found wrong with the log when somebody had touched it. */
  readonly damage?: string;
  readonly postings: PostingsState;
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
  const kept = readDoubled(`${directory}/state.json`) as
    (IndexState & { readonly format: number }) | undefined;
  return kept?.format === format ? kept : undefined;
}

export function writeState(directory: string, state: IndexState): void {
  writeDoubled(`${directory}/state.json`, { format, ...state });
}
