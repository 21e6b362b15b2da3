import type { DecisionType } from "../model/definition.js";

/** Returns a commented definition to start from; it is valid. The folder is the one that it is written to. */
export function starter(type: DecisionType, id: string, folder: StarterFolder): string {
  return editorHelp(folder) + head(type, id) + bodies[type].replace("SALT", id);
}

interface StarterFolder {
  readonly path: string;
  /** Whether the folder has the schema of definitions: editors report a schema that does not exist. */
  readonly hasSchema: boolean;
}

/** The name of the schema file that editors read. */
export const schemaFile = "agent-33.schema.json";

const editorHelp = ({ path, hasSchema }: StarterFolder): string =>
  hasSchema
    ? `# yaml-language-server: $schema=./${schemaFile}\n`
    : `# For help in editors, run: agent-33 decision schema > ${path}/${schemaFile}
# and start this file with "# yaml-language-server: $schema=./${schemaFile}"
`;

/** The ids that YAML reads as text without quotes. */
const isText = /^(?!(?:true|false|null)$)[a-z_]/i;

const head = (type: DecisionType, id: string): string => `decision:
  id: ${isText.test(id) ? id : JSON.stringify(id)}
  name: ${JSON.stringify(titleOf(id))}
  version: "0.1.0"
  type: ${type}
`;

const tail = `  # The target if no case matches, or if the input cannot be evaluated.
  default:
    target: stage-fallback
`;

/** The bodies of the commented definitions, for the types that do not route. */
const starterBodies: Readonly<Record<"scored" | "policy" | "gate", string>> = {
  scored: `  # Data can be fetched before the rules are evaluated: see \`agent-33 help endpoints\`.
  # Each evaluator casts at most one vote: that of its first rule that matches.
  evaluators:
    - name: credit
      ruleset: credit_rules
      rules:
        - id: good_credit
          # \`agent-33 help operators\` lists the operators; all, any and none can be nested.
          if:
            all:
              - { field: credit.score, op: gte, value: 700 }
              - { field: fraud, op: neq, value: true }
          then: { decision: approve, weight: 0.9, reason: "Good credit" }
        - id: poor_credit
          # An expression, instead of \`if\`.
          when: "credit.score < 500"
          then: { decision: reject, weight: 0.8, reason: "Poor credit" }
    # This vote is always cast, so there is always an answer.
    - name: house_rule
      static: { decision: review, weight: 0.3, reason: "No rule matched" }
  # weighted_average, max_weight, consensus (minimum_agreement) or threshold (threshold, fallback_decision)
  scoring: { strategy: weighted_average }
  # The target of each decision (optional).
  targets:
    approve: stage-approve
    reject: stage-reject
    review: stage-review
`,
  policy: `  # The tool that the policies apply to: a name, or a glob such as write_*.
  # The context is { tool, params, session, resources }; check a call with:
  # agent-33 decision check TOOL --params JSON --session-id ID
  tool: send_email
  policies:
    # A policy denies the call unless all its conditions are true. Every policy must allow the call.
    - name: internal_only
      version: 1.0.0
      conditions:
        - { name: internal_recipient, expression: "ends_with(params.to, '@example.com')" }
      # At most 20 calls in a session; or per: "1h".
      max_calls: { count: 20, per: session }
      deny_reason: "E-mail is only allowed to colleagues, not to {{ params.to }}"
    # An override allows calls that the named policies deny.
    - name: partners_during_launch
      version: 1.0.0
      overrides: [internal_only]
      when: "ends_with(params.to, '@partner.example')"
      action: allow_with_warning
      # It can be limited in time, with effective_from and expires_at: 2026-12-31T00:00:00Z, and in number:
      max_applications: 100
      reason: "E-mail to partners is allowed during the launch"
`,
  gate: `  # The key of the gate: agent-33 decision gate acme/payments/wire.approve --input JSON
  action: { org: acme, domain: payments, name: wire.approve, world_model_version: 1 }
  # A JSON Schema of the context. If the context does not fit, the status is at least YELLOW.
  context_schema:
    type: object
    required: [amount, country]
    properties:
      amount: { type: number, minimum: 0 }
      country: { type: string }
  # Values computed from the context; each can use the values above it.
  computed:
    is_large: "amount > 10000"
  rules:
    # T1 rules win over all others and cannot be suppressed; RED or YELLOW only.
    - id: sanctioned-country
      tier: T1
      severity: 100
      when: "country in ('XX', 'YY')"
      status: RED
      reason: "The country is sanctioned"
      work_frame: { forbidden_actions: [wire.approve], next_human_owner: compliance }
    # Among the others, the matching rule with the highest severity decides.
    - id: large-needs-review
      tier: T2
      severity: 50
      when: "is_large"
      status: YELLOW
      reason: "{{ amount }} requires a second approval"
      # With \`applies_when: EXPRESSION\`, a rule is only evaluated where that is true.
      suppresses: [routine]
      work_frame: { next_action: prepare_review_packet, missing_evidence: [second_approval] }
    - id: routine
      tier: T3
      severity: 10
      when: "true"
      status: GREEN
      reason: "Routine payment"
  aggregation: winner_takes_all
`,
};

const bodies: Readonly<Record<DecisionType, string>> = {
  ...starterBodies,
  binary: `  # The value to decide on, from the context given with --input.
  input: "{{ artifact.quality_score }}"
  # The first case with a true condition is used.
  cases:
    - condition: "input >= 0.8"
      target: stage-deploy
      label: "Pass"
    - condition: "input < 0.8"
      target: stage-rework
      label: "Fail"
${tail}`,
  switch: `  # The value to decide on, from the context given with --input.
  input: "{{ artifact.type }}"
  # The first case with a true condition is used.
  cases:
    - condition: "input == 'prompt'"
      target: stage-prompt
      label: "Prompt"
    - condition: "input in ('workflow', 'schema')"
      target: stage-structure
      label: "Structure"
${tail}`,
  weighted: `  # The same input always takes the same branch.
  input: "{{ request.id }}"
  # Makes the split independent of other weighted decisions with the same input.
  salt: "SALT"
  cases:
    - target: stage-control
      weight: 90
      label: "Control"
    - target: stage-variant
      weight: 10
      label: "Variant"
${tail}`,
  rule_table: `  # Without \`input\`, the input is the whole context.
  # first: the first match; priority: the match with the lowest number; unique: at most one may match;
  # any: all matches must agree on the target; collect and rule_order: all matches;
  # output_order: all matches, in the order of \`output_values\`.
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
