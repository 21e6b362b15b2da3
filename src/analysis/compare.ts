import { alignedPositions } from "./align.js";
import type { Box } from "./box.js";
import { addBox, boxesMeet, boxSize, everything } from "./box.js";
import { exploreDifferences } from "./compare-explore.js";
import { BoxIndex } from "./cover-index.js";
import type { Complement } from "./cover.js";
import { complementOf, domainsOf } from "./cover.js";
import type { SampledPath, Test } from "./dimension.js";
import { partKey, withoutFields } from "./fields.js";
import type { Formula } from "./formula.js";
import { product, regionOf, WorkLimit } from "./formula.js";
import type { RoutingModel } from "./model-decision.js";
import { answerContent, modelDecision } from "./model-decision.js";
import { regionText, splitIntervals } from "./region-text.js";
import { sampleContexts } from "./samples.js";
import type { Space } from "./space.js";
import { SpaceBuilder } from "./space.js";
import { answerKey, answerTexts, Trial } from "./trial.js";
import { isRouting } from "../definition/decision-types.js";
import { isLiteralOutput, outputsOf, selectsSeveral } from "../definition/outputs.js";
import type { Answer, Definition } from "../model/definition.js";
import type { Json, JsonObject } from "../model/json.js";

/** A region of inputs to which two definitions answer differently. */
export interface Difference {
  /** What the first definition answers, for the input below. */
  readonly from: string;
  readonly to: string;
  readonly region: string;
  /** A context in the region, evaluated with both definitions. */
  readonly input: JsonObject;
}

/** A part of two definitions that could not be compared, and why. */
export interface NotCompared {
  readonly part: string;
  readonly reason: string;
}

/** Whether two definitions give the same answers: proven, disproven by at least one input, or unknown. */
export type Comparison =
  | { readonly result: "equivalent" }
  | {
      readonly result: "different";
      readonly differences: readonly Difference[];
      readonly not_compared: readonly NotCompared[];
    }
  | { readonly result: "unknown"; readonly not_compared: readonly NotCompared[] };

export interface CompareOptions {
  /** Ends with this many differences; one is enough to tell definitions apart. Absent: 100. */
  readonly most?: number;
  /** How many steps the comparison may take. Absent: 2,000,000. */
  readonly steps?: number;
  /** Whether answers must have equal reasons, too: votes, deciding rules, and the results of policies. */
  readonly hasReasons?: boolean;
  /** Called every few milliseconds. */
  readonly onWork?: () => void;
}

/** Whether the answers of definitions of these types can be compared. */
export const areComparable = (a: Definition, b: Definition): boolean =>
  a.type === b.type || (isRouting(a) && isRouting(b));

/**
 * Compares the answers of two definitions to every context: what evaluation selects, before guardrails. Pure. Each
 * difference was evaluated with both definitions.
 */
export function compareDefinitions(
  before: Definition,
  after: Definition,
  { most = 100, steps = 2_000_000, hasReasons = false, onWork }: CompareOptions = {},
): Comparison {
  const collector = new Differences(before, after, most);
  const limit = new WorkLimit(steps, { onWork });
  const isDone = limit.within(() => {
    if (decidingFields(before) === decidingFields(after)) return true;
    for (const { part, reason } of incomparableParts(before, after)) collector.skip(part, reason);
    compareModels(before, after, { collector, limit, hasReasons, hasContextKey: false });
    // A key `context` shadows the whole context. Such contexts only matter if no others tell the definitions apart.
    if (!collector.hasDifferences && [before, after].some(mayReadContextKey))
      compareModels(before, after, { collector, limit, hasReasons, hasContextKey: true });
    return true;
  });
  if (isDone === undefined) collector.skip("the definitions", "comparing all regions takes too many steps");
  if (collector.isFull && most > 1)
    collector.skip("the definitions", `there are more than ${most} differences`);
  return collector.result();
}

/** Collects the differences that evaluation confirms. */
export class Differences {
  readonly #before: Trial;
  readonly #after: Trial;
  readonly #most: number;
  readonly #found: Difference[] = [];
  readonly #skipped = new Map<string, NotCompared>();

  constructor(before: Definition, after: Definition, most: number) {
    this.#before = new Trial(before);
    this.#after = new Trial(after);
    this.#most = most;
  }

  get isFull(): boolean {
    return this.#found.length >= this.#most;
  }

  get hasDifferences(): boolean {
    return this.#found.length > 0;
  }

  skip(part: string, reason: string): void {
    this.#skipped.set(`${part} ${reason}`, { part, reason });
  }

