/** The machine's time in UTC with microseconds. */
export function systemClock(): string {
  const wall = Date.now();
  const precise = performance.timeOrigin + performance.now();
  // The precise time runs on its own; where the machine's clock was set anew meanwhile, the latter is right.
  const now = Math.abs(precise - wall) < 2 ? precise : wall;
  const microseconds = Math.floor((now % 1) * 1000);
  const [seconds = ""] = new Date(now).toISOString().split("Z");
  return `${seconds}${String(microseconds).padStart(3, "0")}Z`;
}
