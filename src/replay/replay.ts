import { ReplayMismatchError } from "../contract-errors.js";
import { printable } from "../printable.js";
import type { Difference } from "./compare.js";
import { compareWithPayload } from "./compare.js";
import type { ReplayedDecision } from "./replayed.js";

export interface ReplayOptions {
  /** Whether a difference is an error; otherwise it is told. */
  readonly strict: boolean;
  /** Is told what had to be assumed and, where it is no error, what differs. */
  readonly warn: (text: string) => void;
}

/** Decides again by the votes of an audit payload; throws where it is none, and in strict mode where that differs. */
export function replayPayload(payload: unknown, { strict, warn }: ReplayOptions): ReplayedDecision {
  const { replayed, differences, warnings } = compareWithPayload(payload);
  for (const warning of warnings) warn(`[DecisionAgent::Replay] ${shown(warning)}`);
  if (differences.length === 0) return replayed;
  if (strict) throw mismatch(differences, replayed);
  warn(
    ["[DecisionAgent::Replay] Non-strict mode differences detected:", ...differences.map(told)].join("\n"),
  );
  return replayed;
}

function mismatch(differences: readonly Difference[], replayed: ReplayedDecision): ReplayMismatchError {
  // What does not differ is as it was.
  const { decision, confidence } = replayed;
  const values = (side: "expected" | "actual"): Readonly<Record<string, unknown>> => ({
    decision,
    confidence,
    ...Object.fromEntries(differences.map((each) => [each.what, each[side]])),
  });
  return new ReplayMismatchError({
    expected: values("expected"),
    actual: values("actual"),
    differences: differences.map(
      ({ what, expected, actual }) =>
        `${what} mismatch (expected: ${shown(expected)}, got: ${shown(actual)})`,
    ),
  });
}

const changed: Readonly<Record<Difference["what"], string>> = {
  decision: "Decision changed",
  confidence: "Confidence changed",
  deterministic_hash: "Deterministic hash changed",
};

const told = ({ what, expected, actual }: Difference): string =>
  `  - ${changed[what]}: ${shown(expected)} -> ${shown(actual)}`;

/** On one line, so that no decision can look like a difference of its own. */
const shown = (value: string | number): string => printable(String(value)).replaceAll("\n", "\\n");
