/** Decisions of all seven types, with everything that may make a replay come to something else. */
type Fields = Readonly<Record<string, unknown>>;

const routed = (id: string, type: string, fields: Fields): Fields => ({
  id,
  type,
  default: { target: "otherwise" },
  ...fields,
});

const cases = [
  { condition: "input >= 0.8", target: "ship", label: "gut ✓" },
  { condition: "input < 0.8", target: "rework", label: "Überarbeiten" },
];

const split = [
  { target: "a", weight: 70 },
  { target: "b", weight: 20 },
  { condition: "get(user, 'beta', false)", target: "c", weight: 10 },
];

const rules = [
  { condition: "input.n > 10", target: "large", priority: 3 },
  { condition: "input.n % 2 == 0", target: "even", priority: 1 },
  { condition: "contains(lower(input.text), 'ß')", target: "sharp", priority: 2 },
];

const table = (hit_policy: string, more: Fields = {}): Fields =>
  routed(`table-${hit_policy}`, "rule_table", { hit_policy, rules, ...more });

const evaluators = [
  {
    name: "credit",
    ruleset: "credit_rules",
    rules: [
      {
        id: "good",
        if: {
          all: [
            { field: "credit.score", op: "gte", value: 700 },
            { field: "credit.open", op: "neq", value: true },
          ],
        },
        then: { decision: "approve", weight: 0.9, reason: "Good credit" },
      },
      { id: "poor", when: "credit.score < 500", then: { decision: "reject", weight: 0.8 } },
    ],
  },
  {
    name: "income",
    rules: [
      {
        id: "enough",
        if: { field: "income", op: "between", value: [1000, 1e9] },
        then: { decision: "approve", weight: 0.3 },
      },
    ],
  },
  { name: "house", static: { decision: "review", weight: 0.35, reason: "When in doubt" } },
];

const scored = (strategy: string, scoring: Fields = {}, more: Fields = {}): Fields => ({
  id: `scored-${strategy}`,
  type: "scored",
  evaluators,
  scoring: { strategy, ...scoring },
  targets: { approve: "payout", reject: "letter" },
  ...more,
});

const routing: readonly Fields[] = [
  routed("binary", "binary", {
    input: "{{ artifact.score }}",
    cases,
    cache: { enabled: true, ttl: "1h" },
  }),
  routed("brief", "binary", {
    input: "{{ artifact.score }}",
    cases,
    logging: { include_evaluation: false },
  }),
  routed("guarded", "switch", {
    input: "{{ kind }}",
    cases: ["stop", "deploy", "notify"].map((kind) => ({ condition: `input == '${kind}'`, target: kind })),
    guardrails: [
      { type: "no_disabled_targets", disabled_stages: ["stop"] },
      {
        type: "requires_approval",
        targets: ["deploy"],
        workflows: ["prod-*"],
        on_fail: "escalate",
        escalate_to: "approval",
      },
      { type: "requires_approval", targets: ["notify"], on_fail: "warn" },
    ],
  }),
  routed("split", "weighted", { input: "{{ user.id }}", cases: split }),
  routed("salted", "weighted", {
    input: "{{ user }}",
    cases: split.map(({ target, weight }) => ({ target, weight })),
    salt: "pepper",
    guardrails: [{ type: "distribution_drift", p_value: 1, minimum: 20, on_fail: "warn" }],
  }),
  table("first"),
  table("collect"),
  table("priority"),
  table("unique", { rules: rules.slice(0, 1) }),
  table("output_order", {
    rules: rules.map(({ target, ...rule }) => ({ ...rule, output: target })),
    output_values: ["sharp", "even", "large"],
    default: { output: { none: "{{ odd }}" } },
  }),
  table("rule_order", {
    aggregate: "sum",
    rules: rules.map((rule, index) => ({ ...rule, output: index === 1 ? "{{ n / 10 }}" : 0.1 * index })),
    cache: { enabled: true },
  }),
  routed("answers", "switch", {
    cases: [
      { condition: "n > 12", target: "large", output: { odd: "{{ odd }}", note: "{{ odd }} and {{ n }}" } },
      { condition: "n > 6", output: ["{{ text }}", 0.1, null, "{{ if n > 9 then 'many' else odd }}"] },
    ],
    guardrails: [{ type: "no_disabled_targets", disabled_stages: ["large"] }],
  }),
  table("any", { rules: rules.map((rule) => ({ ...rule, target: "same", label: rule.target })) }),
];

/** What is not replayable, but for the last. */
const hidden: readonly Fields[] = [
  routed("unlogged", "binary", {
    input: "{{ artifact.score }}",
    cases,
    logging: { include_inputs: false },
  }),
  routed("masked", "binary", {
    input: "{{ artifact.score }}",
    cases,
    logging: { mask: ["/artifact/score"] },
  }),
  routed("masked-way", "switch", {
    input: "{{ person.score }}",
    cases: [{ condition: "n > 5", target: "many" }],
    logging: { mask: ["/person"] },
  }),
  routed("masked-unread", "switch", {
    input: "{{ context }}",
    cases: [{ condition: "input.n > 5", target: "many" }],
    logging: { mask: ["/person/email", "/secrets/*"] },
  }),
];

