import type { ReadyDefinition } from "../decide/find.js";
import { casesOf, defaultLabel, labelsOf, possibleDecisions } from "../definition/branches.js";
import { foreignOverridesOf } from "../definition/loaded-definition.js";
import type { Path } from "../definition/yaml-source.js";
import { inputOf } from "../evaluate/evaluate.js";
import { compileRuleCondition } from "../evaluate/scored/evaluator.js";
import { compileCondition, evaluateCondition } from "../expression/template.js";
import type {
  BasePolicy,
  GateDefinition,
  PolicyDefinition,
  RoutingDefinition,
  ScoredDefinition,
} from "../model/definition.js";
import type { Scope } from "../model/scope.js";
import type { EvaluatorDetail, NamedCondition, PolicyDetail } from "../model/result.js";
import type { CaseResult } from "./run-tests.js";

/** Something that tests should reach: a branch that is selected, or a condition that is true and false. */
interface Goal {
  readonly kind: "branch" | "condition";
  readonly key: string;
  readonly label: string;
  readonly condition?: string;
  /** The path in the definition. */
  readonly path: Path;
}

/** What was seen of a goal: `true` of a branch that was selected. */
type Seen = "true" | "false" | "errored";
type Observation = readonly [decision: string, key: string, seen: Seen];

export interface Ratio {
  readonly covered: number;
  readonly total: number;
  readonly percent: number;
}

/** A branch that was never selected, or a condition that was not both true and false. */
export interface Missed {
  readonly kind: Goal["kind"];
  readonly label: string;
  readonly condition?: string;
  readonly never: "selected" | "true" | "false" | "true or false";
  /** Whether the condition could not be evaluated in a test. */
  readonly errored?: true;
  readonly path: Path;
}

export interface DecisionCoverage {
  readonly branches: Ratio;
  readonly conditions: Ratio;
  readonly missed: readonly Missed[];
}

export interface Coverage extends Omit<DecisionCoverage, "missed"> {
  readonly decisions: Readonly<Record<string, DecisionCoverage>>;
}

/** Measures which branches and conditions of the definitions the cases have reached. */
export function measureCoverage(
  definitions: readonly ReadyDefinition[],
  results: readonly CaseResult[],
): Coverage {
  const seen = new Map<string, Set<Seen>>();
  const observers = new Map<ReadyDefinition, Observe>();
  for (const { definition, answer } of results) {
    if (answer.decision === undefined) continue;
    const observe = observers.get(definition) ?? observerOf(definition);
    observers.set(definition, observe);
    for (const [decision, key, what] of observe(answer.decision)) {
      const id = JSON.stringify([decision, key]);
      seen.set(id, (seen.get(id) ?? new Set<Seen>()).add(what));
    }
  }
  const decisions = definitions.map((each): [string, DecisionCoverage] => {
    const { id } = each.loaded.definition;
    return [id, coverageOf(goalsOf(each), (key) => seen.get(JSON.stringify([id, key])) ?? none)];
  });
  const all = decisions.map(([, each]) => each);
  return {
    branches: sumOf(all.map(({ branches }) => branches)),
    conditions: sumOf(all.map(({ conditions }) => conditions)),
    decisions: Object.fromEntries(decisions),
  };
}

const none: ReadonlySet<Seen> = new Set();

function coverageOf(goals: readonly Goal[], seenOf: (key: string) => ReadonlySet<Seen>): DecisionCoverage {
  const missed = goals.flatMap((goal) => missedGoal(goal, seenOf(goal.key)) ?? []);
  const ratio = (kind: Goal["kind"]): Ratio => {
    const total = goals.filter((goal) => goal.kind === kind).length;
    return ratioOf(total - missed.filter((each) => each.kind === kind).length, total);
  };
  return { branches: ratio("branch"), conditions: ratio("condition"), missed };
}

function missedGoal({ kind, label, condition, path }: Goal, seen: ReadonlySet<Seen>): Missed | undefined {
  const isTrue = seen.has("true");
  if (isTrue && (kind === "branch" || seen.has("false"))) return undefined;
  const never =
    kind === "branch" ? "selected" : isTrue ? "false" : seen.has("false") ? "true" : "true or false";
  return {
    kind,
    label,
    ...(condition !== undefined && { condition }),
    never,
    ...(seen.has("errored") && { errored: true }),
    path,
  };
}