  /** Adds the regions in which the answers differ. A region for which no input confirms that is not compared. */
  addAll(regions: readonly Box[], space: Space, variables: readonly SampledPath[]): void {
    for (const region of regions.flatMap((each) => splitIntervals(each, space))) {
      if (this.isFull) return;
      const found = this.#confirm(region, space, variables);
      if (found === undefined) this.#skipRegion(region, space);
      else this.#found.push(found);
    }
  }

  #confirm(region: Box, space: Space, variables: readonly SampledPath[]): Difference | undefined {
    for (const input of sampleContexts(domainsOf(region, space), space, variables)) {
      const answers = [this.#before.run(input), this.#after.run(input)] as const;
      if (answerKey(answers[0]) === answerKey(answers[1])) continue;
      const [from, to] = answerTexts(...answers);
      return { from, to, region: regionText(region, space), input };
    }
    return undefined;
  }

  #skipRegion(region: Box, space: Space): void {
    const opaque = region.dimensions.flatMap((index) => {
      const dimension = space.dimensions[index];
      return dimension?.type === "opaque" ? [dimension.text] : [];
    });
    const reason = "no input was found that tells the definitions apart";
    for (const text of opaque) this.skip(`\`${text}\``, `it is not analysed, and ${reason}`);
    if (opaque.length === 0) this.skip(regionText(region, space), reason);
  }

  result(): Comparison {
    const not_compared = [...this.#skipped.values()];
    if (this.#found.length > 0) return { result: "different", differences: this.#found, not_compared };
    return not_compared.length > 0 ? { result: "unknown", not_compared } : { result: "equivalent" };
  }
}

interface Comparing {
  readonly collector: Differences;
  readonly limit: WorkLimit;
  readonly hasReasons: boolean;
  readonly hasContextKey: boolean;
}

/** A comparison of two models over the same space. */
export interface CompareContext {
  readonly space: Space;
  readonly limit: WorkLimit;
  readonly collector: Differences;
  readonly variables: readonly SampledPath[];
  readonly hasReasons: boolean;
}

function compareModels(
  before: Definition,
  after: Definition,
  { collector, limit, hasReasons, hasContextKey }: Comparing,
): void {
  const builder = new SpaceBuilder();
  const a = modelDecision(before, builder, hasContextKey);
  const b = modelDecision(after, builder, hasContextKey);
  const isPresent: Test = { kind: { type: "present" } };
  const space = builder.build(hasContextKey ? { segments: ["context"], test: isPresent } : undefined);
  const variables = [...a.variables, ...b.variables];
  const context = { space, limit, collector, variables, hasReasons };
  if (a.type === "routing" && b.type === "routing" && isOrdered(a) && isOrdered(b))
    compareOrdered(a, b, context);
  else if (a.type === b.type) exploreDifferences(a, b, context);
  else
    collector.skip(
      "`type`",
      `a \`${before.type}\` decision cannot be compared with a \`${after.type}\` decision`,
    );
}

/** Whether at most one branch is selected, so that the answers are a list of regions, the first of which decides. */
const isOrdered = ({ definition }: RoutingModel): boolean =>
  definition.type !== "weighted" && !selectsSeveral(definition);

/** Gates and policies reject a context with a key `context` if they read the whole context. */
const mayReadContextKey = (definition: Definition): boolean =>
  definition.type !== "policy" &&
  definition.type !== "gate" &&
  /\bcontext\b/.test(JSON.stringify(definition));

/** A region with one answer. The first entry that contains an input decides. */
interface Entry {
  readonly answer: string;
  readonly boxes: readonly Box[];
  /** The positions of the rules that it is about; the default comes after all rules. */
  readonly rules: readonly number[];
}

interface OrderedAnswers {
  readonly entries: readonly Entry[];
  /** Equal for rules with equal conditions and answers, in the order in which they decide; the default is the last. */
  readonly ruleKeys: readonly string[];
}

function compareOrdered(before: RoutingModel, after: RoutingModel, context: CompareContext): void {
  const { space, limit, collector, variables } = context;
  const a = orderedAnswers(before, context);
  const b = orderedAnswers(after, context);
  const isSameKind = settingsKey(before) === settingsKey(after);
  const common = alignedPositions(a.ruleKeys, b.ruleKeys);
  const isCommon = (entry: Entry, positions: ReadonlySet<number>): boolean =>
    isSameKind && entry.rules.every((position) => positions.has(position));
  const regions = new Map<string, Box[]>();
  const comparePair = (i: number, j: number): void => {
    const [one, other] = [a.entries[i], b.entries[j]];
    if (one === undefined || other === undefined || one.answer === other.answer) return;
    const shared = product(one.boxes, other.boxes, limit);
    if (shared.length === 0) return;
    const earlier = [...a.entries.slice(0, i), ...b.entries.slice(0, j)].flatMap(({ boxes }) => boxes);
    const key = `${one.answer} ${other.answer}`;
    const region = regions.get(key) ?? [];
    regions.set(key, region);
    for (const box of shared) {
      const { boxes, isComplete } = withoutEarlier(box, earlier, context);
      for (const part of boxes) addBox(region, part);
      if (!isComplete) limit.spend(Infinity);
    }
  };
  // Where no rule that differs matches, the rules that both have decide alike.
  const allOfB = [...b.entries.keys()];
  const differingOfB = allOfB.filter((j) => {
    const entry = b.entries[j];
    return entry === undefined || !isCommon(entry, common.b);
  });
  limit.finish(
    () => {
      for (const [i, entry] of a.entries.entries()) {
        const others = isCommon(entry, common.a) ? differingOfB : allOfB;
        limit.spend(others.length);
        for (const j of others) comparePair(i, j);
      }
    },
    () => {
      for (const region of regions.values()) collector.addAll(region, space, variables);
    },
  );
}

const maxParts = 1000;

/** Returns the parts of a box that no earlier entry decides. */
function withoutEarlier(box: Box, earlier: readonly Box[], { space, limit }: CompareContext): Complement {
  limit.spend(earlier.length * (1 + (boxSize(box) >> 2)));
  const meeting = earlier.filter((each) => boxesMeet(each, box));
  return complementOf(domainsOf(box, space), meeting, { space, limit, most: maxParts });
}

interface OrderedRule {
  readonly position: number;
  readonly key: string;
  readonly content: string;
  /** Whether the output is known without an input. */
  readonly isLiteral: boolean;
  readonly matches: Entry;
  readonly fails: readonly Entry[];
}

/** Returns the pairs of rules that may both match, in their order. */
function meetingPairs(
  rules: readonly OrderedRule[],
  { space, limit }: Pick<CompareContext, "space" | "limit">,
): readonly (readonly [OrderedRule, OrderedRule])[] {
  const index = new BoxIndex(space, limit, rules.length);
  for (const { position, matches } of rules) for (const box of matches.boxes) index.add(position, box);
  return rules.flatMap((one) => {
    const others = new Set(one.matches.boxes.flatMap((box) => index.meeting(box).map(({ owner }) => owner)));
    const later = [...others].filter((other) => other > one.position).sort((a, b) => a - b);
    return later.flatMap((position) => {
      const other = rules[position];
      return other === undefined ? [] : [[one, other] as const];
    });
  });
}

/** The settings that decide how conditions and matches become an answer. */
function settingsKey({ definition, policy, inputPresent }: RoutingModel): string {
  const { on_error = "no_match" } = definition;
  const evaluatesAll = definition.type === "rule_table" && on_error === "fail";
  return partKey([policy, on_error, evaluatesAll, inputPresent ?? null]);
}

function orderedAnswers(model: RoutingModel, { space, limit }: CompareContext): OrderedAnswers {
  const { definition, policy, inputPresent } = model;
  const fails = definition.on_error === "fail";
  const region = (formula: Formula, truth: "true" | "errored"): readonly Box[] =>
    regionOf(formula, truth, space, limit);
  const inOrder =
    policy === "priority"
      ? model.rules.toSorted((a, b) => (a.each.priority ?? 0) - (b.each.priority ?? 0))
      : model.rules;
  const rules = inOrder.map(({ label, each, formula }, position): OrderedRule => ({
    position,
    key: partKey([formula, ruleAnswer(label, each)]),
    content: answerContent(each),
    isLiteral: isLiteralOutput(each.output ?? null),
    matches: { answer: ruleAnswer(label, each), boxes: region(formula, "true"), rules: [position] },
    fails: fails ? [{ answer: "error", boxes: region(formula, "errored"), rules: [position] }] : [],
  }));
  const fallback = ruleAnswer("default", definition.default);
  const withoutInput =
    inputPresent === undefined
      ? []
      : [{ answer: fails ? "error" : fallback, boxes: region(inputPresent, "errored"), rules: [] }];
  const violation = (one: OrderedRule, other: OrderedRule): readonly Entry[] => {
    if (policy !== "unique" && one.content === other.content) return [];
    const boxes = product(one.matches.boxes, other.matches.boxes, limit);
    // Whether computed outputs agree depends on their values.
    const isCertain = policy === "unique" || (one.isLiteral && other.isLiteral);
    const answer = isCertain ? "violation" : `violation ${one.content} ${other.content}`;
    return boxes.length === 0 ? [] : [{ answer, boxes, rules: [one.position, other.position] }];
  };
  const violations =
    policy === "unique" || policy === "any"
      ? meetingPairs(rules, { space, limit }).flatMap(([one, other]) => violation(one, other))
      : [];
  const evaluatesAll = definition.type === "rule_table";
  const decided = evaluatesAll
    ? [...rules.flatMap((rule) => rule.fails), ...rules.map(({ matches }) => matches)]
    : rules.flatMap((rule) => [...rule.fails, rule.matches]);
  const last = { answer: fallback, boxes: [everything], rules: [rules.length] };
  return {
    entries: [...withoutInput, ...violations, ...decided, last],
    ruleKeys: [...rules.map(({ key }) => key), fallback],
  };
}

const ruleAnswer = (label: string, each: Answer): string => `${JSON.stringify(label)} ${answerContent(each)}`;

/** Fields without influence on what evaluation selects. */
const remarks: readonly string[] = [
  ...["name", "version", "description", "logging", "cache", "entities", "artifacts"],
];

/** Returns a text that is equal for definitions whose answers cannot differ. */
export const decidingFields = (definition: Definition): string =>
  partKey([withoutFields(definition, remarks), decidingMasks(definition)]);

/** Outputs that read masked values show a marker instead. */
const decidingMasks = (definition: Definition): readonly string[] =>
  outputsOf(definition).every(({ output }) => isLiteralOutput(output))
    ? []
    : (definition.logging?.mask ?? []);

const callFields = ["requires", "read_before_write", "max_calls", "max_sum", "max_applications"];
const timeFields = ["effective_from", "expires_at"];

/** Returns the parts that differ and that are not compared. */
function incomparableParts(before: Definition, after: Definition): readonly NotCompared[] {
  const ofCalls = "it depends on earlier calls";
  const ofTime = "it depends on the time";
  const fields: readonly (readonly [field: string, reason: string])[] = [
    ["guardrails", "guardrails check the answer after it was selected"],
    ["enrich", "the context is compared as it is after data was fetched into it"],
    ["context_schema", "schemas are not compared"],
    ["tool", "the tool is not part of the context"],
    ["action", "the action is not part of the context"],
    ["input", "inputs that are not a path are not analysed"],
    ...callFields.map((field) => [field, ofCalls] as const),
  ];
  const nested = [
    ...callFields.map((field) => [field, ofCalls] as const),
    ...timeFields.map((field) => [field, ofTime] as const),
    ["custom", "the votes of custom evaluators are not known"] as const,
  ];
  const masksDiffer = partKey(decidingMasks(before)) !== partKey(decidingMasks(after));
  const ofMasks = ["logging.mask", "outputs that read masked values are not compared"] as const;
  return [
    ...(masksDiffer ? [ofMasks] : []),
    ...fields.filter(([field]) => differsIn(field, before, after)),
    ...nested.filter(([field]) => nestedValues(before, field) !== nestedValues(after, field)),
  ].map(([field, reason]) => ({ part: `\`${field}\``, reason }));
}

function differsIn(field: string, before: Definition, after: Definition): boolean {
  const valueOf = (definition: Definition): Json => (definition as unknown as JsonObject)[field] ?? null;
  if (partKey(valueOf(before)) === partKey(valueOf(after))) return false;
  return field !== "input" || [before, after].some(hasOpaqueInput);
}

const hasOpaqueInput = ({ input }: Definition): boolean =>
  input !== undefined && !/^\s*(?:\{\{|\$\{)?\s*[A-Za-z_][\w.]*\s*(?:\}\}|\})?\s*$/.test(input);

/** Returns the values of a field of policies and evaluators, by the name of the policy or evaluator. */
function nestedValues(definition: Definition, field: string): string {
  const parts: readonly object[] =
    definition.type === "policy"
      ? (definition.policies ?? [])
      : definition.type === "scored"
        ? definition.evaluators
        : [];
  const values = parts.flatMap((part): readonly Json[] => {
    const { name = null, [field]: value } = part as JsonObject;
    return value === undefined ? [] : [[name, value]];
  });
  return partKey(values);
}
