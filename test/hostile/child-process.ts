import { openSync, writeSync } from "node:fs";

/** What a watched child was told: where to begin, and what else its parent said. */
export interface Orders {
  readonly from: number;
  readonly args: readonly string[];
  /** Tells the parent which case is next, so that it knows which one did not come back. */
  readonly begin: (index: number) => void;
  readonly say: (document: unknown) => void;
}

export function orders(): Orders {
  const [progress = "", from = "0", ...args] = process.argv.slice(2);
  const descriptor = openSync(progress, "r+");
  return {
    from: Number(from),
    args,
    begin: (index) => void writeSync(descriptor, String(index).padStart(10, "0"), 0),
    say: (document) => void writeSync(1, `${JSON.stringify(document)}\n`),
  };
}

/** Milliseconds of work, as another process on this machine costs time but no work of ours. */
export function workTime(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
}
