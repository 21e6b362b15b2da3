import type { Formula } from "./formula.js";
import { constant, opaqueReasons } from "./formula.js";
import type { SpaceBuilder } from "./space.js";
import type { Names } from "./translate.js";
import { Translator } from "./translate.js";
import type { SampledPath } from "./dimension.js";
import { casesOf, labelsOf } from "../definition/branches.js";
import { isLiteralOutput, outputsOf } from "../definition/outputs.js";
import { canonicalJson } from "../digest/canonical-json.js";
import type { Path } from "../definition/yaml-source.js";
import { nodeText } from "../expression/node-text.js";
import type { Node } from "../expression/syntax.js";
import { compileCondition, compileInput, expressionsIn } from "../expression/template.js";
import type {
  Answer,
  BasePolicy,
  Case,
  Definition,
  GateDefinition,
  GateRule,
  HitPolicy,
  Limits,
  OverridePolicy,
  PolicyDefinition,
  RoutingDefinition,
  ScoredDefinition,
  ScoredRule,
} from "../model/definition.js";
import type { Json } from "../model/json.js";

/** A condition with its formula. */
export interface ModelCondition {
  /** As written; for the operators of a scored rule, JSON. */
  readonly text: string;
  /** Where the definition has it. */
  readonly path: Path;
  /** Absent for the `if` of a scored rule. */
  readonly tree?: Node;
  readonly formula: Formula;
  /** Why parts of it are not analysed. */
  readonly reasons: readonly string[];
}

export interface RoutingModel {
  readonly type: "routing";
  readonly definition: RoutingDefinition;
  readonly rules: readonly RoutingRule[];
  /** How matches are selected; `weighted` draws among them. */
  readonly policy: HitPolicy | "weighted";
  /** Where `input` can be evaluated; elsewhere the default is taken. Absent: everywhere, or not analysed. */
  readonly inputPresent?: Formula;
}

export interface RoutingRule extends ModelCondition {
  readonly label: string;
  readonly each: Case;
}

export interface ScoredModel {
  readonly type: "scored";
  readonly definition: ScoredDefinition;
  readonly evaluators: readonly (readonly ScoredModelRule[])[];
}

export interface ScoredModelRule extends ModelCondition {
  /** The id of the rule, with the evaluator where several evaluators have a rule of this id. */
  readonly label: string;
  readonly rule: ScoredRule;
  readonly evaluator: string;
}

export interface GateModel {
  readonly type: "gate";
  readonly definition: GateDefinition;
  /** Where the input and the computed values can be evaluated: without them, a gate is not GREEN. */
  readonly values: readonly Formula[];
  readonly rules: readonly GateModelRule[];
}

export interface GateModelRule extends ModelCondition {
  readonly label: string;
  readonly rule: GateRule;
}

export interface PolicyModel {
  readonly type: "policy";
  readonly definition: PolicyDefinition;
  readonly policies: readonly PolicyModelRule[];
  readonly overrides: readonly OverrideModelRule[];
}

export interface PolicyModelRule {
  readonly label: string;
  readonly path: Path;
  readonly policy: BasePolicy;
  readonly conditions: readonly ModelCondition[];
}

export interface OverrideModelRule extends ModelCondition {
  readonly label: string;
  readonly policy: OverridePolicy;
}

/** A definition whose conditions are formulas over the dimensions of a space. */
export type DecisionModel = (RoutingModel | ScoredModel | GateModel | PolicyModel) & {
  /** Paths that the answer depends on in addition to the conditions: those of outputs, params and draws. */
  readonly variables: readonly SampledPath[];
};

/** Translates the conditions of a definition. `hasContextKey` asks about contexts that have a key `context`. */
export function modelDecision(
  definition: Definition,
  space: SpaceBuilder,
  hasContextKey = false,
): DecisionModel {
  const names = namesOf(definition, hasContextKey);
  const translator = new Translator(space, names);
  const model = modelOfType(definition, space, { names, translator });
  return {
    ...model,
    variables: [...answerVariables(definition, translator), ...drawVariables(definition, names)],
  };
}

interface Translating {
  readonly names: Names;
  readonly translator: Translator;
}

