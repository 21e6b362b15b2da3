import type { ReplayedDecision } from "../replay/replayed.js";
import type { View } from "./format.js";
import { oneLine } from "./one-line.js";

/** What the votes of payloads came to again. */
export function replayedView(replayed: readonly ReplayedDecision[]): View {
  const [only] = replayed;
  return {
    value: replayed.length === 1 ? only : replayed,
    items: replayed,
    plain: () =>
      replayed.map(({ decision, confidence }) => [oneLine(decision), confidence].join("\t")).join("\n"),
    table: ({ paint }) =>
      replayed
        .map(({ decision, confidence, scoring_strategy, evaluations }) => {
          const votes = `${evaluations.length} vote${evaluations.length === 1 ? "" : "s"}`;
          const how = `confidence ${confidence}, ${scoring_strategy} of ${votes}`;
          return `${paint("green", paint("bold", oneLine(decision)))}  ${paint("dim", how)}`;
        })
        .join("\n"),
  };
}
