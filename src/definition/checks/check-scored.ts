import { possibleDecisions } from "../branches.js";
import type { EvaluatorDefinition, Scoring, ScoredDefinition } from "../../model/definition.js";
import { didYouMean } from "../../text.js";
import { ruleDiagnostics } from "../../expression/rule/rule-diagnostics.js";
import { checkUniqueNames } from "./check-names.js";
import type { Finding } from "../diagnostics.js";
import { quoted, writeHint } from "../written-lines.js";
import type { Path } from "../yaml-source.js";

/** Checks the `if` conditions of a decision, even of an invalid one. */
export function checkRuleConditions(decision: unknown): readonly Finding[] {
  return listAt(decision, "evaluators").flatMap((evaluator, at) =>
    listAt(evaluator, "rules").flatMap((rule, index) => {
      if (typeof rule !== "object" || rule === null || !("if" in rule)) return [];
      const before = ["evaluators", at, "rules", index, "if"];
      const hint = expressionHint(rule.if);
      return ruleDiagnostics(rule.if).map((finding) => ({
        ...finding,
        ...(hint !== undefined && { hint }),
        path: [...before, ...finding.path],
      }));
    }),
  );
}

/** Returns a hint for an expression, which is written under another key. */
const expressionHint = (condition: unknown): string | undefined =>
  typeof condition === "string"
    ? writeHint(`when: ${quoted(condition)}`, "write it under `when` instead of `if`")
    : undefined;

function listAt(value: unknown, key: string): readonly unknown[] {
  const found = (value as Readonly<Record<string, unknown>> | null | undefined)?.[key];
  return Array.isArray(found) ? found : [];
}

/** Checks names, and the parameters of the scoring strategy. */
export function checkScored(definition: ScoredDefinition): readonly Finding[] {
  const { evaluators, scoring, targets } = definition;
  return [
    ...checkUniqueNames(evaluators, ["evaluators"], { key: "name", what: "the evaluator" }),
    ...evaluators.flatMap((each, index) =>
      "rules" in each
        ? checkUniqueNames(each.rules, ["evaluators", index, "rules"], { key: "id", what: "the rule" })
        : checkRuleset(each, index),
    ),
    ...evaluators.flatMap((each, index) => checkMetadata(each, ["evaluators", index])),
    ...(scoring === undefined ? [] : checkScoring(scoring)),
    // A custom evaluator may vote for anything.
    ...(evaluators.some((each) => "custom" in each)
      ? []
      : checkScoredTargets(targets ?? {}, possibleDecisions(definition))),
  ];
}

/** Other evaluators have no rules. */
function checkRuleset(evaluator: object, index: number): readonly Finding[] {
  if (!("ruleset" in evaluator)) return [];
  const message = `\`ruleset\` is only allowed with \`rules\`, not in a ${"static" in evaluator ? "static" : "custom"} evaluator`;
  return [{ path: ["evaluators", index], key: "ruleset", message }];
}

/** The rule and the ruleset of a vote are always those that cast it. */
function checkMetadata(evaluator: EvaluatorDefinition, path: Path): readonly Finding[] {
  const votes =
    "rules" in evaluator
      ? evaluator.rules.map(({ then }, index) => ({ each: then, at: [...path, "rules", index, "then"] }))
      : "static" in evaluator
        ? [{ each: evaluator.static, at: [...path, "static"] }]
        : [];
  return [{ each: evaluator, at: path }, ...votes].flatMap(({ each: { metadata = {} }, at }) =>
    ["rule_id", "ruleset"]
      .filter((key) => Object.hasOwn(metadata, key))
      .map((key) => ({
        path: [...at, "metadata"],
        key,
        message: `\`${key}\` of a vote is always that of its rule`,
        hint: key === "rule_id" ? "set the `id` of the rule" : "set the `ruleset` of the evaluator",
      })),
  );
}

const strategyParameters: Readonly<Record<Scoring["strategy"], readonly (keyof Scoring)[]>> = {
  weighted_average: [],
  max_weight: [],
  consensus: ["minimum_agreement"],
  threshold: ["threshold", "fallback_decision"],
};

function checkScoring(scoring: Scoring): readonly Finding[] {
  const { strategy } = scoring;
  const known = strategyParameters[strategy];
  const given = Object.keys(scoring).filter((key) => key !== "strategy");
  const foreign = given.filter((key) => !known.some((each) => each === key));
  const missing = known.filter((key) => scoring[key] === undefined);
  return [
    ...foreign.map((key) => ({
      path: ["scoring"],
      key,
      message: `\`${key}\` has no effect with the strategy \`${strategy}\``,
    })),
    ...missing.map((key) => ({
      path: ["scoring"],
      message: `\`${key}\` is missing, which the strategy \`${strategy}\` requires`,
    })),
  ];
}

function checkScoredTargets(
  targets: Readonly<Record<string, string>>,
  decisions: readonly string[],
): readonly Finding[] {
  return Object.keys(targets)
    .filter((key) => !decisions.includes(key))
    .map((key) => ({
      path: ["targets"],
      key,
      message: `no evaluator votes for \`${key}\``,
      hint: didYouMean(key, decisions) ?? `evaluators vote for ${decisions.join(", ")}`,
    }));
}