function modelOfType(
  definition: Definition,
  space: SpaceBuilder,
  { names, translator }: Translating,
): RoutingModel | ScoredModel | GateModel | PolicyModel {
  switch (definition.type) {
    case "binary":
    case "switch":
    case "weighted":
    case "rule_table":
      return modelRouting(definition, translator, names);
    case "scored":
      return modelScored(definition, translator);
    case "gate":
      return modelGate(definition, translator, names);
    case "policy":
      return modelPolicy(definition, translator, new Translator(space, withDenial(names)));
  }
}

/** The paths that outputs and the params set by overrides read. */
function answerVariables(definition: Definition, translator: Translator): readonly SampledPath[] {
  const params =
    definition.type === "policy"
      ? (definition.policies ?? []).flatMap((policy) =>
          policy.overrides === undefined ? [] : (policy.params ?? []),
        )
      : [];
  const written = [...outputsOf(definition).map(({ output }) => output), ...params];
  return textsIn(written).flatMap((text) =>
    expressionsIn(text).flatMap((node) => translator.variablesIn(node)),
  );
}

/** Returns the paths that the amounts of limits are computed from, with values that are often within them. */
export function limitVariables(
  definition: Definition,
  space: SpaceBuilder,
  hasContextKey: boolean,
): readonly SampledPath[] {
  const limited: readonly Limits[] =
    definition.type === "policy"
      ? (definition.policies ?? []).filter((each) => each.overrides === undefined)
      : definition.type === "gate"
        ? [definition]
        : [];
  const translator = new Translator(space, namesOf(definition, hasContextKey));
  return limited.flatMap(({ max_sum }) => {
    const { tree } = max_sum === undefined ? {} : compileInput(max_sum.of);
    if (max_sum === undefined || tree === undefined) return [];
    return translator.variablesIn(tree).map(({ segments }) => ({
      segments,
      values: [max_sum.most, max_sum.most + 1, max_sum.most / 2, 1, 0],
    }));
  });
}

function textsIn(value: Json): readonly string[] {
  if (typeof value === "string") return isLiteralOutput(value) ? [] : [value];
  return typeof value === "object" && value !== null ? Object.values(value).flatMap(textsIn) : [];
}

/** How many inputs of a draw are tried. */
const triedDraws = 300;

/** A weighted decision draws by its input. */
function drawVariables(definition: Definition, { input }: Names): readonly SampledPath[] {
  if (definition.type !== "weighted") return [];
  const segments = input === undefined ? ["unrelated"] : "segments" in input ? input.segments : undefined;
  const values = Array.from({ length: triedDraws }, (_, index) => `input ${index + 1}`);
  return segments === undefined ? [] : [{ segments, values }];
}

const reservedNames: readonly string[] = ["facts", "system"];

/** `denial` is known in overrides only. */
const withDenial = (names: Names): Names => ({ ...names, reserved: [...names.reserved, "denial"] });

function namesOf(definition: Definition, hasContextKey: boolean): Names {
  const computed = definition.type === "gate" ? computedOf(definition) : new Map<string, Node | string>();
  const input = inputOf(definition, [...computed.keys(), ...reservedNames, "input"], hasContextKey);
  return { computed, reserved: reservedNames, hasContextKey, ...(input !== undefined && { input }) };
}

function computedOf({ computed = {} }: GateDefinition): ReadonlyMap<string, Node | string> {
  return new Map(Object.entries(computed).map(([name, text]) => [name, compileInput(text).tree ?? text]));
}

function inputOf(
  { input }: Definition,
  reserved: readonly string[],
  hasContextKey: boolean,
): Names["input"] | undefined {
  if (input === undefined) return undefined;
  const { tree } = compileInput(input);
  if (tree?.kind !== "path") return { text: input };
  const [root = "", ...rest] = tree.segments;
  if (reserved.includes(root)) return { text: input };
  return { segments: root === "context" && !hasContextKey ? rest : tree.segments };
}

/** Returns a text that is equal for inputs that are written differently but are the same. */
export function inputKey({ input }: Definition): string | null {
  if (input === undefined) return null;
  const { tree } = compileInput(input);
  return tree === undefined ? input : nodeText(tree);
}

