import { labelsOf } from "../branches.js";
import { isRouting } from "../decision-types.js";
import { uncacheableReason, definitionReads, isInputMasked } from "../definition-reads.js";
import { casesOf, expressionsIn } from "../expressions.js";
import { stripContextPrefix } from "../checks/check-fetches.js";
import type { DeclaredFetch } from "../fetches.js";
import { uniqueFetches, PathMap } from "../fetches.js";
import type { Constraint } from "./condition-analysis.js";
import {
  conditionWarnings,
  isContradictory,
  constraintsOf,
  implies,
  sharedValue,
} from "./condition-analysis.js";
import type { LocatedDefinition } from "../read-definitions.js";
import { reviewRules } from "./review-rules.js";
import type { Path, Position } from "../yaml-source.js";
import { compileRule } from "../../expression/rule/compile-rule.js";
import { compileCondition } from "../../expression/template.js";
import type { Definition, RoutingDefinition, WeightedDefinition } from "../../model/definition.js";
import type { Diagnostic } from "../../model/diagnostic.js";

/** Pairs of conditions are compared up to this many cases; beyond, only identical ones are found. */
const maxComparedCases = 1000;

export interface ReviewFinding {
  readonly path: Path;
  readonly severity: "warning" | "note";
  readonly message: string;
  readonly hint?: string;
}

/** What a reviewer would ask about a definition that is valid. */
export function reviewDefinition(
  file: string,
  { definition, source }: LocatedDefinition,
): readonly Diagnostic[] {
  return [...reviewByType(definition), ...reviewCache(definition), ...reviewFetches(definition)].map(
    ({ path, ...rest }) => {
      const { line, column }: Position = source.locate(["decision", ...path]);
      return { file, line, column, ...rest, decision_id: definition.id };
    },
  );
}

function reviewByType(definition: Definition): readonly ReviewFinding[] {
  if (!isRouting(definition)) return reviewRules(definition);
  return definition.type === "weighted" ? reviewWeights(definition) : reviewConditions(definition);
}

function reviewCache(definition: Definition): readonly ReviewFinding[] {
  if (definition.cache?.enabled !== true) return [];
  const reason = uncacheableReason(definition, definitionReads(definition));
  if (reason === undefined) return [];
  return [{ path: ["cache"], severity: "warning", message: `its answers are never cached, as ${reason}` }];
}

function reviewWeights(definition: WeightedDefinition): readonly ReviewFinding[] {
  const remarks: ReviewFinding[] = [];
  if (isInputMasked(definition)) {
    remarks.push({
      path: ["logging", "mask"],
      severity: "note",
      message: "its input is masked, so its records cannot show whether it splits as the weights say",
    });
  }
  const total = definition.cases.reduce((sum, each) => sum + (each.weight ?? 0), 0);
  const labels = labelsOf(definition.cases);
  for (const [index, each] of definition.cases.entries()) {
    if (each.weight !== undefined) continue;
    remarks.push({
      path: ["cases", index],
      severity: "warning",
      message: `\`${labels[index] ?? ""}\` has no weight, so it is never chosen`,
    });
  }
  if (total === 0) {
    remarks.push({
      path: ["cases"],
      severity: "warning",
      message: "all weights are 0, so everything goes to the default",
    });
  } else if (Math.abs(total - 100) > 1e-9) {
    remarks.push({
      path: ["cases"],
      severity: "note",
      message: `the weights sum to ${total}, not to 100; shares are relative to the sum`,
    });
  }
  return remarks;
}

interface AnalyzedCase {
  readonly path: Path;
  readonly label: string;
  readonly target: string;
  readonly demands: readonly Constraint[];
  readonly key: string;
  /** What its author has probably not meant. */
  readonly doubts: readonly string[];
}

function reviewConditions(
  definition: Exclude<RoutingDefinition, WeightedDefinition>,
): readonly ReviewFinding[] {
  const judged = analyzeCases(definition);
  const remarks = judged.flatMap((each) => reviewSingleCase(each));
  if (definition.type === "binary" && judged.length > 2) {
    remarks.push({
      path: ["cases"],
      severity: "note",
      message: `a binary decision with ${judged.length} cases reads better as a switch`,
    });
  }
  remarks.push(...reviewPriorities(definition));
  const firstWins = definition.type !== "rule_table" || (definition.hit_policy ?? "first") === "first";
  const earlier = new Map<string, AnalyzedCase>();
  for (const [index, each] of judged.entries()) {
    const identical = earlier.get(each.key);
    const remark = identical
      ? duplicateCondition(each, identical, firstWins)
      : index < maxComparedCases && compareWithEarlier(each, judged.slice(0, index), definition, firstWins);
    if (remark) remarks.push(remark);
    if (!identical) earlier.set(each.key, each);
  }
  return remarks;
}

/** A rule without a priority has 0, which comes before every positive one. */
function reviewPriorities(definition: Definition): readonly ReviewFinding[] {
  if (definition.type !== "rule_table" || definition.hit_policy !== "priority") return [];
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.flatMap(({ path, each }, index) => {
    if (each.priority !== undefined) return [];
    const message = `\`${labels[index] ?? ""}\` has no priority, so it counts as 0 and comes before all that are larger`;
    return [{ path, severity: "warning", message }];
  });
}

