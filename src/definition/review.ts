import { compileCondition } from "../expression/template.js";
import type { Definition, WeightedDefinition } from "../model/definition.js";
import type { Problem } from "../model/problem.js";
import { casesOf } from "./expressions.js";
import { labelsOf } from "./labels.js";
import type { Demand } from "./implication.js";
import { contradictory, demandsOf, implies, sharedValue } from "./implication.js";
import type { LocatedDefinition } from "./read-definitions.js";
import type { Path, Position } from "./yaml-source.js";

/** Pairs of conditions are compared up to this many cases; beyond, only identical ones are found. */
const comparedCases = 1000;

interface Remark {
  readonly path: Path;
  readonly severity: "warning" | "note";
  readonly message: string;
  readonly hint?: string;
}

/** What a reviewer would ask about a definition that is valid. */
export function review(file: string, { definition, source }: LocatedDefinition): readonly Problem[] {
  const remarks = definition.type === "weighted" ? weightRemarks(definition) : conditionRemarks(definition);
  return remarks.map(({ path, ...rest }) => {
    const { line, column }: Position = source.locate(["decision", ...path]);
    return { file, line, column, ...rest, decision_id: definition.id };
  });
}

function weightRemarks(definition: WeightedDefinition): readonly Remark[] {
  const remarks: Remark[] = [];
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
  readonly demands: readonly Demand[];
  readonly key: string;
}

function conditionRemarks(definition: Exclude<Definition, WeightedDefinition>): readonly Remark[] {
  const judged = judgedCases(definition);
  const remarks = judged.flatMap((each) => alone(each));
  if (definition.type === "binary" && judged.length > 2) {
    remarks.push({
      path: ["cases"],
      severity: "note",
      message: `a binary decision with ${judged.length} cases reads better as a switch`,
    });
  }
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

function judgedCases(definition: Definition): readonly Judged[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.map(({ path, each }, index) => {
    const demands = demandsOf(compileCondition(each.condition ?? "").tree);
    const key = demands
      .map((demand) => demand.text)
      .sort()
      .join(" and ");
    return { path: [...path, "condition"], label: labels[index] ?? "", demands, key };
  });
}

function alone({ path, label, demands }: Judged): readonly Remark[] {
  const never = demands.some((demand) => demand.constant === false) || contradictory(demands);
  return never ? [{ path, severity: "warning", message: `\`${label}\` can never match` }] : [];
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
  for (const other of earlier) {
    const shared = sharedValue(each.demands, other.demands);
    if (shared === undefined) continue;
    const unique = definition.type === "rule_table" && definition.hit_policy === "unique";
    const message = `\`${each.label}\` overlaps \`${other.label}\` where \`${shared.path}\` is ${JSON.stringify(shared.value)}`;
    return {
      path: each.path,
      severity: unique ? "warning" : "note",
      message: unique ? `${message}, which ends in an error` : message,
    };
  }
  return undefined;
}
