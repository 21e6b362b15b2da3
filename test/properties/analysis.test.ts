import { describe, expect, it } from "vitest";
import type { Box } from "../../src/analysis/box.js";
import { analyzeDefinition } from "../../src/analysis/analyze.js";
import { compareDefinitions } from "../../src/analysis/compare.js";
import { answerKey, selectedLabel, Trial } from "../../src/analysis/trial.js";
import { hasCell } from "../../src/analysis/cell-set.js";
import { modelDecision } from "../../src/analysis/model-decision.js";
import type { Space } from "../../src/analysis/space.js";
import { SpaceBuilder } from "../../src/analysis/space.js";
import { casesOf, labelsOf } from "../../src/definition/branches.js";
import { Failure } from "../../src/expression/failure.js";
import { pathGetter } from "../../src/expression/path.js";
import { compileCondition, evaluateCondition } from "../../src/expression/template.js";
import type { Case, RoutingDefinition } from "../../src/model/definition.js";
import type { JsonObject } from "../../src/model/json.js";
import { randomCase, randomOtherPair, randomPair } from "../analysis/random-definitions.js";
import { isThorough } from "../thoroughness.js";

const runs = (thorough: number, quick: number): readonly number[] =>
  Array.from({ length: isThorough ? thorough : quick }, (_, index) => index);

const spaceOf = (definition: RoutingDefinition): Space => {
  const builder = new SpaceBuilder();
  modelDecision(definition, builder);
  return builder.build();
};

function isInside(context: JsonObject, { dimensions, sets }: Box, space: Space): boolean {
  return dimensions.every((index, at) => {
    const dimension = space.dimensions[index];
    if (dimension?.type !== "path") return false;
    const { segments } = dimension;
    const scope = { context, input: undefined, facts: {}, system: {} };
    const value =
      segments.length === 0
        ? context
        : pathGetter(["context", ...segments])({ ...scope, context: { context } });
    return hasCell(sets[at] ?? [], dimension.cellOf(value));
  });
}

type RuleResult = boolean | "errored";

/** Returns a function that tells what each rule does for a context, on its own. */
function ruleResults(definition: RoutingDefinition): (context: JsonObject) => readonly RuleResult[] {
  const rules = casesOf(definition).map(({ each: { condition = "" } }) => compileCondition(condition));
  const { prepared } = new Trial(definition);
  return (context) => {
    const scope = { context, input: undefined, facts: {}, system: {} };
    const input = prepared.input === undefined ? context : prepared.input.evaluate(scope);
    if (input instanceof Failure) return rules.map(() => "errored");
    return rules.map((rule) => {
      const result = evaluateCondition(rule, { ...scope, input });
      return result instanceof Failure ? "errored" : result;
    });
  };
}

