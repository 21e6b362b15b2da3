const severities = ["critical", "high", "low"];
const kinds = ["prompt", "workflow", "schema", "agent", "picture"];
const countries = ["DE", "FR", "XX"];

/** A value from 0 to 1 that looks random and is not. */
const spread = (index) => ((index * 7919) % 1000) / 1000;

/** One kind of decision of the samples after the other; what is asked as the so-manieth of it. */
const mixed = [
  (index) => evaluated("decision-quality-gate", { artifact: { quality_score: spread(index) } }),
  (index) => evaluated("decision-artifact-type-router", { artifact: { type: kinds[index % kinds.length] } }),
  (index) => evaluated("decision-ab-prompt-variant", { request: { id: `request-${index % 5000}` } }),
  (index) =>
    evaluated("decision-escalation-rules", {
      severity: severities[index % 3],
      attempts: index % 5,
      quality_score: spread(index),
    }),
  (index) =>
    evaluated(scored, {
      credit: { score: 300 + (index % 550), defaults: index % 4 },
      income: { monthly: 1000 + (index % 4000) },
      loan: { rate: 200 + (index % 1500) },
    }),
  (index) => ({
    tool: "read_source",
    params: { source: index % 3 === 0 ? "crm" : "finance" },
    context: { session: { finance_closed: index % 2 === 0 } },
    session_id: `session-${index % 500}`,
  }),
  (index) =>
    evaluated("gate-wire-approve", {
      amount: (index * 97) % 20_000,
      payee: { country: countries[index % 3] },
    }),
];

const evaluated = (decision_id, context) => ({ decision_id, context });

export const routing = "decision-escalation-rules";
export const scored = "decision-loan-approval";

/** Of the routing log, and of the mixed one. */
export const requests = {
  routing: (index) => mixed[3](index),
  mixed: (index) => mixed[index % mixed.length](Math.floor(index / mixed.length)),
};
