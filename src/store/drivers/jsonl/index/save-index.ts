import { readdirSync, rmSync } from "node:fs";
import { makeDirectory } from "../../../make-directory.js";
import { openLock } from "../lock.js";
import type { LogIndex } from "./log-index.js";
import type { PostingsState } from "./postings.js";
import { postingsFile } from "./postings.js";
import type { IndexState } from "./state.js";
import { readState, writeState } from "./state.js";

/**
 * Keeps what was read where it is at least so many rows, unless nothing can be written here or somebody else
 * is about to. Tells where somebody else already has: then what they kept is to be used.
 */
export function saveIndex(index: LogIndex, atLeast = 1): "kept" | "left" | "theirs" {
  if (index.rows.added.count < atLeast) return "left";
  try {
    makeDirectory(index.directory, 0o700);
    const release = openLock(`${index.directory}/lock`).tryAcquire();
    if (release === undefined) return "left";
    try {
      return write(index);
    } finally {
      release();
    }
  } catch {
    return "left";
  }
}

/** What the state does not speak of yet is not there for anybody, so it comes last. */
function write(index: LogIndex): "kept" | "theirs" {
  const { directory, rowsFile, rows, postings } = index;
  const current = readState(directory);
  const isOurs = current?.rows_file === rowsFile ? current.rows === rows.kept : rows.kept === 0;
  if (!isOurs) return "theirs";
  rows.write();
  const written = postings.write();
  writeState(directory, stateOf(index, written));
  const isSwept = current?.rows_file === rowsFile && isSame(current.postings, written);
  rows.settle();
  postings.settle(written);
  if (!isSwept) sweep(directory, rowsFile, written);
  return "kept";
}

function stateOf(index: LogIndex, postings: PostingsState): IndexState {
  const { rowsFile, count, first, segments, lastHash, gaps, damage, shapes } = index;
  return {
    rows_file: rowsFile,
    rows: count,
    first,
    segments,
    last_hash: lastHash,
    gaps,
    ...(damage !== undefined && { damage }),
    postings,
    ...shapes.state,
  };
}

const isSame = ({ tables }: PostingsState, other: PostingsState): boolean =>
  tables.at(-1)?.file === other.tables.at(-1)?.file;

/** Removes what no state speaks of any more; who still reads it has it open. */
function sweep(directory: string, rowsFile: string, { tables }: PostingsState): void {
  const kept = new Set([rowsFile, postingsFile(rowsFile), ...tables.map(({ file }) => file)]);
  for (const name of readdirSync(directory))
    if (/^(?:rows|postings|keys)-/.test(name) && !kept.has(name))
      rmSync(`${directory}/${name}`, { force: true });
}
