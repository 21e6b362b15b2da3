import { repeating } from "./repeating.mjs";
import { interleave, median, medianRatio, millisecondsOf } from "./measure.mjs";
import { versionOf } from "./peers.mjs";
import { escalation, grownTable } from "./tables.mjs";

/** A contestant that needs more for one evaluation is left out. */
const slowestMilliseconds = 200;

export function measureEscalation(contestants, settings) {
  const targets = new Map([
    ["json-rules-engine", { least: 10 }],
    ["@gorules/zen-engine", { least: 20 }],
  ]);
  return measureTable({
    name: "in-process",
    title: "Evaluations in one process: the escalation table, 4 rules",
    table: escalation,
    contestants,
    settings,
    targetFor: ({ peer }) => targets.get(peer),
  });
}

export function measureGrown(size, contestants, settings, directory) {
  return measureTable({
    name: `in-process-${size}`,
    title: `Evaluations in one process: ${size.toLocaleString("en")} rules`,
    table: grownTable(size, directory),
    contestants,
    settings,
    targetFor: (contestant, bestPeer) => {
      if (size === 1_000 && contestant.peer !== undefined) return { least: 1 };
      return size === 10_000 && contestant === bestPeer ? { least: 20 } : undefined;
    },
  });
}

export async function measureTable({ name, title, table, contestants, settings, targetFor }) {
  const [first, ...rest] = contestants;
  const ours = await admit(first, table);
  const entries = [ours];
  for (const contestant of rest) entries.push(await admitIfAble(contestant, table, ours.answers));

  const running = entries.filter(({ run }) => run !== undefined);
  for (const entry of running) entry.count = await countThatLasts(entry, table, settings.milliseconds);
  const samples = await interleave(running, settings.rounds, perSecond);

  const bestPeer = fastest(
    running.filter(({ contestant }) => contestant.peer !== undefined),
    samples,
  );
  return {
    name,
    title,
    unit: "per second",
    ratio: "agent-33 to it",
    rows: entries.map((entry) => ({
      contestant: fullName(entry.contestant),
      ...(samples.has(entry) && {
        figure: median(samples.get(entry)),
        ratio: medianRatio(samples.get(ours), samples.get(entry)),
        target: targetFor(entry.contestant, bestPeer?.contestant),
      }),
      note: entry.leftOut ?? entry.contestant.gives,
    })),
    failures: entries.flatMap(({ contestant, failure }) =>
      failure ? [`${contestant.name} ${failure}`] : [],
    ),
  };
}

async function admitIfAble(contestant, table, expected) {
  try {
    return await admit(contestant, table, expected);
  } catch (error) {
    return { contestant, failure: error.message, leftOut: "left out: it failed" };
  }
}

/** Nobody is timed before having given the answers expected of all. */
async function admit(contestant, table, expected) {
  const decide = await contestant.prepare(table);
  const took = await millisecondsPerAnswer(decide, table);
  if (took > slowestMilliseconds) {
    return { contestant, leftOut: `left out: one evaluation takes ${Math.round(took)} ms` };
  }
  const answers = await answersOf(decide, table.contexts);
  assertSame(answers, expected ?? answers, table.contexts);
  return { contestant, answers, run: repeating(decide, contestant.isAsync, table.contexts) };
}

/** The quicker of two attempts; the first one finds everything cold. */
async function millisecondsPerAnswer(decide, { contexts, cycle }) {
  const attempt = () => millisecondsOf(() => answersOf(decide, contexts.slice(0, cycle)));
  return Math.min(await attempt(), await attempt()) / cycle;
}

async function answersOf(decide, contexts) {
  const answers = [];
  for (const context of contexts) answers.push(await decide(context));
  return answers;
}

function assertSame(answers, expected, contexts) {
  const index = answers.findIndex((answer, position) => answer !== expected[position]);
  if (index === -1) return;
  const context = JSON.stringify(contexts[index]);
  throw new Error(`answers ${context} with \`${answers[index]}\` where agent-33 says \`${expected[index]}\``);
}

/** How many evaluations take the time wanted, twice, as once may be an accident; finding out is the warm-up. */
async function countThatLasts({ run }, { cycle }, milliseconds) {
  const lasts = async (count) => (await millisecondsOf(() => run(count))) >= milliseconds;
  let count = cycle;
  while (!((await lasts(count)) && (await lasts(count)))) count *= 2;
  return count;
}

async function perSecond({ run, count }) {
  return (count * 1000) / (await millisecondsOf(() => run(count)));
}

function fastest(entries, samples) {
  return entries.toSorted((a, b) => median(samples.get(b)) - median(samples.get(a)))[0];
}

function fullName({ name, peer }) {
  return peer === undefined ? name : `${name} (${versionOf(peer)})`;
}
