import { casesOf, defaultLabel, labelsOf } from "../definition/branches.js";
import type { Outcome } from "../evaluate/evaluate.js";
import { isPermissive } from "../evaluate/gate/aggregation.js";
import { describeErrored } from "../evaluate/gate/errored-texts.js";
import type { Case, Definition, GateRule, RoutingDefinition, ScoredDefinition } from "../model/definition.js";
import type {
  Check,
  ErroredPredicate,
  EvaluationDetails,
  EvaluatorDetail,
  GateOutcome,
  PolicyDetail,
  Proposed,
  ScoredOutcome,
} from "../model/result.js";
import { isRollDetails } from "./condition-results.js";

/** What kept a label from being chosen besides its own conditions. */
export interface Overruling {
  readonly type: OverrulingType;
  /** The label, rule, policy, evaluator or guardrail that did. */
  readonly name: string;
  readonly message: string;
  /** Of a draw: the number that was drawn, below the sum of all weights. Absent where the input is masked. */
  readonly roll?: number;
  readonly total_weight?: number;
  /** Of a draw: the numbers that select the label, from (exclusive, unless 0) and to. Absent: none does. */
  readonly interval?: readonly [from: number, to: number];
}

type OverrulingType =
  | "earlier_match"
  | "priority"
  | "hit_policy"
  | "match"
  | "input"
  | "roll"
  | "vote"
  | "strategy"
  | "rule"
  | "suppression"
  | "no_match"
  | "error"
  | "limit"
  | "policy"
  | "override"
  | "guardrail";

/** What a decision answered, as far as it overrules labels. */
export interface DecidedAnswer {
  readonly selected_labels: readonly string[];
  readonly warnings: readonly string[];
  readonly evaluation_details: EvaluationDetails;
  readonly checks: readonly Check[];
  /** The answer before it was blocked or escalated. */
  readonly proposed: Partial<Proposed> | undefined;
  readonly outcome: Outcome | undefined;
}

/** Returns what overruled a label that was not chosen, in the order of evaluation. */
export function overrulings(
  definition: Definition,
  label: string,
  answer: DecidedAnswer,
): readonly Overruling[] {
  return [...overruledBy(definition, label, answer), ...guardedBy(label, answer)];
}

function overruledBy(definition: Definition, label: string, answer: DecidedAnswer): readonly Overruling[] {
  const { outcome, evaluation_details: details } = answer;
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return byBranches(definition, label, answer);
    case "scored":
      return outcome?.type === "scored"
        ? byVotes(definition, label, {
            outcome,
            details: details as Readonly<Record<string, EvaluatorDetail>>,
          })
        : [];
    case "gate":
      return outcome?.type === "gate" ? byRules(definition.rules, label, outcome) : [];
    case "policy":
      return byPolicies(label, evaluatedLabels(answer)[0], details as Readonly<Record<string, PolicyDetail>>);
  }
}

/** Returns the labels that evaluation selected, before guardrails changed the answer. */
function evaluatedLabels({ selected_labels, proposed }: DecidedAnswer): readonly string[] {
  if (proposed === undefined) return selected_labels;
  const { proposed_labels, proposed_outcome, proposed_status } = proposed;
  return proposed_labels ?? [proposed_outcome ?? proposed_status ?? []].flat();
}

/** The guardrails that changed the answer, if it would have been the label. */
function guardedBy(label: string, answer: DecidedAnswer): readonly Overruling[] {
  if (answer.proposed === undefined || !evaluatedLabels(answer).includes(label)) return [];
  return guardrailOverrulings(answer.checks);
}

/** Returns the failed checks that block or escalate an answer. */
export const guardrailOverrulings = (checks: readonly Check[]): readonly Overruling[] =>
  checks
    .filter(({ passed, on_fail }) => !passed && on_fail !== "warn")
    .map(({ check_name: name, message, on_fail = "block" }) => ({
      type: "guardrail",
      name,
      message: `the guardrail \`${name}\` ${on_fail === "block" ? "blocks" : "escalates"} it: ${message}`,
    }));

