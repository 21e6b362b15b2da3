import type { Json } from "../../model/json.js";
import type { Scope } from "../../model/scope.js";
import type { Judged } from "../evaluated.js";
import { isPermissive } from "./aggregation.js";
import { describeErrored, summariseErrored } from "./errors.js";
import { gateMetadata } from "./metadata.js";
import { reasonOf } from "./reason.js";
import type { Weighing } from "./weighing.js";
import { workFrame } from "./work-frame.js";

/** What is known beside the rules. */
export interface Known {
  readonly input: Json;
  /** What the context lacks. */
  readonly missing: readonly string[];
}

/** Makes an answer of what came of the rules: where anything errs, it is YELLOW at least. */
export function verdict(weighing: Weighing, scope: Scope, { input, missing }: Known): Judged {
  const { deciding, errors } = weighing;
  const errored = errors.length > 0;
  const raised = errored && isPermissive(weighing.status);
  const status = raised ? "YELLOW" : weighing.status;
  const reasons = deciding.length === 0 ? ["no rule matched"] : deciding.map((rule) => reasonOf(rule, scope));
  const told = errors.map(describeErrored);
  const alone = errored || deciding.length !== 1 ? undefined : deciding[0];
  return {
    selected_targets: [],
    selected_labels: [status],
    input_value: input,
    evaluation_details: weighing.details,
    rules_total: undefined,
    because: raised ? [summariseErrored(errors), ...reasons] : reasons,
    failed_conditions: weighing.failed,
    warnings: told,
    errors: told,
    outcome: {
      type: "gate",
      status,
      work_frame: alone?.frame ?? workFrame(deciding, { status, errored, raised, missing }),
      decision_metadata: gateMetadata(weighing, scope.system),
    },
  };
}
