import type { Box } from "./box.js";
import type { Domains } from "./cover.js";
import { boxOfDomains, domainsOf, findUncovered } from "./cover.js";
import { BoxIndex } from "./cover-index.js";
import type { Confirm } from "./findings.js";
import type { Formula, WorkLimit } from "./formula.js";
import { product } from "./formula.js";
import { findMasked } from "./masked.js";
import type { RoutingModel, RoutingRule } from "./model-decision.js";
import { answerContent } from "./model-decision.js";
import type { Analysing, RuleRegion } from "./rule-regions.js";
import { limited, possibleBoxes, regionsOfRules, reportGaps, reportUnreachable } from "./rule-regions.js";
import type { Space } from "./space.js";
import type { Trial } from "./trial.js";
import { selectedLabel } from "./trial.js";
import { inputOf } from "../evaluate/evaluate.js";
import { compileCondition, evaluateCondition } from "../expression/template.js";
import type { JsonObject } from "../model/json.js";
import type { ConditionDetail } from "../model/result.js";

interface Routing extends Analysing {
  readonly model: RoutingModel;
  /** In the order in which they decide. */
  readonly regions: readonly RuleRegion<RoutingRule>[];
  /** Where the decision ends with an error before the rule at a position can decide. */
  readonly errorsBefore: (position: number) => readonly Box[];
}

/** Analyses `binary`, `switch`, `rule_table` and `weighted` decisions. */
export function analyzeRouting(model: RoutingModel, analysing: Analysing): void {
  const { definition, rules, inputPresent, policy } = model;
  const { found } = analysing;
  const { space } = found;
  const inOrder = policy === "priority" ? rules.toSorted((a, b) => priorityOf(a) - priorityOf(b)) : rules;
  // Without its input, a decision takes the default and evaluates no condition.
  const withInput = (formula: Formula): Formula =>
    inputPresent === undefined ? formula : { type: "and", parts: [inputPresent, formula] };
  const regions = regionsOfRules(inOrder, analysing, withInput);
  const fails = definition.on_error === "fail";
  const errorsBefore = fails ? prepareErrors(regions, model) : () => [];
  const routing: Routing = { ...analysing, model, regions, errorsBefore };
  const unreachable = reportUnreachable(regions, routing, (position, limit) => {
    const errors = errorsBefore(position);
    const { matched = [] } = regions[position] ?? {};
    if (errors.length === 0 || possibleBoxes(matched, errors, { space, limit }).length > 0) return undefined;
    return "wherever it matches, another condition cannot be evaluated, and `on_error: fail` ends the decision";
  });
  if (policy === "first" || policy === "priority") reportMasked(routing, unreachable);
  if (policy === "unique" || policy === "any" || policy === "priority") reportOverlaps(routing);
  if (definition.input !== undefined && inputPresent === undefined)
    found.skip("default", "inputs for which `input` cannot be evaluated are not analysed");
  if (regions.length < rules.length || rules.some(({ reasons }) => reasons.length > 0)) {
    found.skip("default", "gaps are not claimed, because not all conditions are analysed");
    return;
  }
  const isDeclared = definition.default.unexpected === true;
  const deciding =
    policy === "weighted" ? regions.filter(({ rule }) => (rule.each.weight ?? 0) > 0) : regions;
  reportGaps(
    {
      matched: deciding.flatMap(({ matched }) => matched),
      errored: distinctBoxes(regions).map(({ box }) => box),
      isSilentUnexpected: isDeclared || policy === "unique",
      isErroredUnexpected: fails ? undefined : isDeclared,
      confirm: (input, trial) => selectedLabel(trial.run(input)) === "default",
    },
    routing,
  );
}

const priorityOf = ({ each }: RoutingRule): number => each.priority ?? 0;

/** `binary` and `switch` stop at the first match; the others evaluate every condition. */
function prepareErrors(
  regions: readonly RuleRegion[],
  { definition: { type } }: RoutingModel,
): (position: number) => readonly Box[] {
  const boxes = distinctBoxes(regions);
  const all = boxes.map(({ box }) => box);
  if (type === "rule_table" || type === "weighted") return () => all;
  return (position) => boxes.flatMap(({ box, position: at }) => (at < position ? [box] : []));
}

/** Returns the regions in which conditions cannot be evaluated, each with the position of the first such rule. */
function distinctBoxes(
  regions: readonly RuleRegion[],
): readonly { readonly box: Box; readonly position: number }[] {
  const distinct = new Map<string, { readonly box: Box; readonly position: number }>();
  for (const [position, { errored }] of regions.entries()) {
    for (const box of errored) {
      const key = JSON.stringify(box);
      if (!distinct.has(key)) distinct.set(key, { box, position });
    }
  }
  return [...distinct.values()];
}

