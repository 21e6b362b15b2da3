import type { Library } from "../definition/library.js";
import { deepFreeze } from "../digest/freeze-json.js";
import { DecisionError } from "../errors.js";
import type { FollowedStep, Result } from "../model/result.js";
import type { Request, World } from "./decide.js";
import { decide } from "./decide.js";

interface FollowWorld extends World {
  readonly definitions: Pick<Library, "find" | "ids" | "broken">;
}

/** A longer way is nobody's intention. */
const maxSteps = 32;

/** Hears of each decision on a way, also of those on one that leads to no end. */
export type OnDecided = (result: Result) => void;

/** What was walked so far. */
interface Walk {
  readonly steps: FollowedStep[];
  /** The results that led to no further decision. */
  readonly ends: Result[];
}

/**
 * Makes a decision, and those that it leads to, one record each. Answers with the last one; where a table led
 * to several at once, with the one that went worst.
 */
export async function follow(
  request: Request,
  world: FollowWorld,
  onDecided: OnDecided = () => undefined,
): Promise<Result> {
  const walk: Walk = { steps: [], ends: [] };
  await step(request, { path: [], world, walk, onDecided });
  const { steps, ends } = walk;
  const worst = Math.max(...ends.map(severityOf));
  const answer = ends.findLast((end) => severityOf(end) === worst);
  if (answer === undefined) throw new Error("a way has an end");
  // Where one way is blocked, nobody is sent along the others.
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

async function step(request: Request, { path, world, walk, onDecided }: StepOptions): Promise<void> {
  const way = [...path, request.decision_id];
  assertNoCycle(way);
  const result = await decide(request, world);
  onDecided(result);
  const { decision_id, record_id, type, selected_targets, selected_labels } = result;
  const parent = request.parent_record_id;
  walk.steps.push({
    decision_id,
    ...(record_id !== undefined && { record_id }),
    ...(path.length > 0 && parent !== undefined && { parent_record_id: parent }),
    type,
    selected_targets,
    selected_labels,
  });
  const next = selected_targets.filter((target) => isDecision(target, world));
  const isEnd = next.length < selected_targets.length || next.length === 0;
  if (isEnd) walk.ends.push(next.length === 0 ? result : withoutTargets(result, next));
  for (const target of new Set(next)) {
    const from = record_id === undefined ? {} : { parent_record_id: record_id };
    await step({ ...request, ...from, decision_id: target }, { path: way, world, walk, onDecided });
  }
}

/** Where some of the targets are decisions, the others are ends of their own. */
const withoutTargets = (result: Result, next: readonly string[]): Result => ({
  ...result,
  selected_targets: result.selected_targets.filter((target) => !next.includes(target)),
});

/** One that cannot be used is still one, and asking for it says why. */
const isDecision = (target: string, { definitions: { ids, broken } }: FollowWorld): boolean =>
  ids.includes(target) || broken.includes(target);

function assertNoCycle(way: readonly string[]): void {
  const last = way.at(-1) ?? "";
  const isCircle = way.indexOf(last) < way.length - 1;
  if (!isCircle && way.length <= maxSteps) return;
  const what = isCircle ? "leads round in a circle" : `leads on and on, beyond ${maxSteps} decisions`;
  throw new DecisionError(
    "decision_cycle",
    `\`${way[0] ?? ""}\` ${what}: ${way.slice(-maxNamed).join(" → ")}`,
    {
      hint: "the decisions up to here are made; `agent-33 decision graph` shows the way",
      details: { way },
    },
  );
}

const maxNamed = 8;

/** What a script must notice first. */
function severityOf(result: Result): number {
  if (result.blocked) return 3;
  if (result.type === "policy") return result.allowed ? 0 : 2;
  if (result.type !== "gate") return 0;
  return { GREEN: 0, "GREEN-SKIP": 0, YELLOW: 1, RED: 2 }[result.status];
}
