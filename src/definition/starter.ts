import type { DecisionType } from "../model/definition.js";

/** A commented definition to begin with; it is valid as it stands. */
export function starter(type: DecisionType, id: string): string {
  return head(type, id) + bodies[type].replace("SALT", id);
}

const head = (
  type: DecisionType,
  id: string,
): string => `# yaml-language-server: $schema=./agent-33.schema.json
# (write the schema with: agent-33 decision schema > agent-33.schema.json)
decision:
  id: ${id}
  name: ${JSON.stringify(titleOf(id))}
  version: "0.1.0"
  type: ${type}
`;

const tail = `  # Where to go when nothing matches, or the input cannot be evaluated.
  default:
    target: stage-fallback
`;

/** What stands below the head of a commented definition, for the types that do not route. */
const starterBodies: Readonly<Record<"scored" | "policy" | "gate", string>> = {
  scored: `  # What the rules ask about may be fetched first: see \`agent-33 help endpoints\`.
  # Each evaluator casts one vote or none: the first rule that matches votes.
  evaluators:
    - name: credit
      ruleset: credit_rules
      rules:
        - id: good_credit
          # \`agent-33 help operators\` lists them; all, any and none may be nested.
          if:
            all:
              - { field: credit.score, op: gte, value: 700 }
              - { field: fraud, op: neq, value: true }
          then: { decision: approve, weight: 0.9, reason: "Good credit" }
        - id: poor_credit
          # An expression instead of \`if\`.
          when: "credit.score < 500"
          then: { decision: reject, weight: 0.8, reason: "Poor credit" }
    # A vote that is always cast, so that there is always an answer.
    - name: house_rule
      static: { decision: review, weight: 0.3, reason: "When in doubt, look at it" }
  # weighted_average, max_weight, consensus (minimum_agreement) or threshold (threshold, fallback_decision)
  scoring: { strategy: weighted_average }
  # Where each decision leads; may be left out.
  targets:
    approve: stage-approve
    reject: stage-reject
    review: stage-review
`,
  policy: `  # The tool that may be called or not: a name, or a glob such as write_*.
  # The context is { tool, params, session, resources }; ask with: agent-33 decision check TOOL --params JSON
  tool: send_email
  policies:
    # All that a policy asks for must hold, else it denies. All policies must allow the call.
    - name: internal_only
      version: 1.0.0
      conditions:
        - { name: internal_recipient, expression: "ends_with(params.to, '@example.com')" }
      # At most so many calls in a session; or per: "1h".
      max_calls: { count: 20, per: session }
      deny_reason: "Only colleagues may be written to, not {{ params.to }}"
    # An override flips the denials of the policies that it names.
    - name: partners_during_launch
      version: 1.0.0
      overrides: [internal_only]
      when: "ends_with(params.to, '@partner.example')"
      action: allow_with_warning
      reason: "Partners may be written to during the launch"
      effective_from: 2026-01-01T00:00:00Z
      expires_at: 2027-01-01T00:00:00Z
      max_applications: 100
`,
  gate: `  # What the gate is found by: agent-33 decision gate acme/payments/wire.approve --input JSON
  action: { org: acme, domain: payments, name: wire.approve, world_model_version: 1 }
  # The JSON Schema of what the caller supplies; where it does not fit, the status is at least YELLOW.
  context_schema:
    type: object
    required: [amount, country]
    properties:
      amount: { type: number, minimum: 0 }
      country: { type: string }
  # Values made of the context; each sees those above it.
  computed:
    is_large: "amount > 10000"
  rules:
    # T1: wins outright, cannot be suppressed; RED or YELLOW only.
    - id: sanctioned-country
      tier: T1
      severity: 100
      when: "country in ('XX', 'YY')"
      status: RED
      reason: "The country is sanctioned"
      work_frame: { next_human_owner: compliance, forbidden_actions: [wire.approve] }
    # Of the others, the highest severity that matches decides.
    - id: large-needs-review
      tier: T2
      severity: 50
      when: "is_large"
      status: YELLOW
      reason: "{{ amount }} needs a second pair of eyes"
      # Left out, the rule is always asked.
      applies_when: "country != 'DE'"
      suppresses: [routine]
      work_frame: { next_action: prepare_review_packet, missing_evidence: [second_approval] }
    - id: routine
      tier: T3
      severity: 10
      when: "true"
      status: GREEN
  aggregation: winner_takes_all
`,
};

const bodies: Readonly<Record<DecisionType, string>> = {
  ...starterBodies,
  binary: `  # What is asked about: a value of the context given with --input.
  input: "{{ artifact.quality_score }}"
  # The first case whose condition is true is taken.
  cases:
    - condition: "input >= 0.8"
      target: stage-deploy
      label: "Pass"
    - condition: "input < 0.8"
      target: stage-rework
      label: "Fail"
${tail}`,
  switch: `  # What is asked about: a value of the context given with --input.
  input: "{{ artifact.type }}"
  # The first case whose condition is true is taken.
  cases:
    - condition: "input == 'prompt'"
      target: stage-prompt
      label: "Prompt"
    - condition: "input in ('workflow', 'schema')"
      target: stage-structure
      label: "Structure"
${tail}`,
  weighted: `  # Who is assigned: the same input always takes the same branch.
  input: "{{ request.id }}"
  # Keeps these buckets independent of other weighted decisions on the same input.
  salt: "SALT"
  cases:
    - target: stage-control
      weight: 90
      label: "Control"
    - target: stage-variant
      weight: 10
      label: "Variant"
${tail}`,
  rule_table: `  # Left out, \`input\` is the whole context.
  # first: the first match; priority: the match with the lowest number; collect: all matches;
  # unique: at most one may match; any: all matches must agree on the target.
  hit_policy: first
  rules:
    - condition: "input.severity == 'critical' and input.attempts > 2"
      target: stage-human
      label: "Critical, tried before"
      priority: 1
    - condition: "input.severity == 'critical'"
      target: stage-senior-agent
      label: "Critical"
      priority: 2
${tail}`,
};

function titleOf(id: string): string {
  const words = id.split(/[._-]+/).filter((word) => word !== "");
  return words.map((word) => word.charAt(0).toUpperCase() + word.slice(1)).join(" ") || id;
}
