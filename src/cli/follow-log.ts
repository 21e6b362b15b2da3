import type { Ledger, LogLine, Query } from "../model/store.js";

export interface FollowOptions {
  /** Records up to this number are known already. */
  readonly after: number;
  readonly onRecord: (line: LogLine) => void;
  /** The log has become shorter: somebody has put another one in its place. */
  readonly onShorter: () => void;
  readonly signal: AbortSignal;
  readonly everyMilliseconds?: number;
}

/** Tells of each new record that fits, until it is told to stop. */
export async function followLog(
  log: Pick<Ledger, "state" | "select">,
  query: Query,
  { after, onRecord, onShorter, signal, everyMilliseconds = 250 }: FollowOptions,
): Promise<void> {
  let known = after;
  const look = async (): Promise<void> => {
    const { size } = await log.state();
    if (size < known) onShorter();
    if (size <= known) {
      known = size;
      return;
    }
    for await (const line of log.select({ ...query, after: known })) {
      const { seq } = line.record;
      // A damaged line may have none.
      if (seq > known) known = seq;
      onRecord(line);
      // Else a signal would not be heard before all of them are written.
      if (seq % 256 === 0) await new Promise((resolve) => setImmediate(resolve));
      if (signal.aborted) return;
    }
    known = Math.max(known, size);
  };
  while (!signal.aborted) {
    await look().catch(ignorePruned);
    await pause(everyMilliseconds, signal);
  }
}

/** A segment that another process has removed between finding and reading it; the next look goes without. */
function ignorePruned(error: unknown): void {
  const { code, cause } = error as NodeJS.ErrnoException;
  const isMissing = code === "ENOENT" || (cause as NodeJS.ErrnoException | undefined)?.code === "ENOENT";
  if (!isMissing) throw error;
}

function pause(milliseconds: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const wake = (): void => {
      clearTimeout(timer);
      signal.removeEventListener("abort", wake);
      resolve();
    };
    const timer = setTimeout(wake, signal.aborted ? 0 : milliseconds);
    signal.addEventListener("abort", wake);
  });
}
