import type { DecisionType } from "../model/definition.js";
import { starterBodies } from "./starter-bodies.js";

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