const policies: readonly Fields[] = [
  {
    id: "files",
    type: "policy",
    tool: "*_file",
    policies: [
      {
        name: "read-first",
        version: "1.0.0",
        priority: 5,
        read_before_write: { read_tools: ["read_file"], write_tools: ["write_file"], path: "params.path" },
      },
      { name: "few-calls", version: "1.0.0", max_calls: { count: 6, per: "session" } },
      { name: "slow-calls", version: "1.0.0", max_calls: { count: 4, per: "1h" } },
      {
        name: "small",
        version: "2.0.0",
        conditions: [{ name: "small", expression: "get(params, 'size', 0) < 100" }],
        deny_reason: "too large: {{ params.size }}",
      },
      {
        name: "exception",
        version: "1.1.0",
        overrides: ["small"],
        when: "session.trusted",
        action: "modify_params",
        params: { compress: true, note: "{{ session.name }}" },
        effective_from: "2024-01-01T00:00:00Z",
        max_applications: 40,
      },
      {
        name: "in-a-hurry",
        version: "1.0.0",
        overrides: ["slow-calls", "read-first"],
        when: "get(session, 'urgent', false)",
        action: "allow_with_warning",
      },
    ],
  },
  {
    id: "files-too",
    type: "policy",
    tool: ["write_file", "drop_table"],
    policies: [
      { name: "asked", version: "1.0.0", conditions: [{ name: "asked", expression: "session.asked" }] },
      {
        name: "compress-less",
        version: "1.0.0",
        overrides: ["asked"],
        when: "params.path != '/notes/ü'",
        action: "modify_params",
        params: { compress: "{{ session.trusted }}" },
      },
      {
        name: "compressed",
        version: "1.0.0",
        conditions: [{ name: "compressed", expression: "get(params, 'compress', true)" }],
      },
    ],
    guardrails: [{ type: "no_disabled_targets", disabled_stages: ["drop_table"] }],
  },
  {
    id: "after-reading",
    type: "policy",
    tool: "summarise",
    policies: [{ name: "read", version: "1.0.0", requires: ["read_file"] }],
  },
];

const gateRules = [
  {
    id: "sanctioned",
    tier: "T1",
    severity: 100,
    when: "payee.country in ('XX', 'YY')",
    status: "RED",
    reason: "no payments to {{ payee.country }}",
  },
  { id: "paid", tier: "T2", severity: 60, applies_when: "exists(paid)", when: "paid", status: "GREEN-SKIP" },
  {
    id: "large",
    tier: "T2",
    severity: 50,
    when: "is_large",
    status: "YELLOW",
    suppresses: ["routine"],
    work_frame: { next_action: "review", missing_evidence: ["second"] },
  },
  { id: "routine", tier: "T3", severity: 10, when: "true", status: "GREEN" },
];

const gate = (id: string, fields: Fields): Fields => ({
  id,
  type: "gate",
  action: { org: "acme", domain: "payments", name: id },
  rules: gateRules,
  computed: { is_large: "amount > limit", limit: "10000" },
  ...fields,
});

const gates: readonly Fields[] = [
  gate("gate", {
    context_schema: {
      type: "object",
      required: ["amount", "payee"],
      properties: { amount: { type: "number", minimum: 0 }, payee: { type: "object" } },
    },
    computed: { limit: "10000", is_large: "amount > limit" },
  }),
  gate("gate-answers", {
    rules: gateRules.map((rule) => ({ ...rule, output: { payee: "{{ payee }}", large: "{{ is_large }}" } })),
    computed: { is_large: "amount > 10000" },
    logging: { mask: ["/payee/name"] },
  }),
  gate("gate-held", {
    computed: { is_large: "amount > 10000" },
    guardrails: [
      { type: "requires_approval", targets: ["gate-held"], on_fail: "escalate", escalate_to: "treasury" },
    ],
  }),
  gate("gate-limited", {
    computed: { is_large: "amount > 10000" },
    max_sum: { of: "amount", most: 50_000, per: "org", window: "1h" },
  }),
  gate("gate-timed", {
    computed: { is_large: "get(payee, 'name', '') != '' and starts_with(system.request_id, '0')" },
    rules: [
      {
        id: "late",
        tier: "T2",
        severity: 20,
        when: "system.request_time > '2020-01-01' and is_large",
        status: "GREEN",
      },
    ],
  }),
  gate("gate-masked", {
    computed: { is_large: "amount > 10000" },
    logging: { mask: ["/amount"] },
    entities: [{ type: "country", id: "{{ payee.country }}" }],
  }),
];

export const definitions: readonly Fields[] = [
  ...routing,
  ...hidden,
  scored("weighted_average"),
  scored("max_weight", {}, { logging: { mask: ["/secret"] } }),
  scored("consensus", { minimum_agreement: 0.6 }),
  scored(
    "threshold",
    { threshold: 0.85, fallback_decision: "review" },
    { guardrails: [{ type: "no_disabled_targets", disabled_stages: ["payout"] }] },
  ),
  ...policies,
  ...gates,
];

/** For every decision. */
export const guardrails: readonly Fields[] = [{ type: "weight_bounds", min_weight: 15, on_fail: "warn" }];

/** Why records of these cannot be replayed. */
export const reasons: Readonly<Record<string, string>> = {
  unlogged: "its inputs were not logged",
  masked: "it read masked values",
  "masked-way": "it read masked values",
  "gate-masked": "it read masked values",
};
