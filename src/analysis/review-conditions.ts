import { analyzeDefinition } from "./analyze.js";
import {
  maskedText,
  namesOf,
  overlapEffect,
  overlapText,
  regionInText,
  unreachableText,
} from "./finding-texts.js";
import type { DecisionAnalysis, Overlap } from "./findings.js";
import type { Finding } from "../definition/diagnostics.js";
import { locateFinding } from "../definition/diagnostics.js";
import { valueAt } from "../definition/explain-schema-errors.js";
import type { LocatedDefinition } from "../definition/read-definitions.js";
import { reviewSpelling } from "../definition/reviews/review-spelling.js";
import { reviewTextOrder } from "../definition/reviews/review-text-order.js";
import { hasTypeErrors } from "../definition/reviews/review-types.js";
import { equal } from "../expression/equal.js";
import { compileCondition } from "../expression/template.js";
import type { Definition } from "../model/definition.js";
import type { Diagnostic } from "../model/diagnostic.js";

/** Fewer than `analyze` takes: an editor analyses the definitions after every edit. */
const reviewSteps = 300_000;

/**
 * Returns the warnings and notes about the conditions of a valid definition: rules that never decide, rules that match
 * together where the hit policy forbids that, inputs that no rule matches although one should. `overridden` are the
 * policies that overrides of other decisions name.
 */
export function reviewConditions(
  { file, definition, source }: LocatedDefinition,
  overridden: readonly string[] = [],
): readonly Diagnostic[] {
  const place = { file, within: ["decision"], decision_id: definition.id };
  const analysis = analyzeDefinition(definition, { steps: reviewSteps, overridden });
  const findings = [
    ...unreachableFindings(analysis, definition),
    ...maskedFindings(analysis, definition),
    ...overlapFindings(analysis, definition),
    ...gapFindings(analysis, definition),
  ];
  return [
    ...findings.map((finding): Finding => ({ severity: "warning", ...finding })),
    ...repeatedFindings(analysis),
  ].map((finding) => locateFinding(finding, source, place));
}

/** Leaves out conditions that have other warnings, from which it follows. */
function unreachableFindings({ unreachable }: DecisionAnalysis, definition: Definition): readonly Finding[] {
  if (unreachable.length === 0) return [];
  const mistakes = [...reviewTextOrder(definition), ...reviewSpelling(definition)];
  return unreachable.flatMap((each) => {
    const { path } = each;
    const text = valueAt(definition, path);
    const condition = typeof text === "string" ? text : "true";
    if (mistakes.some((mistake) => equal(mistake.path, path)) || hasTypeErrors(condition)) return [];
    const isWhole = definition.input === undefined && compileCondition(condition).reads.includes("input");
    const hint = "without `input`, it is the whole context: set `input`, or compare a field";
    return [{ path, message: unreachableText(each), ...(isWhole && { hint }) }];
  });
}

function maskedFindings({ masked }: DecisionAnalysis, definition: Definition): readonly Finding[] {
  return masked.map((each) => {
    const message = maskedText(each, definition);
    const isOrdered = message.includes("is never reached") && !each.isSame;
    return { path: each.path, message, ...(isOrdered && { hint: "put the narrower condition first" }) };
  });
}

/** One warning for each rule, about the rules before it, unless it is masked anyway. */
function overlapFindings({ overlaps, masked }: DecisionAnalysis, definition: Definition): readonly Finding[] {
  const byRule = new Map<string, Overlap[]>();
  for (const overlap of overlaps) {
    const [, rule] = overlap.rules;
    if (masked.some((each) => each.rule === rule)) continue;
    const others = byRule.get(rule);
    if (others === undefined) byRule.set(rule, [overlap]);
    else others.push(overlap);
  }
  return Array.from(byRule, ([rule, found]) => {
    const [first, second] = found;
    const path = first?.path ?? [];
    if (first !== undefined && (second === undefined || first.isSame))
      return { path, message: overlapText(first, definition) };
    const others = found.map(({ rules: [other] }) => other);
    const message = `\`${rule}\` can match together with ${namesOf(others, "or")}`;
    return { path, message: `${message}; ${overlapEffect(definition)}` };
  });
}

/** One warning for all inputs that lead to a default to which none should. */
function gapFindings({ gaps }: DecisionAnalysis, definition: Definition): readonly Finding[] {
  const [first, ...others] = gaps.filter(({ isUnexpected }) => isUnexpected);
  if (first === undefined) return [];
  const more = others.length === 0 ? "" : ` and elsewhere (${others.length} more)`;
  const example = JSON.stringify(first.input);
  const isDeclared = "default" in definition && definition.default.unexpected === true;
  const reason = isDeclared
    ? "but the default is declared as unexpected"
    : "but with `hit_policy: unique` one of them should match";
  const hint = isDeclared
    ? "add a rule, or remove `unexpected` from the default"
    : "add a rule, or declare with `unexpected: false` that the default is for them";
  const message = `no rule matches where ${regionInText(first.region)}${more}, such as ${example}, ${reason}`;
  return [{ path: ["default"], message, hint }];
}

const repeatedFindings = ({ repeated }: DecisionAnalysis): readonly Finding[] =>
  repeated.map(({ rule, earlier, region, path }) => ({
    path,
    severity: "note",
    message: `\`${rule}\` overlaps \`${earlier}\` where \`${region}\``,
  }));
