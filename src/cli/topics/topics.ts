/** A help topic: a page of `docs/`, or one section of it, named by its heading. */
export interface Topic {
  readonly page: string;
  readonly section?: string;
}

/** The topics of `agent-33 help`. The text comes from `docs/`; see `render-topic.ts`. */
export const topics: Readonly<Record<string, Topic>> = {
  definitions: { page: "definitions" },
  expressions: { page: "expressions" },
  routing: { page: "routing" },
  experiments: { page: "routing", section: "Experiments" },
  binary: { page: "routing", section: "binary" },
  switch: { page: "routing", section: "switch" },
  weighted: { page: "routing", section: "weighted" },
  rule_table: { page: "routing", section: "rule_table" },
  scored: { page: "scored" },
  operators: { page: "scored", section: "Rule operators" },
  policies: { page: "policies" },
  policy: { page: "policies" },
  gates: { page: "gates" },
  gate: { page: "gates" },
  guardrails: { page: "guardrails" },
  enrichment: { page: "enrichment" },
  endpoints: { page: "enrichment" },
  events: { page: "events" },
  audit: { page: "audit" },
  approvals: { page: "approvals" },
  approval: { page: "approvals" },
  http: { page: "http" },
  mcp: { page: "mcp" },
  operations: { page: "operations" },
  library: { page: "library" },
  configuration: { page: "configuration" },
  environment: { page: "configuration", section: "Environment variables" },
  formatting: { page: "formatting" },
  "exit-codes": { page: "exit-codes" },
};
