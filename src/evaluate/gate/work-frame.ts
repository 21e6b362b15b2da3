import { workModes } from "../../definition/decision-types.js";
import { canonicalJson } from "../../digest/canonical-json.js";
import type { GateRule, Status, WrittenFrame } from "../../model/definition.js";
import type { Json } from "../../model/json.js";
import type { WorkFrame } from "../../model/result.js";

/** What bears on a work frame beside the rules that decide. */
export interface FrameConditions {
  /** The final one. */
  readonly status: Status;
  /** Whether anything could not be evaluated. */
  readonly errored: boolean;
  /** Whether it is only that which keeps the agent from going on. */
  readonly raised: boolean;
  /** What the context lacks. */
  readonly missing: readonly string[];
}

/** What an agent does when it knows too little. */
const retry = "gather_evidence_and_retry";

/** The frames of the deciding rules as one: lists are joined, of anything else the first that says something stands. */
export function mergeWorkFrames(deciding: readonly GateRule[], circumstances: FrameConditions): WorkFrame {
  const { status, errored, raised, missing } = circumstances;
  const frames = deciding.flatMap(({ work_frame }) => work_frame ?? []);
  // What rules allow and ask for who meant the agent to go on is not said to one that must not.
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
  say: (frame: WrittenFrame) => string | undefined,
): string | null {
  for (const frame of frames) {
    const said = say(frame);
    if (said !== undefined) return said;
  }
  return null;
}

/** Without repeats. */
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
