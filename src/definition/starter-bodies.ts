/** What stands below the head of a commented definition, for the types that do not route. */
export const starterBodies: Readonly<Record<"scored" | "policy" | "gate", string>> = {
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
