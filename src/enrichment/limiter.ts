import type { LimitSettings } from "./endpoint-settings.js";

/** When the next request may be sent, and what was sent or will be then; undefined: not before `latest`. */
export interface Turn {
  readonly at: number;
  readonly sent: readonly number[];
}

/**
 * Takes a turn: at once, or as soon as fewer than the limit were sent in the stretch before. Whoever takes one
 * keeps it, so that each waits only once, in the order of their asking.
 */
export function takeTurn(
  sent: readonly number[],
  limit: LimitSettings,
  { now, latest }: { readonly now: number; readonly latest: number },
): Turn | undefined {
  const stretch = limit.per + leeway(limit);
  const counting = sent.filter((at) => at > now - stretch && at < now + mostAhead(stretch, sent.length));
  const before = counting.at(-limit.count);
  const at = before === undefined ? now : Math.max(now, before + stretch);
  return at < latest ? { at, sent: [...counting, at].sort((a, b) => a - b) } : undefined;
}

/** Requests are not all equally long on their way: two that leave a stretch apart may arrive closer. */
const leeway = ({ per }: LimitSettings): number => Math.min(per / 20, 100_000);

/** No turn is further ahead than all that were taken together; a later one is from before the clock was set back. */
const mostAhead = (stretch: number, turns: number): number => stretch * (turns + 1);
