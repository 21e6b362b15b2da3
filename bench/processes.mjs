import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";

/**
 * Times whole processes side by side. A contestant has a name and a `run`; what comes `before` it is not
 * timed. Its ratio is the one to the contestant that it is measured `against`. Whoever does not run, or whose
 * output its `check` does not accept, is left out and told of.
 */
export async function timeProcesses(contestants, { rounds, warmUps = 2 }) {
  const faults = new Map();
  for (const contestant of contestants) {
    const fault = faultOf(contestant);
    if (fault !== undefined) faults.set(contestant, fault);
  }
  const sound = contestants.filter((contestant) => !faults.has(contestant));
  await interleave(sound, warmUps - 1, measure);
  const samples = await interleave(sound, rounds, measure);
  return {
    rows: contestants.map((contestant) => asRow(contestant, samples, faults)),
    failures: [...faults].map(([{ name }, fault]) => `${name}: ${fault}`),
  };
}

/** Running once shows what is wrong, and is the first warm-up. */
function faultOf({ before, run, check }) {
  try {
    before?.();
    const output = run();
    return check?.(output) === false
      ? `unexpected output: ${output.replace(/\s+/g, " ").slice(0, 200)}`
      : undefined;
  } catch (error) {
    return error.message.split("\n")[0];
  }
}

function measure({ before, run }) {
  before?.();
  return millisecondsOf(run);
}

function asRow(contestant, samples, faults) {
  const { name, against = contestant, target, note } = contestant;
  if (faults.has(contestant)) return { contestant: name, note: "left out: it failed" };
  return {
    contestant: name,
    figure: median(samples.get(contestant)),
    ...(samples.has(against) && {
      ratio: medianRatio(samples.get(contestant), samples.get(against)),
      target,
    }),
    note,
  };
}
