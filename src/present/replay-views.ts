import type { BacktestReport } from "../replay/backtest.js";
import { valueText } from "../replay/difference-text.js";
import type { ReplayReport } from "../replay/replay-log.js";
import type { ReplayedDecision } from "../replay/replay-payload.js";
import type { Style, View } from "./format.js";
import { fieldLine } from "./format.js";
import { formatCount, plural, shareBar } from "./text.js";
import { oneLine } from "../text.js";

export function replayView(report: ReplayReport): View {
  return {
    value: report,
    plain: () => plainReplay(report),
    table: (style) => describeReplay(report, style),
  };
}

function plainReplay({
  total,
  matched,
  mismatched,
  not_replayable,
  mismatches,
  reasons,
}: ReplayReport): string {
  const lines = [["replayed", total, matched, mismatched, not_replayable].join("\t")];
  for (const { record_id, seq, differences } of mismatches) {
    for (const { what, expected, actual } of differences) {
      lines.push(["mismatch", record_id ?? seq, what, valueText(expected), valueText(actual)].join("\t"));
    }
  }
  for (const { reason, count: number } of reasons) lines.push(["not replayable", number, reason].join("\t"));
  return lines.join("\n");
}

async function describeReplay(report: ReplayReport, style: Style): Promise<string> {
  const { paint } = style;
  const { total, mismatched, matched } = report;
  const count =
    matched === total && total > 0
      ? `${formatCount(matched)} of ${plural(total, "record")}`
      : `${plural(total, "record")}, ${formatCount(matched)} reproduced`;
  const lines = [`${replayVerdict(report, style)}  ${count}`];
  if (mismatched > 0) lines.push("", await mismatchTable(report, style));
  const unlisted = mismatched - report.mismatches.length;
  if (unlisted > 0) lines.push(paint("dim", `and ${formatCount(unlisted)} more`));
  if (report.reasons.length > 0) lines.push("", await reasonTable(report, style));
  return lines.join("\n");
}

function replayVerdict(
  { mismatched, matched, total, not_replayable }: ReplayReport,
  { paint }: Style,
): string {
  if (mismatched > 0) return paint("bold", paint("red", `✗ ${formatCount(mismatched)} not reproduced`));
  if (total === 0) return paint("yellow", "nothing to replay");
  if (matched === 0) return paint("yellow", "! nothing could be replayed");
  if (not_replayable > 0) return paint("yellow", `! ${formatCount(not_replayable)} could not be replayed`);
  return paint("bold", paint("green", "✓ reproduced"));
}

async function mismatchTable({ mismatches }: ReplayReport, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = mismatches
    .slice(0, maxMismatches)
    .flatMap(({ record_id, seq, decision_id, differences }) =>
      differences.map(({ what, expected, actual }, index) => [
        index === 0 ? (record_id ?? `number ${seq}`) : "",
        index === 0 ? (decision_id ?? "") : "",
        what,
        valueText(expected),
        style.paint("red", valueText(actual)),
      ]),
    );
  const columns = [
    { title: "record" },
    { title: "decision" },
    { title: "field" },
    { title: "recorded", flexible: true },
    { title: "replayed", flexible: true },
  ];
  const left = mismatches.length - maxMismatches;
  return grid(columns, rows, style) + (left > 0 ? `\n${formatCount(left)} more in --format json` : "");
}

const maxMismatches = 20;

async function reasonTable({ reasons }: Pick<ReplayReport, "reasons">, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = reasons.map(({ reason, count: number, examples }) => [
    formatCount(number),
    reason,
    examples[0] ?? "",
  ]);
  const columns = [{ title: "not replayed" }, { title: "reason", flexible: true }, { title: "example" }];
  return grid(columns, rows, style);
}

/** The decisions recomputed from the votes of audit payloads. */
export function payloadReplayView(replayed: readonly ReplayedDecision[]): View {
  const [only] = replayed;
  return {
    value: replayed.length === 1 ? only : replayed,
    items: replayed,
    plain: () =>
      replayed.map(({ decision, confidence }) => [oneLine(decision), confidence].join("\t")).join("\n"),
    table: ({ paint }) =>
      replayed
        .map(({ decision, confidence, scoring_strategy, evaluations }) => {
          const votes = plural(evaluations.length, "vote");
          const detail = `confidence ${confidence}, ${scoring_strategy} of ${votes}`;
          return `${paint("green", paint("bold", oneLine(decision)))}  ${paint("dim", detail)}`;
        })
        .join("\n"),
  };
}

export function backtestView(report: BacktestReport): View {
  return {
    value: report,
    plain: () => plainBacktest(report),
    table: (style) => describeBacktest(report, style),
  };
}

function plainBacktest({
  decision_id,
  total,
  changed,
  change_rate,
  not_replayable,
  transitions,
}: BacktestReport): string {
  const lines = [["backtest", decision_id, total, changed, change_rate, not_replayable].join("\t")];
  for (const { from, to, count: number } of transitions) {
    lines.push(["change", oneLine(from), oneLine(to), number].join("\t"));
  }
  return lines.join("\n");
}

async function describeBacktest(report: BacktestReport, style: Style): Promise<string> {
  const { paint } = style;
  const { changed, change_rate, total, not_replayable, transitions } = report;
  const replayed = total - not_replayable;
  const verdict =
    changed === 0
      ? paint("green", replayed === 0 ? "nothing to compare" : "✓ nothing would change")
      : paint("yellow", `${percent(change_rate)} would change`);
  const lines = [
    `${paint("bold", verdict)}  ${paint("dim", `${formatCount(changed)} of ${formatCount(replayed)} decisions`)}`,
    "",
    fieldLine("decision", report.decision_id, style),
    fieldLine("against", report.definition_hash.slice(0, 12), style),
  ];
  if (transitions.length > 0) lines.push("", await transitionTable(report, style));
  if (report.reasons.length > 0) lines.push("", await reasonTable(report, style));
  return lines.join("\n");
}

async function transitionTable(
  { transitions, examples, total, not_replayable }: BacktestReport,
  style: Style,
): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = transitions.slice(0, maxTransitions).map(({ from, to, count: number }) => {
    const example = examples.find((each) => each.from === from && each.to === to);
    // A share of all decisions, as the rate above is: of the changed ones alone, a single row would always be full.
    const share = number / (total - not_replayable);
    return [
      oneLine(from),
      `→ ${oneLine(to)}`,
      formatCount(number),
      shareBar(share, 12),
      example?.record_id ?? "",
    ];
  });
  const columns = [
    { title: "from", flexible: true },
    { title: "  to", flexible: true },
    { title: "count" },
    { title: "" },
    { title: "example" },
  ];
  const left = transitions.length - maxTransitions;
  return grid(columns, rows, style) + (left > 0 ? `\n${formatCount(left)} more transitions` : "");
}

const maxTransitions = 25;

const percent = (share: number): string => `${Number((share * 100).toFixed(share < 0.01 ? 2 : 1))} %`;
