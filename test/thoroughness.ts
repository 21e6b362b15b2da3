/** Whether this is a run of the torture suite; `npm test` takes samples of its longest tests. */
export const isThorough = process.env["AGENT33_TORTURE"] !== undefined;

/** Returns all cases in the torture suite, the first ones in `npm test`. */
export const casesFor = <T>(all: readonly T[], quick: number): readonly T[] =>
  isThorough ? all : all.slice(0, quick);

/** Returns the number of random runs: all of them in the torture suite, a fifth in `npm test`. */
export const runsFor = (thorough: number): number => (isThorough ? thorough : Math.ceil(thorough / 5));