function byBranches(
  definition: RoutingDefinition,
  label: string,
  answer: DecidedAnswer,
): readonly Overruling[] {
  const { evaluation_details: details, warnings } = answer;
  const selected = evaluatedLabels(answer);
  const [winner] = selected;
  if (winner === undefined || selected.includes(label)) return [];
  const cases = casesOf(definition).map(({ each }) => each);
  const labels = labelsOf(cases);
  if (winner === defaultLabel && Object.keys(details).length === 0 && warnings[0] !== undefined)
    return [{ type: "input", name: "input", message: warnings[0] }];
  if (isRollDetails(details)) return byRoll(label, winner, details);
  if (winner === defaultLabel) return [];
  if (label === defaultLabel)
    return selected.map((name) => ({ type: "match", name, message: `\`${name}\` matches` }));
  return byOtherMatch(definition, { label, winner }, { cases, labels });
}

interface Branches {
  readonly cases: readonly Case[];
  readonly labels: readonly string[];
}

function byOtherMatch(
  definition: RoutingDefinition,
  { label, winner }: { readonly label: string; readonly winner: string },
  { cases, labels }: Branches,
): readonly Overruling[] {
  const policy = definition.type === "rule_table" ? (definition.hit_policy ?? "first") : "first";
  const [own, other] = [labels.indexOf(label), labels.indexOf(winner)];
  const priorityAt = (index: number): number => cases[index]?.priority ?? 0;
  switch (policy) {
    case "first":
    case "any":
      if (other > own) return [];
      return [{ type: "earlier_match", name: winner, message: `\`${winner}\` matches before it` }];
    case "priority": {
      const [first, second] = [priorityAt(other), priorityAt(own)];
      if (first > second || (first === second && other > own)) return [];
      const message = `\`${winner}\` matches with priority ${first}, which comes before priority ${second}`;
      return [
        {
          type: "priority",
          name: winner,
          message: first === second ? `\`${winner}\` matches before it` : message,
        },
      ];
    }
    case "unique":
      return [
        {
          type: "hit_policy",
          name: winner,
          message: `\`${winner}\` matches, and no other rule may match then`,
        },
      ];
    case "collect":
    case "rule_order":
    case "output_order":
      return [];
  }
}

function byRoll(
  label: string,
  winner: string,
  { roll, total_weight, weights }: Extract<EvaluationDetails, { readonly total_weight: number }>,
): readonly Overruling[] {
  const intervalOf = (name: string): readonly [number, number] | undefined => {
    let from = 0;
    for (const [each, weight] of Object.entries(weights)) {
      if (each === name) return weight > 0 ? [from, from + weight] : undefined;
      from += weight;
    }
    return undefined;
  };
  const [own, other] = [intervalOf(label), intervalOf(winner)];
  const rolled = roll === undefined ? "a number that is masked" : `${roll} of ${total_weight}`;
  const drawn =
    other === undefined ? "" : `, in the interval of \`${winner}\` from ${other[0]} to ${other[1]}`;
  const rest = (): string => {
    if (label === defaultLabel) return "";
    if (own !== undefined) return `; that of \`${label}\` is from ${own[0]} to ${own[1]}`;
    return weights[label] === undefined
      ? `; \`${label}\` takes no part`
      : `; the weight of \`${label}\` is 0`;
  };
  return [
    {
      type: "roll",
      name: winner,
      message: `rolled ${rolled}${drawn}${rest()}`,
      ...(roll !== undefined && { roll }),
      total_weight,
      ...(own !== undefined && { interval: own }),
    },
  ];
}

interface Votes {
  readonly outcome: ScoredOutcome;
  readonly details: Readonly<Record<string, EvaluatorDetail>>;
}

function byVotes(
  { evaluators }: ScoredDefinition,
  label: string,
  { outcome: { evaluations, explanations, scoring_strategy }, details }: Votes,
): readonly Overruling[] {
  const earlier = evaluators.flatMap((evaluator): readonly Overruling[] => {
    if (!("rules" in evaluator)) return [];
    const { name, rules } = evaluator;
    const voted = rules.findIndex(({ id }) => id === details[name]?.rule_id);
    const rule = rules[voted];
    if (rule === undefined || rule.then.decision === label) return [];
    const later = rules.slice(voted + 1).filter(({ then }) => then.decision === label);
    return later.map(({ id }) => ({
      type: "earlier_match",
      name: `${name} / ${rule.id}`,
      message: `\`${rule.id}\` of \`${name}\` matches before \`${id}\``,
    }));
  });
  const others = evaluations
    .filter(({ decision }) => decision !== label)
    .map(({ evaluator_name: name, decision, weight }): Overruling => {
      const message = `\`${name}\` votes \`${decision}\` with weight ${weight}`;
      return { type: "vote", name, message };
    });
  const resolution = explanations.at(-1);
  const isOutvoted = evaluations.some(({ decision }) => decision === label) && resolution !== undefined;
  return [
    ...earlier,
    ...others,
    ...(isOutvoted ? [{ type: "strategy" as const, name: scoring_strategy, message: resolution }] : []),
  ];
}

