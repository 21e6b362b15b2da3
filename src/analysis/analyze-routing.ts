import type { Box } from "./box.js";
import { boxOf } from "./box.js";
import { cellRange, cellsOf } from "./cell-set.js";
import type { Domains } from "./cover.js";
import { boxOfDomains, domainsOf, findUncovered } from "./cover.js";
import { BoxIndex } from "./cover-index.js";
import type { Confirm } from "./findings.js";
import type { Formula, WorkLimit } from "./formula.js";
import { product } from "./formula.js";
import { findMasked } from "./masked.js";
import type { RoutingModel, RoutingRule } from "./model-decision.js";
import { answerContent } from "./model-decision.js";
import { regionText } from "./region-text.js";
import type { Analysing, RuleRegion } from "./rule-regions.js";
import {
  areAlike,
  limited,
  possibleBoxes,
  regionsOfRules,
  reportGaps,
  reportUnreachable,
} from "./rule-regions.js";
import type { Space } from "./space.js";
import type { Trial } from "./trial.js";
import { selectedLabel } from "./trial.js";
import { isLiteralOutput } from "../definition/outputs.js";
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
  const masked =
    policy === "first" || policy === "priority" ? reportMasked(routing, unreachable) : new Set<string>();
  if (policy === "first") reportRepeatedValues(routing, new Set([...masked, ...unreachable]));
  if (policy === "unique" || policy === "any" || policy === "priority") reportOverlaps(routing);
  if (definition.input !== undefined && inputPresent === undefined)
    found.skip("default", "inputs for which `input` cannot be evaluated are not analysed");
  if (regions.length < rules.length || rules.some(({ reasons }) => reasons.length > 0)) {
    found.skip("default", "gaps are not claimed, because not all conditions are analysed");
    return;
  }
  const { unexpected } = definition.default;
  const deciding =
    policy === "weighted" ? regions.filter(({ rule }) => (rule.each.weight ?? 0) > 0) : regions;
  reportGaps(
    {
      matched: deciding.flatMap(({ matched }) => matched),
      errored: distinctBoxes(regions).map(({ box }) => box),
      isSilentUnexpected: unexpected ?? policy === "unique",
      isErroredUnexpected: fails ? undefined : (unexpected ?? false),
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

/** Returns the labels of the masked rules. */
function reportMasked(routing: Routing, unreachable: ReadonlySet<string>): ReadonlySet<string> {
  const { regions, found, errorsBefore } = routing;
  const { space } = found;
  const labels = new Set<string>();
  limited(routing, "masked rules", (limit) => {
    const possible = regions.map(({ rule, matched }) =>
      unreachable.has(rule.label) ? [] : possibleBoxes(matched, [], { space, limit }),
    );
    for (const { rule: position, by, part } of findMasked(possible, {
      space,
      limit,
      without: errorsBefore,
    })) {
      const region = regions[position];
      if (region === undefined) continue;
      const { rule: masked } = region;
      const { label, path } = masked;
      labels.add(label);
      const masking = by.flatMap((each) => regions[each] ?? []);
      const names = masking.map(({ rule }) => rule.label);
      const isSame = areAlike([...masking, region]);
      const domains = evaluablePart(part, possible[position] ?? [], errorsBefore(position), { space, limit });
      found.addMasked({ rule: label, by: names, path, isSame }, domains, (input, trial) => {
        const selected = selectedLabel(trial.run(input));
        const isOther = selected !== undefined && selected !== label && selected !== "default";
        return isOther && holds(masked, input, trial);
      });
    }
  });
  return labels;
}

/** Rules that only compare a path with values, one of which an earlier rule of this kind has, too. Other rules do not count. */
function reportRepeatedValues({ regions, found }: Routing, without: ReadonlySet<string>): void {
  const { space } = found;
  const owners = new Map<string, string>();
  for (const { rule, matched } of regions) {
    const [box] = matched;
    const [index = -1] = box?.dimensions ?? [];
    const dimension = space.dimensions[index];
    if (without.has(rule.label) || !isEquality(rule.formula)) continue;
    if (box === undefined || dimension?.type !== "path") continue;
    const cells = [...cellsOf(box.sets[0] ?? [])];
    const shared = cells.find((cell) => owners.has(`${index} ${cell}`));
    const earlier = owners.get(`${index} ${shared ?? ""}`);
    if (shared !== undefined && earlier !== undefined) {
      const region = regionText(boxOf(index, cellRange(shared, shared)), space);
      found.addRepeated({ rule: rule.label, earlier, region, path: rule.path });
    }
    for (const cell of cells) owners.set(`${index} ${cell}`, owners.get(`${index} ${cell}`) ?? rule.label);
  }
}

const isEquality = (formula: Formula): boolean =>
  formula.type === "test" &&
  (formula.test.kind.type === "in" ||
    (formula.test.kind.type === "compare" && formula.test.kind.relation === "=="));

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
const maxOverlaps = 200;

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
        found.skip("overlaps", "not all of them are listed");
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
    const isSame = areAlike([a, b]);
    const isComputed = [a, b].some(({ rule }) => !isLiteralOutput(rule.each.output ?? null));
    const holds = isTie ? bothMatch(rules) : violates(rules, model.policy === "any" && isComputed);
    found.addOverlap({ rules, box, path: b.rule.path, isSame }, part, holds);
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

/** Computed outputs may be equal although they are written differently. */
const violates =
  (rules: Pair, isComputed: boolean): Confirm =>
  (input, trial) => {
    const { error } = trial.run(input);
    if (isComputed && error?.code !== "hit_policy_violated")
      return "no input was found for which the outputs of both differ";
    const { matched = [] } = (error?.details ?? {}) as { readonly matched?: readonly { label: string }[] };
    return (
      error?.code === "hit_policy_violated" &&
      rules.every((rule) => matched.some(({ label }) => label === rule))
    );
  };
