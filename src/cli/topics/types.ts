/** How the types that do not route are written, and what they do. */
export const scoredTopic = (): string => `SCORED

  Several evaluators vote; a strategy makes one decision of their votes.

  evaluators:                 at least one, each with a name of its own
    - name: credit
      ruleset: credit_rules   recorded with each vote; the name when left out
      rules:                  the first rule that matches votes; where none does, there is no vote
        - id: good_credit     recorded as rule_id
          if: { all: [ { field: credit.score, op: gte, value: 700 } ] }     (see \`agent-33 help operators\`)
          then: { decision: approve, weight: 0.9, reason: "Good credit" }   a weight is from 0 to 1
        - id: poor_credit
          when: "credit.score < 500"                an expression instead of \`if\`
          then: { decision: reject, weight: 0.8 }
    - name: house_rule
      static: { decision: review, weight: 0.3 }     a vote that is always cast
  scoring: { strategy: threshold, threshold: 0.8, fallback_decision: review }
  targets: { approve: stage-payout }                where a decision leads; may be left out

STRATEGIES (the confidence has four decimals; of equals, the decision that is seen first wins)
  weighted_average   the greatest sum of weights decides; its share of all weights is the confidence (the default)
  max_weight         the greatest single weight decides, and is the confidence
  consensus          most votes decide; their share is the confidence, 0 below minimum_agreement (else 0.5)
  threshold          the greatest single weight decides where it reaches the threshold; else the fallback_decision,
                     with half of that weight as the confidence

  What the rules ask about may be fetched first, with \`enrich\` or the operator \`fetch_from_api\`: \`agent-33 help endpoints\`.
  Nobody votes: an error (exit code 1). --format audit prints what it takes to reach the decision again.
`;

export const policyTopic = (): string => `POLICY

  Whether a tool may be called: agent-33 decision check TOOL --params JSON --session-id ID
  The context is { tool, params, session, resources }; the last two come with --context.

  tool: write_file            a name, a glob (* any characters, ? one), or a list of these
  policies:                   all that are in effect must allow the call
    - name: inside_project    with version, description, priority (higher first), effective_from, expires_at
      conditions:             all must hold; one that cannot be evaluated denies
        - { name: inside, expression: "starts_with(params.path, '/repo/')" }
      requires: [run_tests]   tools that must have succeeded in the session (\`decision result\`)
      read_before_write:      what one of the write_tools writes, one of the read_tools must have read in the session
        { read_tools: [read_file], write_tools: [write_file], path: params.path }
      max_calls: { count: 20, per: session }        or per: "1h": in the last hour of the session
      reason: "…"             why it allows; deny_reason: why it denies; {{ … }} is filled in, or is (nothing)
    - name: docs_are_fine     an override: it flips the denials of the policies it names
      overrides: [inside_project]
      when: "ends_with(params.path, '.md')"         always, when left out; where it errs, it does not apply
      action: allow           or allow_with_warning, or modify_params with params: { … }
      max_applications: 100   calls that were finally allowed count; effective_from and expires_at say when

  A tool that no policy is about is allowed (policy \`none\`). To deny what you do not know:
    { tool: "*", policies: [{ name: known_tools, conditions: [{ name: known, expression: "tool in ('Read', 'Write')" }] }] }
  Exit codes: 0 allowed, 4 denied, 3 while any policy is broken.
`;

export const gateTopic = (): string => `GATE

  Whether, and how, an agent may go on: agent-33 decision gate ORG/DOMAIN/ACTION[@VERSION] --input JSON

  action: { org: acme, domain: payments, name: wire.approve, world_model_version: 3 }   without a version, 1
  context_schema: { … }       the JSON Schema (draft 7) of what the caller supplies
  computed: { is_large: "amount > 10000" }          values of your own; each sees those above it
  rules:
    - id: sanctioned
      tier: T1                T1 wins outright, cannot be suppressed, and is YELLOW or RED; T2 and T3 are weighed alike
      severity: 100           the highest that matches decides; at the same severity RED > YELLOW > GREEN-SKIP > GREEN
      applies_when: "…"       whether it is asked at all; may be left out
      when: "payee.country in ('XX', 'YY')"
      status: RED             GREEN, GREEN-SKIP, YELLOW or RED
      reason: "…"             {{ … }} is filled in, or is (nothing)
      suppresses: [routine]   these do not count where this one matches (and is not suppressed itself)
      work_frame:             next_action, allowed_actions, forbidden_actions, required_output, missing_evidence,
        { next_human_owner: compliance }            next_human_owner: merged from the rules that decide
  aggregation: winner_takes_all

  Never GREEN: a context that does not fit its schema, and anything that cannot be evaluated (YELLOW, with
  next_action gather_evidence_and_retry), and a gate without a rule that matches (YELLOW).
  Exit codes: 0 GREEN and GREEN-SKIP, 5 YELLOW, 4 RED, 3 while a gate of the action is broken.
`;
