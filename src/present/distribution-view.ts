import type { BranchShare, Distribution, ShareCheck } from "../record/distribution.js";
import type { Colour, Style, View } from "./format.js";
import { displayWidth } from "./text-width.js";
import { formatCount, formatPercent, plural, shareBar } from "./text.js";
import { oneLine } from "../text.js";

export function distributionView(distribution: Distribution): View {
  return {
    value: distribution,
    plain: () => distribution.branches.map(plainBranch).join("\n"),
    table: (style) => describeDistribution(distribution, style),
  };
}

function plainBranch({ label, target, count, share, expected_share }: BranchShare): string {
  const expected = expected_share === null ? "" : rounded(expected_share);
  return [oneLine(label), oneLine(target ?? ""), count, rounded(share), expected].join("\t");
}

function rounded(share: number): number {
  return Number(share.toFixed(6));
}

async function describeDistribution(distribution: Distribution, style: Style): Promise<string> {
  const { branches, check, distinct_inputs } = distribution;
  const dim = (text: string): string => style.paint("dim", text);
  const { rows, folded } = foldUnused(branches);
  const isPartial = check !== null && check.sample > 0 && check.sample !== distinct_inputs;
  const lines = [headline(distribution, style)];
  if (isPartial)
    lines.push(
      dim(`the check uses the ${plural(check.sample, "distinct input")} that the weights have split`),
    );
  if (rows.length > 0) lines.push("", await table(rows, style));
  if (folded > 0) lines.push(dim(`and ${formatCount(folded)} more that were never selected`));
  return lines.join("\n");
}

/** Sums up the distribution on one line, or on more where the terminal is narrow. */
function headline(
  { decision_id, total, current_total, distinct_inputs, check }: Distribution,
  style: Style,
): string {
  const current = current_total === total ? "" : ` (${formatCount(current_total)} of this definition)`;
  const inputs = distinct_inputs === null ? "inputs masked" : plural(distinct_inputs, "distinct input");
  const sums = `${plural(total, "record")}${current}, ${inputs}`;
  const parts: { readonly text: string; readonly colour?: Colour }[] = [
    { text: oneLine(decision_id), colour: "bold" },
    { text: sums },
    ...(check === null ? [] : [verdict(check)]),
  ];
  let column = -2;
  const shown = parts.map(({ text, colour }) => {
    const fits = column + 2 + displayWidth(text) <= style.columns;
    const gap = column < 0 ? "" : fits ? "  " : "\n";
    column = fits ? column + 2 + displayWidth(text) : displayWidth(text);
    return gap + (colour === undefined ? text : style.paint(colour, text));
  });
  return shown.join("");
}

function verdict({ mismatch, reliable, p_value, e_value }: ShareCheck): {
  readonly text: string;
  readonly colour: Colour;
} {
  const values = `(e = ${shortNumber(e_value)}, p = ${shortNumber(p_value)})`;
  if (mismatch) return { text: `✗ not as expected ${values}`, colour: "red" };
  if (!reliable) return { text: "– too few inputs to tell", colour: "yellow" };
  return { text: `✓ as expected ${values}`, colour: "green" };
}

function shortNumber(value: number): string {
  const rounded = Number(value.toPrecision(2));
  return rounded < 1e6 ? String(rounded) : rounded.toExponential().replace("+", "");
}

/** Drops the branches that were never selected from a long table. */
function foldUnused(branches: readonly BranchShare[]): {
  readonly rows: readonly BranchShare[];
  readonly folded: number;
} {
  if (branches.length <= maxRows) return { rows: branches, folded: 0 };
  const rows = branches.filter(({ count }) => count > 0);
  return { rows, folded: branches.length - rows.length };
}

const maxRows = 30;

interface ShownColumn {
  readonly title: string;
  readonly cells: readonly string[];
  readonly flexible?: boolean;
}

async function table(branches: readonly BranchShare[], style: Style): Promise<string> {
  const { grid } = await import("./grid.js");
  const columns = columnsFor(branches, style.columns);
  const rows = branches.map((_, row) => columns.map(({ cells }) => cells[row] ?? ""));
  const isMarked = columns.at(-1)?.title === barTitle && branches.some(hasMark);
  return (
    grid(columns, rows, style) + (isMarked ? `\n${style.paint("dim", `${mark} the expected share`)}` : "")
  );
}

/** Picks the columns that fit: a shorter bar, no bar, and then no target on narrow terminals. */
function columnsFor(branches: readonly BranchShare[], width: number): readonly ShownColumn[] {
  const label = {
    title: "label",
    cells: branches.map((each) => oneLine(each.label)),
    flexible: true,
  } as const;
  const target = { title: "target", cells: branches.map(targetCell) };
  const targets = branches.some((each) => each.target !== null) ? [target] : [];
  const numbers = [
    rightAligned(
      "count",
      branches.map(({ count }) => formatCount(count)),
    ),
    rightAligned(
      "share",
      branches.map(({ share }) => formatPercent(share)),
    ),
    ...expectedColumn(branches),
  ];
  const barOf = (length: number): ShownColumn => ({
    title: barTitle,
    cells: branches.map((each) => markedBar(each, length)),
  });
  const choices = [
    [label, ...targets, ...numbers, barOf(24)],
    [label, ...targets, ...numbers, barOf(12)],
    [label, ...targets, ...numbers],
  ];
  return choices.find((columns) => totalWidth(columns) <= width) ?? [label, ...numbers];
}

function targetCell({ target }: BranchShare): string {
  return target === null ? "– (older)" : oneLine(target);
}

function expectedColumn(branches: readonly BranchShare[]): readonly ShownColumn[] {
  if (branches.every(({ expected_share }) => expected_share === null)) return [];
  const cells = branches.map(({ expected_share: share }) => (share === null ? "–" : formatPercent(share)));
  return [rightAligned("expected", cells)];
}

function rightAligned(title: string, cells: readonly string[]): ShownColumn {
  const width = longest([title, ...cells]);
  return { title: title.padStart(width), cells: cells.map((cell) => cell.padStart(width)) };
}

const barTitle = "";
const mark = "│";

function hasMark({ expected_share }: BranchShare): boolean {
  return expected_share !== null && expected_share > 0;
}

/** Draws a mark where a bar of the expected share would end. */
function markedBar(branch: BranchShare, length: number): string {
  const plain = shareBar(Math.min(branch.share, 1), length);
  if (!hasMark(branch)) return plain;
  const at = Math.max(0, Math.round((branch.expected_share ?? 0) * length) - 1);
  return plain.slice(0, at) + mark + plain.slice(at + 1);
}

function totalWidth(columns: readonly ShownColumn[]): number {
  return columns.reduce((sum, { title, cells }) => sum + longest([title, ...cells]) + 2, -2);
}

function longest(texts: readonly string[]): number {
  return texts.reduce((most, text) => Math.max(most, displayWidth(text)), 0);
}
