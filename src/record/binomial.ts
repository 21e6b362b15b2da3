import { logGamma } from "./chi-square.js";

/**
 * How likely it is that of so many trials, each with this chance, at least so many succeed. Made for more
 * than are to be expected; for fewer it is told as 1.
 */
export function binomialTail(successes: number, trials: number, chance: number): number {
  if (successes <= trials * chance) return 1;
  if (successes > trials || chance <= 0) return 0;
  const odds = Math.log(chance) - Math.log1p(-chance);
  let logarithm =
    logGamma(trials + 1) -
    logGamma(successes + 1) -
    logGamma(trials - successes + 1) +
    successes * odds +
    trials * Math.log1p(-chance);
  let tail = 0;
  for (let count = successes; count <= trials; count++) {
    const term = Math.exp(logarithm);
    tail += term;
    // Beyond the mean each term is smaller than the one before.
    if (term <= tail * 1e-17) break;
    logarithm += Math.log((trials - count) / (count + 1)) + odds;
  }
  return Math.min(1, tail);
}
