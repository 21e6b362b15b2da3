import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { stopwatch } from "../clock.js";

/** A line on the terminal that says how far we are, once it takes long enough to wonder; nothing anywhere else. */
export class Progress {
  readonly #io: Io;
  readonly #wanted: boolean;
  readonly #startedAt = stopwatch();
  #shownAt = 0;
  #visible = false;

  constructor(io: Io, quiet = false) {
    this.#io = io;
    this.#wanted = io.err.isTerminal && !quiet;
  }

  /** The text is only made when it is shown; it is told the seconds that have passed. */
  show(text: (seconds: number) => string): void {
    if (!this.#wanted) return;
    const now = stopwatch();
    if (now - this.#startedAt < 300 || now - this.#shownAt < 100) return;
    this.#io.err.write(`\r${text((now - this.#startedAt) / 1000)}\u001b[K`);
    this.#shownAt = now;
    this.#visible = true;
  }

  erase(): void {
    if (this.#visible) this.#io.err.write("\r\u001b[K");
    this.#visible = false;
  }
}

export const percent = (done: number, total: number): string =>
  `${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;

const redrawInterval = 100;

/** Says on a terminal which endpoints are being asked, while that takes long enough to wonder. */
export function fetchProgress(
  { quiet = false }: Pick<CommonFlags, "quiet">,
  io: Io,
): ((endpoint: string) => () => void) | undefined {
  if (quiet || !io.err.isTerminal) return undefined;
  const asked: string[] = [];
  let progress: Progress | undefined;
  let timer: NodeJS.Timeout | undefined;
  return (endpoint) => {
    if (asked.push(endpoint) === 1) {
      const shown = (progress = new Progress(io));
      timer = setInterval(() => shown.show(() => `asking ${endpointNames(asked)} …`), redrawInterval);
    }
    return () => {
      asked.splice(asked.indexOf(endpoint), 1);
      if (asked.length > 0) return;
      clearInterval(timer);
      progress?.erase();
    };
  };
}

function endpointNames(asked: readonly string[]): string {
  const [first = "", ...others] = new Set(asked);
  return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${others.length} more`;
}
