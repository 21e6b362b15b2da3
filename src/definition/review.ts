import { compileCondition } from "../expression/template.js";
import type { Definition, RoutingDefinition, WeightedDefinition } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import { uncacheable } from "./cacheable.js";
import { isRouting } from "./decision-types.js";
import { casesOf } from "./expressions.js";
import { definitionReads, isInputMasked } from "./definition-reads.js";
import { labelsOf } from "./labels.js";
import { fetchRemarks } from "./review-fetches.js";
import { moreRemarks } from "./review-more.js";
import { doubtsAbout } from "./doubts.js";
import type { Demand } from "./implication.js";
import { contradictory, demandsOf, implies, sharedValue } from "./implication.js";
import type { LocatedDefinition } from "./read-definitions.js";
import type { Path, Position } from "./yaml-source.js";

/** Pairs of conditions are compared up to this many cases; beyond, only identical ones are found. */
const comparedCases = 1000;

export interface Remark {
  readonly path: Path;
  readonly severity: "warning" | "note";
  readonly message: string;
  readonly hint?: string;
}

/** What a reviewer would ask about a definition that is valid. */
export function review(file: string, { definition, source }: LocatedDefinition): readonly Problem[] {
  return [...remarksOn(definition), ...cacheRemarks(definition), ...fetchRemarks(definition)].map(
    ({ path, ...rest }) => {
      const { line, column }: Position = source.locate(["decision", ...path]);
      return { file, line, column, ...rest, decision_id: definition.id };
    },
  );
}

function remarksOn(definition: Definition): readonly Remark[] {
  if (!isRouting(definition)) return moreRemarks(definition);
  return definition.type === "weighted" ? weightRemarks(definition) : conditionRemarks(definition);
}

function cacheRemarks(definition: Definition): readonly Remark[] {
  if (definition.cache?.enabled !== true) return [];
  const reason = uncacheable(definition, definitionReads(definition));
  if (reason === undefined) return [];
  return [{ path: ["cache"], severity: "warning", message: `its answers are never cached, as ${reason}` }];
}

function weightRemarks(definition: WeightedDefinition): readonly Remark[] {
  const remarks: Remark[] = [];
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

interface Judged {
  readonly path: Path;
  readonly label: string;
  readonly target: string;
  readonly demands: readonly Demand[];
  readonly key: string;
  /** What its author has probably not meant. */
  readonly doubts: readonly string[];
}

function conditionRemarks(definition: Exclude<RoutingDefinition, WeightedDefinition>): readonly Remark[] {
  const judged = judgedCases(definition);
  const remarks = judged.flatMap((each) => alone(each));
  if (definition.type === "binary" && judged.length > 2) {
    remarks.push({
      path: ["cases"],
      severity: "note",
      message: `a binary decision with ${judged.length} cases reads better as a switch`,
    });
  }
  remarks.push(...priorityRemarks(definition));
  const firstWins = definition.type !== "rule_table" || (definition.hit_policy ?? "first") === "first";
  const earlier = new Map<string, Judged>();
  for (const [index, each] of judged.entries()) {
    const identical = earlier.get(each.key);
    const remark = identical
      ? repeated(each, identical, firstWins)
      : index < comparedCases && compareWithEarlier(each, judged.slice(0, index), definition, firstWins);
    if (remark) remarks.push(remark);
    if (!identical) earlier.set(each.key, each);
  }
  return remarks;
}

/** A rule without a priority has 0, which comes before every positive one. */
function priorityRemarks(definition: Definition): readonly Remark[] {
  if (definition.type !== "rule_table" || definition.hit_policy !== "priority") return [];
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.flatMap(({ path, each }, index) => {
    if (each.priority !== undefined) return [];
    const message = `\`${labels[index] ?? ""}\` has no priority, so it counts as 0 and comes before all that are larger`;
    return [{ path, severity: "warning", message }];
  });
}

function judgedCases(definition: Definition): readonly Judged[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.map(({ path, each }, index) => {
    const { tree } = compileCondition(each.condition ?? "");
    const demands = demandsOf(tree);
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
      doubts: doubtsAbout(tree),
    };
  });
}

function alone({ path, label, demands, doubts }: Judged): readonly Remark[] {
  const never = demands.some((demand) => demand.constant === false) || contradictory(demands);
  if (never) return [{ path, severity: "warning", message: `\`${label}\` can never match` }];
  return doubts.map((message) => ({ path, severity: "warning", message: `\`${label}\`: ${message}` }));
}

function repeated(each: Judged, earlier: Judged, firstWins: boolean): Remark {
  const message = `\`${each.label}\` has the same condition as \`${earlier.label}\``;
  return {
    path: each.path,
    severity: "warning",
    message: firstWins ? `${message}, so it is never reached` : message,
  };
}

function compareWithEarlier(
  each: Judged,
  earlier: readonly Judged[],
  definition: Definition,
  firstWins: boolean,
): Remark | undefined {
  const covering = firstWins ? earlier.find((other) => implies(each.demands, other.demands)) : undefined;
  if (covering !== undefined) {
    const message = `\`${each.label}\` is never reached: \`${covering.label}\` matches whenever it does`;
    return { path: each.path, severity: "warning", message, hint: "put the narrower condition first" };
  }
  return overlap(each, earlier, definition);
}

/** Two rules that can match together: an error under `unique`, and under `any` where they lead elsewhere. */
function overlap(each: Judged, earlier: readonly Judged[], definition: Definition): Remark | undefined {
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
