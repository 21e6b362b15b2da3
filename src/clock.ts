const anchorWall = Date.now();
const anchorTick = process.hrtime();

/** The machine's time in UTC with microseconds. `performance` would tell it too, but takes milliseconds to load. */
export function systemClock(): string {
  const wall = Date.now();
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  const precise = anchorWall + seconds * 1e3 + nanoseconds / 1e6;
  // The ticks run on their own; where the machine's clock was set anew meanwhile, the latter is right.
  const now = Math.abs(precise - wall) < 2 ? precise : wall;
  const microseconds = Math.floor((now % 1) * 1000);
  return `${new Date(now).toISOString().slice(0, -1)}${String(microseconds).padStart(3, "0")}Z`;
}

/** Milliseconds since the process began counting; for measuring how long something took. */
export function stopwatch(): number {
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  return seconds * 1e3 + nanoseconds / 1e6;
}
