import { canonicalJson } from "../../digest/canonical-json.js";
import { compileCondition } from "../../expression/template.js";
import type { Definition, RoutingDefinition, WeightedDefinition } from "../../model/definition.js";
import { casesOf, labelsOf } from "../branches.js";
import { isInputMasked } from "../definition-reads.js";
import type { Finding } from "../diagnostics.js";
import type { Path } from "../yaml-source.js";
import type { Constraint } from "./condition-analysis.js";
import { constraintsOf, implies, isContradictory, sharedValue } from "./condition-analysis.js";

/** Reviews the weights of a `weighted` decision. */
export function reviewWeights(definition: WeightedDefinition): readonly Finding[] {
  const { cases } = definition;
  const labels = labelsOf(cases);
  const findings: Finding[] = [];
  if (isInputMasked(definition, definition.logging?.mask ?? [])) {
    findings.push({
      path: ["logging", "mask"],
      severity: "note",
      message: "the input is masked, so the records cannot show whether the split matches the weights",
    });
  }
  for (const [index, { weight }] of cases.entries()) {
    if (weight !== undefined) continue;
    const message = `\`${labels[index] ?? ""}\` has no weight, so it is never chosen`;
    findings.push({ path: ["cases", index], severity: "warning", message });
  }
  const total = cases.reduce((sum, { weight = 0 }) => sum + weight, 0);
  if (total === 0) {
    const message = "all weights are 0, so everything goes to the default";
    findings.push({ path: ["cases"], severity: "warning", message });
  } else if (Math.abs(total - 100) > 1e-9) {
    const message = `the weights sum to ${total}, not to 100; shares are relative to the sum`;
    findings.push({ path: ["cases"], severity: "note", message });
  }
  return findings;
}

/** Up to this many cases are compared in pairs; beyond, only identical conditions are found. */
const maxComparedCases = 1000;

interface AnalyzedCase {
  readonly path: Path;
  readonly label: string;
  /** Equal for cases with the same target and the same written output. */
  readonly answer: string;
  readonly constraints: readonly Constraint[];
  /** Equal for conditions that differ only in spelling or order. */
  readonly key: string;
}

/** Reviews the conditions of a `binary`, `switch` or `rule_table` decision: unreachable cases, overlaps and the like. */
export function reviewConditions(
  definition: Exclude<RoutingDefinition, WeightedDefinition>,
): readonly Finding[] {
  const cases = analyzeCases(definition);
  const findings = [...cases.flatMap(reviewSingleCase)];
  if (definition.type === "binary" && cases.length > 2) {
    const message = `a \`binary\` decision has two cases, this one has ${cases.length}; use \`switch\``;
    findings.push({ path: ["cases"], severity: "note", message });
  }
  findings.push(...reviewPriorities(definition));
  const firstWins = definition.type !== "rule_table" || (definition.hit_policy ?? "first") === "first";
  const earlier = new Map<string, AnalyzedCase>();
  for (const [index, each] of cases.entries()) {
    const identical = earlier.get(each.key);
    const finding = identical
      ? duplicateCondition(each, identical, firstWins)
      : index < maxComparedCases && compareWithEarlier(each, cases.slice(0, index), definition, firstWins);
    if (finding) findings.push(finding);
    if (!identical) earlier.set(each.key, each);
  }
  return findings;
}

function analyzeCases(definition: Definition): readonly AnalyzedCase[] {
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.map(({ path, each }, index) => {
    const { tree } = compileCondition(each.condition ?? "");
    const constraints = constraintsOf(tree);
    const texts = constraints.map(({ text }) => text);
    return {
      path: [...path, "condition"],
      label: labels[index] ?? "",
      answer: canonicalJson({ target: each.target ?? null, output: each.output ?? null }),
      constraints,
      key: texts.sort().join(" and "),
    };
  });
}

function reviewSingleCase({ path, label, constraints }: AnalyzedCase): readonly Finding[] {
  const isNever = constraints.some(({ constant }) => constant === false) || isContradictory(constraints);
  return isNever ? [{ path, severity: "warning", message: `\`${label}\` can never match` }] : [];
}

/** A rule without a priority has priority 0, which wins over every positive one. */
function reviewPriorities(definition: Definition): readonly Finding[] {
  if (definition.type !== "rule_table" || definition.hit_policy !== "priority") return [];
  const cases = casesOf(definition);
  const labels = labelsOf(cases.map(({ each }) => each));
  return cases.flatMap(({ path, each }, index) => {
    if (each.priority !== undefined) return [];
    const message = `\`${labels[index] ?? ""}\` has no priority, so it has priority 0 and wins over all higher numbers`;
    return [{ path, severity: "warning", message }];
  });
}

function duplicateCondition(each: AnalyzedCase, earlier: AnalyzedCase, firstWins: boolean): Finding {
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
): Finding | undefined {
  const covering = firstWins
    ? earlier.find((other) => implies(each.constraints, other.constraints))
    : undefined;
  if (covering !== undefined) {
    const message = `\`${each.label}\` is never reached: \`${covering.label}\` matches whenever it does`;
    return { path: each.path, severity: "warning", message, hint: "put the narrower condition first" };
  }
  return findOverlap(each, earlier, definition);
}

/** Two rules that can both match: an error with `unique`, and with `any` if their answers differ. */
function findOverlap(
  each: AnalyzedCase,
  earlier: readonly AnalyzedCase[],
  definition: Definition,
): Finding | undefined {
  const policy = definition.type === "rule_table" ? (definition.hit_policy ?? "first") : "first";
  if (policy !== "first" && policy !== "unique" && policy !== "any") return undefined;
  const isError = policy !== "first";
  for (const other of earlier) {
    if (policy === "any" && other.answer === each.answer) continue;
    const shared = sharedValue(each.constraints, other.constraints);
    const isImplied =
      isError &&
      (implies(each.constraints, other.constraints) || implies(other.constraints, each.constraints));
    if (shared === undefined && !isImplied) continue;
    const where = shared === undefined ? "" : ` where \`${shared.path}\` is ${JSON.stringify(shared.value)}`;
    if (!isError) {
      const message = `\`${each.label}\` overlaps \`${other.label}\`${where}`;
      return { path: each.path, severity: "note", message };
    }
    const both = `\`${other.label}\` and \`${each.label}\` can both match${where}`;
    const message = `${both}; with \`hit_policy: ${policy}\` that is an error`;
    return { path: each.path, severity: "warning", message };
  }
  return undefined;
}