describe("the analysis of a routing decision, against every context", () => {
  it.each(runs(2000, 150))("table %i", (seed) => {
    const { definition, contexts } = randomCase(seed);
    const analysis = analyzeDefinition(definition);
    const { gaps, overlaps, masked, unreachable, not_analysed, unconfirmed } = analysis;
    const shown = JSON.stringify(definition, null, 1);
    expect(unconfirmed, shown).toEqual([]);
    expect(not_analysed, shown).toEqual([]);
    const space = spaceOf(definition);
    const trial = new Trial(definition);
    const cases: readonly Case[] = casesOf(definition).map(({ each }) => each);
    const labels = labelsOf(cases);
    const policy = definition.type === "rule_table" ? (definition.hit_policy ?? "first") : "first";
    const resultsFor = ruleResults(definition);
    const matches = new Set<string>();
    const decides = new Set<string>();
    const reached = new Set<string>();
    const overlapping = new Set<string>();
    for (const context of contexts) {
      const answer = trial.run(context);
      const selected = selectedLabel(answer);
      const isGap = selected === "default";
      const inGap = gaps.some(({ box }) => isInside(context, box, space));
      if (isGap !== inGap) expect({ context, isGap }, shown).toEqual({ context, isGap: inGap });
      const results = resultsFor(context);
      for (const [index, label] of labels.entries()) {
        if (results[index] !== true) continue;
        matches.add(label);
        const before = definition.type === "rule_table" ? results : results.slice(0, index);
        if (!before.includes("errored")) reached.add(label);
      }
      if (selected !== undefined) decides.add(selected);
      for (const [index, a] of labels.entries()) {
        for (const [other, b] of labels.entries()) {
          if (other <= index || results[index] !== true || results[other] !== true) continue;
          const [one, two] = [cases[index], cases[other]];
          const isPair =
            policy === "unique" ||
            (policy === "any" && one?.target !== two?.target) ||
            (policy === "priority" &&
              one?.priority === two?.priority &&
              answer.error === undefined &&
              !cases.some((each, at) => results[at] === true && (each.priority ?? 0) < (one?.priority ?? 0)));
          if (isPair) overlapping.add(`${a} ${b}`);
        }
      }
    }
    expect(new Set(overlaps.map(({ rules }) => rules.join(" "))), shown).toEqual(overlapping);
    const isRanked = policy === "first" || policy === "priority";
    const never = labels.filter((label) => !matches.has(label));
    const fails = definition.on_error === "fail";
    const blocked = fails ? labels.filter((label) => matches.has(label) && !reached.has(label)) : [];
    expect(unreachable.map(({ rule }) => rule).sort(), shown).toEqual([...never, ...blocked].sort());
    const hidden = isRanked
      ? labels.filter((label) => !never.includes(label) && !blocked.includes(label) && !decides.has(label))
      : [];
    expect(masked.map(({ rule }) => rule).sort(), shown).toEqual([...hidden].sort());
    for (const { rule, by, input } of masked) {
      expect(labels, shown).toContain(rule);
      for (const each of by) expect(labels, shown).toContain(each);
      expect(selectedLabel(trial.run(input)), shown).not.toBe(rule);
    }
    for (const { input } of gaps) expect(selectedLabel(trial.run(input)), shown).toBe("default");
  });
});

describe("the comparison of two routing decisions, against every context", () => {
  it.each(runs(500, 60))("pair %i", (seed) => {
    const { definition, other, contexts } = randomPair(10_000 + seed);
    const comparison = compareDefinitions(definition, other);
    const [before, after] = [new Trial(definition), new Trial(other)];
    const shown = JSON.stringify([definition, other, comparison], null, 1);
    const differing = contexts.find(
      (context) => answerKey(before.run(context)) !== answerKey(after.run(context)),
    );
    expect(comparison.result, `${shown} ${JSON.stringify(differing)}`).toBe(
      differing === undefined ? "equivalent" : "different",
    );
    if (comparison.result !== "different") return;
    expect(comparison.not_compared, shown).toEqual([]);
    for (const { input } of comparison.differences)
      expect(answerKey(before.run(input)), shown).not.toBe(answerKey(after.run(input)));
  });
});

describe("the comparison of other decisions, against every context", () => {
  it.each(runs(500, 40))("pair %i", (seed) => {
    const { definition, other, contexts } = randomOtherPair(20_000 + seed);
    const comparison = compareDefinitions(definition, other);
    const [before, after] = [new Trial(definition), new Trial(other)];
    const shown = JSON.stringify([definition, other, comparison], null, 1);
    const differing = contexts.find(
      (context) => answerKey(before.run(context)) !== answerKey(after.run(context)),
    );
    expect(comparison.result, `${shown} ${JSON.stringify(differing)}`).toBe(
      differing === undefined ? "equivalent" : "different",
    );
    if (comparison.result !== "different") return;
    expect(comparison.not_compared, shown).toEqual([]);
    for (const { input } of comparison.differences)
      expect(answerKey(before.run(input)), shown).not.toBe(answerKey(after.run(input)));
  });
});
