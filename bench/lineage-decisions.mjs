import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Every tenth record is about this customer. */
export const busyCustomer = "acme";

/** Most records are of this one. */
export const route = {
  id: "ticket-route",
  type: "switch",
  input: "{{ ticket.kind }}",
  cases: [
    { condition: "input == 'bug'", label: "Bug", target: "stage-triage" },
    { condition: "input == 'question'", label: "Question", target: "stage-support" },
  ],
  default: { target: "stage-inbox" },
  entities: [
    { type: "customer", id: "{{ customer.id }}" },
    { type: "product", id: "{{ product }}" },
  ],
  artifacts: ["{{ ticket.id }}"],
};

/** Asked about every twentieth call. */
export const exporting = {
  id: "policy-export",
  type: "policy",
  tool: "export",
  policies: [
    {
      name: "export_size",
      version: "1.0.0",
      conditions: [{ name: "small", expression: "params.rows <= 1000" }],
      deny_reason: "Too many rows",
    },
  ],
  entities: [{ type: "customer", id: "{{ params.customer }}" }],
};

/** Each in a file of its own; gives the directory. */
export function writeDecisions(directory) {
  const folder = join(directory, "lineage-decisions");
  mkdirSync(folder);
  for (const decision of [route, exporting])
    writeFileSync(join(folder, `${decision.id}.json`), JSON.stringify({ decision }));
  return folder;
}

/** Asks what is asked as the so-manieth, counted from 0. */
export function askAt(index, world) {
  const customer = index % 10 === 0 ? busyCustomer : `customer-${(index * 7919) % 200_000}`;
  if (index % 20 === 10) return world.check(callAt(index, customer));
  const kind = ["bug", "question", "praise"][index % 3];
  const context = {
    ticket: { kind, id: `ticket-${index % 50_000}` },
    customer: { id: customer },
    product: `product-${index % 70_000}`,
  };
  return world.decide({ decision_id: route.id, context });
}

export function callAt(index, customer) {
  const params = { customer, rows: (index * 31) % 1500 };
  return { tool: "export", params, session_id: `session-${index % 5000}` };
}
