import { shown } from "../replay/difference-text.js";
import type { ReplayReport } from "../replay/replay-log.js";
import { count } from "./amounts.js";
import type { Style, View } from "./format.js";

export function replayView(report: ReplayReport): View {
  return {
    value: report,
    plain: () => plain(report),
    table: (style) => describe(report, style),
  };
}

function plain({ total, matched, mismatched, not_replayable, mismatches, reasons }: ReplayReport): string {
  const lines = [["replayed", total, matched, mismatched, not_replayable].join("\t")];
  for (const { record_id, seq, differences } of mismatches) {
    for (const { what, expected, actual } of differences) {
      lines.push(["mismatch", record_id ?? seq, what, shown(expected), shown(actual)].join("\t"));
    }
  }
  for (const { reason, count: number } of reasons) lines.push(["not replayable", number, reason].join("\t"));
  return lines.join("\n");
}

async function describe(report: ReplayReport, style: Style): Promise<string> {
  const { paint } = style;
  const { total, mismatched, matched } = report;
  const lines = [`${verdict(report, style)}  ${records(total)}, ${count(matched)} came to the same answer`];
  if (mismatched > 0) lines.push("", await mismatchTable(report, style));
  const untold = mismatched - report.mismatches.length;
  if (untold > 0) lines.push(paint("dim", `and ${count(untold)} more`));
  if (report.reasons.length > 0) lines.push("", await reasonTable(report, style));
  return lines.join("\n");
}

function verdict({ mismatched, matched, total, not_replayable }: ReplayReport, { paint }: Style): string {
  if (mismatched > 0) return paint("bold", paint("red", `✗ ${count(mismatched)} came to something else`));
  if (total === 0) return paint("yellow", "nothing to replay");
  if (matched === 0) return paint("yellow", "! nothing could be replayed");
  if (not_replayable > 0) return paint("yellow", `! ${count(not_replayable)} could not be replayed`);
  return paint("bold", paint("green", "✓ reproduced"));
}

const records = (number: number): string => `${count(number)} record${number === 1 ? "" : "s"}`;

async function mismatchTable({ mismatches }: ReplayReport, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = mismatches
    .slice(0, mostShown)
    .flatMap(({ record_id, seq, decision_id, differences }) =>
      differences.map(({ what, expected, actual }, index) => [
        index === 0 ? (record_id ?? `number ${seq}`) : "",
        index === 0 ? (decision_id ?? "") : "",
        what,
        shown(expected),
        style.paint("red", shown(actual)),
      ]),
    );
  const columns = [
    { title: "record" },
    { title: "decision" },
    { title: "what" },
    { title: "recorded", flexible: true as const },
    { title: "replayed", flexible: true as const },
  ];
  const left = mismatches.length - mostShown;
  return grid(columns, rows, style) + (left > 0 ? `\n${count(left)} more are in --format json` : "");
}

const mostShown = 20;

export async function reasonTable({ reasons }: Pick<ReplayReport, "reasons">, style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const rows = reasons.map(({ reason, count: number, examples }) => [
    count(number),
    reason,
    examples[0] ?? "",
  ]);
  const columns = [
    { title: "not replayed" },
    { title: "because", flexible: true as const },
    { title: "such as" },
  ];
  return grid(columns, rows, style);
}
