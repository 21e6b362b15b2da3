import type { FirstMatchDefinition } from "../model/definition.js";
import type { ConditionDetail } from "../model/result.js";
import type { Scope } from "../model/scope.js";
import { Failure } from "../expression/failure.js";
import { describeVerdict, judge, prepareBranches } from "./branch.js";
import type { Router } from "./router.js";
import type { Errored } from "./selection.js";
import { noneMatched, routeTo, routeToDefault } from "./selection.js";

/** `binary` and `switch`: the first case whose condition matches; those after it are not evaluated. */
export function prepareFirstMatch(definition: FirstMatchDefinition): Router {
  const branches = prepareBranches(definition.cases);
  const fallback = definition.default.target;
  return {
    branches,
    select(_input, scope: Scope) {
      const details: Record<string, ConditionDetail> = {};
      const failed: string[] = [];
      const errors: Errored[] = [];
      for (const branch of branches) {
        const verdict = judge(branch, scope);
        details[branch.label] = describeVerdict(branch, verdict);
        if (verdict === true) return routeTo([branch], { details, because: [branch.text], failed, errors });
        failed.push(branch.text);
        if (verdict instanceof Failure) errors.push({ branch, failure: verdict });
      }
      return routeToDefault(fallback, { details, because: [noneMatched], failed, errors });
    },
  };
}
