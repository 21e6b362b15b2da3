import { closeSync } from "node:fs";
import { openExisting, systemFiles } from "./files.js";
import { readHead } from "./head.js";
import type { LogIndex } from "./index/log-index.js";

export interface Watching {
  /** Says, once, that the log is not what was written. */
  readonly tell: () => void;
  /** To be called before the log is looked at; what it gives, with the index after that. */
  readonly look: () => (index: LogIndex) => void;
}

/** Notices that a log is damaged when it is looked at. */
export function watching(
  log: string,
  { onDamage }: { readonly onDamage?: (message: string) => void },
): Watching {
  let isTold = false;
  const tell = (): void => {
    if (!isTold) onDamage?.(`the log in \`${log}\` is damaged; see \`agent-33 decision verify\``);
    isTold = true;
  };
  const look = (): ((index: LogIndex) => void) => {
    // Before: the head follows the log, so that one that is read later may know of more without any damage.
    const size = sizeByHead(log);
    return (index) => {
      if (index.isDamaged || isCut(size, index)) tell();
    };
  };
  return { tell, look };
}

/** How many records the head knows of; undefined where there is none. */
export function sizeByHead(log: string): number | undefined {
  const fd = openExisting(systemFiles, `${log}/head`, "r");
  if (fd === undefined) return undefined;
  try {
    return readHead(systemFiles, fd)?.size;
  } finally {
    closeSync(fd);
  }
}

/** Whether the head knows of more than there is; or is missing. */
const isCut = (size: number | undefined, { first, count }: LogIndex): boolean =>
  size === undefined ? count > 0 : size > first + count - 1;
