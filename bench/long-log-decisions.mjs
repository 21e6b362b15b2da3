import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Most records are of this one, as small as they come: neither inputs nor details are logged. */
export const busy = {
  id: "prompt-variant",
  type: "weighted",
  input: "{{ user }}",
  cases: [
    { condition: "", label: "a", target: "prompt-1", weight: 70 },
    { condition: "", label: "b", target: "prompt-2", weight: 20 },
    { condition: "", label: "c", target: "prompt-3", weight: 10 },
  ],
  default: { target: "prompt-1" },
  logging: { include_inputs: false, include_evaluation: false },
};

/** Its few records are among the oldest. */
export const rare = { ...gate("launch-gate"), name: "Launch" };
export const rareRecords = 30;

export const quiet = Array.from({ length: 49 }, (_, index) => gate(`gate-${index}`));

export const cached = { ...gate("cached-gate"), cache: { enabled: true, ttl: "30d" } };

/** Each in a file of its own; gives the directory. */
export function writeDecisions(directory) {
  const folder = join(directory, "long-log-decisions");
  mkdirSync(folder);
  for (const decision of [busy, rare, ...quiet, cached])
    writeFileSync(join(folder, `${decision.id}.json`), JSON.stringify({ decision }));
  return folder;
}

/** What is asked as the so-manieth, counted from 0. */
export function requestAt(index) {
  const place = index % 10;
  if (place === 3)
    return { decision_id: quiet[((index - 3) / 10) % quiet.length].id, context: scoreAt(index) };
  const isRare = place === 7 && index < rareRecords * 10;
  if (isRare) return { decision_id: rare.id, context: scoreAt(index) };
  return { decision_id: busy.id, context: { user: `user-${(index * 7919) % 800_000}` } };
}

export function scoreAt(index) {
  return { score: ((index * 7919) % 1000) / 1000 };
}

function gate(id) {
  return {
    id,
    type: "binary",
    input: "{{ score }}",
    cases: [{ condition: "input >= 0.5", label: "pass", target: "ship" }],
    default: { target: "rework" },
  };
}
