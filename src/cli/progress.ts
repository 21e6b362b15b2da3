import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { stopwatch } from "../clock.js";
import { oneLine } from "../text.js";

/** A progress line on a terminal, shown after 300 ms. Prints nothing if stderr is not a terminal. */
export class Progress {
  readonly #io: Io;
  readonly #enabled: boolean;
  readonly #startedAt = stopwatch();
  #shownAt = 0;
  #visible = false;

  constructor(io: Io, quiet = false) {
    this.#io = io;
    this.#enabled = io.err.isTerminal && !quiet;
  }

  /** Redraws the line at most every 100 ms; `text` receives the seconds since the start. */
  show(text: (seconds: number) => string): void {
    if (!this.#enabled) return;
    const now = stopwatch();
    if (now - this.#startedAt < 300 || now - this.#shownAt < 100) return;
    this.#io.err.draw(`\r${oneLine(text((now - this.#startedAt) / 1000))}\u001b[K`);
    this.#shownAt = now;
    this.#visible = true;
  }

  erase(): void {
    if (this.#visible) this.#io.err.draw("\r\u001b[K");
    this.#visible = false;
  }
}

export const percent = (done: number, total: number): string =>
  `${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;

const redrawInterval = 100;

/** Shows the endpoints that data is being fetched from. Returns undefined if there is nothing to show it on. */
export function fetchProgress(
  { quiet = false }: Pick<CommonFlags, "quiet">,
  io: Io,
): ((endpoint: string) => () => void) | undefined {
  if (quiet || !io.err.isTerminal) return undefined;
  const pending: string[] = [];
  let progress: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;
  return (endpoint) => {
    if (pending.push(endpoint) === 1) {
      const line = (progress = new Progress(io));
      timer = setInterval(() => line.show(() => `fetching from ${endpointNames(pending)} …`), redrawInterval);
    }
    return () => {
      pending.splice(pending.indexOf(endpoint), 1);
      if (pending.length > 0) return;
      clearInterval(timer);
      progress?.erase();
    };
  };
}

function endpointNames(endpoints: readonly string[]): string {
  const [first = "", ...others] = new Set(endpoints);
  return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${others.length} more`;
}
