import type { CheckResult } from "../decide/check.js";
import { ruleTracesOf } from "../evaluate/scored/rule-traces.js";
import type { EvaluatorDetail, Result } from "../model/result.js";
import type { ReadValues } from "../record/recorded-values.js";
import type { LimitUse } from "./limit-uses.js";
import { plainResult } from "./answer-line.js";
import type { View } from "./format.js";
import { oneLine } from "../text.js";

export interface ResultOptions extends Partial<ScopeValues> {
  readonly explain: boolean;
  /** Adds the rule traces of scored decisions to the value. */
  readonly verbose?: boolean;
  /** All cases, so that those not evaluated are shown too. */
  readonly cases?: readonly { readonly label: string; readonly condition: string }[];
}

/** What is known of the scope of a decision that was just made; without it, no values are shown. */
export interface ScopeValues {
  /** Finds the values that a condition read. */
  readonly readValues: ReadValues;
  readonly limits: ReadonlyMap<string, LimitUse>;
}

export function resultView(result: Result, options: ResultOptions): View {
  return {
    value: options.verbose ? withTraces(result) : result,
    plain: () => plainResult(result),
    table: async (style) => (await import("./result-tables.js")).describeResult(result, options, style),
  };
}

function withTraces(result: Result): Result {
  if (result.type !== "scored") return result;
  const details = result.evaluation_details as Readonly<Record<string, EvaluatorDetail>>;
  return { ...result, explainability: { ...result.explainability, rule_traces: ruleTracesOf(details) } };
}

export interface CheckOptions {
  readonly explain: boolean;
  readonly valuesOf?: (decisionId: string) => ScopeValues | undefined;
}

export function checkView(result: CheckResult, options: CheckOptions): View {
  return {
    value: result,
    plain: () => [result.outcome, result.tool, result.reason].map(oneLine).join("\t"),
    table: async (style) => (await import("./result-tables.js")).describeCheck(result, options, style),
  };
}
