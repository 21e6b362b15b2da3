import type { Library } from "../definition/library.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { FollowedStep, Result } from "../model/result.js";
import type { DecisionRequest, World } from "./decide.js";
import { decide } from "./decide.js";

interface FollowWorld extends World {
  readonly definitions: Pick<Library, "find" | "ids" | "broken">;
}

/** A longer chain of decisions is taken for a mistake. */
const maxSteps = 32;

/** Called with each decision of a chain, also where the chain ends in an error. */
export type OnDecided = (result: Result) => void;

/** The decisions made so far. */
interface Walk {
  readonly steps: FollowedStep[];
  /** The results that lead to no further decision. */
  readonly ends: Result[];
}

/**
 * Makes a decision and then every decision that it leads to, each with its own record. Returns the last result;
 * where a table leads to several decisions, the most severe one.
 */
export async function follow(
  request: DecisionRequest,
  world: FollowWorld,
  onDecided: OnDecided = () => undefined,
): Promise<Result> {
  const walk: Walk = { steps: [], ends: [] };
  await step(request, { path: [], world, walk, onDecided });
  const { steps, ends } = walk;
  const worst = Math.max(...ends.map(severityOf));
  const answer = ends.findLast((end) => severityOf(end) === worst);
  if (answer === undefined) throw new Error("a chain of decisions has an end");
  // Where one branch is blocked, no other branch is followed either.
  const open = answer.blocked ? [] : ends;
  const targets = [...new Set(open.flatMap(({ selected_targets }) => selected_targets))];
  return Object.freeze({ ...answer, followed: deepFreeze(steps), final_targets: Object.freeze(targets) });
}

interface StepOptions {
  readonly path: readonly string[];
  readonly world: FollowWorld;
  readonly walk: Walk;
  readonly onDecided: OnDecided;
}

async function step(request: DecisionRequest, { path, world, walk, onDecided }: StepOptions): Promise<void> {
  const chain = [...path, request.decision_id];
  assertNoCycle(chain);
  const result = await decide(request, world);
  onDecided(result);
  const { decision_id, record_id, type, selected_targets, selected_labels, outputs } = result;
  const parent = request.parent_record_id;
  walk.steps.push({
    decision_id,
    ...(record_id !== undefined && { record_id }),
    ...(path.length > 0 && parent !== undefined && { parent_record_id: parent }),
    type,
    selected_targets,
    selected_labels,
    ...(outputs !== undefined && { outputs }),
  });
  const next = selected_targets.filter((target) => isDecision(target, world));
  const isEnd = next.length < selected_targets.length || next.length === 0;
  if (isEnd) walk.ends.push(next.length === 0 ? result : withoutTargets(result, next));
  for (const target of new Set(next)) {
    const from = record_id === undefined ? {} : { parent_record_id: record_id };
    await step({ ...request, ...from, decision_id: target }, { path: chain, world, walk, onDecided });
  }
}

/** The result for the targets that are not decisions. */
const withoutTargets = (result: Result, next: readonly string[]): Result => ({
  ...result,
  selected_targets: result.selected_targets.filter((target) => !next.includes(target)),
});

/** A broken definition counts: following it reports why it is broken. */
const isDecision = (target: string, { definitions: { ids, broken } }: FollowWorld): boolean =>
  ids.includes(target) || broken.includes(target);

function assertNoCycle(chain: readonly string[]): void {
  const last = chain.at(-1) ?? "";
  const isCycle = chain.indexOf(last) < chain.length - 1;
  if (!isCycle && chain.length <= maxSteps) return;
  const problem = isCycle ? "leads to a cycle of decisions" : `leads to more than ${maxSteps} decisions`;
  throw new DecisionError(
    "decision_cycle",
    `\`${chain[0] ?? ""}\` ${problem}: ${chain.slice(-maxNamed).join(" → ")}`,
    {
      hint: "the decisions so far are recorded; show the graph with `agent-33 decision graph`",
      details: { way: chain },
    },
  );
}

const maxNamed = 8;

/** The order in which outcomes matter to a script. */
function severityOf(result: Result): number {
  if (result.blocked) return 3;
  if (result.type === "policy") return result.allowed ? 0 : 2;
  if (result.type !== "gate") return 0;
  return { GREEN: 0, "GREEN-SKIP": 0, YELLOW: 1, RED: 2 }[result.status];
}