function analyzeCases(definition: Definition): readonly AnalyzedCase[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.map(({ path, each }, index) => {
    const { tree } = compileCondition(each.condition ?? "");
    const demands = constraintsOf(tree);
    const key = demands
      .map((demand) => demand.text)
      .sort()
      .join(" and ");
    return {
      path: [...path, "condition"],
      label: labels[index] ?? "",
      target: each.target,
      demands,
      key,
      doubts: conditionWarnings(tree),
    };
  });
}

function reviewSingleCase({ path, label, demands, doubts }: AnalyzedCase): readonly ReviewFinding[] {
  const never = demands.some((demand) => demand.constant === false) || isContradictory(demands);
  if (never) return [{ path, severity: "warning", message: `\`${label}\` can never match` }];
  return doubts.map((message) => ({ path, severity: "warning", message: `\`${label}\`: ${message}` }));
}

function duplicateCondition(each: AnalyzedCase, earlier: AnalyzedCase, firstWins: boolean): ReviewFinding {
  const message = `\`${each.label}\` has the same condition as \`${earlier.label}\``;
  return {
    path: each.path,
    severity: "warning",
    message: firstWins ? `${message}, so it is never reached` : message,
  };
}

function compareWithEarlier(
  each: AnalyzedCase,
  earlier: readonly AnalyzedCase[],
  definition: Definition,
  firstWins: boolean,
): ReviewFinding | undefined {
  const covering = firstWins ? earlier.find((other) => implies(each.demands, other.demands)) : undefined;
  if (covering !== undefined) {
    const message = `\`${each.label}\` is never reached: \`${covering.label}\` matches whenever it does`;
    return { path: each.path, severity: "warning", message, hint: "put the narrower condition first" };
  }
  return findOverlap(each, earlier, definition);
}

/** Two rules that can match together: an error under `unique`, and under `any` where they lead elsewhere. */
function findOverlap(
  each: AnalyzedCase,
  earlier: readonly AnalyzedCase[],
  definition: Definition,
): ReviewFinding | undefined {
  const policy = definition.type === "rule_table" ? (definition.hit_policy ?? "first") : "first";
  if (policy === "collect" || policy === "priority") return undefined;
  const excluding = policy !== "first";
  for (const other of earlier) {
    if (policy === "any" && other.target === each.target) continue;
    const shared = sharedValue(each.demands, other.demands);
    const implied =
      excluding && (implies(each.demands, other.demands) || implies(other.demands, each.demands));
    if (shared === undefined && !implied) continue;
    const where = shared === undefined ? "" : ` where \`${shared.path}\` is ${JSON.stringify(shared.value)}`;
    const message = `\`${each.label}\` overlaps \`${other.label}\`${where}`;
    if (!excluding) return { path: each.path, severity: "note", message };
    return { path: each.path, severity: "warning", message: `${message}, which ends in an error` };
  }
  return undefined;
}

/** What a reviewer would ask about what is fetched; that without it there is no decision is use enough. */
function reviewFetches(definition: Definition): readonly ReviewFinding[] {
  const fetches = uniqueFetches(definition).filter(({ required = false }) => !required);
  if (fetches.length === 0) return [];
  const reads = allReads(definition);
  if (reads.includes("context")) return [];
  const read = new PathMap<undefined>();
  for (const path of reads) read.add(path, undefined);
  return fetches
    .flatMap(fetchDestinations)
    .filter(({ at }) => read.overlapping(at) === undefined)
    .map(({ at, path }) => ({
      path,
      severity: "warning",
      message: `nothing reads \`${at}\`, which is fetched`,
    }));
}

/** Where its data end up in the context, each with where that is written. */
function fetchDestinations({ into, mapping, path }: DeclaredFetch): readonly { at: string; path: Path }[] {
  if (mapping === undefined) return into === undefined ? [] : [{ at: into, path: [...path, "into"] }];
  const below = into === undefined ? "" : `${into}.`;
  return Object.entries(mapping).map(([from, to]) => ({ at: below + to, path: [...path, "mapping", from] }));
}

/** The paths of the context that anything in a definition reads; `context` is all of it. */
function allReads(definition: Definition): readonly string[] {
  const texts = expressionsIn(definition).flatMap(({ text, compile }) => compile(text).reads);
  const rules =
    definition.type === "scored"
      ? definition.evaluators.flatMap((each) => ("rules" in each ? each.rules : []))
      : [];
  const fields = rules.flatMap((rule) => (rule.if === undefined ? [] : compileRule(rule.if).reads));
  const reads = [...texts, ...fields].map(stripContextPrefix);
  if (definition.input !== undefined) return reads;
  // Without one of its own, the input is the whole context.
  const whole = definition.type === "weighted" ? ["context"] : [];
  return [...whole, ...reads.map((read) => (read === "input" ? "context" : read.replace(/^input\./, "")))];
}
