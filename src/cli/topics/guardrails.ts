/** How guardrails, targets, entities and artifacts are written, and what they do. */
export const guardrailsTopic = (): string => `GUARDRAILS

  Whether an answer may be acted on. Within a decision they are its own; at the top of a document,
  beside no decision, they are for every decision of the directory.

  guardrails:
    - type: no_disabled_targets     the answer leads to nothing that is switched off
      disabled_stages: [stage-x]    names or globs (* any characters, ? one); what \`targets\` declares as disabled counts too
    - type: weight_bounds           of a weighted decision: no case is too small or too large
      min_weight: 5
      max_weight: 90
    - type: requires_approval       some targets are reached by way of an approval only
      workflows: [prod-*]           in these (--workflow-id); in all when left out
      targets: [stage-deploy]       these; all when left out
      approval_target: stage-approval
      on_fail: escalate
      escalate_to: stage-approval   the approval_target when left out
    - type: distribution_drift      of a weighted decision: it is taken as its weights say
      p_value: 0.001                below this it has drifted (chi-square, over distinct inputs)
      minimum: 500                  of fewer nothing is said; a changed definition begins anew
      on_fail: warn

ON_FAIL (block wins over escalate, escalate over warn; one that cannot tell blocks)
  block      the default. Nothing is selected, a call is denied, a gate is RED; exit code 4
  escalate   it leads to escalate_to (exit code 0); a call is denied (4), a gate is YELLOW (5); of several the first
  warn       the answer stands, with a warning
  What was proposed is in proposed_targets, proposed_labels, proposed_outcome and proposed_status.

  Of a call that is allowed the tool, and of a gate that is GREEN the action, counts as its target.

TARGETS (a document of its own; where any are declared, all must be)
  targets:
    - stage-rework
    - { id: stage-deploy, kind: stage, depends_on: [stage-rework] }
    - { id: stage-legacy, kind: stage, disabled: true }     nothing leads there: it is blocked

  A target that is the id of a decision leads on to it: \`evaluate --follow\`, \`decision graph\`.

ENTITIES AND ARTIFACTS
  entities:                         what a decision is about; those on the same ones are its precedents
    - { type: customer, id: "{{ customer.id }}" }
  artifacts: ["{{ artifact.id }}"]  what went in; \`lineage --artifact\` and \`--impact\` look for these
`;