function reportMasked(routing: Routing, unreachable: ReadonlySet<string>): void {
  const { regions, found, errorsBefore } = routing;
  const { space } = found;
  limited(routing, "masked rules", (limit) => {
    const possible = regions.map(({ rule, matched }) =>
      unreachable.has(rule.label) ? [] : possibleBoxes(matched, [], { space, limit }),
    );
    for (const { rule: position, by, part } of findMasked(possible, {
      space,
      limit,
      without: errorsBefore,
    })) {
      const masked = regions[position]?.rule;
      const masking = by.flatMap((each) => regions[each]?.rule ?? []);
      if (masked === undefined) continue;
      const { label, path } = masked;
      const isSame =
        masking.length === 1 && JSON.stringify(masking[0]?.formula) === JSON.stringify(masked.formula);
      const names = masking.map((each) => each.label).join(", ");
      const domains = evaluablePart(part, possible[position] ?? [], errorsBefore(position), { space, limit });
      found.addMasked({ rule: label, by: names, path, isSame }, domains, (input, trial) => {
        const selected = selectedLabel(trial.run(input));
        const isOther = selected !== undefined && selected !== label && selected !== "default";
        return isOther && holds(masked, input, trial);
      });
    }
  });
}

/** Returns a part of a region in which the decision does not end with an error; the given part if that is one. */
function evaluablePart(
  part: Domains,
  boxes: readonly Box[],
  errors: readonly Box[],
  { space, limit }: { readonly space: Space; readonly limit: WorkLimit },
): Domains {
  if (errors.length === 0) return part;
  const without = [...errors, ...space.impossible];
  for (const domains of [part, ...boxes.map((box) => domainsOf(box, space))]) {
    const found = findUncovered(domains, without, limit);
    if (found !== undefined) return found;
  }
  return part;
}

/** Whether the condition of a rule is true. */
function holds({ text }: RoutingRule, context: JsonObject, trial: Trial): boolean {
  if (text.trim() === "") return true;
  const scope = trial.scopeOf(context);
  const input = inputOf(trial.prepared, scope);
  return evaluateCondition(compileCondition(text), { ...scope, input }) === true;
}

/** More overlaps than this are not listed. */
const maxOverlaps = 1000;

/** Rules that both match: under `unique` always, under `any` if their answers differ, under `priority` if they tie. */
function reportOverlaps(routing: Routing): void {
  const { regions, found } = routing;
  const { space } = found;
  limited(routing, "overlaps", (limit) => {
    const index = new BoxIndex(space, limit, regions.length);
    let left = maxOverlaps;
    for (const [position, { matched }] of regions.entries()) {
      const others = new Set(matched.flatMap((box) => index.meeting(box).map(({ owner }) => owner)));
      for (const other of [...others].sort((a, b) => a - b)) {
        if (!reportPair([other, position], routing, limit)) continue;
        if (--left > 0) continue;
        found.skip("overlaps", `only ${maxOverlaps} are listed`);
        return;
      }
      for (const box of matched) index.add(position, box);
    }
  });
}

/** Returns whether the rules overlap. */
function reportPair(pair: readonly [number, number], routing: Routing, limit: WorkLimit): boolean {
  const { regions, found, model, errorsBefore } = routing;
  const { space } = found;
  const [a, b] = pair.map((position) => regions[position]);
  if (a === undefined || b === undefined || !mustNotOverlap(a.rule, b.rule, model)) return false;
  const isTie = model.policy === "priority";
  const better = isTie ? regions.filter(({ rule }) => priorityOf(rule) < priorityOf(a.rule)) : [];
  const without = [...better.flatMap(({ matched }) => matched), ...(isTie ? errorsBefore(pair[1]) : [])];
  const rules = [a.rule.label, b.rule.label] as const;
  for (const shared of product(a.matched, b.matched, limit)) {
    const part = findUncovered(domainsOf(shared, space), [...without, ...space.impossible], limit);
    if (part === undefined) continue;
    const box = without.length === 0 ? shared : boxOfDomains(part, space);
    found.addOverlap({ rules, box, path: b.rule.path }, part, isTie ? bothMatch(rules) : violates(rules));
    return true;
  }
  return false;
}

function mustNotOverlap(a: RoutingRule, b: RoutingRule, { policy }: RoutingModel): boolean {
  switch (policy) {
    case "unique":
      return true;
    case "any":
      return answerContent(a.each) !== answerContent(b.each);
    case "priority":
      return priorityOf(a) === priorityOf(b);
    case "first":
    case "collect":
    case "rule_order":
    case "output_order":
    case "weighted":
      return false;
  }
}

type Pair = readonly [string, string];

const bothMatch =
  (rules: Pair): Confirm =>
  (input, trial) => {
    const details = trial.run(input).evaluated?.evaluation_details as
      Readonly<Record<string, ConditionDetail>> | undefined;
    return rules.every((rule) => details?.[rule]?.result === true);
  };

const violates =
  (rules: Pair): Confirm =>
  (input, trial) => {
    const { error } = trial.run(input);
    const { matched = [] } = (error?.details ?? {}) as { readonly matched?: readonly { label: string }[] };
    return (
      error?.code === "hit_policy_violated" &&
      rules.every((rule) => matched.some(({ label }) => label === rule))
    );
  };
