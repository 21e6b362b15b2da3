import type { Answered, Changed } from "./backtest.js";

/** Both sides of a change in a few words; with targets, or what held it back, where labels do not tell them apart. */
export function outcomeText(from: Answered, to: Changed): { readonly from: string; readonly to: string } {
  const [before, after] = [labelsText(from), labelsText(to)];
  if (before !== after || "error" in to) return { from: before, to: after };
  const told = targetsText(from) === targetsText(to) ? heldText : targetsText;
  return { from: `${before} (${told(from)})`, to: `${after} (${told(to)})` };
}

function labelsText(answer: Changed): string {
  if ("error" in answer) return `error: ${answer.error}`;
  if (answer.blocked && answer.selected_labels.length === 0) return "blocked";
  return answer.selected_labels.join(", ");
}

const targetsText = ({ selected_targets: targets }: Answered): string =>
  targets.length === 0 ? "no target" : targets.join(" ");

function heldText({ blocked, escalated }: Answered): string {
  if (blocked) return "blocked";
  return escalated ? "escalated" : "as decided";
}

/** How much of a change one should look at first: what was held back and would be let through comes before all else. */
export function riskOf(from: Answered, to: Changed): number {
  const [before, after] = [opennessOf(from), opennessOf(to)];
  return after > before ? before - after : 1;
}

/** What lets an agent go on, and what holds it back. */
const openness: ReadonlyMap<string | undefined, number> = new Map([
  ["denied", 0],
  ["RED", 0],
  ["YELLOW", 1],
  ["GREEN-SKIP", 2],
  ["GREEN", 3],
  ["allowed_by_exception", 3],
  ["allowed", 3],
]);

function opennessOf(answer: Changed): number {
  if ("error" in answer || answer.blocked) return 0;
  if (answer.escalated) return 1;
  return openness.get(answer.selected_labels[0]) ?? 2;
}