function byRules(
  rules: readonly GateRule[],
  label: string,
  {
    decision_metadata: { matched_rules, suppressed, aggregation, limits = [], errored_predicates: errors },
  }: GateOutcome,
): readonly Overruling[] {
  const { deciding_rules: deciding, raised } = aggregation;
  const ofLabel = rules.filter(({ id, status }) => id === label || status === label).map(({ id }) => id);
  const lost = ofLabel.filter((id) => matched_rules.includes(id) && !deciding.includes(id));
  const isSuppressed = (id: string): boolean => suppressed.some(({ rule }) => rule === id);
  const suppressions = suppressed
    .filter(({ rule }) => lost.includes(rule))
    .map(({ rule, by }): Overruling => ({
      type: "suppression",
      name: by,
      message: `\`${by}\` matches and suppresses \`${rule}\``,
    }));
  const outranked = lost.filter((id) => !isSuppressed(id));
  const winners = rules
    .filter(({ id }) => deciding.includes(id) && !ofLabel.includes(id))
    .map(({ id, tier, severity, status }): Overruling => {
      const what = `\`${id}\` (${tier}, severity ${severity})`;
      const others = outranked.map((each) => `\`${each}\``).join(", ");
      const message =
        others === "" ? `${what} decides ${status}` : `${what} decides ${status} and outranks ${others}`;
      return { type: "rule", name: id, message };
    });
  const exceeded = limits.find(({ result }) => !result);
  const isPermissiveLabel = rules.some(
    ({ id, status }) => (id === label || status === label) && isPermissive(status),
  );
  return [
    ...suppressions,
    ...winners,
    ...(deciding.length === 0
      ? [{ type: "no_match" as const, name: "YELLOW", message: "no rule decides, so the gate is YELLOW" }]
      : []),
    ...(isPermissiveLabel ? errors.map(byError) : []),
    ...(exceeded === undefined || raised === undefined || raised.to === label
      ? []
      : [
          { type: "limit" as const, name: exceeded.name, message: `${raised.reason}, so it is ${raised.to}` },
        ]),
  ];
}

/** With an error, a gate is neither GREEN nor GREEN-SKIP. */
const byError = (error: ErroredPredicate): Overruling => ({
  type: "error",
  name: error.name ?? error.source,
  message: describeErrored(error),
});

function byPolicies(
  label: string,
  outcome: string | undefined,
  details: Readonly<Record<string, PolicyDetail>>,
): readonly Overruling[] {
  if (outcome === undefined || outcome === label) return [];
  const entries = Object.entries(details);
  const standing = entries.flatMap(
    ([name, { result, left_out, overridden_by, reason }]): readonly Overruling[] => {
      const stands = !result && left_out === undefined && overridden_by === undefined;
      return stands
        ? [{ type: "policy", name, message: `\`${name}\` denies: ${reason ?? "a condition does not hold"}` }]
        : [];
    },
  );
  const applied = entries.flatMap(([name, { result, overrides = [] }]): readonly Overruling[] => {
    const flipped = overrides.map((each) => `\`${each}\``).join(", ");
    return result && overrides.length > 0
      ? [{ type: "override", name, message: `\`${name}\` overrides the denial of ${flipped}` }]
      : [];
  });
  switch (outcome) {
    case "denied":
      return label === "allowed" ? standing : [...standing, ...notApplied(entries)];
    case "allowed_by_exception":
      return applied;
    default:
      return [{ type: "no_match", name: "allowed", message: "no policy denies the call" }];
  }
}

/** The overrides that do not apply to a denial, and why. */
const notApplied = (entries: readonly (readonly [string, PolicyDetail])[]): readonly Overruling[] =>
  entries.flatMap(([name, { result, left_out: why }]): readonly Overruling[] => {
    const isOverride = !result && why !== undefined;
    return isOverride ? [{ type: "override", name, message: `\`${name}\` does not apply: ${why}` }] : [];
  });
