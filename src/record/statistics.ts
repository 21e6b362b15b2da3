/**
 * Returns the probability that a chi-square statistic is at least this large by chance: the upper tail of the
 * distribution, Q(df/2, x/2), to about ten digits. Hand-written: 80 lines need no statistics library.
 */
export function chiSquareTail(statistic: number, degreesOfFreedom: number): number {
  if (statistic <= 0) return 1;
  if (degreesOfFreedom <= 0 || statistic === Infinity) return 0;
  const a = degreesOfFreedom / 2;
  const x = statistic / 2;
  const scale = Math.exp(a * Math.log(x) - x - logGamma(a));
  // Each converges fast where the other does not.
  return x < a + 1 ? 1 - scale * lowerSeries(a, x) : scale * upperFraction(a, x);
}

const negligible = Number.EPSILON / 4;

/** Σ xⁿ / (a (a+1) … (a+n)) */
function lowerSeries(a: number, x: number): number {
  let term = 1 / a;
  let sum = term;
  for (let n = 1; term > sum * negligible; n++) {
    term *= x / (a + n);
    sum += term;
  }
  return sum;
}

/** 1/(x+1-a - 1(1-a)/(x+3-a - 2(2-a)/(x+5-a - …))) by Lentz's method. */
function upperFraction(a: number, x: number): number {
  let b = x + 1 - a;
  let c = Infinity;
  let d = 1 / b;
  let fraction = d;
  for (let n = 1; n < maxSteps; n++) {
    const numerator = n * (a - n);
    b += 2;
    d = 1 / awayFromZero(numerator * d + b);
    c = awayFromZero(b + numerator / c);
    fraction *= c * d;
    if (Math.abs(c * d - 1) < Number.EPSILON) break;
  }
  return fraction;
}

const maxSteps = 100_000;

function awayFromZero(value: number): number {
  return Math.abs(value) < 1e-300 ? 1e-300 : value;
}

/** Lanczos' approximation with g = 7, for a ≥ 1/2. */
function logGamma(a: number): number {
  const base = a + 6.5;
  const series = lanczos.reduce((sum, each, index) => sum + each / (a + index), 0.99999999999980993);
  return (a - 0.5) * Math.log(base) - base + Math.log(Math.sqrt(2 * Math.PI) * series);
}

const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/**
 * Returns the probability of at least this many successes in independent trials with this chance of success;
 * 1 where the number is not above the mean.
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
    // Above the mean, terms decrease.
    if (term <= tail * 1e-17) break;
    logarithm += Math.log((trials - count) / (count + 1)) + odds;
  }
  return Math.min(1, tail);
}
