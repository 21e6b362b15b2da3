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
    shownPrefix = isoPrefix(second);
  }
  return `${shownPrefix}${String(Math.floor((now - second * 1000) * 1000)).padStart(6, "0")}Z`;
}

/**
 * Returns date and time up to the point before the fraction. The days are counted in eras of 400 years that start in
 * March. `Date` would load the time zone first, which makes the bench row `evaluate, warm` slower.
 */
export function isoPrefix(second: number): string {
  const days = Math.floor(second / 86_400);
  const shifted = days + 719_468;
  const era = Math.floor(shifted / 146_097);
  const dayOfEra = shifted - era * 146_097;
  const yearOfEra = Math.floor(
    (dayOfEra -
      Math.floor(dayOfEra / 1_460) +
      Math.floor(dayOfEra / 36_524) -
      Math.floor(dayOfEra / 146_096)) /
      365,
  );
  const dayOfYear = dayOfEra - (365 * yearOfEra + Math.floor(yearOfEra / 4) - Math.floor(yearOfEra / 100));
  const marchMonth = Math.floor((5 * dayOfYear + 2) / 153);
  const day = dayOfYear - Math.floor((153 * marchMonth + 2) / 5) + 1;
  const month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9;
  const year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0);
  const ofDay = second - days * 86_400;
  const date = `${pad(year, 4)}-${pad(month, 2)}-${pad(day, 2)}`;
  return `${date}T${pad(Math.floor(ofDay / 3600), 2)}:${pad(Math.floor(ofDay / 60) % 60, 2)}:${pad(ofDay % 60, 2)}.`;
}

const pad = (number: number, length: number): string => String(number).padStart(length, "0");

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
