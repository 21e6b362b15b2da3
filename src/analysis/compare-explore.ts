import type { Box } from "./box.js";
import { addBox, everything } from "./box.js";
import type { CompareContext } from "./compare.js";
import type { Domains } from "./cover.js";
import { boxOfDomains, domainsOf, isVoid, visitUncovered } from "./cover.js";
import { intersectSets } from "./cell-set.js";
import type { Truth } from "./dimension.js";
import type { Formula } from "./formula.js";
import { partKey, withoutFields } from "./fields.js";
import { product, regionOf } from "./formula.js";
import type { DecisionModel } from "./model-decision.js";
import { inputKey } from "./model-decision.js";
import { stubbedAnswer } from "./stub.js";
import type { Json } from "../model/json.js";

/** A rule, policy or evaluator: what decides about its effect apart from its conditions, and those. */
interface Part {
  readonly id: string;
  readonly attributes: string;
  readonly formulas: readonly Formula[];
}

/** A condition in the order of evaluation. */
interface Use {
  readonly key: string;
  readonly formula: Formula;
  /** Of the conditions of one group, those after the first that matches are not evaluated. */
  readonly group?: string;
}

/**
 * Compares definitions whose answers depend on more than the first match. Only inputs that tell a condition of one
 * definition from that of the other can make a difference; there, every combination of results of the conditions is
 * compared.
 */
export function exploreDifferences(
  before: DecisionModel,
  after: DecisionModel,
  context: CompareContext,
): void {
  const { space, limit, collector, variables } = context;
  const uses = [...usesOf(before, "before"), ...usesOf(after, "after")];

  const regions = new Map<string, Readonly<Record<Truth, readonly Box[]>>>();
  for (const { key, formula } of uses) {
    if (regions.has(key)) continue;
    const region = (truth: Truth): readonly Box[] => regionOf(formula, truth, space, limit);
    regions.set(key, { true: region("true"), false: region("false"), errored: region("errored") });
  }
  const found = new Map<string, Box[]>();
  const isEqual = compareTruths(before, after, context.hasReasons);
  const leaf = (domains: Domains, truths: ReadonlyMap<string, Truth>): void => {
    const pair = isEqual(truths);
    if (pair === undefined) return;
    const boxes = found.get(pair) ?? [];
    found.set(pair, boxes);
    addBox(boxes, boxOfDomains(domains, space));
  };
  const explore = (domains: Domains, at: number, truths: Map<string, Truth>, matched: Set<string>): void => {
    limit.spend(1);
    const use = uses[at];
    if (use === undefined) {
      leaf(domains, truths);
      return;
    }
    if (truths.has(use.key) || (use.group !== undefined && matched.has(use.group))) {
      const holds = truths.get(use.key) === "true" && use.group !== undefined;
      explore(domains, at + 1, truths, holds ? new Set([...matched, use.group]) : matched);
      return;
    }
    for (const truth of ["true", "false", "errored"] as const) {
      const boxes = regions.get(use.key)?.[truth] ?? [];
      const isMatch = truth === "true" && use.group !== undefined;
      for (const part of partsWithin(domains, boxes, context)) {
        const next = new Map(truths).set(use.key, truth);
        explore(part, at + 1, next, isMatch ? new Set([...matched, use.group]) : matched);
      }
    }
  };
  const suspects: Box[] = [];
  limit.finish(
    () => {
      for (const box of suspectRegion(before, after, context)) {
        for (const part of partsWithin(domainsOf(box, space), [everything], context, suspects))
          explore(part, 0, new Map(), new Set());
        suspects.push(box);
      }
    },
    () => {
      for (const boxes of found.values()) collector.addAll(boxes, space, variables);
    },
  );
}

/** Returns the parts of the domains within some boxes, disjoint and without impossible inputs. */
function partsWithin(
  domains: Domains,
  boxes: readonly Box[],
  { space, limit }: CompareContext,
  without: readonly Box[] = [],
): readonly Domains[] {
  const parts: Domains[] = [];
  for (const [index, box] of boxes.entries()) {
    const within = [...domains];
    for (const [at, dimension] of box.dimensions.entries())
      within[dimension] = intersectSets(within[dimension] ?? [], box.sets[at] ?? []);
    if (isVoid(within)) continue;
    const others = [...boxes.slice(0, index), ...without, ...space.impossible];
    visitUncovered(within, others, { limit, added: [], visit: (part) => parts.push(part) > 0 });
  }
  return parts;
}

const formulaKey = (formula: Formula): string => partKey(formula);

const use = (formula: Formula, group?: string): Use => ({
  key: formulaKey(formula),
  formula,
  ...(group !== undefined && { group }),
});

/** Returns the conditions of a definition in the order in which they are evaluated. */
function usesOf(model: DecisionModel, side: string): readonly Use[] {
  switch (model.type) {
    case "routing": {
      const { inputPresent, rules } = model;
      return [
        ...(inputPresent === undefined ? [] : [use(inputPresent)]),
        ...rules.map(({ formula }) => use(formula)),
      ];
    }
    case "scored":
      return model.evaluators.flatMap((rules, index) =>
        rules.map(({ formula }) => use(formula, `${side} ${index}`)),
      );
    case "gate":
      return [...model.values, ...model.rules.map(({ formula }) => formula)].map((formula) => use(formula));
    case "policy":
      return [
        ...model.policies.flatMap(({ conditions }) => conditions.map(({ formula }) => use(formula))),
        ...model.overrides.map(({ formula }) => use(formula)),
      ];
  }
}

