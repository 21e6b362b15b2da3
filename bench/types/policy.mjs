import { Engine } from "json-rules-engine";
import { ours } from "./ours.mjs";

/** Twenty limits that a call must keep. */
const limits = Array.from({ length: 20 }, (_, index) => ({ name: `limit-${index}`, most: 50 + index * 5 }));

const definition = {
  id: "bench-policy",
  type: "policy",
  tool: "transfer",
  policies: limits.map(({ name, most }) => ({
    name,
    version: "1.0.0",
    conditions: [{ name: "within", expression: `params.amount <= ${most} and params.currency == 'EUR'` }],
    deny_reason: `more than ${most}`,
  })),
};

const contexts = Array.from({ length: 24 }, (_, index) => ({
  tool: "transfer",
  params: { amount: (index * 13) % 70, currency: index % 8 === 0 ? "USD" : "EUR" },
}));

function theirs() {
  const engine = new Engine(
    limits.map(({ name, most }) => ({
      name,
      conditions: {
        all: [
          { fact: "params", path: "$.amount", operator: "lessThanInclusive", value: most },
          { fact: "params", path: "$.currency", operator: "equal", value: "EUR" },
        ],
      },
      event: { type: "allows" },
    })),
  );
  return async (context) => {
    const { failureResults } = await engine.run(context);
    return failureResults.length === 0 ? "allowed" : "denied";
  };
}

export const policy = {
  name: "in-process-policy",
  title: "Evaluations in one process: policy, 20 policies",
  contexts,
  ours: ours(definition, ({ selected_labels: [outcome] }) => outcome),
  theirs: { gives: "asks every rule; results of all", prepare: theirs },
};
