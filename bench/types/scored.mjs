import { Engine } from "json-rules-engine";
import { ours } from "./ours.mjs";

const names = ["credit", "income", "history"];
const decisions = ["approve", "review", "reject"];

/** Of each evaluator ten rules for ten bands of its score, each of two conditions. */
const evaluators = names.map((name, at) => ({
  name,
  rules: Array.from({ length: 10 }, (_, band) => ({
    id: `${name}-${band}`,
    from: (9 - band) * 100,
    flag: band % 2 === 0,
    vote: { decision: decisions[(band + at) % 3], weight: Math.round((0.9 - band * 0.05) * 100) / 100 },
  })),
}));

const definition = {
  id: "bench-scored",
  type: "scored",
  evaluators: [
    ...evaluators.map(({ name, rules }) => ({
      name,
      rules: rules.map(({ id, from, flag, vote }) => ({
        id,
        if: {
          all: [
            { field: `${name}.score`, op: "gte", value: from },
            { field: `${name}.flag`, op: "eq", value: flag },
          ],
        },
        then: { ...vote, reason: `band ${from}` },
      })),
    })),
  ],
  scoring: { strategy: "weighted_average" },
};

const contexts = Array.from({ length: 24 }, (_, index) =>
  Object.fromEntries(
    names.map((name, at) => [
      name,
      { score: ((index * 37 + at * 211) % 10) * 100 + 50, flag: (index + at) % 2 === 0 },
    ]),
  ),
);

/** An engine for each evaluator, as it has no votes; the weighing is written by hand. */
function theirs() {
  const engines = evaluators.map(({ name, rules }) => {
    const engine = new Engine(
      rules.map(({ id, from, flag, vote }, index) => ({
        name: id,
        priority: rules.length - index,
        conditions: {
          all: [
            { fact: name, path: "$.score", operator: "greaterThanInclusive", value: from },
            { fact: name, path: "$.flag", operator: "equal", value: flag },
          ],
        },
        event: { type: "vote", params: vote },
      })),
    );
    engine.on("success", () => engine.stop());
    return engine;
  });
  return async (context) => {
    const votes = [];
    for (const engine of engines) {
      const { events } = await engine.run(context);
      if (events.length > 0) votes.push(events[0].params);
    }
    return winnerOf(votes);
  };
}

function winnerOf(votes) {
  const sums = new Map();
  for (const { decision, weight } of votes) sums.set(decision, (sums.get(decision) ?? 0) + weight);
  const [first, ...others] = [...sums];
  return others.reduce((best, each) => (each[1] > best[1] + 1e-9 ? each : best), first)[0];
}

export const scored = {
  name: "in-process-scored",
  title: "Evaluations in one process: scored, 3 evaluators of 10 rules",
  contexts,
  ours: ours(definition, ({ selected_labels: [decision] }) => decision),
  theirs: {
    gives: "three engines, each stopping at the first match; votes weighed by hand",
    prepare: theirs,
  },
};
