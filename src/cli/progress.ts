import type { CommonFlags } from "./flags.js";
import type { DrawnAround, Io, Stream } from "./io.js";
import { stopwatch } from "../clock.js";
import { formatCount } from "../present/text.js";
import { truncate } from "../present/text-width.js";
import { oneLine } from "../text.js";

/** A progress line on a terminal, shown after 300 ms. Prints nothing if stderr is not a terminal. */
export class Progress {
  readonly #io: Io;
  readonly #enabled: boolean;
  readonly #startedAt = stopwatch();
  #shownAt = 0;
  /** The line on the screen; empty: there is none. */
  #line = "";
  /** How many lines were written above it, or would have been. */
  #above = 0;

  constructor(io: Io, quiet = false) {
    this.#io = io;
    this.#enabled = io.err.isTerminal && !quiet && io.env["TERM"] !== "dumb";
  }

  /** Redraws the line in place, at most every 100 ms; `text` receives the seconds since the start. */
  show(text: (seconds: number) => string): void {
    if (!this.#enabled) return;
    const now = stopwatch();
    if (now - this.#startedAt < 300 || now - this.#shownAt < 100) return;
    // A line as wide as the terminal would start a second one.
    this.#line = truncate(oneLine(text((now - this.#startedAt) / 1000)), this.#io.err.columns - 1);
    this.#io.err.draw(drawn(this.#line));
    this.#shownAt = now;
  }

  /** Writes whole lines to a stream. On the terminal of the progress line they appear above it. */
  writeAbove(stream: Stream, lines: string): void {
    if (!this.#enabled || stream.terminalId !== this.#io.err.terminalId) {
      stream.write(lines);
      return;
    }
    const { rows } = this.#io.err;
    // After as many lines as the terminal has rows, the progress line is on the last row.
    const isOnLastRow = rows > 2 && this.#above >= rows;
    if (!isOnLastRow) this.#above += lines.split("\n").length - 1;
    if (this.#line === "") stream.write(lines);
    else if (isOnLastRow) stream.write(lines.replace(/\n$/, ""), scrollAbove(rows));
    else stream.write(lines, { before: erased, after: drawn(this.#line) });
  }

  erase(): void {
    if (this.#line !== "") this.#io.err.draw(erased);
    this.#line = "";
  }
}

const drawn = (line: string): string => `\r${line}\u001b[K`;
const erased = drawn("");

/**
 * Lets only the rows above the last one scroll while text is written, so that the line there never disappears, however
 * fast the text is. The cursor returns to the last row.
 */
const scrollAbove = (rows: number): DrawnAround => ({
  before: `\u001b[1;${rows - 1}r\u001b[${rows - 1};1H\n`,
  after: `\u001b[r\u001b[${rows};1H`,
});

/** Returns the percentage and the time left, at the same speed, of work of which a share is done in some seconds. */
function shareDone(share: number, seconds: number): { readonly percent: string; readonly left: string } {
  const left = share > 0 ? Math.ceil((seconds * (1 - share)) / share) : 0;
  return { percent: percent(share, 1), left: `${durationText(left)} left` };
}

/** Returns a line such as `14 %, 45,500 replayed, 2,326 per second, 1 min 54 s left`; without a share, its middle. */
export function workText(
  { done, what, share }: { readonly done: number; readonly what: string; readonly share: number | undefined },
  seconds: number,
): string {
  const speed = `${formatCount(done)} ${what}, ${formatCount(Math.round(done / seconds))} per second`;
  if (share === undefined) return speed;
  const { percent, left } = shareDone(share, seconds);
  return `${percent}, ${speed}, ${left}`;
}

function durationText(seconds: number): string {
  const minutes = Math.floor(seconds / 60);
  if (minutes === 0) return `${seconds} s`;
  const hours = Math.floor(minutes / 60);
  return hours === 0 ? `${minutes} min ${seconds % 60} s` : `${hours} h ${minutes % 60} min`;
}

export const percent = (done: number, total: number): string =>
  `${total === 0 ? 100 : Math.floor((done / total) * 100)} %`;

/** Shows the progress of a walk over the log. The time counts from the first record on: opening a log can take long. */
export function walkProgress(
  { quiet = false }: Pick<CommonFlags, "quiet">,
  io: Io,
  what: string,
): { readonly show: (done: number, share: number) => void; readonly erase: () => void } {
  let progress: Progress | undefined;
  return {
    show(done, share) {
      progress ??= new Progress(io, quiet);
      progress.show((seconds) => workText({ done, what, share }, seconds));
    },
    erase: () => progress?.erase(),
  };
}

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
