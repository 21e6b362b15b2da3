import { ZenDecisionContent, ZenEngine } from "@gorules/zen-engine";

export const contestant = {
  name: "zen-engine, trace: true",
  peer: "@gorules/zen-engine",
  gives: "stops at the first match; trace of the row that matched",
  isAsync: true,
  prepare(table) {
    const decision = new ZenEngine().createDecision(new ZenDecisionContent(asGraph(table)));
    return async (context) => (await decision.evaluate(context, { trace: true })).result.target;
  },
};

function asGraph(table) {
  return {
    nodes: [
      { id: "request", type: "inputNode", name: "request" },
      { id: "table", type: "decisionTableNode", name: "table", content: asDecisionTable(table) },
      { id: "response", type: "outputNode", name: "response" },
    ],
    edges: [
      { id: "in", type: "edge", sourceId: "request", targetId: "table" },
      { id: "out", type: "edge", sourceId: "table", targetId: "response" },
    ],
  };
}

function asDecisionTable({ rules, otherwise }) {
  const fields = [...new Set(rules.flatMap(({ tests }) => tests.map(({ field }) => field)))];
  return {
    hitPolicy: "first",
    inputs: fields.map((field) => ({ id: field, name: field, field })),
    outputs: [{ id: "target", name: "target", field: "target" }],
    rules: [...rules, { label: "otherwise", target: otherwise, tests: [] }].map((rule) =>
      asRow(rule, fields),
    ),
  };
}

/** An empty cell matches anything; one that is left out matches nothing. */
function asRow({ label, target, tests }, fields) {
  const empty = fields.map((field) => [field, ""]);
  const cells = tests.map(({ field, operator, value }) => [
    field,
    operator === "==" ? JSON.stringify(value) : `${operator} ${value}`,
  ]);
  return { _id: label, ...Object.fromEntries([...empty, ...cells]), target: JSON.stringify(target) };
}
