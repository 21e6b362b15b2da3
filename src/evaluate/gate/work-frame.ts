import { workModes } from "../../definition/decision-types.js";
import { canonicalJson } from "../../digest/canonical-json.js";
import type { GateRule, Status, WrittenFrame } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { WorkFrame } from "../../model/result.js";

/** Inputs of a work frame in addition to the deciding rules. */
export interface FrameConditions {
  /** The final status. */
  readonly status: Status;
  /** True if anything could not be evaluated. */
  readonly errored: boolean;
  /** True if the status is stricter than that of the rules, because of those errors or of a limit. */
  readonly raised: boolean;
  /** The paths of required data that the context does not have. */
  readonly missing: readonly string[];
}

/** The next action when the context is incomplete. */
const retry = "gather_evidence_and_retry";

/** Merges the work frames of the deciding rules: the union of lists; for other fields, the first value. */
export function mergeWorkFrames(deciding: readonly GateRule[], conditions: FrameConditions): WorkFrame {
  const { status, errored, raised, missing } = conditions;
  const frames = deciding.flatMap(({ work_frame }) => work_frame ?? []);
  // A rule that lets the agent continue must not grant actions when the status was raised.
  const permitting = raised ? [] : frames;
  return {
    mode: workModes[status],
    next_action:
      errored && status === "YELLOW" ? retry : firstValue(permitting, ({ next_action }) => next_action),
    allowed_actions: union(permitting.map(({ allowed_actions }) => allowed_actions)),
    forbidden_actions: union(frames.map(({ forbidden_actions }) => forbidden_actions)),
    required_output: requiredOutput(permitting),
    missing_evidence: union([...frames.map(({ missing_evidence }) => missing_evidence), missing]),
    next_human_owner: firstValue(frames, ({ next_human_owner }) => next_human_owner),
  };
}

function firstValue(
  frames: readonly WrittenFrame[],
  read: (frame: WrittenFrame) => string | undefined,
): string | null {
  for (const frame of frames) {
    const value = read(frame);
    if (value !== undefined) return value;
  }
  return null;
}

function union(lists: readonly (readonly string[] | undefined)[]): readonly string[] {
  const all = new Set<string>();
  for (const list of lists) {
    for (const item of list ?? []) all.add(item);
  }
  return [...all];
}

function requiredOutput(frames: readonly WrittenFrame[]): Json {
  const outputs = frames
    .map(({ required_output }) => required_output ?? null)
    .filter((output) => output !== null);
  const lists = outputs.filter((output): output is readonly Json[] => Array.isArray(output));
  if (lists.length < outputs.length || lists.length === 0) return outputs[0] ?? null;
  return [...new Map(lists.flat().map((item) => [canonicalJson(item), item])).values()];
}
