import { multinomialEValue } from "../../src/record/statistics.js";
import { Random } from "../hostile/fuzz/random.js";

interface Streams {
  readonly shares: readonly number[];
  readonly streams: number;
  readonly inputs: number;
  readonly seed: number;
}

const threshold = 1000;

/** Counts the streams of a correct split whose e-value is at least 1,000 after any of the inputs. */
export function falseAlarms({ shares, streams, inputs, seed }: Streams): number {
  return countAlarms({ shares, actual: shares, streams, inputs, seed }, 1);
}

/** Counts the streams with other shares whose e-value is at least 1,000 after any hundredth input. */
export function foundDrifts(streams: Streams & { readonly actual: readonly number[] }): number {
  return countAlarms(streams, 100);
}

function countAlarms(
  { shares, actual, streams, inputs, seed }: Streams & { readonly actual: readonly number[] },
  lookEvery: number,
): number {
  const random = new Random(seed);
  let alarms = 0;
  for (let stream = 0; stream < streams; stream++) {
    const counts = shares.map(() => 0);
    for (let input = 1; input <= inputs; input++) {
      const branch = draw(actual, random.next());
      counts[branch] = (counts[branch] ?? 0) + 1;
      if (input % lookEvery === 0 && multinomialEValue(counts, shares) >= threshold) {
        alarms++;
        break;
      }
    }
  }
  return alarms;
}

function draw(shares: readonly number[], roll: number): number {
  let sum = 0;
  for (const [index, share] of shares.entries()) {
    sum += share;
    if (roll < sum) return index;
  }
  return shares.length - 1;
}