/** A percentage is rounded down, so that only everything is 100 %. */
const ratioOf = (covered: number, total: number): Ratio => ({
  covered,
  total,
  percent: total === 0 ? 100 : Math.floor((covered / total) * 1000) / 10,
});

const sumOf = (ratios: readonly Ratio[]): Ratio =>
  ratioOf(
    ratios.reduce((sum, { covered }) => sum + covered, 0),
    ratios.reduce((sum, { total }) => sum + total, 0),
  );

const branch = (key: string, label: string, path: Path): Goal => ({
  kind: "branch",
  key: `branch ${key}`,
  label,
  path,
});

/** Nothing, for a condition that is always the same. */
function condition(key: string, label: string, text: string, path: Path): readonly Goal[] {
  return isConstant(text)
    ? []
    : [{ kind: "condition", key: `condition ${key}`, label, condition: text, path }];
}

const isConstant = (text: string): boolean => text.trim() === "" || compileCondition(text).reads.length === 0;

function goalsOf({ loaded: { definition } }: ReadyDefinition): readonly Goal[] {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return routingGoals(definition);
    case "scored":
      return scoredGoals(definition);
    case "policy":
      return policyGoals(definition);
    case "gate":
      return gateGoals(definition);
  }
}

function routingGoals(definition: RoutingDefinition): readonly Goal[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  const isWeighted = definition.type === "weighted";
  // With a case that always matches, only an input that cannot be evaluated leads to the default.
  const always = cases.some(
    ({ each }) => !isWeighted && each.condition !== undefined && isTrue(each.condition),
  );
  const hasDefault = definition.input !== undefined || !always;
  return [
    ...cases.flatMap(({ each, path }, index) => {
      const label = labels[index] ?? "";
      const isSelectable = !isWeighted || (each.weight ?? 0) > 0;
      return [
        ...(isSelectable ? [branch(label, label, path)] : []),
        ...condition(String(index), label, each.condition ?? "", [...path, "condition"]),
      ];
    }),
    ...(hasDefault ? [branch(defaultLabel, defaultLabel, ["default"])] : []),
  ];
}

const emptyScope: Scope = { context: {}, input: undefined, facts: {}, system: {} };
const isTrue = (text: string): boolean =>
  isConstant(text) && (text.trim() === "" || evaluateCondition(compileCondition(text), emptyScope) === true);

function scoredGoals(definition: ScoredDefinition): readonly Goal[] {
  const ofRules = definition.evaluators.flatMap((evaluator, at) =>
    "rules" in evaluator
      ? evaluator.rules.flatMap((rule, index) => {
          const path = ["evaluators", at, "rules", index];
          const label = `${evaluator.name} / ${rule.id}`;
          const texts = rule.when === undefined ? compileRuleCondition(rule).texts() : [rule.when];
          return [
            branch(label, label, path),
            ...texts.flatMap((text, leaf) =>
              rule.when === undefined
                ? [
                    {
                      ...branch("", label, path),
                      kind: "condition" as const,
                      key: leafKey(label, leaf),
                      condition: text,
                    },
                  ]
                : condition(`${label} ${leaf}`, label, text, [...path, "when"]),
            ),
          ];
        })
      : [],
  );
  const decisions = possibleDecisions(definition).map((each) =>
    branch(`decision ${each}`, each, ["evaluators"]),
  );
  return [...ofRules, ...decisions];
}

const leafKey = (label: string, leaf: number): string => `condition ${label} ${leaf}`;

