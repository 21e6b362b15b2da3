import type { BacktestReport } from "../replay/backtest.js";
import { count } from "./amounts.js";
import type { Style, View } from "./format.js";
import { oneLine } from "./one-line.js";
import { reasonTable } from "./replay-view.js";
import { bar } from "./result-view.js";

export function backtestView(report: BacktestReport): View {
  return {
    value: report,
    plain: () => plain(report),
    table: (style) => describe(report, style),
  };
}

function plain({
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

async function describe(report: BacktestReport, style: Style): Promise<string> {
  const { paint } = style;
  const { changed, change_rate, total, not_replayable, transitions } = report;
  const replayed = total - not_replayable;
  const answer =
    changed === 0
      ? paint("green", replayed === 0 ? "nothing to compare" : "✓ nothing would change")
      : paint("yellow", `${percent(change_rate)} would change`);
  const lines = [
    `${paint("bold", answer)}  ${paint("dim", `${count(changed)} of ${count(replayed)} decisions`)}`,
    "",
    `  ${paint("dim", "decision ")} ${report.decision_id}`,
    `  ${paint("dim", "against  ")} ${report.definition_hash.slice(0, 12)}`,
  ];
  if (transitions.length > 0) lines.push("", await transitionTable(report, style));
  if (report.reasons.length > 0) lines.push("", await reasonTable(report, style));
  return lines.join("\n");
}

async function transitionTable(
  { transitions, examples, changed }: BacktestReport,
  style: Style,
): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = transitions.slice(0, mostShown).map(({ from, to, count: number }) => {
    const example = examples.find((each) => each.from === from && each.to === to);
    const share = number / changed;
    return [oneLine(from), `→ ${oneLine(to)}`, count(number), bar(share, 12), example?.record_id ?? ""];
  });
  const columns = [
    { title: "from", flexible: true as const },
    { title: "  to", flexible: true as const },
    { title: "count" },
    { title: "" },
    { title: "such as" },
  ];
  const left = transitions.length - mostShown;
  return grid(columns, rows, style) + (left > 0 ? `\n${count(left)} more kinds of change` : "");
}

const mostShown = 25;

const percent = (share: number): string => `${Number((share * 100).toFixed(share < 0.01 ? 2 : 1))} %`;
