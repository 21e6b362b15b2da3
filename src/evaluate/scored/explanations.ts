import type { Evaluation } from "../../model/result.js";
import type { Scored, Strategy } from "./scoring.js";
import { highestWeight } from "./scoring.js";

/** What was decided, who was for it, who was against it and why that did not count, as people say it. */
export function explain(
  { decision, confidence, evaluations }: Scored & { readonly evaluations: readonly Evaluation[] },
  strategy: Strategy,
): readonly string[] {
  const supporters = evaluations.filter((each) => each.decision === decision);
  const others = evaluations.filter((each) => each.decision !== decision);
  return [
    `Decision: ${decision} (confidence ${confidence})`,
    ...supporters.map((each) => `${each.evaluator_name} voted ${voteText(each)}`),
    ...others.map((each) => `${each.evaluator_name} voted ${voteText(each, " and was overruled")}`),
    `Resolved by ${strategy.name}: ${resolution(decision, evaluations, strategy)}`,
  ];
}

function voteText({ decision, weight, reason }: Evaluation, fate = ""): string {
  return `${decision} with weight ${weight}${fate}${reason === "" ? "" : `: ${reason}`}`;
}

function resolution(decision: string, evaluations: readonly Evaluation[], strategy: Strategy): string {
  const { threshold, minimum_agreement: agreement } = strategy.parameters;
  const votes = evaluations.filter((each) => each.decision === decision).length;
  switch (strategy.name) {
    case "weighted_average":
      return "the greatest sum of weights decides";
    case "max_weight":
      return "the greatest weight decides";
    case "consensus":
      return `${votes} of ${evaluations.length} votes agree${agreement === undefined ? "" : `, at least ${agreement} of them must`}`;
    case "threshold": {
      const highest = highestWeight(evaluations);
      return `the greatest weight ${highest} ${highest >= (threshold ?? 0) ? "reaches" : "is below"} the threshold ${threshold ?? 0}`;
    }
    default:
      return `${votes} of ${evaluations.length} votes were for it`;
  }
}
