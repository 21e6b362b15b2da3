import { readdirSync, rmSync, statSync } from "node:fs";

const month = 30 * 86_400_000;

/** Removes the folders in a cache that nothing was written to for a month. */
export function sweepOld(cache: string, now: number): void {
  for (const name of readdirSync(cache)) {
    const folder = `${cache}/${name}`;
    const { mtimeMs } = statSync(folder);
    if (now - mtimeMs > month) rmSync(folder, { recursive: true, force: true });
  }
}
