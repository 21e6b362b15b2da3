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
  specifications: { page: "specifications" },
  configuration: { page: "configuration" },
  environment: { page: "configuration", section: "Environment variables" },
  formatting: { page: "formatting" },
  "exit-codes": { page: "exit-codes" },
};

/** Other words for topics. They are not listed. */
export const topicAliases: Readonly<Record<string, Topic>> = {
  functions: { page: "expressions", section: "Functions" },
  date: { page: "expressions", section: "Dates and durations" },
  dates: { page: "expressions", section: "Dates and durations" },
  duration: { page: "expressions", section: "Dates and durations" },
  durations: { page: "expressions", section: "Dates and durations" },
  template: { page: "expressions", section: "Templates" },
  templates: { page: "expressions", section: "Templates" },
  path: { page: "policies", section: "Paths" },
  paths: { page: "policies", section: "Paths" },
  path_within: { page: "policies", section: "Paths" },
  observers: { page: "audit", section: "Observers" },
  observer: { page: "audit", section: "Observers" },
  assessments: { page: "audit", section: "Observers" },
  limits: { page: "policies", section: "Limits" },
  max_calls: { page: "policies", section: "Limits" },
  max_sum: { page: "policies", section: "Limits" },
  unknown_tools: { page: "policies", section: "How a call is decided" },
  "unknown-tools": { page: "policies", section: "How a call is decided" },
  mask: { page: "definitions", section: "Logging and masking" },
  masks: { page: "definitions", section: "Logging and masking" },
  masking: { page: "definitions", section: "Logging and masking" },
  logging: { page: "definitions", section: "Logging and masking" },
  targets: { page: "guardrails", section: "Targets" },
  settings: { page: "configuration", section: "Settings" },
  env: { page: "configuration", section: "Environment variables" },
  variables: { page: "configuration", section: "Environment variables" },
  format: { page: "formatting" },
  formats: { page: "formatting" },
  authentication: { page: "http", section: "Authentication" },
  scopes: { page: "http", section: "Authentication" },
  agents: { page: "policies", section: "Hooks of coding agents" },
  hook: { page: "policies", section: "Hooks of coding agents" },
  hooks: { page: "policies", section: "Hooks of coding agents" },
  claude: { page: "policies", section: "Hooks of coding agents" },
  "ab-test": { page: "routing", section: "Experiments" },
  json: { page: "formatting" },
  yaml: { page: "formatting" },
  output: { page: "formatting" },
  docker: { page: "operations", section: "Container" },
  container: { page: "operations", section: "Container" },
  systemd: { page: "operations", section: "systemd" },
  prometheus: { page: "http", section: "Logs and metrics" },
  metrics: { page: "http", section: "Logs and metrics" },
  ci: { page: "audit", section: "In CI" },
  testing: { page: "audit", section: "In CI" },
  store: { page: "configuration", section: "The store" },
  storage: { page: "configuration", section: "The store" },
  session: { page: "policies" },
  sessions: { page: "policies" },
  errors: { page: "exit-codes" },
  specification: { page: "specifications" },
  specs: { page: "specifications" },
  conformance: { page: "specifications" },
  batch: { page: "events" },
  batches: { page: "events" },
  follow: { page: "routing", section: "Following decisions" },
  install: { page: "../README", section: "Install" },
  "getting-started": { page: "../README", section: "A first decision" },
  tutorial: { page: "../README", section: "A first decision" },
  quickstart: { page: "../README", section: "A first decision" },
  samples: { page: "../decisions/README" },
};

/**
 * Finds a topic by its name or another word for it; several words count as one, as in `exit codes`. A command with the
 * name of an alias takes precedence.
 */
export function findTopic(words: readonly string[], isCommand: boolean): Topic | undefined {
  const name = words.join("-").toLowerCase();
  if (Object.hasOwn(topics, name)) return topics[name];
  return !isCommand && Object.hasOwn(topicAliases, name) ? topicAliases[name] : undefined;
}