function policyGoals({ policies = [] }: PolicyDefinition): readonly Goal[] {
  return policies.flatMap((policy, index) => {
    const { name } = policy;
    const path = ["policies", index];
    if (policy.overrides !== undefined) {
      return [
        branch(`${name} applied`, `${name} (applied)`, path),
        ...condition(`${name} when 0`, name, policy.when ?? "", [...path, "when"]),
      ];
    }
    const builtIns = builtInConditions(policy).map(({ name: built, key, number, text }): Goal => ({
      ...branch("", name, [...path, key]),
      kind: "condition",
      key: `condition ${name} ${built} ${number}`,
      condition: text,
    }));
    const conditions = (policy.conditions ?? []).flatMap((each, at) =>
      condition(`${name} ${each.name} 0`, name, each.expression, [...path, "conditions", at]),
    );
    const canDeny = builtIns.length + (policy.conditions ?? []).length > 0;
    return [
      branch(`${name} allows`, `${name} (allows)`, path),
      ...(canDeny ? [branch(`${name} denies`, `${name} (denies)`, path)] : []),
      ...conditions,
      ...builtIns,
    ];
  });
}

interface BuiltIn {
  readonly name: string;
  readonly key: string;
  readonly number: number;
  readonly text: string;
}

const builtInConditions = ({
  requires = [],
  read_before_write: read,
  max_calls: calls,
  max_sum: sum,
}: BasePolicy): readonly BuiltIn[] => [
  ...requires.map((tool, number) => ({
    name: "requires",
    key: "requires",
    number,
    text: `requires ${tool}`,
  })),
  ...[
    read === undefined ? [] : "read_before_write",
    calls === undefined ? [] : "max_calls",
    sum === undefined ? [] : "max_sum",
  ]
    .flat()
    .map((name) => ({ name, key: name, number: 0, text: name })),
];

function gateGoals({ rules, max_calls, max_sum }: GateDefinition): readonly Goal[] {
  const always = rules.some(({ when, applies_when }) => applies_when === undefined && isTrue(when));
  const statuses = new Map(rules.map(({ status }, index) => [status, index] as const).reverse());
  return [
    ...rules.flatMap(({ id, when, applies_when }, index) => [
      branch(id, id, ["rules", index]),
      ...condition(`${id} applies_when`, id, applies_when ?? "", ["rules", index, "applies_when"]),
      ...condition(`${id} when`, id, when, ["rules", index, "when"]),
    ]),
    ...[...statuses]
      .reverse()
      .map(([status, index]) => branch(`status ${status}`, status, ["rules", index, "status"])),
    ...(always ? [] : [branch("none", "no rule matched", ["rules"])]),
    ...[max_calls === undefined ? [] : "max_calls", max_sum === undefined ? [] : "max_sum"]
      .flat()
      .map((name): Goal => ({
        kind: "condition",
        key: `condition ${name} 0`,
        label: name,
        condition: name,
        path: [name],
      })),
  ];
}

type Decided = NonNullable<CaseResult["answer"]["decision"]>;
type Observe = (decided: Decided) => readonly Observation[];

/** Returns a function that tells which goals a decision has reached. */
function observerOf(ready: ReadyDefinition): Observe {
  const { definition } = ready.loaded;
  const { id } = definition;
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return observeRouting(ready, definition);
    case "scored":
      return observeScored(ready, definition);
    case "policy":
      return observePolicy(ready);
    case "gate":
      return ({ answer: { evaluated } }) => {
        const { outcome } = evaluated;
        if (outcome?.type !== "gate") return [];
        const { predicate_traces: traces, matched_rules: matched, limits = [] } = outcome.decision_metadata;
        return [
          ...matched.map((rule) => branchSeen(id, rule)),
          ...(matched.length === 0 ? [branchSeen(id, "none")] : []),
          branchSeen(id, `status ${outcome.status}`),
          ...traces.flatMap(({ rule, applies, result, error }) => {
            const isOfWhen = applies !== false;
            return [
              ...(applies === undefined
                ? []
                : [conditionSeen(id, `${rule} applies_when`, applies, isOfWhen ? undefined : error)]),
              ...(isOfWhen ? [conditionSeen(id, `${rule} when`, result, error)] : []),
            ];
          }),
          ...namedConditions(id, "", limits),
        ];
      };
  }
}

const branchSeen = (id: string, key: string): Observation => [id, `branch ${key}`, "true"];

const conditionSeen = (id: string, key: string, result: boolean, error?: string): Observation => [
  id,
  `condition ${key}`,
  error === undefined ? (result ? "true" : "false") : "errored",
];

