const anchorWall = Date.now();
const anchorTick = process.hrtime();

/** The machine's time in UTC with microseconds. `performance` would tell it too, but takes milliseconds to load. */
export function systemClock(): string {
  const wall = Date.now();
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  const precise = anchorWall + seconds * 1e3 + nanoseconds / 1e6;
  // The ticks run on their own; where the machine's clock was set anew meanwhile, the latter is right.
  const now = Math.abs(precise - wall) < 2 ? precise : wall;
  const second = Math.floor(now / 1000);
  if (second !== shownSecond) {
    shownSecond = second;
    shownPrefix = new Date(second * 1000).toISOString().slice(0, 20);
  }
  return `${shownPrefix}${String(Math.floor((now - second * 1000) * 1000)).padStart(6, "0")}Z`;
}

/** Times within one second share all but their decimals. */
let shownSecond = Number.NaN;
let shownPrefix = "";

/** Milliseconds since the process began counting; for measuring how long something took. */
export function stopwatch(): number {
  const [seconds, nanoseconds] = process.hrtime(anchorTick);
  return seconds * 1e3 + nanoseconds / 1e6;
}
