import type { CommonFlags } from "./flags.js";
import type { Io } from "./io.js";
import { Progress } from "./progress.js";

const ticking = 100;

/** Says on a terminal which endpoints are being asked, while that takes long enough to wonder. */
export function askingProgress(
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
      timer = setInterval(() => shown.show(() => `asking ${namesOf(asked)} …`), ticking);
    }
    return () => {
      asked.splice(asked.indexOf(endpoint), 1);
      if (asked.length > 0) return;
      clearInterval(timer);
      progress?.erase();
    };
  };
}

function namesOf(asked: readonly string[]): string {
  const [first = "", ...others] = new Set(asked);
  return others.length === 0 ? `\`${first}\`` : `\`${first}\` and ${others.length} more`;
}
