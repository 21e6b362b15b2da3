/**
 * Returns the probability that a chi-square statistic is at least this large by chance: the upper tail of the
 * distribution, Q(df/2, x/2), to about ten digits. Hand-written: so few lines need no statistics library.
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

/** Lanczos' approximation with g = 7, for a > 0. */
function logGamma(a: number): number {
  if (a < 0.5) return logGamma(a + 1) - Math.log(a);
  const base = a + 6.5;
  const series = lanczos.reduce((sum, each, index) => sum + each / (a + index), 0.99999999999980993);
  return (a - 0.5) * Math.log(base) - base + Math.log(Math.sqrt(2 * Math.PI) * series);
}

const lanczos = [
  676.5203681218851, -1259.1392167224028, 771.32342877765313, -176.61502916214059, 12.507343278686905,
  -0.13857109526572012, 9.9843695780195716e-6, 1.5056327351493116e-7,
];

/** An e-value above this is reported as this, so that JSON can represent it. */
export const maxEValue = 1e308;

/**
 * Returns the evidence against these shares (all above 0, with a sum of 1), as an e-value: 1 is none, and the
 * probability that it ever reaches 1/p on a correct split is at most p, however often one looks. Half of it is the
 * sequential multinomial test of Lindon and Malek (2022); the other half is the same test of each share against all
 * others, which finds one wrong share among many.
 */
export function multinomialEValue(observed: readonly number[], shares: readonly number[]): number {
  const total = observed.reduce((sum, count) => sum + count, 0);
  const each = shares.map((share, index) => {
    const count = observed[index] ?? 0;
    // The share of the others must not be rounded to 0, which would make each of their inputs impossible.
    return logBayesFactor([count, total - count], [share, Math.max(1 - share, Number.MIN_VALUE)]);
  });
  const logarithm = logMean([logBayesFactor(observed, shares), logMean(each)]);
  return Math.min(Math.exp(logarithm), maxEValue);
}

/**
 * The logarithm of the likelihood under a Dirichlet prior around the shares, divided by the likelihood under the
 * shares. The prior weighs as much as one input per branch.
 */
function logBayesFactor(observed: readonly number[], shares: readonly number[]): number {
  const weight = shares.length;
  let logarithm = logGamma(weight) - logGamma(weight + observed.reduce((sum, count) => sum + count, 0));
  for (const [index, share] of shares.entries()) {
    const count = observed[index] ?? 0;
    if (count === 0) continue;
    const prior = weight * share;
    logarithm += logGamma(prior + count) - logGamma(prior) - count * Math.log(share);
  }
  return logarithm;
}

/** The logarithm of the mean of numbers that are given by their logarithms. */
function logMean(logarithms: readonly number[]): number {
  const most = Math.max(...logarithms);
  const sum = logarithms.reduce((total, each) => total + Math.exp(each - most), 0);
  return most + Math.log(sum / logarithms.length);
}