/** Returns a function that compares the answers for results of the conditions, and names them if they differ. */
function compareTruths(
  before: DecisionModel,
  after: DecisionModel,
  hasReasons: boolean,
): (truths: ReadonlyMap<string, Truth>) => string | undefined {
  const known = new Map<string, string | undefined>();
  return (truths) => {
    const truthOf = (formula: Formula): Truth => truths.get(formulaKey(formula)) ?? "false";
    const key = [...truths].sort(([a], [b]) => (a < b ? -1 : 1)).join(" ");
    if (known.has(key)) return known.get(key);
    const [from, to] = [before, after].map((model) => stubbedAnswer(model, truthOf, hasReasons));
    const pair = from === to ? undefined : `${from} ${to}`;
    known.set(key, pair);
    return pair;
  };
}

/** Returns where a condition, or the effect of its result, differs between the definitions. */
function suspectRegion(before: DecisionModel, after: DecisionModel, context: CompareContext): readonly Box[] {
  const [a, b] = [partsOf(before), partsOf(after)];
  const isSame = before.type === after.type && settingsOf(before) === settingsOf(after) && areAligned(a, b);
  if (!isSame) return [everything];
  const region: Box[] = [];
  const add = (boxes: readonly Box[]): void => boxes.forEach((box) => addBox(region, box));
  for (const part of [...a, ...b]) {
    const [one, other] = [a, b].map((parts) => parts.find(({ id }) => id === part.id));
    if (one?.attributes !== other?.attributes || one?.formulas.length !== other?.formulas.length) {
      if (part.formulas.length !== 1 || before.type === "policy") return [everything];
      add(part.formulas.flatMap((formula) => effectiveRegion(formula, context)));
      continue;
    }
    for (const [index, formula] of part.formulas.entries()) {
      const counterpart = (part === one ? other : one)?.formulas[index];
      if (counterpart !== undefined) add(differingRegion(formula, counterpart, context));
    }
  }
  return region;
}

/** Where a rule has an effect: where it matches or is errored. */
function effectiveRegion(formula: Formula, { space, limit }: CompareContext): readonly Box[] {
  return (["true", "errored"] as const).flatMap((truth) => regionOf(formula, truth, space, limit));
}

/** Where two conditions have different results. */
function differingRegion(a: Formula, b: Formula, { space, limit }: CompareContext): readonly Box[] {
  if (formulaKey(a) === formulaKey(b)) return [];
  const truths = ["true", "false", "errored"] as const;
  return truths.flatMap((truth) =>
    truths
      .filter((other) => other !== truth)
      .flatMap((other) => product(regionOf(a, truth, space, limit), regionOf(b, other, space, limit), limit)),
  );
}

/** Whether one list can be made of the other by adding and removing parts. */
function areAligned(a: readonly Part[], b: readonly Part[]): boolean {
  const common = (these: readonly Part[], those: readonly Part[]): string =>
    these
      .filter(({ id }) => those.some((other) => other.id === id))
      .map(({ id }) => id)
      .join("\n");
  return common(a, b) === common(b, a);
}

function partsOf(model: DecisionModel): readonly Part[] {
  const part = (id: string, attributes: object, formulas: readonly Formula[]): Part => ({
    id,
    attributes: partKey(withoutFields(attributes, texts)),
    formulas,
  });
  switch (model.type) {
    case "routing":
      return model.rules.map(({ label, each, formula }) =>
        part(label, withoutFields(each, ["condition"]), [formula]),
      );
    case "scored":
      return model.definition.evaluators.flatMap((evaluator, index) => {
        if (!("rules" in evaluator)) return [part(evaluator.name, evaluator, [])];
        const { rules, ...others } = evaluator;
        return [
          part(`${evaluator.name} rules`, others, []),
          ...rules.map((rule, at) => {
            const formula = model.evaluators[index]?.[at]?.formula;
            return part(`${evaluator.name}/${rule.id}`, rule.then, formula === undefined ? [] : [formula]);
          }),
        ];
      });
    case "gate":
      return [
        part("values", {}, model.values),
        ...model.rules.map(({ rule, formula }) =>
          part(rule.id, withoutFields(rule, ["when", "applies_when"]), [formula]),
        ),
      ];
    case "policy":
      return [
        ...model.policies.map(({ policy, conditions }) =>
          part(
            policy.name,
            withoutFields(policy, ["conditions"]),
            conditions.map(({ formula }) => formula),
          ),
        ),
        ...model.overrides.map(({ policy, formula }) =>
          part(policy.name, withoutFields(policy, ["when"]), [formula]),
        ),
      ];
  }
}

/** Texts for people. */
const texts = ["name", "description", "reason", "deny_reason", "version"];

/** Fields of a definition that are compared as parts, or have no influence on what is selected. */
const otherFields = [
  ...["cases", "rules", "evaluators", "policies", "computed", "input", "context_schema", "enrich"],
  ...["name", "description", "version", "logging", "cache", "entities", "artifacts", "guardrails"],
];

/** The input matters apart from the conditions that read it: without it no rule matches, and a draw depends on it. */
function settingsOf(model: DecisionModel): string {
  const { definition } = model;
  const input =
    model.type !== "routing"
      ? null
      : [model.inputPresent ?? null, definition.type === "weighted" ? inputKey(definition) : null];
  return partKey([withoutFields(definition, otherFields), input as Json]);
}
