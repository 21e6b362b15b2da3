/**
 * Measures every contestant once a round, so that whatever else the machine does falls on all of them
 * alike; every other round runs backwards, so that none always follows the same one.
 */
export async function interleave(contestants, rounds, measure) {
  const samples = new Map(contestants.map((contestant) => [contestant, []]));
  for (let round = 0; round < rounds; round++) {
    const order = round % 2 === 0 ? contestants : contestants.toReversed();
    for (const contestant of order) samples.get(contestant).push(await measure(contestant));
  }
  return samples;
}

export function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2;
}

/** Of the ratios within each round, so that a slow round does not count against one side only. */
export function medianRatio(numerators, denominators) {
  return median(numerators.map((value, round) => value / denominators[round]));
}

export async function millisecondsOf(run) {
  const startedAt = performance.now();
  await run();
  return performance.now() - startedAt;
}
