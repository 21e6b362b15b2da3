import { availableParallelism, loadavg } from "node:os";

const anchorWall = Date.now();
const anchorTick = process.hrtime();

/** Returns the current time in UTC with microseconds. `performance.now()` would take milliseconds to load. */
export function systemClock(): string {
  const wall = Date.now();
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  const precise = anchorWall + seconds * 1e3 + nanoseconds / 1e6;
  // The tick counter is independent of the wall clock; where the wall clock was changed, use it.
  const now = Math.abs(precise - wall) < 2 ? precise : wall;
  const second = Math.floor(now / 1000);
  if (second !== shownSecond) {
    shownSecond = second;
    shownPrefix = new Date(second * 1000).toISOString().slice(0, 20);
  }
  return `${shownPrefix}${String(Math.floor((now - second * 1000) * 1000)).padStart(6, "0")}Z`;
}

/** The formatted second, shared by all times within it. */
let shownSecond = Number.NaN;
let shownPrefix = "";

/** Returns milliseconds since start-up, for measuring durations. */
export function stopwatch(): number {
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  return seconds * 1e3 + nanoseconds / 1e6;
}

/** The current time in milliseconds, a stopwatch that no change of the clock affects, and a way to wait. */
export interface TimeSource {
  now(): number;
  stopwatch(): number;
  sleep(milliseconds: number): Promise<void>;
  /** How many processes compete for each core, averaged over a minute; 0 where the system does not tell. */
  load(): number;
}

export const systemTime: TimeSource = {
  now: () => Date.now(),
  stopwatch,
  sleep: (milliseconds) => new Promise((resolve) => setTimeout(resolve, milliseconds)),
  load: () => (loadavg()[0] ?? 0) / availableParallelism(),
};