/**
 * Evaluates all conditions, also those after the selected case: the last of several cases is often true whenever it is
 * evaluated, because those before it are not.
 */
function observeRouting(ready: ReadyDefinition, definition: RoutingDefinition): Observe {
  const { id } = definition;
  const conditions = casesOf(definition).map(({ each: { condition: text = "" } }) =>
    isConstant(text) ? undefined : compileCondition(text),
  );
  return ({ answer: { evaluated }, scope }) => {
    const seen = evaluated.selected_labels.map((label) => branchSeen(id, label));
    const extended = withInput(ready, scope);
    if (extended === undefined) return seen;
    const ofConditions = conditions.flatMap((each, index) => {
      if (each === undefined) return [];
      const result = evaluateCondition(each, extended);
      return [
        typeof result === "boolean"
          ? conditionSeen(id, String(index), result)
          : conditionSeen(id, String(index), false, result.message),
      ];
    });
    return [...seen, ...ofConditions];
  };
}

/** Undefined: the input has no value, and no condition is evaluated. */
function withInput({ prepared }: ReadyDefinition, scope: Scope): Scope | undefined {
  const missing = {};
  const input = inputOf(prepared, scope, missing);
  return input === missing ? undefined : { ...scope, input };
}

/** Evaluates the conditions of all rules, as those after the first match are evaluated for other inputs only. */
function observeScored(ready: ReadyDefinition, definition: ScoredDefinition): Observe {
  const { id } = definition;
  const rules = definition.evaluators.flatMap((evaluator) =>
    "rules" in evaluator
      ? evaluator.rules.map((rule) => ({
          label: `${evaluator.name} / ${rule.id}`,
          compiled: compileRuleCondition(rule),
        }))
      : [],
  );
  return ({ answer: { evaluated }, scope }) => {
    const details = evaluated.evaluation_details as Readonly<Record<string, EvaluatorDetail>>;
    const extended = withInput(ready, scope) ?? scope;
    return [
      ...Object.entries(details).flatMap(([name, { rule_id }]) =>
        rule_id === undefined ? [] : [branchSeen(id, `${name} / ${rule_id}`)],
      ),
      ...evaluated.selected_labels.map((label) => branchSeen(id, `decision ${label}`)),
      ...rules.flatMap(({ label, compiled }) =>
        compiled
          .evaluate(extended)
          .traces.map((trace, leaf) =>
            conditionSeen(id, `${label} ${leaf}`, trace.result, "error" in trace ? trace.error : undefined),
          ),
      ),
    ];
  };
}

function observePolicy({ loaded }: ReadyDefinition): Observe {
  const { definition } = loaded;
  const overrides = new Map(
    definition.type === "policy"
      ? (definition.policies ?? []).flatMap((each) =>
          each.overrides === undefined ? [] : [[each.name, definition.id] as const],
        )
      : [],
  );
  // An override of another decision is reached by the calls that it allows.
  for (const { decision, override } of foreignOverridesOf(loaded)) overrides.set(override.name, decision);
  return ({ answer: { evaluated } }) => {
    const details = evaluated.evaluation_details as Readonly<Record<string, PolicyDetail>>;
    return Object.entries(details).flatMap(([name, { result, left_out, conditions }]) => {
      const owner = overrides.get(name);
      const id = owner ?? definition.id;
      const isBase = owner === undefined;
      const reached = isBase ? left_out === undefined : result;
      return [
        ...(reached
          ? [branchSeen(id, `${name} ${isBase ? (result ? "allows" : "denies") : "applied"}`)]
          : []),
        ...namedConditions(id, `${name} `, conditions),
      ];
    });
  };
}

/** Conditions of one name, such as `requires`, are numbered. */
function namedConditions(
  id: string,
  prefix: string,
  conditions: readonly NamedCondition[],
): readonly Observation[] {
  const counts = new Map<string, number>();
  return conditions.map(({ name, result, error }) => {
    const number = counts.get(name) ?? 0;
    counts.set(name, number + 1);
    return conditionSeen(id, `${prefix}${name} ${number}`, result, error);
  });
}