/** Translates a written condition. An empty one is always true. */
function modelCondition(text: string, path: Path, translator: Translator): ModelCondition {
  if (text.trim() === "") return { text, path, formula: constant("true"), reasons: [] };
  const { tree } = compileCondition(text);
  const formula = translator.condition(tree);
  return { text, path, tree, formula, reasons: opaqueReasons(formula) };
}

function modelRouting(definition: RoutingDefinition, translator: Translator, names: Names): RoutingModel {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  const rules = cases.map(({ path, each }, index) => ({
    ...modelCondition(each.condition ?? "", [...path, "condition"], translator),
    label: labels[index] ?? "",
    each,
  }));
  const { input } = names;
  return {
    type: "routing",
    definition,
    rules,
    policy: policyOf(definition),
    ...(input !== undefined && "segments" in input && { inputPresent: translator.present(input.segments) }),
  };
}

function policyOf(definition: RoutingDefinition): RoutingModel["policy"] {
  switch (definition.type) {
    case "binary":
    case "switch":
      return "first";
    case "weighted":
      return "weighted";
    case "rule_table":
      return definition.hit_policy ?? "first";
  }
}

function modelScored(definition: ScoredDefinition, translator: Translator): ScoredModel {
  const ids = definition.evaluators.flatMap((each) =>
    "rules" in each ? each.rules.map(({ id }) => id) : [],
  );
  const isRepeated = (id: string): boolean => ids.indexOf(id) !== ids.lastIndexOf(id);
  const evaluators = definition.evaluators.map((evaluator, at) => {
    if (!("rules" in evaluator)) return [];
    return evaluator.rules.map((rule, index) => ({
      ...modelScoredRule(rule, ["evaluators", at, "rules", index], translator),
      label: isRepeated(rule.id) ? `${evaluator.name}/${rule.id}` : rule.id,
      rule,
      evaluator: evaluator.name,
    }));
  });
  return { type: "scored", definition, evaluators };
}

function modelScoredRule(rule: ScoredRule, path: Path, translator: Translator): ModelCondition {
  if (rule.if === undefined) return modelCondition(rule.when ?? "", [...path, "when"], translator);
  const formula = translator.rule(rule.if);
  return { text: JSON.stringify(rule.if), path: [...path, "if"], formula, reasons: opaqueReasons(formula) };
}

function modelGate(definition: GateDefinition, translator: Translator, names: Names): GateModel {
  const { input, computed } = names;
  const values = [
    ...(input === undefined
      ? []
      : ["segments" in input ? translator.present(input.segments) : translator.text(input.text)]),
    ...[...computed.values()].map((value) =>
      typeof value === "string" ? translator.text(value) : translator.defined(value),
    ),
  ];
  const rules = definition.rules.map((rule, index) => {
    const when = modelCondition(rule.when, ["rules", index, "when"], translator);
    if (rule.applies_when === undefined) return { ...when, label: rule.id, rule };
    const applies = modelCondition(rule.applies_when, ["rules", index, "applies_when"], translator);
    const formula: Formula = { type: "and", parts: [applies.formula, when.formula] };
    return { ...when, formula, reasons: opaqueReasons(formula), label: rule.id, rule };
  });
  return { type: "gate", definition, values, rules };
}

function modelPolicy(
  definition: PolicyDefinition,
  translator: Translator,
  ofOverrides: Translator,
): PolicyModel {
  const policies = (definition.policies ?? []).map((policy, index) => ({
    policy,
    path: ["policies", index],
  }));
  return {
    type: "policy",
    definition,
    policies: policies.flatMap(({ policy, path }) =>
      policy.overrides !== undefined
        ? []
        : [
            {
              label: policy.name,
              path,
              policy,
              conditions: (policy.conditions ?? []).map(({ expression }, at) =>
                modelCondition(expression, [...path, "conditions", at, "expression"], translator),
              ),
            },
          ],
    ),
    overrides: policies.flatMap(({ policy, path }) =>
      policy.overrides === undefined
        ? []
        : [
            {
              ...modelCondition(policy.when ?? "", [...path, "when"], ofOverrides),
              label: policy.name,
              policy,
            },
          ],
    ),
  };
}

/** Equal for the same target and the same written output. */
export const answerContent = ({ target, output }: Answer): string =>
  canonicalJson([target ?? null, output ?? null]);
