import { Engine } from "json-rules-engine";
import { ours } from "./ours.mjs";

const statuses = ["RED", "YELLOW", "GREEN-SKIP", "GREEN"];

/** Twenty rules, the most severe first; the last one always matches. */
const rules = Array.from({ length: 20 }, (_, index) => ({
  id: `rule-${index}`,
  severity: 100 - index,
  from: index === 19 ? 0 : (20 - index) * 50,
  status: index === 19 ? "GREEN" : statuses[index % statuses.length],
}));

const definition = {
  id: "bench-gate",
  type: "gate",
  action: { org: "acme", domain: "payments", name: "wire.approve" },
  rules: rules.map(({ id, severity, from, status }) => ({
    id,
    tier: "T2",
    severity,
    when: `amount >= ${from} and payee.country == 'DE'`,
    status,
    reason: `at least ${from}`,
    work_frame: { allowed_actions: ["wire.approve"] },
  })),
  aggregation: "winner_takes_all",
};

const contexts = Array.from({ length: 24 }, (_, index) => ({
  amount: (index * 97) % 1100,
  payee: { country: "DE" },
}));

function theirs() {
  const engine = new Engine(
    rules.map(({ id, severity, from, status }) => ({
      name: id,
      priority: severity,
      conditions: {
        all: [
          { fact: "amount", operator: "greaterThanInclusive", value: from },
          { fact: "payee", path: "$.country", operator: "equal", value: "DE" },
        ],
      },
      event: { type: "status", params: { status, severity } },
    })),
  );
  return async (context) => {
    const { events } = await engine.run(context);
    return events.reduce((best, each) => (each.params.severity > best.params.severity ? each : best)).params
      .status;
  };
}

export const gate = {
  name: "in-process-gate",
  title: "Evaluations in one process: gate, 20 rules",
  contexts,
  ours: ours(definition, ({ selected_labels: [status] }) => status),
  theirs: { gives: "asks every rule; results of all; the winner picked by hand", prepare: theirs },
};
